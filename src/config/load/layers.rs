//! What the file, the environment and the flags say: texts of keys, of which the strongest stays.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Command;
use clap::error::{ContextKind, ContextValue};

use crate::config::ServeArgs;
use crate::config::error::{ConfigProblem, ValueOrigin, at};
use crate::config::file;
use crate::config::list::{MARK, joined};
use crate::config::removed;
use crate::config::setting::{Setting, Shape, all, reader, variable};
use crate::value::ValueError;

/// Everything that settings are read from, as it was when the program began.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// `--data-dir`
    pub data_dir: Option<PathBuf>,
    /// `--config`
    pub config_file: Option<PathBuf>,
    /// The flags of `serve`.
    pub args: ServeArgs,
    /// At least `TEMPMAIL_*`, `XDG_CONFIG_HOME`, `XDG_DATA_HOME`, `HOME` and `STATE_DIRECTORY`. An empty variable counts
    /// as not set.
    pub env: BTreeMap<String, String>,
}

/// Values of a setting as texts, and the source that has them.
#[derive(Clone, Debug)]
pub(in crate::config) struct Given {
    pub(in crate::config) values: Vec<String>,
    pub(in crate::config) origin: ValueOrigin,
}

/// What the sources say, from the weakest to the strongest.
pub(super) struct Layers {
    /// The strongest so far.
    pub(super) given: BTreeMap<&'static str, Given>,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) warnings: Vec<String>,
    reader: Command,
}

impl Default for Layers {
    fn default() -> Self {
        Self { given: BTreeMap::new(), problems: Vec::new(), warnings: Vec::new(), reader: reader() }
    }
}

impl Layers {
    /// Adds what a source says. A bad value is a problem also where a stronger source overrides it.
    pub(super) fn add(&mut self, key: &str, values: Vec<String>, origin: ValueOrigin) {
        if let Some(gone) = removed::find(key) {
            let what = format!("there is no such setting any more: {}", gone.instead);
            if gone.is_harmless(&values) {
                self.warnings.push(at(key, &origin, &what));
            } else {
                self.problems.push(ConfigProblem::of(key, &origin, &what));
            }
            return;
        }
        let Some(setting) = Setting::find(key) else { return };
        if key != setting.key {
            let what = format!("it is now {}, and does all of this: {}", setting.key, setting.help);
            self.warnings.push(at(key, &origin, &what));
        }
        if let Err(why) = self.read(setting, &values) {
            self.problems.push(ConfigProblem::of(key, &origin, &why));
        }
        let contradicts = |other: &Given| {
            std::mem::discriminant(&other.origin) == std::mem::discriminant(&origin) && other.values != values
        };
        if self.given.get(&*setting.key).is_some_and(contradicts) {
            let names = format!("{}, also called {}", setting.key, setting.aliases.join(" and "));
            let what = format!("{names}, is given twice with different values; leave one of them out");
            self.problems.push(ConfigProblem::of(key, &origin, &what));
        }
        self.given.insert(&setting.key, Given { values, origin });
    }

    /// Reads one text alone: why it is no value.
    pub(super) fn read(&mut self, setting: &Setting, values: &[String]) -> Result<(), String> {
        if values.iter().any(|value| value.contains(MARK)) {
            return Err("no value has the control character U+001F".to_owned());
        }
        let read = self.reader.try_get_matches_from_mut([argument(setting, values)]);
        read.map(drop).map_err(|error| match (error.source(), error.get(ContextKind::ValidValue)) {
            (Some(own), _) => own.to_string(),
            (None, Some(ContextValue::Strings(words))) => {
                let (last, others) = words.split_last().map_or(("", &[][..]), |(last, others)| (last.as_str(), others));
                ValueError::malformed(&values.concat(), &format!("{} or {last}", others.join(", "))).to_string()
            }
            _ => error.to_string(),
        })
    }
}

/// The argument that gives a setting these values.
pub(super) fn argument(setting: &Setting, values: &[String]) -> String {
    let text = if setting.shape == Shape::Several { joined(values) } else { values.concat() };
    format!("--{}={text}", setting.key)
}

/// Reads the file, the environment and the flags, in this order: a later value overrides an earlier one.
pub(super) fn layers(file: Option<(&Path, io::Result<impl Read>)>, sources: &Sources) -> Layers {
    let mut layers = Layers::default();
    if let Some((path, file)) = file {
        let (entries, problems) = file::read(path, file);
        layers.problems = problems;
        for (line, key, values) in entries {
            layers.add(&key, values, ValueOrigin::File { path: path.to_owned(), line });
        }
    }
    let values = |key, texts: &[String]| Setting::find(key).map_or(Shape::Several, |found| found.shape).values(texts);
    for key in keys() {
        if let Some(text) = sources.env.get(&variable(key)).filter(|text| !text.is_empty()) {
            layers.add(key, values(key, std::slice::from_ref(text)), ValueOrigin::Environment);
        }
    }
    // Elsewhere an empty list closes it, so this must not leave it open.
    if sources.env.get("TEMPMAIL_PUBLIC").is_some_and(String::is_empty) {
        let what = "there is no value, and an empty variable counts as not set; accepted is 'none' for nothing";
        layers.problems.push(ConfigProblem::of("public", &ValueOrigin::Environment, &what));
    }
    for (key, texts) in sources.args.given() {
        layers.add(key, values(key, texts), ValueOrigin::Flag);
    }
    if sources.data_dir.is_some() {
        // A stand-in for the path, which may be no UTF-8.
        layers.given.insert("data-dir", Given { values: vec!["/".to_owned()], origin: ValueOrigin::Flag });
    }
    layers
}

/// Every name that a source may have: settings, constants, old names and what is gone.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    let names = |setting: &'static Setting| std::iter::once(&setting.key).chain(&setting.aliases).map(String::as_str);
    all().flat_map(names).chain(removed::keys())
}
