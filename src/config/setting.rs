//! One setting: its flag, its variable, its key in the file, and how its value is read and shown.

use std::path::PathBuf;

use super::constants::CONSTANTS;
use super::removed::{REMOVED, Removal};
use super::settings::SETTINGS;
use super::value::ValueError;
use super::{Config, Revision};

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

/// One setting of `serve`.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key in the file; with `--` before it the flag.
    pub key: &'static str,
    /// How many values it takes.
    pub shape: Shape,
    /// What stands for the value in help texts.
    pub value_name: &'static str,
    /// What it means, with unit and bounds, without the default.
    pub help: &'static str,
    /// The flag is one of the whole program, not of `serve`.
    pub is_global: bool,
    /// What is said of a setting that there is no more.
    pub(super) removal: Option<Removal>,
    default: Option<&'static str>,
    /// What a file shows where the default depends on the environment.
    example: Option<&'static str>,
    set: fn(&mut Config, &[String]) -> Result<(), ValueError>,
    show: fn(&Config) -> Vec<String>,
}

impl Setting {
    pub(super) const fn new(
        key: &'static str,
        shape: Shape,
        value_name: &'static str,
        help: &'static str,
        set: fn(&mut Config, &[String]) -> Result<(), ValueError>,
        show: fn(&Config) -> Vec<String>,
    ) -> Self {
        Self { key, shape, value_name, help, is_global: false, removal: None, default: None, example: None, set, show }
    }

    /// Describes a default that is no constant of the revision.
    pub(super) const fn with_default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// A value for a file, where the default depends on the environment.
    pub(super) const fn with_example(mut self, example: &'static str) -> Self {
        self.example = Some(example);
        self
    }

    /// The value that a file shows: the default of the newest revision, or an example.
    pub(super) fn sample(&self, defaults: &Config) -> Vec<String> {
        self.example.map_or_else(|| self.show(defaults), |example| vec![example.to_owned()])
    }

    pub(super) const fn gone(mut self, removal: Removal) -> Self {
        self.removal = Some(removal);
        self
    }

    pub(super) const fn global(mut self) -> Self {
        self.is_global = true;
        self
    }

    /// Every setting, every constant that a test may set, and what is said of settings that are gone.
    pub(super) fn all() -> impl Iterator<Item = &'static Self> {
        SETTINGS.iter().chain(CONSTANTS).chain(REMOVED)
    }

    /// The setting with this key, of all.
    pub fn find(key: &str) -> Option<&'static Self> {
        Self::all().find(|setting| setting.key == key)
    }

    /// The environment variable: `TEMPMAIL_` and the key in upper case with underscores.
    pub fn variable(&self) -> String {
        variable(self.key)
    }

    /// Puts a value from any source into `config`. `config` is as before after an error.
    pub fn set(&self, config: &mut Config, values: &[String]) -> Result<(), ValueError> {
        (self.set)(config, values)
    }

    /// The value in effect, as [`Setting::set`] takes it.
    pub fn show(&self, config: &Config) -> Vec<String> {
        (self.show)(config)
    }

    /// The default in words, where the revisions differ with both values.
    pub fn default_text(&self) -> String {
        let of = |revision| {
            let shown = self.show(&Config::of_revision(revision, PathBuf::new())).join(",");
            if shown.is_empty() { "none".to_owned() } else { shown }
        };
        match self.default {
            Some(text) => text.to_owned(),
            None if self.key == "revision" => of(Revision::default()),
            None => match (of(Revision::One), of(Revision::Two)) {
                (one, two) if one == two => one,
                (one, two) => format!("{two}; revision 1: {one}"),
            },
        }
    }
}

/// The environment variable of a key.
pub(super) fn variable(key: &str) -> String {
    format!("TEMPMAIL_{}", key.to_ascii_uppercase().replace('-', "_"))
}
