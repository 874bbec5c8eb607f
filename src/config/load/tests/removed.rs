//! Settings that there are no more.

use super::*;
use crate::config::removed;

#[test]
fn a_setting_that_is_gone_is_answered_with_what_replaces_it() {
    for key in removed::keys() {
        let gone = removed::find(key).expect(key);
        let (variable, text) = (variable(key), format!("{key} = 'anything'"));
        if gone.is_harmless(&["anything".to_owned()]) {
            let warnings = World::new().file(&text).load().expect(key).warnings;
            assert!(warnings.iter().any(|warning| warning.ends_with(gone.instead)), "{warnings:?}");
        } else {
            let error = World::new().file(&text).error();
            let instead = format!("{key}: there is no such setting any more: {}", gone.instead);
            assert_eq!(error, format!("config.toml:1: {instead}"));
            assert!(World::new().env(&variable, "anything").error().starts_with(&variable));
            assert!(World::new().flag(key, "anything").error().starts_with(&format!("--{key}")));
        }
    }
    // What closed, refused or protected something ends the start; what only tuned, or asked for what is there, does not.
    for text in [
        "forwarded-field = 'forwarded'",
        "accept-local-part = ['test-*']",
        "max-messages-per-domain = 500",
        "mailbox-full = 'reject'",
        "public-read = 'token'",
        "public-delete = 'off'",
        "public-webhooks = 'token'",
        "public-domains = 'off'",
        "web = 'off'",
        "tls-self-signed = true",
        "cassandra-tls = 'on'",
        "cassandra-ca = '/ca.pem'",
        "cassandra-user = 'ann'",
        "cassandra-password-file = '/p'",
        "cassandra-data-center = 'east'",
        "webhook-refused-ports = [2375]",
    ] {
        assert!(World::new().file(text).load().is_err(), "{text}");
    }
    for text in [
        "forwarded-field = 'x-forwarded-for'",
        "max-messages-per-domain = 0",
        "mailbox-full = 'drop-oldest'",
        "http-socket-mode = '660'",
        "peer-listen = '10.0.0.1:2527'",
        "peer-address = 'node.test:2527'",
        "public-read = 'open'",
        "web = 'on'",
        "tls-self-signed = false",
        "cassandra-tls = 'off'",
        "webhook-refused-ports = []",
        "webhook-refused-ports = [25, 465]",
        "index-cache-size = '16MB'",
    ] {
        let warnings = World::new().file(text).load().expect(text).warnings;
        assert!(
            matches!(&warnings[..], [warning] if warning.contains("no such setting any more")),
            "{text}: {warnings:?}"
        );
    }
}

#[test]
fn an_old_name_means_the_new_one() {
    for old in ["accept-any-domain", "fault-anywhere"] {
        assert!(World::new().file(&format!("{old} = true")).config().smtp.trusted_network);
        assert!(World::new().flag(old, "true").config().smtp.trusted_network);
        let variable = variable(old);
        let world = World::new().file("trusted-network = false").env(&variable, "true");
        assert!(world.config().smtp.trusted_network, "{variable} is stronger than the file");
    }
    let loaded = World::new().file("accept-any-domain = true\nfault-anywhere = true").load().expect("one meaning");
    assert!(loaded.config.smtp.trusted_network);
    assert_eq!(loaded.warnings.len(), 2, "each permits more than it did: {:?}", loaded.warnings);
    assert!(
        World::new().flag("accept-any-domain", "true").flag("fault-anywhere", "true").config().smtp.trusted_network
    );
    let error = World::new().file("trusted-network = false\naccept-any-domain = true").error();
    assert!(
        error.starts_with("config.toml:2: accept-any-domain: trusted-network, also called accept-any-domain"),
        "{error}"
    );
    World::new().flag("accept-any-domain", "false").flag("fault-anywhere", "true").error();
}

#[test]
fn a_setting_that_was_a_switch_needs_no_value_to_be_answered() {
    let error = World::new().bare_flag("tls-self-signed").error();
    assert!(error.starts_with("--tls-self-signed: there is no such setting any more: set tls-cert"), "{error}");
    let error = World::new().file("web = {}").error();
    assert!(error.starts_with("config.toml:1: web: there is no such setting any more"), "{error}");
}
