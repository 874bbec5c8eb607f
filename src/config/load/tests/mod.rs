//! Tests of the loader.

mod cluster;
mod examples;
mod file;
mod removed;

use std::fs;

use examples::{companions, example};
use tempfile::TempDir;

use super::*;

/// Sources that no machine's own settings leak into.
struct World {
    dir: TempDir,
    sources: Sources,
}

impl World {
    fn new() -> Self {
        let env = [("HOME".to_owned(), "/home/ann".to_owned())].into();
        Self { dir: tempfile::tempdir().expect("tempdir"), sources: Sources { env, ..Sources::default() } }
    }

    fn flag(mut self, key: &str, value: &str) -> Self {
        let setting = Setting::find(key).expect(key);
        self.sources.args = self.sources.args.with(setting, [value.to_owned()]);
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.sources.env.insert(name.to_owned(), value.to_owned());
        self
    }

    fn file(mut self, text: &str) -> Self {
        let path = self.dir.path().join("config.toml");
        fs::write(&path, text).expect("write");
        self.sources.config_file = Some(path);
        self
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        let config_file = &self.dir.path().join("etc.toml");
        load_on(&Machine { config_file, name: "machine" }, &self.sources)
    }

    fn config(&self) -> Config {
        self.load().expect("valid settings").config
    }

    /// The text of the error, without the directory of the file.
    fn error(&self) -> String {
        let error = self.load().expect_err("settings that are wrong").to_string();
        error.replace(&format!("{}/", self.dir.path().display()), "")
    }
}

#[test]
fn with_nothing_given_the_defaults_of_revision_2_hold() {
    let loaded = World::new().load().expect("defaults");
    let config = &loaded.config;
    assert_eq!(config.revision, Revision::Two);
    assert_eq!(config.data_dir, Path::new("/home/ann/.local/share/tempmail"));
    assert_eq!(config.mail.message_octets_max, 307_200);
    assert_eq!((config.http.page_size_default, config.http.page_size_max), (20, 100));
    assert_eq!(config.http.rate_limit, Some(10_000));
    assert!(config.smtp.listen_is_default && config.http.listen_is_default);
    assert_eq!(config.smtp.hostname.as_str(), "machine");
    assert!(loaded.warnings.is_empty());
    assert!(loaded.file.is_none());
    assert_eq!(loaded.config.origins.len(), SETTINGS.len());
    assert!(loaded.config.origins.values().all(|origin| *origin == ValueOrigin::Default(Revision::Two)));
}

#[test]
fn a_revision_from_any_source_sets_the_other_defaults() {
    for world in [
        World::new().flag("revision", "1"),
        World::new().env("TEMPMAIL_REVISION", "1"),
        World::new().file("revision = 1"),
        World::new().file("revision = 2").env("TEMPMAIL_REVISION", "1"),
    ] {
        let config = world.config();
        assert_eq!(config.mail.message_octets_max, 10_485_760);
        assert_eq!(config.domains.verify_every.as_secs(), 24 * 3600);
        assert_eq!(config.http.rate_limit, None);
    }
    assert_eq!(
        World::new().file("revision = 1").flag("max-message-size", "1MB").config().mail.message_octets_max,
        1 << 20
    );
}

#[test]
fn the_strongest_source_wins() {
    for (world, seconds, origin) in [
        (World::new(), 7200, "default of revision 2"),
        (World::new().file("retention = '1m'"), 60, "config.toml:1"),
        (World::new().file("retention = '1m'").env("TEMPMAIL_RETENTION", "2m"), 120, "environment"),
        (World::new().file("retention = '1m'").env("TEMPMAIL_RETENTION", "2m").flag("retention", "3m"), 180, "flag"),
        (World::new().file("retention = '1m'").flag("retention", "3m"), 180, "flag"),
        (World::new().env("TEMPMAIL_RETENTION", "2m").flag("retention", "3m"), 180, "flag"),
        (World::new().file("retention = '1m'").env("TEMPMAIL_RETENTION", ""), 60, "config.toml:1"),
    ] {
        let loaded = world.load().expect("settings");
        assert_eq!(loaded.config.mail.retention.as_secs(), seconds);
        assert!(
            loaded.config.origins["retention"].to_string().ends_with(origin),
            "{:?}",
            loaded.config.origins["retention"]
        );
    }
}

#[test]
fn every_setting_can_come_from_each_source_and_is_shown_as_it_is_read() {
    for setting in SETTINGS {
        let mut expected = Config::of_revision(Revision::Two, PathBuf::from("/data"));
        let values = example(setting.key);
        setting.set(&mut expected, &values).expect(setting.key);
        assert_ne!(
            setting.show(&expected),
            setting.show(&Config::of_revision(Revision::Two, PathBuf::from("/other"))),
            "{}: the example is the default",
            setting.key
        );
        let mut worlds = vec![
            World::new().env(&setting.variable(), &values.join(",")),
            World::new().file(&format!("{} = {values:?}", setting.key).replace(": [", "[")),
        ];
        if setting.shape != Shape::Several {
            worlds[1] = World::new().file(&format!("{} = {:?}", setting.key, values[0]));
        }
        if !setting.is_global {
            worlds.push(World::new().flag(setting.key, &values.join(",")));
        }
        for world in worlds {
            let world = companions(setting.key).iter().fold(world, |world, (name, value)| world.env(name, value));
            let shown = setting.show(&world.config());
            assert_eq!(shown, setting.show(&expected), "{}", setting.key);
            let mut again = Config::of_revision(Revision::Two, PathBuf::new());
            setting.set(&mut again, &shown).expect(setting.key);
            assert_eq!(setting.show(&again), shown, "{}", setting.key);
        }
    }
}

#[test]
fn a_bad_value_is_named_with_its_place_and_what_is_accepted() {
    for (world, message) in [
        (
            World::new().file("revision = 2\n\nretention = 7200\n"),
            "config.toml:3: retention: '7200' is not a duration such as 2h, 90s, 7d or 1h30m (whole numbers, each with d, h, m, s or ms)",
        ),
        (
            World::new().env("TEMPMAIL_PAGE_SIZE_MAX", "301"),
            "TEMPMAIL_PAGE_SIZE_MAX: '301' is out of range; accepted is 1 to 300",
        ),
        (
            World::new().flag("max-message-size", "0"),
            "--max-message-size: '0' is out of range; accepted is 1KB to 50MB",
        ),
        (
            World::new().flag("webhook-schedule", "5s,2d"),
            "--webhook-schedule: '2d' is out of range; accepted is 10ms to 1d",
        ),
        (
            World::new().env("TEMPMAIL_WEBHOOK_ALLOW", "10.0.0.0/8,lan"),
            "TEMPMAIL_WEBHOOK_ALLOW: 'lan' is not a network such as 10.0.0.0/8, fd00::/8 or 127.0.0.1",
        ),
        (
            World::new().file("webhook-refused-ports = [0]"),
            "config.toml:1: webhook-refused-ports: '0' is out of range; accepted is 1 to 65535",
        ),
        (
            World::new().flag("webhook-timeout", "99ms"),
            "--webhook-timeout: '99ms' is out of range; accepted is 100ms to 2m",
        ),
        (World::new().flag("revision", "3"), "--revision: '3' is not 1 or 2"),
        (World::new().flag("log-format", "xml"), "--log-format: 'xml' is not text or json"),
        (World::new().flag("subaddressing", "Strip"), "--subaddressing: 'Strip' is not keep or strip"),
        (World::new().flag("rate-limit", "0"), "--rate-limit: '0' is out of range; accepted is 1 to 10000000"),
        (
            World::new().flag("rate-limit", "none"),
            "--rate-limit: 'none' is not a number of requests per minute, or off",
        ),
        (
            World::new().flag("smtp-listen", ""),
            "--smtp-listen: there is no value; accepted is an IP address with a port, such as 127.0.0.1:2525",
        ),
        (World::new().flag("accept-any-domain", "yes"), "--accept-any-domain: 'yes' is not true or false"),
        (
            World::new().file("data-dir = '~/mail'"),
            "config.toml:1: data-dir: '~/mail' is not the path of a directory; '~' is expanded by shells alone",
        ),
        (
            World::new().file("retention = ['1h']"),
            "config.toml:1: retention: array is not accepted here; accepted is one string or number",
        ),
        (
            World::new().file("domain = [\n 'a.test',\n 2020-01-01 ]"),
            "config.toml:3: domain: datetime is not accepted here; accepted is a string, an array of strings, or tables [[domain]] with a name",
        ),
        (
            World::new().file("[[domain]]\nname = 'a.test'\nowner = 'x'"),
            "config.toml:3: domain.owner: unknown key; did you mean domain.name?",
        ),
        (
            World::new().file("[[domain]]\n"),
            "config.toml:1: domain: there is no value; accepted is name = \"example.com\"",
        ),
        (
            World::new().flag("domain", "a.test,-b.test"),
            "--domain: '-b.test': '-b' is not a label of a domain name; accepted is a domain name, '*.' and a domain name, or '*'",
        ),
        (
            World::new().flag("hostname", "10.0.0.1"),
            "--hostname: '10.0.0.1': an IP address is not a domain name; accepted is a domain name such as mail.example.com",
        ),
    ] {
        assert_eq!(world.error(), message);
    }
}

#[test]
fn bounds_in_help_texts_are_those_in_effect() {
    for setting in SETTINGS {
        let mut config = Config::of_revision(Revision::Two, PathBuf::new());
        for absurd in ["99999999999999999999", "99999999999999999999GB", "99999999999999999999d"] {
            if let Err(crate::config::value::ValueError::OutOfRange { low, high, .. }) =
                setting.set(&mut config, &[absurd.to_owned()])
            {
                assert!(setting.help.contains(&format!("{low} to {high}")), "{}: {low} to {high}", setting.key);
            }
        }
    }
}

#[test]
fn a_value_that_is_overridden_must_still_be_good() {
    let error = World::new().file("retention = 'x'").flag("retention", "1h").error();
    assert!(error.starts_with("config.toml:1: retention: 'x'"), "{error}");
}

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
            "--domain: '*' takes mail for any domain, but mail is received on 0.0.0.0:25, which is not loopback; listen on loopback or set accept-any-domain",
        ),
        (
            World::new().flag("smtp-auth", "accept-any").flag("smtp-listen", "127.0.0.1:2525,[::]:25"),
            "--smtp-auth: any credentials are accepted only while SMTP listens on loopback, and [::]:25 is not",
        ),
        (
            World::new().flag("domain", "*.example.test").flag("proxy-from", "127.0.0.1"),
            "--domain: '*.example.test' takes mail for any domain, but with proxy-from clients from anywhere may come through a proxy; unset proxy-from or set accept-any-domain",
        ),
        (
            World::new().flag("smtp-auth", "accept-any").flag("proxy-from", "127.0.0.1"),
            "--smtp-auth: any credentials are accepted only from this machine, but with proxy-from clients from anywhere may come through a proxy",
        ),
        (
            World::new().flag("http-listen", "127.0.0.1:2525"),
            "--http-listen: 127.0.0.1:2525 is listed twice among smtp-listen, smtps-listen, lmtp-listen, http-listen and https-listen",
        ),
        (
            World::new().flag("tls-cert", "/c.pem").flag("tls-self-signed", "true"),
            "--tls-self-signed: a certificate is made only where there is none; set either tls-self-signed or tls-cert",
        ),
        (World::new().flag("tls-key", "/k.pem"), "--tls-key: a key without a certificate; set tls-cert as well"),
        (
            World::new().flag("smtps-listen", "127.0.0.1:465"),
            "--smtps-listen: TLS needs a certificate; set tls-cert and tls-key, or tls-self-signed for development",
        ),
        (
            World::new().flag("https-listen", "127.0.0.1:443"),
            "--https-listen: TLS needs a certificate; set tls-cert and tls-key, or tls-self-signed for development",
        ),
        (
            World::new().flag("lmtp-listen", "127.0.0.1:2525"),
            "--lmtp-listen: 127.0.0.1:2525 is listed twice among smtp-listen, smtps-listen, lmtp-listen, http-listen and https-listen",
        ),
        (
            World::new().flag("domain", "*").flag("lmtp-listen", "0.0.0.0:24"),
            "--domain: '*' takes mail for any domain, but mail is received on 0.0.0.0:24, which is not loopback; listen on loopback or set accept-any-domain",
        ),
    ] {
        assert_eq!(world.error(), message);
    }
}

#[test]
fn files_of_certificates_are_relative_to_the_file_that_names_them() {
    let config = World::new().file("tls-cert = 'tls/cert.pem'").config();
    let file = Some(PathBuf::from("tls/cert.pem"));
    assert_ne!(config.tls.certificate, file);
    assert!(config.tls.certificate.as_ref().is_some_and(|path| path.ends_with("tls/cert.pem")));
    assert_eq!(config.tls.key, config.tls.certificate, "the key is in the same file unless set");
    assert_eq!(World::new().flag("tls-cert", "tls/cert.pem").config().tls.certificate, file);
}

#[test]
fn values_that_only_just_agree_are_accepted() {
    for world in [
        World::new().flag("page-size-default", "50").flag("page-size-max", "50"),
        World::new().flag("revision", "1").flag("page-size-max", "100"),
        World::new().flag("segment-size", "1MB").flag("max-message-size", "512KB"),
        World::new().flag("smtp-body-budget", "2MB").flag("max-message-size", "2MB"),
        World::new().flag("domain", "*"),
        World::new().flag("domain", "*").flag("smtp-listen", "0.0.0.0:25").flag("accept-any-domain", "true"),
        World::new().flag("domain", "*").flag("proxy-from", "127.0.0.1").flag("accept-any-domain", "true"),
        World::new().flag("smtp-listen", "127.0.0.1:0").flag("http-listen", "127.0.0.1:0"),
    ] {
        world.config();
    }
}

#[test]
fn defaults_give_way_to_what_was_set() {
    assert_eq!(World::new().flag("page-size-max", "10").config().http.page_size_default, 10);
    assert_eq!(World::new().flag("max-message-size", "50MB").config().store.segment_octets, 100 << 20);
    assert!(!World::new().flag("smtp-listen", "[::1]:2525").config().smtp.listen_is_default);
    assert_eq!(World::new().flag("mx-host", "mx.example.com").config().smtp.hostname.as_str(), "mx.example.com");
    assert_eq!(
        World::new().flag("mx-host", "mx.test").flag("hostname", "h.test").config().smtp.hostname.as_str(),
        "h.test"
    );
    let machine = Machine { config_file: Path::new("/nonexistent"), name: "not a name" };
    let loaded = load_on(&machine, &World::new().sources).expect("defaults");
    assert_eq!(loaded.config.smtp.hostname.as_str(), "localhost");
}

#[test]
fn the_data_directory_is_found_or_asked_for() {
    let mut world = World::new().file("data-dir = 'mail'");
    assert_eq!(world.config().data_dir, world.dir.path().join("mail"));
    world.sources.env.insert("TEMPMAIL_DATA_DIR".to_owned(), "/env".to_owned());
    assert_eq!(world.config().data_dir, Path::new("/env"));
    world.sources.data_dir = Some("flag".into());
    assert_eq!(world.config().data_dir, Path::new("flag"));
    let mut homeless = World::new();
    homeless.sources.env.clear();
    assert!(homeless.error().starts_with("no data directory"));
    homeless.sources.data_dir = Some("/d".into());
    assert_eq!(homeless.config().data_dir, Path::new("/d"));
}

#[test]
fn variables_that_nothing_reads_are_warned_about() {
    let world = World::new().env("TEMPMAIL_SERVER", "http://x").env("TEMPMAIL_TOKEN", "t").env("PATH", "/bin");
    assert!(world.load().expect("settings").warnings.is_empty());
    let world = world
        .env("TEMPMAIL_RETENSION", "1h")
        .env("TEMPMAIL_XYZ", "1")
        .env("TEMPMAIL_EMPTY", "")
        .flag("public-address", "192.0.2.1");
    let warnings: Vec<_> = world.load().expect("settings").warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "TEMPMAIL_RETENSION is set, but there is no such setting; did you mean TEMPMAIL_RETENTION?",
            "TEMPMAIL_XYZ is set, but there is no such setting",
            "public-address has no effect without an mx-host",
        ]
    );
}

#[test]
fn lists_are_split_at_commas_and_replaced_whole() {
    let world =
        World::new().file("domain = ['a.test']").env("TEMPMAIL_DOMAIN", "b.test, c.test,").flag("domain", "d.test");
    assert_eq!(world.flag("domain", "e.test,f.test").config().domains.fixed.len(), 3);
    assert_eq!(World::new().flag("domain", "a.test,b.test,A.test").config().domains.fixed.len(), 2);
    assert_eq!(World::new().flag("smtp-listen", "[::1]:0,[::1]:0").config().smtp.listen.len(), 2);
}
