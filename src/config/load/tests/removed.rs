//! Settings that there are no more.

use super::*;
use crate::config::removed::REMOVED;

#[test]
fn a_setting_that_is_gone_is_answered_with_what_replaces_it() {
    for gone in REMOVED {
        let (variable, text) = (gone.variable(), format!("{} = 'anything'", gone.key));
        let removal = gone.removal.expect(gone.key);
        if removal.is_harmless(&["anything".to_owned()]) {
            let warnings: Vec<String> =
                World::new().file(&text).load().expect(gone.key).warnings.iter().map(ToString::to_string).collect();
            assert!(warnings.iter().any(|warning| warning.ends_with(removal.instead)), "{warnings:?}");
        } else {
            let error = World::new().file(&text).error();
            let instead = format!("{}: there is no such setting any more: {}", gone.key, removal.instead);
            assert_eq!(error, format!("config.toml:1: {instead}"));
            assert!(World::new().env(&variable, "anything").error().starts_with(&variable));
            assert!(World::new().flag(gone.key, "anything").error().starts_with(&format!("--{}", gone.key)));
        }
    }
    // What closed, refused or protected something ends the start; what only tuned, or asked for what is there, does not.
    for text in [
        "forwarded-field = 'forwarded'",
        "accept-local-part = ['test-*']",
        "max-messages-per-domain = 500",
        "mailbox-full = 'reject'",
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
    ] {
        let warnings = World::new().file(text).load().expect(text).warnings;
        assert!(matches!(&warnings[..], [Warning::Removed { .. }]), "{text}: {warnings:?}");
    }
}
