//! Which room may use which, as far as crates do not say it, and the one home of each large dependency: `src/lib.rs` must
//! stay true. It is a search over lines: comments and unit tests are left out, and nothing is parsed.
//! Promise: it outlives the code below it.

use crate::support::files::path;

/// Places, and the words that they may not have.
const BOUNDS: &[(&str, &str)] = &[
    // Pure modules do no I/O, write no log, read no clock and draw no random number: now is an argument.
    (
        "model/ mime/ leases/life admission/usage admission/what connections/proxy fault/ value smtp/auth smtp/body smtp/causes smtp/command \
         smtp/data store/mail/decide store/mail/limits store/outbox_rules store/receiver_health \
         smtp/line smtp/metrics smtp/path smtp/reasons smtp/reply dns/mx domains/storm webhook/sign webhook/schedule webhook/guard/ranges webhook/target \
         webhook/request webhook/outcome",
        "std::fs std::env std::process std::os:: std::io::stdin std::io::stdout std::io::stderr SystemTime Instant Local::now \
         Utc::now TcpStream TcpListener UdpSocket ToSocketAddrs tokio::fs tokio::io tokio::net tokio::process tokio::signal \
         tokio::time rustix nix:: socket2 rand getrandom crate::clock crate::process crate::random crate::store::disk \
         tracing",
    ),
    // Plain data is shared by no threads.
    ("model/", "std::sync std::cell"),
    ("cli/", "crate::store"),
    ("smtp/", "axum hyper"),
    ("store/", "crate::smtp"),
    ("webhook/", "crate::http crate::smtp crate::client crate::cli crate::daemon axum"),
    ("http/", "crate::smtp"),
    ("config/ fault/ value", "crate::smtp crate::store"),
    ("fault/ value", "crate::config"),
    ("service", "crate::cli crate::client crate::http"),
    ("sender/", "crate::cli crate::client crate::daemon crate::http crate::service crate::smtp"),
    ("leases/", "crate::smtp"),
    ("client/", "crate::cli crate::http crate::service crate::smtp"),
    ("connections/", "crate::smtp crate::store"),
    ("tls/", "crate::smtp crate::store crate::config"),
];

/// Crates, and the only places that may name them.
const HOMES: &[(&str, &str)] = &[
    ("ammonia html5ever", "http/safe_html/"),
    ("aws_lc_rs rcgen", "tls/"),
    ("base64", "webhook/sign tokens smtp/auth http/compat/gate http/ticket http/view"),
    ("clap", "cli/ config/"),
    ("comfy_table", "cli/output/"),
    ("cssparser", "http/safe_html/ mime/page/"),
    ("hickory_resolver", "dns/resolver"),
    ("hmac", "webhook/sign http/ticket"),
    ("indicatif", "cli/output/"),
    ("mail_auth", "sender/ dns/resolver"),
    ("mail_parser", "mime/"),
    ("prometheus", "metrics"),
    ("redb", "store/embedded/registry/"),
    ("reqwest", "client/"),
    ("rustls", "tls/"),
    ("scylla", "store/cassandra/"),
    ("sha2", "webhook/sign tokens http/ticket"),
    ("tempmail_intake tempmail_mime", "lib"),
];

/// Each file of Rust below a folder, by its path, with its text.
fn files(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path(folder)).expect("a folder").map(|entry| entry.expect("an entry")) {
        let name = format!("{folder}/{}", entry.file_name().display());
        if entry.path().is_dir() {
            found.extend(files(&name));
        } else if entry.path().extension().is_some_and(|kind| kind == "rs") {
            found.push((name, std::fs::read_to_string(entry.path()).expect("text")));
        }
    }
    found
}

/// Each line of code in `src` and its file. Groups behind `crate::` are written out.
fn code() -> Vec<(String, String)> {
    let mut code = Vec::new();
    for (file, text) in files("src").into_iter().filter(|(file, _)| !file.contains("tests")) {
        let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let group = line.split_once("crate::{").map(|(_, group)| group.replace(", ", ", crate::"));
            let line = group.map_or(line.to_owned(), |group| format!("crate::{group}"));
            code.push((file.trim_start_matches("src/").to_owned(), line));
        }
    }
    code
}

/// Whether a line has `word` and not only a longer word.
fn has(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let goes_on = |rest: &str| word.ends_with(is_part) && rest.starts_with(is_part);
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(is_part) && !goes_on(&line[at + word.len()..]))
}

#[test]
fn rooms_know_only_whom_they_may() {
    let code = code();
    for (places, words) in BOUNDS {
        for place in places.split_whitespace() {
            assert!(code.iter().any(|(file, _)| file.starts_with(place)), "nothing is at src/{place} any more");
            for (file, line) in code.iter().filter(|(file, _)| file.starts_with(place)) {
                let named = words.split_whitespace().find(|word| has(line, word));
                assert_eq!(named, None, "src/{file} may not name it: {line}");
            }
        }
    }
    for (names, homes) in HOMES {
        for name in names.split(' ') {
            // Another crate can have a module of this name.
            let is_named = |line: &str| has(line, &format!("{name}::")) || has(line, &format!("use {name}"));
            let named = code.iter().filter(|(_, line)| is_named(&line.replace(&format!("::{name}"), "")));
            let (home, abroad): (Vec<_>, Vec<_>) =
                named.partition(|(file, _)| homes.split(' ').any(|home| file.starts_with(home)));
            assert!(!home.is_empty() && abroad.is_empty(), "{name} is at home in {homes}, and not here: {abroad:#?}");
        }
    }
}

/// Only one place in the code acknowledges a message, so that one place shows when a message is durable.
#[test]
fn a_message_is_answered_250_in_one_place() {
    for (words, place) in [("\"Stored\"", "smtp/reply.rs"), ("Reply::STORED", "smtp/session/transaction.rs")] {
        let said_in = code().into_iter().filter(|(_, line)| line.contains(words)).map(|(file, _)| file);
        assert_eq!(said_in.collect::<Vec<_>>(), [place]);
    }
}

/// Only one place in HTTP says which mailbox an address is for a caller, so no handler leads a stranger to a private one.
#[test]
fn http_finds_the_mailbox_of_an_address_in_one_place() {
    let maps = |line: &str| {
        let line = line.replace("api.mailbox(", "").replace(".mailbox()", "");
        line.contains(".mailbox(") || line.contains("Subaddressing")
    };
    let mapped_in = code().into_iter().filter(|(file, line)| file.starts_with("http/") && maps(line));
    assert_eq!(mapped_in.map(|(file, _)| file).collect::<Vec<_>>(), ["http/mail/read.rs"]);
}

/// Who rebuilds a room must know which tests go with its mechanisms and which stay.
#[test]
fn each_suite_says_whether_it_outlives_the_code() {
    let all = ["it", "program", "world", "suites", "fuzz"].iter().flat_map(|suite| files(&format!("tests/{suite}")));
    for (file, text) in all {
        let top = text.lines().take_while(|line| line.starts_with("//!"));
        let says = top.filter(|line| line.starts_with("//! Promise: ") || line.starts_with("//! Mechanism: "));
        let is_said = says.count() == 1 || !text.contains("test]\n");
        assert!(is_said, "the top of {file} has not one line of `Promise: ` or `Mechanism: `");
    }
}
