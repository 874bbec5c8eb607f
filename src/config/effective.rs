//! Every setting with its value in effect and where that came from.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::error::ValueOrigin;
use super::settings::SETTINGS;
use super::{Config, Revision, setting};

/// A setting as it is in effect. No setting is a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingInEffect {
    /// The key of the file.
    pub key: String,
    /// The values as the file takes them; none for an empty list.
    pub values: Vec<String>,
    /// `flag`, `environment`, `file` or `default`.
    pub origin: String,
    /// The path of the file, if it is from a file.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// The line of the key in that file, counted from 1.
    #[serde(default)]
    pub line: Option<usize>,
}

impl SettingInEffect {
    /// Where the value came from, for a person: a flag, a variable, a line of a file, or `default`.
    pub fn place(&self) -> String {
        match (self.origin.as_str(), &self.file, self.line) {
            ("flag", ..) => format!("--{}", self.key),
            ("environment", ..) => setting::variable(&self.key),
            (_, Some(file), Some(line)) => format!("{}:{line}", file.display()),
            (_, Some(file), None) => file.display().to_string(),
            (origin, ..) => origin.to_owned(),
        }
    }
}

impl Config {
    /// Every setting, in the order in which help lists them.
    pub fn in_effect(&self) -> Vec<SettingInEffect> {
        let entry = |setting: &setting::Setting| {
            let (origin, place) = match self.origins.get(setting.key) {
                Some(ValueOrigin::Flag) => ("flag", None),
                Some(ValueOrigin::Environment) => ("environment", None),
                Some(ValueOrigin::File { path, line }) => ("file", Some((path.clone(), *line))),
                Some(ValueOrigin::Default(_)) | None => ("default", None),
            };
            let (file, line) = place.unzip();
            SettingInEffect {
                key: setting.key.to_owned(),
                values: setting.show(self),
                origin: origin.to_owned(),
                file,
                line,
            }
        };
        SETTINGS.iter().map(entry).collect()
    }

    /// The settings that [`Config::in_effect`] told. What this version does not know is left out.
    pub fn from_in_effect(settings: &[SettingInEffect]) -> Self {
        let mut config = Self::of_revision(Revision::default(), PathBuf::new());
        let known = settings.iter().filter_map(|entry| Some((setting::Setting::find(&entry.key)?, &entry.values)));
        for (setting, values) in known {
            // A value that only another version has stays at its default.
            let _ = setting.set(&mut config, values);
        }
        config
    }

    /// The keys of the settings whose values differ in `other`, in the order in which help lists them.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let differs = |setting: &&setting::Setting| setting.show(self) != setting.show(other);
        SETTINGS.iter().filter(differs).map(|setting| setting.key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_tells_its_place() {
        let mut config = Config::of_revision(Revision::Two, "/data".into());
        config.origins = [
            ("data-dir", ValueOrigin::Flag),
            ("retention", ValueOrigin::Environment),
            ("domain", ValueOrigin::File { path: "/etc/c.toml".into(), line: 7 }),
        ]
        .into();
        let shown = config.in_effect();
        assert_eq!(shown.len(), SETTINGS.len());
        let of = |key: &str| shown.iter().find(|entry| entry.key == key).map(|entry| (entry.place(), &*entry.values));
        assert_eq!(of("data-dir"), Some(("--data-dir".to_owned(), &["/data".to_owned()][..])));
        assert_eq!(of("retention"), Some(("TEMPMAIL_RETENTION".to_owned(), &["2h".to_owned()][..])));
        assert_eq!(of("domain"), Some(("/etc/c.toml:7".to_owned(), &[][..])));
        assert_eq!(of("hostname"), Some(("default".to_owned(), &["localhost".to_owned()][..])));
    }

    #[test]
    fn what_is_told_can_be_read_back() {
        for revision in [Revision::One, Revision::Two] {
            let mut config = Config::of_revision(revision, "/data".into());
            config.domains.mx_hosts = vec!["mx.example.test".parse().expect("a name")];
            assert_eq!(Config::from_in_effect(&config.in_effect()).differences(&config), [""; 0]);
        }
    }

    #[test]
    fn settings_that_differ_are_named() {
        let config = Config::of_revision(Revision::Two, "/data".into());
        let mut other = config.clone();
        assert_eq!(config.differences(&other), [""; 0]);
        (other.mail.message_octets_max, other.data_dir) = (1, "/other".into());
        assert_eq!(config.differences(&other), ["data-dir", "max-message-size"]);
    }
}
