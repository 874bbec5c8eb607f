//! A configuration file with every key, its default and its meaning, made from the table of settings.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::setting::{Setting, Shape};
use super::settings::SUBJECTS;
use super::{Config, Revision};

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
    let defaults = Config::of_revision(Revision::default(), PathBuf::new());
    let mut text = HEAD.to_owned();
    // Writing to a String does not fail.
    for subject in SUBJECTS {
        let _ = write!(text, "\n## {0}\n## {1}\n", subject.title, "-".repeat(subject.title.len()));
        for setting in subject.settings {
            text.push('\n');
            text.push_str(&commented(&sentence(setting.help)));
            text.push_str(&commented(&format!(
                "Default: {}",
                setting.default_text().replace(',', ", ").replace("  ", " ")
            )));
            let _ = writeln!(text, "#{} = {}", setting.key, value(setting, &defaults));
        }
    }
    text
}

fn sentence(help: &str) -> String {
    if help.ends_with('.') { help.to_owned() } else { format!("{help}.") }
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

fn value(setting: &Setting, defaults: &Config) -> String {
    let values = setting.sample(defaults);
    match setting.shape {
        Shape::Switch => values.concat(),
        Shape::One => one(&values.concat()),
        Shape::Several => format!("[{}]", values.iter().map(|value| one(value)).collect::<Vec<_>>().join(", ")),
    }
}

/// A number, or a string of TOML: its basic strings take what JSON escapes.
fn one(text: &str) -> String {
    match text.parse::<u64>() {
        Ok(number) if number.to_string() == text => number.to_string(),
        _ => serde_json::Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{SETTINGS, check_file};

    fn loaded(text: &str) -> Config {
        let dir = tempfile::tempdir().expect("directory");
        let file = dir.path().join("config.toml");
        std::fs::write(&file, text).expect("write");
        check_file(&file).unwrap_or_else(|error| panic!("{error}\n{text}")).config
    }

    #[test]
    fn every_setting_is_there_once_with_its_meaning() {
        let text = template();
        for setting in SETTINGS {
            let start = format!("#{} = ", setting.key);
            assert_eq!(text.lines().filter(|line| line.starts_with(&start)).count(), 1, "{start}");
        }
        let words = text.replace("\n##", "").split_whitespace().collect::<Vec<_>>().join(" ");
        for setting in SETTINGS {
            assert!(words.contains(setting.help), "{}", setting.help);
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
        for setting in SETTINGS {
            assert_eq!(setting.show(&loaded(&commented)), setting.show(&empty), "{}", setting.key);
            let written = loaded(&bare);
            assert!(written.origins[setting.key].to_string().contains("config.toml:"), "{} is a comment", setting.key);
            if setting.key != "data-dir" {
                assert_eq!(setting.show(&written), setting.show(&empty), "{}", setting.key);
            }
        }
    }
}
