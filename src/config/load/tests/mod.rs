//! Tests of the loader.

mod cluster;
mod contradictions;
mod examples;
mod file;
mod removed;

use std::fs;

use clap::{Args, Command};
use examples::{companions, example};
use tempfile::TempDir;

use super::*;
use crate::config::{Certificate, ServeArgs, Shape, StoreLocation, Trust, settings};

/// Sources that no machine's own settings leak into.
struct World {
    dir: TempDir,
    flags: Vec<String>,
    sources: Sources,
}

impl World {
    fn new() -> Self {
        let env = [("HOME".to_owned(), "/home/ann".to_owned())].into();
        Self {
            dir: tempfile::tempdir().expect("tempdir"),
            flags: Vec::new(),
            sources: Sources { env, ..Sources::default() },
        }
    }

    fn flag(self, key: &str, value: &str) -> Self {
        self.bare_flag(&format!("{key}={value}"))
    }

    fn bare_flag(mut self, flag: &str) -> Self {
        self.flags.push(format!("--{flag}"));
        let command = ServeArgs::augment_args(Command::new("serve").no_binary_name(true));
        let matches = command.try_get_matches_from(&self.flags).expect("flags");
        self.sources.args = ServeArgs::from_arg_matches(&matches).expect("flags");
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
    assert!(config.is_default("smtp-listen") && config.is_default("http-listen"));
    assert_eq!(config.smtp.hostname.as_str(), "machine");
    assert!(loaded.warnings.is_empty());
    assert!(loaded.file.is_none());
    assert!(settings().all(|setting| config.origin(&setting.key) == ValueOrigin::Default(Revision::Two)));
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
        let found = loaded.config.origin("retention").to_string();
        assert!(found.ends_with(origin), "{found}");
    }
}

#[test]
fn every_setting_can_come_from_each_source_and_is_shown_with_its_origin() {
    let default = World::new().config();
    for setting in all() {
        let (key, values) = (setting.key.as_str(), example(&setting.key));
        assert_ne!(default.values(key), values, "{key}: the example is the default");
        let in_file = match setting.shape {
            Shape::Several => format!("{key} = {values:?}"),
            _ => format!("{key} = {:?}", values[0]),
        };
        let mut worlds = vec![
            (World::new().env(&setting.variable(), &values.join(",")), "environment"),
            (World::new().file(&in_file), "config.toml:1"),
        ];
        if key != "data-dir" {
            worlds.push((World::new().flag(key, &values.join(",")), "flag"));
        }
        for (world, origin) in worlds {
            let world = companions(key).iter().fold(world, |world, (name, value)| world.env(name, value));
            let config = world.config();
            assert_eq!(config.values(key), values, "{key}");
            assert!(config.origin(key).to_string().ends_with(origin), "{key}: {:?}", config.origin(key));
            assert!(config.differences(&default).contains(&key), "{key}");
            let told = config.in_effect();
            assert!(told.iter().any(|shown| shown.key == key && shown.values == values), "{key}");
            assert_eq!(Config::from_in_effect(&told).differences(&config), [""; 0], "{key}");
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
        (World::new().flag("verify-every", "999ms"), "--verify-every: '999ms' is out of range; accepted is 1s to 30d"),
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
        (World::new().flag("trusted-network", "yes"), "--trusted-network: 'yes' is not true or false"),
        (World::new().flag("public", "read,write"), "--public: 'write' is not read, delete, webhooks, domains or web"),
        (World::new().flag("access-log", "on"), "--access-log: 'on' is not off, masked or full"),
        (
            World::new().file("data-dir = '~/mail'"),
            "config.toml:1: data-dir: '~/mail' is not a path ('~' is expanded by shells alone)",
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
    let mut bounded = 0;
    for setting in settings().filter(|setting| setting.key != "data-dir") {
        for absurd in ["99999999999999999999", "99999999999999999999GB", "99999999999999999999d"] {
            let Err(error) = World::new().flag(&setting.key, absurd).load() else { continue };
            if let Some((_, bounds)) = error.to_string().split_once("is out of range; accepted is ") {
                assert!(setting.help.contains(bounds), "{}: {bounds}", setting.key);
                bounded += 1;
            }
        }
    }
    assert!(bounded > 10, "{bounded}");
}

#[test]
fn a_value_that_is_overridden_must_still_be_good() {
    let error = World::new().file("retention = 'x'").flag("retention", "1h").error();
    assert!(error.starts_with("config.toml:1: retention: 'x'"), "{error}");
}

#[test]
fn files_of_certificates_are_relative_to_the_file_that_names_them() {
    let config = World::new().file("tls-cert = 'tls/cert.pem'").config();
    let Certificate::File(file) = config.tls.certificate else { panic!("no file") };
    assert!(file.is_absolute() && file.ends_with("tls/cert.pem"), "{file:?}");
    assert_eq!(config.tls.key, Some(file), "the key is in the same file unless set");
    let world = World::new().file("tls-key = 'key.pem'").flag("tls-cert", "cert.pem");
    let key = world.dir.path().join("key.pem");
    assert_eq!(world.config().values("tls-key"), [key.display().to_string()]);
    assert_eq!(world.config().tls.key, Some(key));
    let certificate = World::new().flag("tls-cert", "tls/cert.pem").config().tls.certificate;
    assert_eq!(certificate, Certificate::File("tls/cert.pem".into()));
    let made = World::new().file("tls-cert = 'self-signed'").config();
    assert_eq!((made.tls.certificate, made.tls.key), (Certificate::SelfSigned, None));
}

#[test]
fn defaults_give_way_to_what_was_set() {
    assert_eq!(World::new().flag("page-size-max", "10").config().http.page_size_default, 10);
    assert_eq!(World::new().flag("max-message-size", "50MB").config().store.segment_octets, 100 << 20);
    assert!(!World::new().flag("smtp-listen", "[::1]:2525").config().is_default("smtp-listen"));
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
fn what_separates_values_inside_is_in_none_of_them() {
    let refused = "no value has the control character U+001F";
    let error = World::new().file("mx-host = [\"a.test\\u001fb.test\"]").error();
    assert_eq!(error, format!("config.toml:1: mx-host: {refused}"));
    let error = World::new().env("TEMPMAIL_PUBLIC", "read\u{1f}web").error();
    assert_eq!(error, format!("TEMPMAIL_PUBLIC: {refused}"));
}

#[test]
fn nothing_that_closes_a_door_is_passed_over() {
    let hosts = World::new().flag("http-allowed-hosts", "none").config().http.allowed_hosts;
    assert_eq!(hosts, ["none"], "a host of that name, and not every host");
    assert_eq!(World::new().flag("domain", "none").config().domains.fixed.len(), 1);
    let error = World::new().env("TEMPMAIL_PUBLIC", "").error();
    assert!(error.starts_with("TEMPMAIL_PUBLIC: there is no value"), "{error}");
    let public = World::new().env("TEMPMAIL_PUBLIC", "none").config().http.public;
    assert!(!(public.read || public.delete || public.webhooks || public.domains || public.web));
    for key in ["max-webhooks", "max-webhooks-per-recipient", "max-domains-per-client"] {
        World::new().flag(key, "0").config();
    }
}

#[test]
fn files_are_found_below_a_directory_of_any_name() {
    use std::os::unix::ffi::OsStrExt;

    for name in [&b"\xfe"[..], b"a@1", b"a#b", b"a&dc=evil", b"~x"] {
        let mut world = World::new();
        let dir = world.dir.path().join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir(&dir).expect("mkdir");
        let text = "data-dir = 'd'\ntls-cert = 'none'\nstore = 'cassandra://a/t?user=u&password-file=p&ca=c'";
        fs::write(dir.join("config.toml"), text).expect("write");
        world.sources.config_file = Some(dir.join("config.toml"));
        let config = world.config();
        assert_eq!((config.data_dir, config.tls.certificate), (dir.join("d"), Certificate::None));
        let StoreLocation::Cassandra(cluster) = config.store.location else { panic!("no cluster") };
        assert_eq!(cluster.credentials, Some(("u".to_owned(), dir.join("p"))));
        assert_eq!((cluster.trust, cluster.data_center), (Some(Trust::File(dir.join("c"))), None));
    }
}

#[test]
fn http_that_answers_for_any_host_beyond_loopback_is_warned_about() {
    let open = || World::new().flag("http-listen", "0.0.0.0:8080");
    let warnings = |world: World| world.load().expect("settings").warnings;
    assert!(matches!(&warnings(open())[..], [warning] if warning.contains("set http-allowed-hosts")));
    for world in [open().flag("http-allowed-hosts", "mail.test"), World::new()] {
        assert!(warnings(world).is_empty());
    }
}

#[test]
fn variables_that_nothing_reads_are_warned_about() {
    let world = World::new().env("TEMPMAIL_SERVER", "http://x").env("TEMPMAIL_TOKEN", "t").env("PATH", "/bin");
    // A job of CI gives its variables to the service too.
    let world = world.env("TEMPMAIL_URL", "http://tempmail:8080").env("TEMPMAIL_SMTP", "tempmail:2525");
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
