//! Tests of the configuration file.

use std::fs;

use super::*;
use crate::model::{DomainPattern, RoleAddresses};

#[test]
fn the_file_takes_toml_types_and_lists_in_several_spellings() {
    let config = World::new()
        .file("page-size-max = 150\ntrusted-network = true\nmax-message-size = 0x10_0000\nmx-host = 'a.test, b.test'\nrole-addresses = []\n[[domain]]\nname = 'c.test'\n[[domain]]\nname = '*.d.test'\n")
        .config();
    assert_eq!(config.http.page_size_max, 150);
    assert!(config.smtp.trusted_network);
    assert_eq!(config.mail.message_octets_max, 1 << 20);
    assert_eq!(config.domains.mx_hosts.len(), 2);
    assert_eq!(config.mail.role_addresses, RoleAddresses::new([]));
    let domains: Vec<DomainPattern> = vec!["c.test".parse().expect("name"), "*.d.test".parse().expect("pattern")];
    assert_eq!(config.domains.fixed, domains);
}

#[test]
fn an_unknown_key_is_answered_with_the_nearest_one() {
    for (text, message) in [
        ("q = 1", "config.toml:1: q: unknown key"),
        ("# x\nretension = '1h'", "config.toml:2: retension: unknown key; did you mean retention?"),
        ("smtp_listen = '127.0.0.1:1'", "config.toml:1: smtp_listen: unknown key; did you mean smtp-listen?"),
        ("domains = []", "config.toml:1: domains: unknown key; did you mean domain?"),
        ("[smtp]\nlisten = 1", "config.toml:1: smtp: unknown key; did you mean smtp-auth?"),
    ] {
        assert_eq!(World::new().file(text).error(), message);
    }
}

#[test]
fn all_problems_are_reported_at_once_in_the_order_of_the_file() {
    let world = World::new().file("zzz = 1\nretention = 'x'\nsubadressing = 1\n").flag("revision", "9");
    let error = world.error();
    let places: Vec<_> = error.lines().map(|line| line.split(": ").take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        places,
        ["config.toml:1 zzz", "config.toml:2 retention", "config.toml:3 subadressing", "--revision '9' is not 1 or 2"]
    );
}

#[test]
fn broken_toml_is_named_with_its_line() {
    for (text, line) in [("revision = 1\nretention = \n", 2), ("[x", 1), ("revision = 1\nrevision = 2\n", 2)] {
        let error = World::new().file(text).error();
        assert!(error.starts_with(&format!("config.toml:{line}: ")), "{error}");
    }
}

#[test]
fn a_named_file_must_exist_and_the_usual_ones_need_not() {
    let mut world = World::new();
    world.sources.config_file = Some(world.dir.path().join("missing.toml"));
    assert!(world.error().starts_with("cannot read the configuration file missing.toml: "), "{}", world.error());
    let error = World::new().env("TEMPMAIL_CONFIG", "/nonexistent/x.toml").error();
    assert!(error.contains("/nonexistent/x.toml"), "{error}");
    let mut world = World::new();
    world.sources.config_file = Some(world.dir.path().to_owned());
    assert!(world.error().starts_with("cannot read the configuration file "), "{}", world.error());
    let endless = World::new().env("TEMPMAIL_CONFIG", "/dev/zero").error();
    assert!(endless.contains("larger than 1 MB"), "{endless}");
}

#[test]
fn the_users_file_comes_before_the_machines() {
    let world = World::new();
    let home = world.dir.path().join("home");
    let world = world.env("XDG_CONFIG_HOME", home.to_str().expect("UTF-8"));
    fs::write(world.dir.path().join("etc.toml"), "retention = '1m'").expect("write");
    assert_eq!(world.config().mail.retention.as_secs(), 60);
    fs::create_dir_all(home.join("tempmail")).expect("mkdir");
    fs::write(home.join("tempmail/config.toml"), "retention = '2m'").expect("write");
    let loaded = world.load().expect("settings");
    assert_eq!(loaded.config.mail.retention.as_secs(), 120);
    assert_eq!(loaded.file, Some(home.join("tempmail/config.toml")));
}
