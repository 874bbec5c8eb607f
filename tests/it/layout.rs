//! Who may know whom: what `src/lib.rs` says must stay true of the modules, read off the paths in their sources.

use std::fs;
use std::path::Path;

/// What the files below some places may not name.
struct Rule {
    name: &'static str,
    /// Prefixes of files under `src`; with `!` before it, of files that are left out.
    files: &'static [&'static str],
    /// Paths, and with them everything below them. A `*` at the end stands for any ending of the last name.
    forbidden: &'static [&'static str],
}

/// Input, output, waiting and clocks: what the pure modules are free of.
const EFFECTS: &[&str] = &[
    "std::fs",
    "std::env",
    "std::process",
    "std::os",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "std::net::Tcp*",
    "std::net::Udp*",
    "std::net::ToSocketAddrs",
    "std::time::SystemTime",
    "std::time::Instant",
    "tokio::fs",
    "tokio::io",
    "tokio::net",
    "tokio::process",
    "tokio::signal",
    "tokio::time",
    "rustix",
    "nix",
    "socket2",
    "chrono::Local",
    "chrono::Utc::now",
    "Utc::now",
    "SystemTime::now",
    "Instant::now",
    "crate::clock",
    "crate::process",
    "crate::store::disk",
];

const RULES: &[Rule] = &[
    Rule {
        name: "pure modules do no I/O and read no clock: now is an argument",
        files: &[
            "model/",
            "mime/",
            "smtp/session",
            "smtp/line",
            "smtp/admission",
            "smtp/holdings",
            "smtp/pace",
            "smtp/rate",
            "smtp/text",
            "smtp/tally",
            "smtp/command",
            "smtp/path",
            "smtp/data",
            "smtp/chunk",
            "smtp/body",
            "smtp/hops",
            "smtp/auth",
            "smtp/reply",
            "smtp/proxy",
            "smtp/policy",
            "dns/mx",
            "dns/report",
            "domains/round",
            "webhook/sign",
            "webhook/schedule",
            "webhook/guard/ranges",
            "webhook/target",
            "webhook/addresses",
            "webhook/places",
            "webhook/queue",
            "webhook/rest",
            "webhook/request",
            "webhook/outcome",
        ],
        forbidden: EFFECTS,
    },
    Rule {
        name: "the store knows neither who brings mail nor who reads it",
        files: &["store/"],
        forbidden: &[
            "crate::smtp",
            "crate::http",
            "crate::mime",
            "crate::webhook",
            "crate::client",
            "crate::cli",
            "crate::daemon",
        ],
    },
    Rule {
        name: "webhooks know neither HTTP's interface nor SMTP",
        files: &["webhook/"],
        forbidden: &["crate::http", "crate::smtp", "crate::client", "crate::cli", "crate::daemon", "axum"],
    },
    Rule {
        name: "SMTP does not know HTTP",
        files: &["smtp/"],
        forbidden: &["crate::http", "crate::mime", "axum", "hyper"],
    },
    Rule { name: "HTTP does not know SMTP", files: &["http/"], forbidden: &["crate::smtp", "smtp_proto"] },
    Rule {
        name: "TLS knows nobody whom it secures",
        files: &["tls/"],
        forbidden: &["crate::smtp", "crate::http", "crate::store", "crate::config", "crate::daemon", "crate::cli"],
    },
    Rule { name: "rcgen has its home in tls", files: &["", "!tls/"], forbidden: &["rcgen"] },
    Rule { name: "x509-cert has its home in tls", files: &["", "!tls/"], forbidden: &["x509_cert"] },
    Rule { name: "rustls has its home in tls and smtp", files: &["", "!tls/", "!smtp/"], forbidden: &["rustls"] },
    Rule { name: "listenfd has its home in daemon", files: &["", "!daemon/"], forbidden: &["listenfd"] },
    Rule { name: "nix has its home in webhook/guard", files: &["", "!webhook/guard/"], forbidden: &["nix"] },
    Rule { name: "redb has its home in store/index", files: &["", "!store/index/"], forbidden: &["redb"] },
    Rule { name: "smtp-proto has its home in smtp", files: &["", "!smtp/"], forbidden: &["smtp_proto"] },
    Rule { name: "mail-parser has its home in mime", files: &["", "!mime/"], forbidden: &["mail_parser"] },
    Rule { name: "hickory has its home in dns", files: &["", "!dns/"], forbidden: &["hickory*"] },
    Rule { name: "reqwest has its home in client", files: &["", "!client/"], forbidden: &["reqwest"] },
    Rule { name: "comfy-table has its home in cli/output", files: &["", "!cli/output/"], forbidden: &["comfy_table"] },
    Rule { name: "indicatif has its home in cli/output", files: &["", "!cli/output/"], forbidden: &["indicatif"] },
    Rule { name: "clap has its home in cli and config", files: &["", "!cli/", "!config/"], forbidden: &["clap*"] },
    Rule {
        name: "prometheus has its home in http/metrics",
        files: &["", "!http/metrics/"],
        forbidden: &["prometheus"],
    },
    Rule {
        name: "aws-lc-rs has its home in webhook/sign and, within rustls, in tls",
        files: &["", "!webhook/sign", "!tls/"],
        forbidden: &["aws_lc_rs"],
    },
    Rule {
        name: "base64 has its home in webhook/sign and smtp/auth",
        files: &["", "!webhook/sign", "!smtp/auth"],
        forbidden: &["base64"],
    },
];

impl Rule {
    fn is_about(&self, file: &str) -> bool {
        let is_under = |prefix: &&&str| file.starts_with(**prefix);
        let (out, of): (Vec<_>, Vec<_>) = self.files.iter().partition(|prefix| prefix.starts_with('!'));
        of.iter().any(|prefix| is_under(&prefix)) && !out.iter().any(|prefix| file.starts_with(&prefix[1..]))
    }

    /// What `file` names against the rule.
    fn violations(&self, file: &str, source: &str) -> Vec<String> {
        if !self.is_about(file) {
            return Vec::new();
        }
        paths(file, &production(source)).into_iter().filter(|path| self.forbids(path)).collect()
    }

    fn forbids(&self, path: &str) -> bool {
        self.forbidden.iter().any(|forbidden| match forbidden.strip_suffix('*') {
            Some(start) => path.starts_with(start),
            None => path.strip_prefix(forbidden).is_some_and(|rest| rest.is_empty() || rest.starts_with("::")),
        })
    }
}

/// The source without comments and without its tests, which may know everything.
fn production(source: &str) -> String {
    let lines = source.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    lines.map(|line| line.split_once("//").map_or(line, |(code, _)| code)).collect::<Vec<_>>().join("\n")
}

/// Every path in the source with more than one name, and every `use` of one name; groups are taken apart, and `self` and
/// `super` are written out from `crate` on.
fn paths(file: &str, source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    let mut is_used = false;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        // An identifier after a dot is a field or a method, one after an apostrophe a lifetime.
        let is_path = !rest[..start].ends_with(['.', '\'']);
        rest = &rest[start..];
        let before = found.len();
        let after = tree(rest, &mut Vec::new(), &mut found);
        if rest.starts_with("use ") {
            is_used = true;
        } else {
            if !is_path || !is_used && found.len() == before + 1 && !found[before].contains("::") {
                found.truncate(before);
            }
            is_used = false;
        }
        rest = &rest[after..];
    }
    found.iter().map(|path| absolute(file, path)).collect()
}

/// Reads one path tree at the start of `source` behind `stem`; how many octets it takes.
fn tree(source: &str, stem: &mut Vec<String>, found: &mut Vec<String>) -> usize {
    let depth = stem.len();
    let mut at = 0;
    loop {
        at += blank(&source[at..]);
        let name = source[at..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(source.len() - at);
        if name == 0 {
            break;
        }
        stem.push(source[at..at + name].to_owned());
        at += name;
        let Some(further) = source[at..].strip_prefix("::") else { break };
        at += 2;
        if further.starts_with('{') {
            at += 1;
            loop {
                at += tree(&source[at..], stem, found);
                at += blank(&source[at..]);
                // `a as b` names `b` as well, which is no path of its own.
                if source[at..].starts_with("as ") {
                    at += source[at..].find([',', '}']).unwrap_or(source.len() - at);
                }
                match source[at..].chars().next() {
                    Some(',') => at += 1,
                    Some('}') => {
                        at += 1;
                        break;
                    }
                    _ => break,
                }
            }
            stem.truncate(depth);
            return at;
        }
    }
    if stem.len() > depth {
        found.push(stem.join("::"));
        stem.truncate(depth);
    }
    at
}

fn blank(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// The path from `crate` on, where it is relative to the module of `file`.
fn absolute(file: &str, path: &str) -> String {
    let mut module: Vec<&str> = file.trim_end_matches(".rs").trim_end_matches("/mod").split('/').collect();
    let mut names: Vec<&str> = path.split("::").collect();
    if names[0] != "super" && names[0] != "self" {
        return path.to_owned();
    }
    while let Some("super" | "self") = names.first().copied() {
        if names.remove(0) == "super" {
            module.pop();
        }
    }
    [vec!["crate"], module, names].concat().join("::")
}

/// Every source under `src` with its path from there, tests in files of their own left out.
fn sources(dir: &Path, root: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(dir).expect("a directory of src") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, root, found);
        } else if path.extension().is_some_and(|kind| kind == "rs")
            && !path.ends_with("tests.rs")
            && !path.ends_with("tests/mod.rs")
        {
            let name = path.strip_prefix(root).expect("below src").to_string_lossy().into_owned();
            found.push((name, fs::read_to_string(&path).expect("text")));
        }
    }
}

#[test]
fn modules_know_only_whom_they_may() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    sources(&root, &root, &mut all);
    assert!(all.len() > 100, "only {} files were found", all.len());
    let mut violations = Vec::new();
    for rule in RULES {
        assert!(all.iter().any(|(file, _)| rule.is_about(file)), "no file is under the rule: {}", rule.name);
        for (file, source) in &all {
            let named = rule.violations(file, source);
            violations.extend(named.iter().map(|path| format!("src/{file} names {path}; {}", rule.name)));
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

/// The sender is told that its message is kept in one place, so that there is one place to look at for when that is true.
#[test]
fn a_message_is_answered_250_in_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    sources(&root, &root, &mut all);
    all.retain(|(file, _)| !file.contains("/tests/"));
    let said_in = |words: &str| -> Vec<&str> {
        let times = |(file, source)| production(source).matches(words).map(|_| file).collect::<Vec<_>>();
        all.iter().flat_map(|(file, source)| times((file.as_str(), source))).collect()
    };
    assert_eq!(said_in("\"Stored\""), ["smtp/reply.rs"]);
    assert_eq!(said_in("Reply::STORED"), ["smtp/session.rs"]);
    assert_eq!(said_in("Self::STORED"), [""; 0]);
}

#[test]
fn every_home_is_lived_in() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    sources(&root, &root, &mut all);
    for rule in RULES.iter().filter(|rule| rule.files[0].is_empty()) {
        let in_home = |(file, source): &&(String, String)| {
            let is_home = rule.files[1..].iter().any(|home| file.starts_with(&home[1..]));
            is_home && paths(file, &production(source)).iter().any(|path| rule.forbids(path))
        };
        assert!(all.iter().any(|file| in_home(&file)), "nothing lives there any more: {}", rule.name);
    }
}

#[test]
fn each_rule_notices_what_it_forbids() {
    for (file, source) in [
        ("model/time.rs", "fn now() { chrono::Utc::now() }"),
        ("model/id.rs", "use std::time::{Duration, SystemTime};"),
        ("mime/html.rs", "use std::{fmt, fs};"),
        ("smtp/session.rs", "use crate::{clock::Clock, model::Address};"),
        ("smtp/policy.rs", "async fn f() { tokio::time::sleep(PAUSE).await }"),
        ("dns/mx.rs", "use std::net::{IpAddr, TcpStream};"),
        ("dns/mx.rs", "use tokio::net;"),
        ("domains/round.rs", "let start = Instant::now();"),
        ("store/embedded/writer.rs", "use crate::{smtp::Reply};"),
        ("store/mod.rs", "use super::http::Problem;"),
        ("smtp/connection.rs", "fn f() -> crate::http::Problem {}"),
        ("smtp/mod.rs", "pub use super::http::{self};"),
        ("http/edge.rs", "use super::super::smtp;"),
        ("store/journal/mod.rs", "use redb::Database;"),
        ("mime/mod.rs", "use smtp_proto as smtp;"),
        ("http/raw.rs", "mail_parser::MessageParser::default()"),
        ("domains/verifier.rs", "use hickory_resolver::TokioResolver;"),
        ("dns/resolver.rs", "reqwest::get(url)"),
        ("cli/inbox.rs", "use comfy_table::Table;"),
        ("smtp/mod.rs", "#[derive(Debug, clap::Args)]"),
        ("client/mod.rs", "use clap_complete::{\n    Shell,\n};"),
        ("webhook/queue.rs", "fn now() -> Duration { Instant::now().into() }"),
        ("webhook/request.rs", "use crate::clock::Clock;"),
        ("webhook/attempt.rs", "use crate::http::Problem;"),
        ("webhook/dispatcher.rs", "use super::super::smtp::Receiver;"),
        ("store/index/outbox.rs", "use crate::webhook::Schedule;"),
        ("tls/keeper.rs", "use crate::config::Config;"),
        ("smtp/proxy.rs", "use tokio::net::TcpStream;"),
        ("smtp/admission.rs", "fn now() -> std::time::Instant { std::time::Instant::now() }"),
        ("smtp/pace.rs", "use tokio::time::Instant;"),
        ("daemon/mod.rs", "use rcgen::KeyPair;"),
        ("tls/files.rs", "use listenfd::ListenFd;"),
        ("http/server.rs", "use rustls::ServerConfig;"),
        ("smtp/entrance.rs", "x509_cert::Certificate::from_der(octets)"),
        ("webhook/attempt.rs", "use aws_lc_rs::hmac::Key;"),
        ("http/webhooks.rs", "aws_lc_rs::digest::digest(&SHA256, secret)"),
        ("smtp/tally.rs", "use prometheus::IntCounter;"),
        ("cli/webhook/secret.rs", "use base64::Engine;"),
    ] {
        let named: Vec<_> = RULES.iter().flat_map(|rule| rule.violations(file, source)).collect();
        assert!(!named.is_empty(), "{file}: {source}");
    }
}

#[test]
fn what_is_permitted_is_not_taken_for_a_violation() {
    for (file, source) in [
        ("model/time.rs", "use chrono::{DateTime, Utc};\nuse std::time::Duration;"),
        ("dns/mx.rs", "use std::net::IpAddr; // not std::net::TcpStream"),
        ("smtp/session.rs", "//! Unlike tokio::net::TcpStream.\nuse crate::store::StoreError;\nself.clock.now()"),
        ("smtp/session.rs", "use bytes::Bytes;\n#[cfg(test)]\nmod tests { use std::fs; }"),
        ("store/embedded/open.rs", "open(\"index.redb\")"),
        ("store/index/mod.rs", "use redb::{Database, Durability};"),
        ("config/args.rs", "use clap::{Arg, ArgAction};"),
        ("domains/table.rs", "use super::super::model::DomainName;"),
        ("webhook/sign.rs", "use aws_lc_rs::hmac::{Context, Key};"),
        ("webhook/call.rs", "use crate::clock::Clock;\nuse tokio::time::timeout_at;"),
    ] {
        let named: Vec<_> = RULES.iter().flat_map(|rule| rule.violations(file, source)).collect();
        assert!(named.is_empty(), "{file}: {source}: {named:?}");
    }
}
