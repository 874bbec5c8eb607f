//! The configuration file: TOML to values and the lines they stand on.

use std::fmt::Display;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::error::{ConfigProblem, ValueOrigin, did_you_mean};
use super::removed;
use super::setting::{Setting, Shape};
use crate::value::ValueError;

/// The largest file that is read, in octets.
const FILE_OCTETS_MAX: u64 = 1 << 20;

/// A line, counted from 1, with its key and values.
type Entry = (usize, String, Vec<String>);

/// The file to read: `named`, which must exist, else the first of `usual` that exists.
pub(super) fn find<'a>(named: Option<&'a Path>, usual: impl Iterator<Item = &'a Path>) -> Option<&'a Path> {
    // A file that is there but cannot be opened is an error later: somebody relies on it. One in a directory that cannot
    // be searched is passed over: HOME is often still that of the user before privileges were dropped.
    named.or_else(|| usual.into_iter().find(|path| path.exists()))
}

/// Reads the file. What is usable is returned beside the problems, so that all are reported at once.
pub(super) fn read(path: &Path, file: io::Result<impl Read>) -> (Vec<Entry>, Vec<ConfigProblem>) {
    match file.and_then(text_of) {
        Ok(text) => Reader { path, text: &text, entries: Vec::new(), problems: Vec::new() }.read(),
        Err(error) => (Vec::new(), vec![ConfigProblem::Unreadable(path.to_owned(), error)]),
    }
}

fn text_of(file: impl Read) -> io::Result<String> {
    let mut text = String::new();
    file.take(FILE_OCTETS_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_OCTETS_MAX {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MB"));
    }
    Ok(text)
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    entries: Vec<Entry>,
    problems: Vec<ConfigProblem>,
}

impl Reader<'_> {
    fn read(mut self) -> (Vec<Entry>, Vec<ConfigProblem>) {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        if !errors.is_empty() {
            let syntax = |error: toml::de::Error| {
                let line = self.line(error.span().unwrap_or_default());
                let text = format!("{}:{line}: {}", self.path.display(), error.message());
                ConfigProblem::Wrong { line: Some(line), text }
            };
            // What was recovered is guesswork: only the syntax is reported.
            return (Vec::new(), errors.into_iter().map(syntax).collect());
        }
        for (key, value) in table.get_ref() {
            self.key(key.get_ref(), self.line(key.span()), value.get_ref());
        }
        self.entries.sort_unstable();
        (self.entries, self.problems)
    }

    fn line(&self, span: Range<usize>) -> usize {
        let before = self.text.as_bytes().get(..span.start).unwrap_or(self.text.as_bytes());
        before.split(|&b| b == b'\n').count()
    }

    fn problem(&self, key: &str, line: usize, what: &dyn Display) -> ConfigProblem {
        ConfigProblem::of(key, &ValueOrigin::File { path: self.path.to_owned(), line }, what)
    }

    fn key(&mut self, key: &str, line: usize, value: &DeValue<'_>) {
        let values = match Setting::find(key) {
            Some(setting) => self.values(key, setting.shape, line, value),
            None if removed::find(key).is_some() => Ok(of_any_type(value)),
            None => Err(self.problem(key, line, &format!("unknown key{}", did_you_mean(key, str::to_owned)))),
        };
        match values {
            Ok(values) => self.entries.push((line, key.to_owned(), values)),
            Err(problem) => self.problems.push(problem),
        }
    }

    fn values(&self, key: &str, shape: Shape, line: usize, value: &DeValue<'_>) -> Result<Vec<String>, ConfigProblem> {
        match value {
            DeValue::Array(array) if shape == Shape::Several => {
                array.iter().map(|item| self.item(key, self.line(item.span()), item.get_ref())).collect()
            }
            value => {
                scalar(value).map(|text| shape.values(&[text])).ok_or_else(|| self.wrong_type(key, shape, line, value))
            }
        }
    }

    /// One element of an array; `[[domain]]` is an array of tables with a `name`.
    fn item(&self, key: &str, line: usize, value: &DeValue<'_>) -> Result<String, ConfigProblem> {
        let Some(table) = value.as_table().filter(|_| key == "domain") else {
            return scalar(value).ok_or_else(|| self.wrong_type(key, Shape::Several, line, value));
        };
        if let Some(other) = table.keys().find(|key| key.get_ref() != "name") {
            let key = format!("domain.{}", other.get_ref());
            return Err(self.problem(&key, self.line(other.span()), &"unknown key; did you mean domain.name?"));
        }
        let missing = || self.problem("domain", line, &ValueError::missing("name = \"example.com\""));
        let name = table.get("name").ok_or_else(missing)?.get_ref();
        scalar(name).ok_or_else(|| self.wrong_type(key, Shape::Several, line, name))
    }

    fn wrong_type(&self, key: &str, shape: Shape, line: usize, value: &DeValue<'_>) -> ConfigProblem {
        let accepted = match (shape, key) {
            (Shape::Switch, _) => "true or false",
            (Shape::One, _) => "one string or number",
            (Shape::Several, "domain") => "a string, an array of strings, or tables [[domain]] with a name",
            (Shape::Several, _) => "a string or an array of strings",
        };
        self.problem(key, line, &format!("{} is not accepted here; accepted is {accepted}", value.type_str()))
    }
}

/// The values of a key that is gone: it is answered whatever they are.
fn of_any_type(value: &DeValue<'_>) -> Vec<String> {
    match value {
        DeValue::Array(array) => array.iter().flat_map(|item| of_any_type(item.get_ref())).collect(),
        value => vec![scalar(value).unwrap_or_else(|| value.type_str().to_owned())],
    }
}

/// A string, a number or a truth value as text, so that one parser serves every source.
fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Some(number.to_string()),
            Err(_) => Some(number.as_str().to_owned()),
        },
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(truth) => Some(truth.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}
