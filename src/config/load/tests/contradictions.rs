//! Values that are good alone and not together.

use super::*;

#[test]
fn values_that_contradict_each_other_are_refused() {
    for (world, message) in [
        (
            World::new().flag("page-size-default", "60").flag("page-size-max", "50"),
            "--page-size-default: 60 is more than page-size-max, which is 50",
        ),
        (
            World::new().file("revision = 1\npage-size-max = 101"),
            "config.toml:2: page-size-max: 101 is more than 100, the most that revision 1 has; use revision 2",
        ),
        (
            World::new().env("TEMPMAIL_SEGMENT_SIZE", "1MB").flag("max-message-size", "513KB"),
            "TEMPMAIL_SEGMENT_SIZE: 1MB is less than twice max-message-size, which is 513KB",
        ),
        (
            World::new().flag("smtp-body-budget", "2MB").flag("max-message-size", "3MB"),
            "--smtp-body-budget: 2MB is less than max-message-size, which is 3MB",
        ),
        (
            World::new().flag("domain", "*").flag("smtp-listen", "127.0.0.1:2525,0.0.0.0:25"),
            "--domain: '*' takes mail for any domain, but the service listens on 0.0.0.0:25, which is not loopback; listen on loopback or set trusted-network",
        ),
        (
            World::new().flag("smtp-auth", "accept-any").flag("smtp-listen", "127.0.0.1:2525,[::]:25"),
            "--smtp-auth: any credentials are accepted, but the service listens on [::]:25, which is not loopback; listen on loopback or set trusted-network",
        ),
        (
            World::new().flag("domain", "*.example.test").flag("proxy-from", "127.0.0.1"),
            "--domain: '*.example.test' takes mail for any domain, but with proxy-from clients from anywhere may come through a proxy; unset proxy-from or set trusted-network",
        ),
        (
            World::new().flag("smtp-auth", "accept-any").flag("proxy-from", "127.0.0.1"),
            "--smtp-auth: any credentials are accepted, but with proxy-from clients from anywhere may come through a proxy; unset proxy-from or set trusted-network",
        ),
        (
            World::new().flag("fault", "RCPT * drop").flag("lmtp-listen", "0.0.0.0:24"),
            "--fault: faults are for tests of senders, but the service listens on 0.0.0.0:24, which is not loopback; listen on loopback or set trusted-network",
        ),
        (
            World::new().flag("dev", "true").flag("smtp-listen", "0.0.0.0:1025"),
            "--dev: everybody who reaches the service reads all mail, but the service listens on 0.0.0.0:1025, which is not loopback; listen on loopback or set trusted-network",
        ),
        (
            World::new().file("dev = true\nhttp-listen = '[::]:8025'"),
            "config.toml:1: dev: everybody who reaches the service reads all mail, but the service listens on [::]:8025, which is not loopback; listen on loopback or set trusted-network",
        ),
        (
            World::new().flag("http-listen", "127.0.0.1:2525"),
            "--http-listen: 127.0.0.1:2525 is taken twice, as smtp-listen has it",
        ),
        (
            World::new().flag("tls-key", "/k.pem"),
            "--tls-key: a key without a certificate; set tls-cert to the certificate's file",
        ),
        (
            World::new().flag("tls-key", "/k.pem").flag("tls-cert", "self-signed"),
            "--tls-key: tls-cert is self-signed and has its own key; set tls-key to none",
        ),
        (
            World::new().flag("smtps-listen", "127.0.0.1:465"),
            "--smtps-listen: TLS needs a certificate; set tls-cert and tls-key, or tls-cert to self-signed for development",
        ),
        (
            World::new().flag("https-listen", "127.0.0.1:443"),
            "--https-listen: TLS needs a certificate; set tls-cert and tls-key, or tls-cert to self-signed for development",
        ),
        (
            World::new().flag("lmtp-listen", "127.0.0.1:2525"),
            "--lmtp-listen: 127.0.0.1:2525 is taken twice, as smtp-listen has it",
        ),
        (
            World::new().flag("domain", "*").flag("lmtp-listen", "0.0.0.0:24"),
            "--domain: '*' takes mail for any domain, but the service listens on 0.0.0.0:24, which is not loopback; listen on loopback or set trusted-network",
        ),
    ] {
        assert_eq!(world.error(), message);
    }
}

#[test]
fn values_that_only_just_agree_are_accepted() {
    for world in [
        World::new().flag("page-size-default", "50").flag("page-size-max", "50"),
        World::new().flag("revision", "1").flag("page-size-max", "100"),
        World::new().flag("segment-size", "1MB").flag("max-message-size", "512KB"),
        World::new().flag("smtp-body-budget", "2MB").flag("max-message-size", "2MB"),
        World::new().flag("domain", "*"),
        World::new().flag("domain", "*").flag("smtp-listen", "0.0.0.0:25").flag("trusted-network", "true"),
        World::new().flag("domain", "*").flag("proxy-from", "127.0.0.1").flag("trusted-network", "true"),
        World::new().flag("smtp-listen", "127.0.0.1:0").flag("http-listen", "127.0.0.1:0"),
    ] {
        world.config();
    }
}
