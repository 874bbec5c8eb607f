//! The recipe for a container: what it copies, runs and sets exists, and its health check is true of the service it starts.
//! Promise: it outlives the code below it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use tempmail::config::{Sources, load};

use crate::support::files::{file, path};
use crate::support::program::{Program, local};

/// The instructions of all stages, with continued lines joined.
fn instructions() -> Vec<(String, String)> {
    let text = file(".package/Containerfile").replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).map(|(name, rest)| (name.to_owned(), rest.to_owned())).collect()
}

/// What the instruction of this name says; there is one.
fn only(name: &str) -> String {
    let found: Vec<String> = instructions().into_iter().filter(|(it, _)| it == name).map(|(_, rest)| rest).collect();
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    found.into_iter().next().unwrap_or_default()
}

/// The words of an instruction in the form of a JSON array.
fn words(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn environment() -> BTreeMap<String, String> {
    let pair = |word: &str| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    only("ENV").split_whitespace().map(|word| pair(word).expect("a variable")).collect()
}

#[test]
fn what_is_copied_from_the_repository_is_there_and_is_all_that_cargo_needs() {
    let mut copied = Vec::new();
    for (_, rest) in instructions().into_iter().filter(|(name, rest)| name == "COPY" && !rest.starts_with("--from")) {
        let words: Vec<&str> = rest.split_whitespace().collect();
        copied.extend(words[..words.len() - 1].iter().map(ToString::to_string));
    }
    for name in &copied {
        assert!(path(name).exists(), "{name} is copied");
    }
    let manifest: toml::Table = file("Cargo.toml").parse().expect("Cargo.toml");
    let targets = ["lib", "bin", "test", "bench"].iter().filter_map(|kind| manifest.get(*kind));
    let tables = targets.flat_map(|it| it.as_array().cloned().unwrap_or_else(|| vec![it.clone()]));
    let members = manifest["workspace"]["members"].as_array().expect("members").iter();
    let members = members.map(|member| format!("{}/Cargo.toml", member.as_str().expect("a path")));
    let targets = tables.map(|table| table["path"].as_str().expect("a path").to_owned());
    for source in targets.chain(members) {
        assert!(copied.iter().any(|name| source.starts_with(&format!("{name}/"))), "{source} is not copied");
    }
    assert!(["Cargo.toml", "Cargo.lock"].iter().all(|name| copied.iter().any(|it| it == name)), "{copied:?}");
    let profile = instructions().into_iter().find_map(|(_, rest)| Some(rest.split_once("--profile ")?.1.to_owned()));
    let profile = profile.expect("a profile");
    let profile = profile.split(' ').next().expect("a word");
    assert!(manifest["profile"].get(profile).is_some(), "{profile} is no profile");
    let program = format!("/target/{profile}/tempmail ");
    assert!(instructions().iter().any(|(name, rest)| name == "COPY" && rest.contains(&program)), "{program}");
}

#[test]
fn its_settings_are_those_of_the_ports_and_the_volume_that_it_declares() {
    let env = environment();
    let loaded = load(&Sources { env: env.clone(), ..Sources::default() }).expect("settings");
    let known = |name: &str| loaded.config.in_effect().iter().any(|known| known.key == setting(name));
    assert!(env.keys().all(|name| known(name)), "{env:?}");
    assert_eq!(loaded.config.data_dir.display().to_string(), only("VOLUME"));
    let listens = ["TEMPMAIL_SMTP_LISTEN", "TEMPMAIL_HTTP_LISTEN"].map(|name| env[name].as_str());
    let listens = listens.map(|address| address.parse::<SocketAddr>().expect("an address"));
    assert!(listens.iter().all(|address| address.ip() == Ipv4Addr::UNSPECIFIED), "{listens:?}");
    assert_eq!(listens.map(|address| address.port().to_string()).join(" "), only("EXPOSE"));
    let http = &loaded.config.http;
    assert_eq!(
        (&http.allowed_hosts[..], http.allowed_origins.as_deref()),
        (&["localhost".to_owned()][..], Some(&[][..]))
    );
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    assert!(only("USER").split(':').all(|id| id.parse::<u32>().is_ok_and(|id| id > 0)), "{}", only("USER"));
}

/// The key of the setting that a variable sets.
fn setting(variable: &str) -> String {
    variable.trim_start_matches("TEMPMAIL_").to_lowercase().replace('_', "-")
}

#[test]
fn its_health_check_succeeds_only_while_its_command_runs() {
    let check = only("HEALTHCHECK");
    let check = words(check.split_once("CMD ").expect("a command").1);
    let check: Vec<&str> = check.iter().map(String::as_str).collect();
    let (start, command) = (words(&only("ENTRYPOINT")), words(&only("CMD")));
    assert_eq!((start, command), (vec!["tempmail".to_owned()], vec!["serve".to_owned()]));
    let ["tempmail", args @ ..] = &*check else { panic!("{check:?}") };
    let dir = tempfile::tempdir().expect("a directory");
    let is_healthy = || local(dir.path(), args).code == Some(0);
    assert!(!is_healthy(), "nothing runs yet");
    let running = Program::serve(dir.path(), &[]);
    assert!(is_healthy());
    running.stop();
    assert!(!is_healthy(), "nothing runs any more");
}
