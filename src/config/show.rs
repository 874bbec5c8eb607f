//! Every setting with its value in effect and where that came from, and a file with every default.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Config;
use super::error::ValueOrigin;
use super::setting::{Setting, Shape, all, settings, variable};

/// A setting as it is in effect. No setting is a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingInEffect {
    /// The key of the file.
    pub key: String,
    /// The values as they were given; none for an empty list.
    pub values: Vec<String>,
    /// `flag`, `environment`, `file`, `dev` or `default`.
    pub origin: String,
    /// The path of the file, if it is from a file.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// The line of the key in that file, counted from 1.
    #[serde(default)]
    pub line: Option<usize>,
}

impl SettingInEffect {
    /// Where the value came from, for a person: a flag, a variable, a line of a file, `dev` or `default`.
    pub fn place(&self) -> String {
        match (self.origin.as_str(), &self.file, self.line) {
            ("flag", ..) => format!("--{}", self.key),
            ("environment", ..) => variable(&self.key),
            (_, Some(file), Some(line)) => format!("{}:{line}", file.display()),
            (_, Some(file), None) => file.display().to_string(),
            (origin, ..) => origin.to_owned(),
        }
    }
}

impl Config {
    /// Every setting, in the order in which help lists them.
    pub fn in_effect(&self) -> Vec<SettingInEffect> {
        let entry = |setting: &Setting| {
            let (origin, place) = match self.origin(&setting.key) {
                ValueOrigin::Flag => ("flag", None),
                ValueOrigin::Environment => ("environment", None),
                ValueOrigin::File { path, line } => ("file", Some((path, line))),
                ValueOrigin::Dev => ("dev", None),
                ValueOrigin::Default(_) => ("default", None),
            };
            let (file, line) = place.unzip();
            let (key, values) = (setting.key.clone(), self.values(&setting.key));
            SettingInEffect { key, values, origin: origin.to_owned(), file, line }
        };
        // A constant is shown where somebody sets it.
        all().filter(|setting| !setting.is_constant || !self.is_default(&setting.key)).map(entry).collect()
    }

    /// The keys of the settings whose values differ in `other`, in the order in which help lists them.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let differs = |setting: &&Setting| self.values(&setting.key) != other.values(&setting.key);
        all().filter(differs).map(|setting| setting.key.as_str()).collect()
    }

    /// The values of a setting as they were given, or its default.
    pub fn values(&self, key: &str) -> Vec<String> {
        match key {
            // Callers make it absolute.
            "data-dir" => vec![self.data_dir.display().to_string()],
            _ => self.given.get(key).map(|given| given.values.clone()).unwrap_or_default(),
        }
    }

    /// Whether nobody gave a value of a setting.
    pub fn is_default(&self, key: &str) -> bool {
        matches!(self.origin(key), ValueOrigin::Dev | ValueOrigin::Default(_))
    }

    /// Shows another default.
    pub(super) fn set_default(&mut self, key: &'static str, text: String) {
        if self.is_default(key) {
            self.given.entry(key).and_modify(|given| given.values = vec![text]);
        }
    }

    /// Where the value of a setting came from.
    pub fn origin(&self, key: &str) -> ValueOrigin {
        self.given.get(key).map_or(ValueOrigin::Default(self.revision), |given| given.origin.clone())
    }
}

/// Where a line of text is broken, in columns.
const COLUMNS: usize = 100;

const HEAD: &str = "\
## Configuration of tempmail. Each setting is at its default and commented out.
## Take away the '#' of a line and change its value. `tempmail config check FILE` checks the file.
##
## Sizes: a whole number and B, KB, MB or GB; KB is 1,024 octets.
## Durations: whole numbers with d, h, m, s or ms, such as \"1h30m\".
";

/// A file for the newest revision. Settings are behind `#`, text is behind `##`: without the first `#` of each line it is
/// a file with every default.
pub fn template() -> String {
    let mut text = HEAD.to_owned();
    let mut subject = "";
    // Writing to a String does not fail.
    for setting in settings() {
        if setting.subject != subject {
            subject = &setting.subject;
            let _ = write!(text, "\n## {subject}\n## {}\n", "-".repeat(subject.len()));
        }
        let help = commented(&format!("{}.", setting.help));
        let default = commented(&format!("Default: {}", setting.default_text()));
        let _ = writeln!(text, "\n{help}{default}#{} = {}", setting.key, in_file(setting));
    }
    text
}

/// Lines of a comment, broken between words.
fn commented(text: &str) -> String {
    let mut lines = String::new();
    let mut line = "##".to_owned();
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > COLUMNS && line.len() > 2 {
            lines.push_str(&line);
            lines.push('\n');
            "##".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(word);
    }
    lines + &line + "\n"
}

/// The default as the file has it.
fn in_file(setting: &Setting) -> String {
    // A number, or a string of TOML: its basic strings take what JSON escapes.
    let one = |text: &String| match text.parse::<u64>() {
        Ok(number) if number.to_string() == *text => number.to_string(),
        _ => serde_json::Value::from(text.as_str()).to_string(),
    };
    match setting.shape {
        Shape::Switch => setting.default.concat(),
        Shape::One => one(&setting.default.concat()),
        Shape::Several => format!("[{}]", setting.default.iter().map(one).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Revision, check_file};

    fn loaded(text: &str) -> Config {
        check_file(Path::new("/config.toml"), Ok(text.as_bytes()))
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
            .config
    }

    #[test]
    fn every_setting_is_there_once_with_its_meaning() {
        let text = template();
        for setting in settings() {
            let start = format!("#{} = ", setting.key);
            assert_eq!(text.lines().filter(|line| line.starts_with(&start)).count(), 1, "{start}");
        }
        let words = text.replace("\n##", "").split_whitespace().collect::<Vec<_>>().join(" ");
        for setting in settings() {
            assert!(words.contains(&setting.help), "{}", setting.help);
        }
        assert!(text.lines().filter(|line| line.starts_with("##")).all(|line| line.chars().count() <= COLUMNS));
    }

    #[test]
    fn it_is_valid_with_and_without_its_first_comment_marks_and_equals_the_defaults() {
        let empty = loaded("");
        let (commented, bare) = (
            template(),
            template().lines().map(|line| line.strip_prefix('#').unwrap_or(line).to_owned() + "\n").collect::<String>(),
        );
        for setting in settings() {
            assert_eq!(loaded(&commented).values(&setting.key), empty.values(&setting.key), "{}", setting.key);
            let written = loaded(&bare);
            assert!(written.origin(&setting.key).to_string().contains("config.toml:"), "{} is a comment", setting.key);
            if setting.key != "data-dir" {
                assert_eq!(written.values(&setting.key), empty.values(&setting.key), "{}", setting.key);
            }
        }
    }

    #[test]
    fn each_setting_tells_its_place() {
        let place = |origin: &str, file: Option<&str>, line| {
            let (key, origin, file) = ("retention".to_owned(), origin.to_owned(), file.map(PathBuf::from));
            SettingInEffect { key, values: Vec::new(), origin, file, line }.place()
        };
        assert_eq!(place("flag", None, None), "--retention");
        assert_eq!(place("environment", None, None), "TEMPMAIL_RETENTION");
        assert_eq!(place("file", Some("/etc/c.toml"), Some(7)), "/etc/c.toml:7");
        assert_eq!(place("default", None, None), "default");
    }

    #[test]
    fn what_is_told_can_be_read_back() {
        for revision in [Revision::One, Revision::Two] {
            let config = Config::of_revision(revision, "/data".into());
            let read = Config::from_in_effect(&config.in_effect());
            assert_eq!(read.differences(&config), [""; 0]);
            assert_eq!(read.mail.message_octets_max, config.mail.message_octets_max);
        }
    }

    #[test]
    fn settings_that_differ_are_named() {
        let one = loaded("");
        let other = loaded("data-dir = '/other'\nmax-message-size = '1KB'");
        assert_eq!(one.differences(&one), [""; 0]);
        assert_eq!(one.differences(&other), ["data-dir", "max-message-size"]);
    }
}
