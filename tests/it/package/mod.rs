//! The files that packages are made of name things that exist.
//! Promise: it outlives the code below it.

mod container;

use tempmail::config::{Sources, load};

use crate::support::files::file;

/// The problems that the configuration has with this file.
fn problems(config: &str) -> Option<String> {
    let dir = tempfile::tempdir().expect("a directory");
    let config_file = dir.path().join("config.toml");
    std::fs::write(&config_file, config).expect("a file");
    let env = [("HOME".to_owned(), dir.path().display().to_string())].into();
    load(&Sources { config_file: Some(config_file), env, ..Sources::default() }).err().map(|error| error.to_string())
}

#[test]
fn the_packaged_settings_change_nothing_and_each_can_be_used() {
    let config = file(".package/config.toml");
    assert!(config.lines().all(|line| line.is_empty() || line.starts_with('#')), "{config}");
    let settings: Vec<&str> =
        config.lines().filter_map(|line| line.strip_prefix('#')).filter(|line| !line.starts_with(' ')).collect();
    assert!(settings.len() >= 8, "{settings:?}");
    assert_eq!(problems(&settings.join("\n")), None);
}

#[test]
fn each_place_that_has_the_version_has_that_of_the_program() {
    let version = env!("CARGO_PKG_VERSION");
    let changelog = file("man/guide/changelog.md");
    let newest = changelog.lines().find_map(|line| line.strip_prefix("## ")).expect("a release");
    assert_eq!(newest.split([' ', ',']).next(), Some(version), "man/guide/changelog.md");
    let debian = file(".package/changelog");
    assert!(debian.starts_with(&format!("tempmail ({version}-")), ".package/changelog");
}
