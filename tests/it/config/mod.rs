//! Settings as the program's own command line, environment and file give them.
//! Promise: it outlives the code below it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::{Args, Command, FromArgMatches};
use tempmail::config::{self, Loaded, ServeArgs, Shape, Sources, settings};

fn command() -> Command {
    ServeArgs::augment_args(Command::new("serve").no_binary_name(true))
}

/// Loads what `args` and the file `text` say, for a user whose home is `home`.
fn load(home: &Path, text: &str, args: &[&str]) -> Result<Loaded, String> {
    let file = home.join("config.toml");
    fs::write(&file, text).expect("write");
    let matches = command().try_get_matches_from(args).map_err(|error| error.to_string())?;
    let args = ServeArgs::from_arg_matches(&matches).map_err(|error| error.to_string())?;
    let env = [("HOME".to_owned(), home.display().to_string())].into();
    let sources = Sources { config_file: Some(file), args, env, ..Sources::default() };
    config::load(&sources).map_err(|error| error.to_string())
}

#[test]
fn the_file_knows_the_same_keys_as_the_command_line() {
    let home = tempfile::tempdir().expect("tempdir");
    let mut flags: BTreeSet<_> = command()
        .get_arguments()
        .filter(|arg| !arg.is_hide_set())
        .filter_map(|arg| arg.get_long().map(str::to_owned))
        .collect();
    flags.insert("data-dir".to_owned());
    // A datetime is no setting's value: a known key is refused for its type, another one for its name.
    for key in &flags {
        let error = load(home.path(), &format!("{key} = 2020-01-01"), &[]).expect_err(key);
        assert!(error.contains(":1: ") && error.contains("datetime is not accepted"), "{error}");
    }
    assert_eq!(flags, settings().map(|setting| setting.key.clone()).collect());
}

#[test]
fn a_file_with_every_default_written_out_changes_nothing() {
    let home = tempfile::tempdir().expect("tempdir");
    let defaults = load(home.path(), "", &["--hostname", "localhost"]).expect("defaults").config;
    let mut text = String::new();
    for setting in settings() {
        let values = defaults.values(&setting.key);
        let value = match setting.shape {
            Shape::Switch => values[0].clone(),
            Shape::One => format!("{:?}", values[0]),
            Shape::Several => format!("{values:?}"),
        };
        text.extend([&*setting.key, " = ", &value, "\n"]);
    }
    let written = load(home.path(), &text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}")).config;
    for setting in settings() {
        assert_eq!(written.values(&setting.key), defaults.values(&setting.key), "{}", setting.key);
    }
}

#[test]
fn flags_override_the_file_and_lists_take_both_spellings() {
    let home = tempfile::tempdir().expect("tempdir");
    let text = "retention = '7d'\ndomain = ['file.test']\n";
    let args = ["--retention=90s", "--domain", "a.test,b.test", "--domain=*.c.test", "--trusted-network"];
    let Loaded { config, .. } = load(home.path(), text, &args).expect("settings");
    assert_eq!(config.mail.retention.as_secs(), 90);
    let domains: Vec<_> = config.domains.fixed.iter().map(ToString::to_string).collect();
    assert_eq!(domains, ["a.test", "b.test", "*.c.test"]);
    assert!(config.smtp.trusted_network);
    assert_eq!(config.origin("retention").to_string(), "flag");
    assert_eq!(config.origin("max-domains").to_string(), "default of revision 2");
}

#[test]
fn strangers_have_no_name_server_of_others_asked_unless_somebody_says_so() {
    let home = tempfile::tempdir().expect("tempdir");
    for (text, expected) in [
        ("", "on-read"),
        ("http-listen = '0.0.0.0:80'", "off"),
        ("trusted-proxies = '127.0.0.1'", "off"),
        ("http-listen = '0.0.0.0:80'\nresolver = '127.0.0.1'", "on-read"),
        ("http-listen = '0.0.0.0:80'\nsender-verdicts = 'on-read'", "on-read"),
        ("sender-verdicts = 'off'", "off"),
    ] {
        let Loaded { config, .. } = load(home.path(), text, &[]).expect("settings");
        assert_eq!(config.values("sender-verdicts"), [expected], "{text}");
        let is_on = config.mail.sender_verdicts == config::SenderVerdicts::OnRead;
        assert_eq!(is_on, expected == "on-read", "{text}");
    }
}

#[test]
fn dev_presets_what_catches_all_mail_and_whatever_is_given_wins() {
    let home = tempfile::tempdir().expect("tempdir");
    let presets = [
        ("smtp-listen", "127.0.0.1:1025 [::1]:1025"),
        ("http-listen", "127.0.0.1:8025 [::1]:8025"),
        ("domain", "*"),
        ("smtp-auth", "accept-any"),
        ("role-addresses", "none"),
        ("compat-api", "mailpit"),
        ("public", "read delete webhooks domains web"),
    ];
    for (file, args) in
        [("", &["--dev"][..]), ("dev = true", &[]), ("dev = false", &["--dev=true"]), ("dev = true\nrevision = 1", &[])]
    {
        let config = load(home.path(), file, args).expect("settings").config;
        for (key, values) in presets {
            assert_eq!(config.values(key).join(" "), values, "{key}");
            let shown = config.in_effect().into_iter().find(|setting| setting.key == key).expect(key);
            assert_eq!((shown.origin.as_str(), shown.place().as_str()), ("dev", "dev"), "{key}");
            assert!(config.is_default(key), "nobody gave {key}");
        }
    }
    let text = "dev = true\nsmtp-auth = 'off'\n";
    let config = load(home.path(), text, &["--http-listen", "127.0.0.1:80"]).expect("settings").config;
    assert_eq!(
        (config.values("smtp-auth"), config.values("http-listen")),
        (vec!["off".into()], vec!["127.0.0.1:80".into()])
    );
    assert_eq!(config.values("smtp-listen")[0], "127.0.0.1:1025");
    let without = load(home.path(), "dev = true", &["--dev=false"]).expect("settings").config;
    assert_eq!(without.values("smtp-listen")[0], "127.0.0.1:2525");
}
