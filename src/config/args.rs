//! The flags of `serve`, one per setting, made from the table.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::setting::{Setting, Shape};
use super::settings::SUBJECTS;

/// The settings given as flags, as texts: the loader reads values, so that a value has one
/// meaning, one message and one exit code from every source.
///
/// Use it as `#[command(flatten)]`. `--data-dir` and `--config` belong to the whole program and are not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeArgs {
    given: BTreeMap<&'static str, Vec<String>>,
}

impl ServeArgs {
    /// Adds the values of a flag, as if it had been given.
    #[must_use]
    pub fn with(mut self, setting: &'static Setting, values: impl IntoIterator<Item = String>) -> Self {
        self.given.entry(setting.key).or_default().extend(values);
        self
    }

    /// The values of a flag in the order given, not yet split at commas; `None` if it was not given.
    pub fn get(&self, key: &str) -> Option<&[String]> {
        self.given.get(key).map(Vec::as_slice)
    }
}

/// The flags that the short help shows; the long one shows all.
const COMMON: [&str; 11] = [
    "smtp-listen",
    "http-listen",
    "domain",
    "mx-host",
    "retention",
    "max-message-size",
    "smtp-auth",
    "tls-cert",
    "tls-key",
    "webhook-allow",
    "revision",
];

/// The settings that are flags of `serve`.
fn flags() -> impl Iterator<Item = &'static Setting> {
    Setting::all().filter(|setting| !setting.is_global)
}

/// A setting's flag below the title of its subject.
fn flag(setting: &'static Setting) -> Arg {
    let is_in = |subject: &&super::settings::Subject| subject.settings.iter().any(|other| other.key == setting.key);
    let arg = Arg::new(setting.key).long(setting.key).value_name(setting.value_name);
    let arg = match SUBJECTS.iter().find(is_in) {
        // A constant.
        None => arg.hide(true),
        Some(subject) => arg
            .help(format!("{} [default: {}]", setting.help, setting.default_text()))
            .help_heading(subject.title)
            .hide_short_help(!COMMON.contains(&setting.key)),
    };
    match setting.shape {
        Shape::Switch => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
        Shape::One => arg,
        Shape::Several => arg.action(ArgAction::Append),
    }
}

impl Args for ServeArgs {
    fn augment_args(command: Command) -> Command {
        command.args(flags().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ServeArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in flags() {
            if let Some(values) = matches.get_many::<String>(setting.key) {
                self.given.insert(setting.key, values.cloned().collect());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::SETTINGS;

    fn command() -> Command {
        ServeArgs::augment_args(Command::new("serve"))
    }

    fn parse(args: &[&str]) -> Result<ServeArgs, clap::Error> {
        let matches = command().no_binary_name(true).try_get_matches_from(args)?;
        ServeArgs::from_arg_matches(&matches)
    }

    #[test]
    fn flags_and_settings_are_the_same_set() {
        command().debug_assert();
        let flags: BTreeSet<_> = command()
            .get_arguments()
            .filter(|arg| !arg.is_hide_set())
            .filter_map(|arg| arg.get_long().map(str::to_owned))
            .collect();
        let mut settings: BTreeSet<_> = SETTINGS.iter().map(|setting| setting.key.to_owned()).collect();
        assert_eq!(settings.len(), SETTINGS.len(), "a key is listed twice");
        assert!(settings.remove("data-dir"), "data-dir is a flag of the whole program");
        assert_eq!(flags, settings);
    }

    #[test]
    fn each_flag_says_what_its_default_is() {
        let help = command().render_long_help().to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(help.matches("[default: ").count(), SETTINGS.len() - 1, "{help}");
        for text in ["[default: 300KB; revision 1: 10MB]", "[default: 12h; revision 1: 1d]", "[default: 2h]"] {
            assert!(help.contains(text), "{text} in {help}");
        }
    }

    #[test]
    fn the_short_help_has_the_common_flags_and_the_long_one_all_by_subject() {
        let short = command().render_help().to_string();
        // A line may break between the words.
        let short = short.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(short.matches("[default: ").count(), COMMON.len(), "{short}");
        let long = command().render_long_help().to_string();
        for subject in SUBJECTS {
            assert!(long.contains(&format!("\n{}:\n", subject.title)), "{} in {long}", subject.title);
        }
    }

    #[test]
    fn values_are_kept_as_given() {
        let args = parse(&["--domain", "a.test,b.test", "--domain=c.test", "--retention", "nonsense"]).expect("args");
        assert_eq!(args.get("domain"), Some(&["a.test,b.test".to_owned(), "c.test".to_owned()][..]));
        assert_eq!(args.get("retention"), Some(&["nonsense".to_owned()][..]));
        assert_eq!(args.get("hostname"), None);
    }

    #[test]
    fn a_switch_takes_its_value_behind_an_equals_sign_alone() {
        for (given, value) in [("--accept-any-domain", "true"), ("--accept-any-domain=false", "false")] {
            assert_eq!(parse(&[given]).expect(given).get("accept-any-domain"), Some(&[value.to_owned()][..]));
        }
        assert!(parse(&["--accept-any-domain", "false"]).is_err());
    }

    #[test]
    fn a_single_value_cannot_be_given_twice() {
        assert!(parse(&["--retention", "1h", "--retention", "2h"]).is_err());
        assert!(parse(&["--no-such-setting", "1h"]).is_err());
    }
}
