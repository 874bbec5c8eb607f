//! The table of settings: clap's arguments of [`Config`], as help, guide, template and `config show` need them.

use std::sync::LazyLock;

use clap::{Arg, Command, CommandFactory, ValueHint};

use super::{Config, REVISION_ONE};

/// The settings that people change first. The short help of `serve` has them, and the guide begins with them.
pub const FIRST: [&str; 11] = [
    "dev",
    "data-dir",
    "domain",
    "smtp-listen",
    "http-listen",
    "retention",
    "max-message-size",
    "mx-host",
    "tls-cert",
    "http-allowed-hosts",
    "webhook-allow",
];

/// Defaults in words, where they depend on something.
const DEFAULTS_IN_WORDS: [(&str, &str); 8] = [
    ("data-dir", "$STATE_DIRECTORY, else $XDG_DATA_HOME/tempmail, else ~/.local/share/tempmail"),
    ("hostname", "the first mx-host, else the machine's name, else localhost"),
    ("tls-key", "none; the file of tls-cert where that is set"),
    ("http-allowed-hosts", "any, but only loopback while HTTP listens on loopback only"),
    ("http-allowed-origins", "any, but only loopback ones while HTTP listens on loopback only"),
    ("domain", "none; example.test while there is neither a domain nor an mx-host"),
    ("resolver", "those of the system"),
    ("sender-verdicts", "on-read; off where other machines reach HTTP and no resolver is set"),
];

/// How many values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `true` or `false`; the bare flag means `true`.
    Switch,
    /// One value.
    One,
    /// Any number: a flag repeated or with commas, a variable with commas, an array in the file.
    Several,
}

impl Shape {
    /// The values in the texts of one source. Blanks around a part of a list and empty parts are dropped.
    pub(super) fn values(self, texts: &[String]) -> Vec<String> {
        let parts = texts.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|part| !part.is_empty());
        match self {
            Self::One => texts.to_vec(),
            Self::Several => parts.map(str::to_owned).collect(),
            // Its names may be given beside each other.
            Self::Switch => {
                let mut texts = texts.to_vec();
                texts.dedup();
                texts
            }
        }
    }
}

/// One setting of `serve`, or a constant that tests set.
#[derive(Debug)]
pub struct Setting {
    /// The key in the file; with `--` before it the flag.
    pub key: String,
    /// Further keys that mean the same.
    pub(super) aliases: Vec<String>,
    /// How many values it takes.
    pub shape: Shape,
    /// What it means, with unit and bounds, without the default.
    pub help: String,
    /// What it and its neighbours are about.
    pub subject: String,
    /// It is a constant: in no help, guide or list of settings.
    pub(super) is_constant: bool,
    /// The default of the newest revision, or an example where that depends on the environment.
    pub(super) default: Vec<String>,
    pub(super) arg: Arg,
}

static ALL: LazyLock<Vec<Setting>> = LazyLock::new(|| Config::command().get_arguments().map(Setting::of).collect());

/// Every setting, in the order in which help lists them.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    all().filter(|setting| !setting.is_constant)
}

/// Every setting and every constant that a test may set.
pub(super) fn all() -> impl Iterator<Item = &'static Setting> {
    ALL.iter()
}

impl Setting {
    fn of(arg: &Arg) -> Self {
        let default = arg.get_default_values().first().map(|text| text.to_string_lossy().into_owned());
        let shape = match arg.get_value_delimiter() {
            Some(_) => Shape::Several,
            None if arg.is_require_equals_set() => Shape::Switch,
            None => Shape::One,
        };
        let aliases = arg.get_all_aliases().unwrap_or_default();
        Self {
            key: arg.get_long().expect("every setting is a flag").to_owned(),
            aliases: aliases.into_iter().map(str::to_owned).collect(),
            shape,
            help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
            subject: arg.get_help_heading().unwrap_or_default().to_owned(),
            is_constant: arg.is_hide_set(),
            default: default.into_iter().flat_map(|text| shape.values(&[text])).collect(),
            arg: arg.clone(),
        }
    }

    /// The setting or constant with this key.
    pub fn find(key: &str) -> Option<&'static Self> {
        all().find(|setting| setting.key == key || setting.aliases.iter().any(|alias| alias == key))
    }

    /// The environment variable: `TEMPMAIL_` and the key in upper case with underscores.
    pub fn variable(&self) -> String {
        variable(&self.key)
    }

    /// The default in words, where the revisions differ with both values.
    pub fn default_text(&self) -> String {
        if let Some((_, words)) = DEFAULTS_IN_WORDS.iter().find(|(key, _)| *key == self.key) {
            return (*words).to_owned();
        }
        let default = if self.default.is_empty() { "none".to_owned() } else { self.default.join(", ") };
        match REVISION_ONE.iter().find(|(key, _)| *key == self.key) {
            Some((_, one)) => format!("{default}; revision 1: {}", one.replace(',', ", ")),
            None => default,
        }
    }

    /// The flag of `serve`, which takes any text: what it means is read with that of the other sources.
    pub(super) fn flag(&self) -> Arg {
        let flag = self.arg.clone().value_parser(clap::value_parser!(String)).default_value(None);
        let is_file = flag.get_value_names().is_some_and(|names| names[0].starts_with("FILE"));
        let flag = if is_file { flag.value_hint(ValueHint::FilePath) } else { flag };
        let flag = flag.required(false).hide_short_help(!FIRST.contains(&&*self.key));
        let help = format!("{} [default: {}]", self.help, self.default_text());
        let flag = if self.is_constant { flag } else { flag.help(help) };
        // A switch has several names, and each may be given.
        if self.shape == Shape::One { flag } else { flag.value_delimiter(None).action(clap::ArgAction::Append) }
    }
}

/// The environment variable of a key.
pub(super) fn variable(key: &str) -> String {
    format!("TEMPMAIL_{}", key.to_ascii_uppercase().replace('-', "_"))
}

/// What reads one text for each setting: see [`super::list::joined`] for lists. A process builds it once: each
/// load of settings needs it twice.
pub(super) fn reader() -> Command {
    static READER: LazyLock<Command> = LazyLock::new(|| {
        let as_one_text = |arg: Arg| arg.required(false).default_value(None).value_delimiter(None);
        let mut command = Config::command().mut_args(as_one_text);
        command.build();
        command
    });
    READER.clone()
}
