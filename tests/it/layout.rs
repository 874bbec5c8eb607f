//! Which room may use which, and the one home of each large dependency: `src/lib.rs` must stay true.
//!
//! A search over lines: comments and unit tests are left out, and nothing is parsed.
//! Promise: it outlives the code below it.

use std::path::Path;

use crate::support::files::path;

/// A rule, the places that it is for, and the words that they may not have.
const RULES: &[(&str, &str, &str)] = &[
    (
        "pure modules do no I/O, write no log and read no clock: now is an argument",
        "model/ mime/ connections/clients connections/proxy faults smtp/auth smtp/body smtp/budget smtp/command smtp/content \
         smtp/data smtp/deadlines smtp/line smtp/metrics smtp/path smtp/policy smtp/reasons smtp/reply smtp/session dns/mx \
         domains/storm webhook/sign webhook/schedule webhook/guard/ranges webhook/target \
         webhook/address_limits/accounts webhook/queue webhook/request webhook/outcome",
        "std::fs std::env std::process std::os:: std::io::stdin std::io::stdout std::io::stderr SystemTime Instant Local::now \
         Utc::now TcpStream TcpListener UdpSocket ToSocketAddrs tokio::fs tokio::io tokio::net tokio::process tokio::signal \
         tokio::time rustix nix:: socket2 crate::clock crate::process crate::store::disk tracing",
    ),
    ("the command line never knows the store", "cli/", "crate::store"),
    (
        "the store knows neither who brings mail nor who reads it",
        "store/",
        "crate::smtp crate::http crate::mime crate::webhook crate::client crate::cli crate::daemon",
    ),
    (
        "webhooks know neither HTTP's interface nor SMTP",
        "webhook/",
        "crate::http crate::smtp crate::client crate::cli crate::daemon axum",
    ),
    ("SMTP does not know HTTP", "smtp/", "crate::http crate::mime axum hyper"),
    ("HTTP does not know SMTP", "http/", "crate::smtp"),
    (
        "TLS does not know its users",
        "tls/",
        "crate::smtp crate::http crate::store crate::config crate::daemon crate::cli",
    ),
];

/// A crate, and the places that may name it.
const HOMES: &[(&str, &str)] = &[
    ("ammonia", "http/safe_html/"),
    ("aws_lc_rs", "tls/"),
    ("base64", "webhook/sign tokens/secret smtp/auth http/compat/gate"),
    ("clap", "cli/ config/"),
    ("cssparser", "http/safe_html/"),
    ("hickory_resolver", "dns/"),
    ("hmac", "webhook/sign"),
    ("html5ever", "http/safe_html/"),
    ("indicatif", "cli/output/"),
    ("mail_parser", "mime/"),
    ("prometheus", "http/metrics/"),
    ("rcgen", "tls/"),
    ("redb", "store/index/"),
    ("reqwest", "client/"),
    ("rmcp", "cli/mcp/"),
    ("rustls", "tls/ smtp/"),
    ("scylla", "store/cassandra/"),
    ("sha2", "webhook/sign tokens/secret"),
    ("smtp_proto", "smtp/"),
    ("x509_cert", "tls/"),
];

/// Each file of Rust below a folder, by its path from there.
fn files(root: &Path) -> Vec<(String, String)> {
    fn read(dir: &Path, root: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(dir).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                read(&path, root, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let name = path.strip_prefix(root).expect("below it").to_string_lossy().into_owned();
                found.push((name, std::fs::read_to_string(&path).expect("text")));
            }
        }
    }
    let mut found = Vec::new();
    read(root, root, &mut found);
    found
}

/// Each file of `src` that is no test's, with its lines of code.
fn sources() -> Vec<(String, Vec<String>)> {
    let mut found = files(&path("src"));
    found.retain(|(file, _)| !file.ends_with("tests.rs") && !file.contains("/tests/"));
    assert!(found.len() > 100, "only {} files were found", found.len());
    let code = |text: String| -> Vec<String> {
        let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default().lines();
        code.filter(|line| !line.trim_start().starts_with("//")).map(str::to_owned).collect()
    };
    found.into_iter().map(|(file, text)| (file, code(text))).collect()
}

/// Whether a line has `word` and not only a longer word, also as one of a group behind `crate::`.
fn has(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_in = |line: &str, word: &str| {
        let mut places = line.match_indices(word);
        let goes_on = |at: usize| word.ends_with(is_part) && line[at + word.len()..].starts_with(is_part);
        places.any(|(at, _)| !line[..at].ends_with(is_part) && !goes_on(at))
    };
    let group = line.split_once("crate::{").zip(word.strip_prefix("crate::"));
    is_in(line, word) || group.is_some_and(|((_, group), name)| is_in(group, name))
}

/// Whether a line names a crate, which is no module of another one.
fn is_named(line: &str, name: &str) -> bool {
    let line = line.replace(&format!("::{name}"), "");
    has(&line, &format!("{name}::")) || has(&line, &format!("use {name}"))
}

fn is_at(file: &str, places: &str) -> bool {
    places.split_whitespace().any(|place| file.starts_with(place))
}

#[test]
fn rooms_know_only_whom_they_may() {
    let mut violations = Vec::new();
    for (file, code) in &sources() {
        for (rule, _, words) in RULES.iter().filter(|(_, places, _)| is_at(file, places)) {
            let named = words.split_whitespace().filter(|word| code.iter().any(|line| has(line, word)));
            violations.extend(named.map(|word| format!("src/{file} names {word}; {rule}")));
        }
        for (name, homes) in HOMES.iter().filter(|(_, homes)| !is_at(file, homes)) {
            if code.iter().any(|line| is_named(line, name)) {
                violations.push(format!("src/{file} names {name}, which has its home in {homes}"));
            }
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn every_place_is_there_and_every_home_is_lived_in() {
    let sources = sources();
    for place in RULES.iter().flat_map(|(_, places, _)| places.split_whitespace()) {
        assert!(sources.iter().any(|(file, _)| file.starts_with(place)), "nothing is at src/{place} any more");
    }
    for (name, homes) in HOMES {
        let names = |code: &[String]| code.iter().any(|line| is_named(line, name));
        assert!(sources.iter().any(|(file, code)| is_at(file, homes) && names(code)), "{name} has left {homes}");
    }
}

#[test]
fn a_word_is_found_whole_and_in_a_group() {
    assert!(has("use crate::{clock::Clock, model::Address};", "crate::clock") && has("redb::Key", "redb::"));
    assert!(!has("use crate::clock_step;", "crate::clock") && !has("open(\"index.redb\")", "redb::"));
}

/// Only one place in the code acknowledges a message, so that one place shows when a message is durable.
#[test]
fn a_message_is_answered_250_in_one_place() {
    let (all, said_in) = (sources(), |words: &str, all: &[(String, Vec<String>)]| -> Vec<String> {
        let files =
            all.iter().flat_map(|(file, code)| code.iter().filter(|line| line.contains(words)).map(|_| file.clone()));
        files.collect()
    });
    assert_eq!(said_in("\"Stored\"", &all), ["smtp/reply.rs"]);
    assert_eq!(said_in("Reply::STORED", &all), ["smtp/session/mod.rs"]);
}

/// Who rebuilds a room must know which tests go with its mechanisms and which stay.
#[test]
fn each_suite_says_whether_it_outlives_the_code() {
    let mut silent = Vec::new();
    for folder in ["it", "program", "world", "suites", "fuzz"] {
        for (file, text) in files(&path(&format!("tests/{folder}"))) {
            let says = text.lines().take_while(|line| line.starts_with("//!"));
            let says = says.filter(|line| line.starts_with("//! Promise: ") || line.starts_with("//! Mechanism: "));
            if text.contains("test]\n") && says.count() != 1 {
                silent.push(format!("tests/{folder}/{file}"));
            }
        }
    }
    assert!(
        silent.is_empty(),
        "one line of their top comment must begin with `Promise: ` or `Mechanism: `: {silent:#?}"
    );
}
