//! Where a value came from, and what can be wrong with the settings.

use std::fmt::{self, Display};
use std::io;
use std::path::PathBuf;

use super::Revision;
use super::setting::{settings, variable};

/// The source of a value in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// The command line.
    Flag,
    /// A variable `TEMPMAIL_*`.
    Environment,
    /// The configuration file.
    File {
        /// Its path.
        path: PathBuf,
        /// The line of the key, counted from 1.
        line: usize,
    },
    /// What `dev` presets.
    Dev,
    /// The defaults of a revision.
    Default(Revision),
}

impl Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Environment => f.write_str("environment"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Dev => f.write_str("default of dev"),
            Self::Default(revision) => write!(f, "default of revision {}", revision.number()),
        }
    }
}

/// `what` of a key at the place where it was given.
pub(super) fn at(key: &str, origin: &ValueOrigin, what: &dyn Display) -> String {
    match origin {
        ValueOrigin::Flag => format!("--{key}: {what}"),
        ValueOrigin::Environment => format!("{}: {what}", variable(key)),
        ValueOrigin::File { .. } => format!("{origin}: {key}: {what}"),
        ValueOrigin::Dev | ValueOrigin::Default(_) => format!("{key} ({origin}): {what}"),
    }
}

/// Everything that is wrong with the settings, one line each. `serve` ends with exit code 78.
#[derive(Debug, thiserror::Error)]
#[error("{}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ConfigError {
    /// At least one.
    pub problems: Vec<ConfigProblem>,
}

/// One thing that is wrong with the settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigProblem {
    /// The file cannot be read.
    #[error("cannot read the configuration file {path}: {error}", path = .0.display(), error = .1)]
    Unreadable(PathBuf, io::Error),
    /// The environment names no home and nothing names a data directory.
    #[error("no data directory: neither --data-dir, TEMPMAIL_DATA_DIR, XDG_DATA_HOME nor HOME is set")]
    NoDataDir,
    /// A key or a value: the place, what is wrong, and what is accepted.
    #[error("{text}")]
    Wrong {
        /// The line of the file that it is about, counted from 1.
        line: Option<usize>,
        /// What is said of it.
        text: String,
    },
}

impl ConfigProblem {
    /// `what` is wrong with the key that stands at `origin`.
    pub(super) fn of(key: &str, origin: &ValueOrigin, what: &dyn Display) -> Self {
        let line = if let ValueOrigin::File { line, .. } = origin { Some(*line) } else { None };
        Self::Wrong { line, text: at(key, origin, what) }
    }

    /// The line of the file that it is about, counted from 1.
    pub fn line(&self) -> Option<usize> {
        if let Self::Wrong { line, .. } = self { *line } else { None }
    }
}

/// What ends the text about an unknown name: the setting most like it, as `shown` writes it, if one is like it at all.
pub(super) fn did_you_mean(name: &str, shown: impl Fn(&str) -> String) -> String {
    let name = name.to_lowercase().replace('_', "-");
    let rated = settings().map(|setting| (strsim::jaro_winkler(&name, &setting.key), &setting.key));
    let nearest = rated.filter(|(likeness, _)| *likeness >= 0.75).max_by(|(a, _), (b, _)| a.total_cmp(b));
    nearest.map_or_else(String::new, |(_, key)| format!("; did you mean {}?", shown(key)))
}
