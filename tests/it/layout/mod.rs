//! Which module may use which: `src/lib.rs` must stay true. The tests read the paths in the sources of the modules.

mod source;

use source::{SOURCES, Source, calls_itself_pure, paths, production};

/// A rule: paths that some files may not name.
struct Rule {
    name: &'static str,
    /// Prefixes of files under `src`; with `!` before it, of files that are left out.
    files: &'static [&'static str],
    /// Paths, and with them everything below them. A `*` at the end stands for any ending of the last name.
    forbidden: &'static [&'static str],
}

/// Input, output, logging, waiting and clocks, which the pure modules may not use.
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
    "tracing",
];

const RULES: &[Rule] = &[
    Rule {
        name: "pure modules do no I/O, write no log and read no clock: now is an argument",
        files: &[
            "model/",
            "mime/",
            "connections/clients",
            "connections/proxy",
            "faults",
            "smtp/auth",
            "smtp/body",
            "smtp/budget",
            "smtp/command",
            "smtp/content",
            "smtp/data",
            "smtp/deadlines",
            "smtp/line",
            "smtp/metrics",
            "smtp/path",
            "smtp/policy",
            "smtp/reasons",
            "smtp/reply",
            "smtp/session",
            "dns/mx",
            "dns/report",
            "domains/round",
            "expiry/clock_step",
            "webhook/sign",
            "webhook/schedule",
            "webhook/guard/ranges",
            "webhook/target",
            "webhook/address_limits/accounts",
            "webhook/queue",
            "webhook/request",
            "webhook/outcome",
        ],
        forbidden: EFFECTS,
    },
    Rule { name: "the command line never knows the store", files: &["cli/"], forbidden: &["crate::store"] },
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
        name: "TLS does not know its users",
        files: &["tls/"],
        forbidden: &["crate::smtp", "crate::http", "crate::store", "crate::config", "crate::daemon", "crate::cli"],
    },
    Rule { name: "rcgen has its home in tls", files: &["", "!tls/"], forbidden: &["rcgen"] },
    Rule { name: "x509-cert has its home in tls", files: &["", "!tls/"], forbidden: &["x509_cert"] },
    Rule { name: "rustls has its home in tls and smtp", files: &["", "!tls/", "!smtp/"], forbidden: &["rustls"] },
    Rule { name: "listenfd has its home in daemon", files: &["", "!daemon/"], forbidden: &["listenfd"] },
    Rule { name: "nix has its home in webhook/guard", files: &["", "!webhook/guard/"], forbidden: &["nix"] },
    Rule { name: "scylla has its home in store/cassandra", files: &["", "!store/cassandra/"], forbidden: &["scylla*"] },
    Rule { name: "redb has its home in store/index", files: &["", "!store/index/"], forbidden: &["redb"] },
    Rule { name: "smtp-proto has its home in smtp", files: &["", "!smtp/"], forbidden: &["smtp_proto"] },
    Rule { name: "mail-parser has its home in mime", files: &["", "!mime/"], forbidden: &["mail_parser"] },
    Rule { name: "hickory has its home in dns", files: &["", "!dns/"], forbidden: &["hickory*"] },
    Rule { name: "reqwest has its home in client", files: &["", "!client/"], forbidden: &["reqwest"] },
    Rule { name: "comfy-table has its home in cli/output", files: &["", "!cli/output/"], forbidden: &["comfy_table"] },
    Rule {
        name: "ammonia, html5ever and cssparser have their home in http/safe_html",
        files: &["", "!http/safe_html/"],
        forbidden: &["ammonia", "html5ever", "cssparser"],
    },
    Rule { name: "regex has its home in cli/expect", files: &["", "!cli/expect/"], forbidden: &["regex"] },
    Rule { name: "scraper has its home in cli/expect", files: &["", "!cli/expect/"], forbidden: &["scraper"] },
    Rule { name: "html2text has its home in cli", files: &["", "!cli/"], forbidden: &["html2text"] },
    Rule {
        name: "pulldown-cmark has its home in cli/markdown",
        files: &["", "!cli/markdown"],
        forbidden: &["pulldown_cmark"],
    },
    Rule { name: "indicatif has its home in cli/output", files: &["", "!cli/output/"], forbidden: &["indicatif"] },
    Rule { name: "jaq has its home in cli/output/jq", files: &["", "!cli/output/jq"], forbidden: &["jaq*"] },
    Rule { name: "rmcp has its home in cli/mcp", files: &["", "!cli/mcp/"], forbidden: &["rmcp"] },
    Rule { name: "clap has its home in cli and config", files: &["", "!cli/", "!config/"], forbidden: &["clap*"] },
    Rule {
        name: "prometheus has its home in http/metrics",
        files: &["", "!http/metrics/"],
        forbidden: &["prometheus"],
    },
    Rule {
        name: "aws-lc-rs has its home in webhook/sign, tokens/secret, peers/receiver and, within rustls, in tls",
        files: &["", "!webhook/sign", "!tokens/secret", "!peers/receiver", "!tls/"],
        forbidden: &["aws_lc_rs"],
    },
    Rule {
        name: "base64 has its home in webhook/sign, tokens/secret, smtp/auth and http/compat/gate",
        files: &["", "!webhook/sign", "!tokens/secret", "!smtp/auth", "!http/compat/gate"],
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
        self.among(&paths(file, &production(source)))
    }

    /// Those of `paths` that are against the rule.
    fn among(&self, paths: &[String]) -> Vec<String> {
        paths.iter().filter(|path| self.forbids(path)).cloned().collect()
    }

    fn forbids(&self, path: &str) -> bool {
        self.forbidden.iter().any(|forbidden| match forbidden.strip_suffix('*') {
            Some(start) => path.starts_with(start),
            None => path.strip_prefix(forbidden).is_some_and(|rest| rest.is_empty() || rest.starts_with("::")),
        })
    }
}

#[test]
fn modules_know_only_whom_they_may() {
    assert!(SOURCES.len() > 100, "only {} files were found", SOURCES.len());
    let mut violations = Vec::new();
    for rule in RULES {
        for place in rule.files.iter().map(|place| place.trim_start_matches('!')) {
            let is_there = SOURCES.iter().any(|source| source.file.starts_with(place));
            assert!(is_there, "nothing is at src/{place} any more; {}", rule.name);
        }
        for Source { file, paths, .. } in SOURCES.iter().filter(|source| rule.is_about(&source.file)) {
            let named = rule.among(paths);
            violations.extend(named.iter().map(|path| format!("src/{file} names {path}; {}", rule.name)));
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn a_module_that_calls_itself_pure_is_under_the_rule() {
    let pure: Vec<_> = SOURCES.iter().filter(|it| calls_itself_pure(&it.text)).map(|it| &it.file).collect();
    assert!(pure.len() > 10, "only {pure:?} call themselves pure");
    for file in pure {
        assert!(RULES[0].is_about(file), "src/{file} says that it is pure; name it in the rule, which checks that");
    }
}

#[test]
fn comments_strings_and_tests_are_not_code() {
    for (source, expected) in [
        ("let url = \"http://x\"; std::fs::read()", "std::fs::read"),
        ("let c = '\"'; std::fs::read() // \"", "std::fs::read"),
        ("fn f<'a>(x: &'a str) { std::fs::read() }", "std::fs::read"),
        ("let raw = r#\"a \"quoted\" // word\"#; std::fs::read()", "std::fs::read"),
        ("#[cfg(test)]\nuse std::env;\nuse std::fs;", "std::fs"),
        ("#[cfg(test)]\nfn f() -> [u8; 1] { let end = \"}\"; std::env::vars() }\nuse std::fs;", "std::fs"),
        ("/* std::env::vars() */ std::fs::read() /* \" */", "std::fs::read"),
        ("let escaped = \"\\\" std::env::vars()\"; std::fs::read()", "std::fs::read"),
        ("let c = '\\''; std::fs::read(); let d = '\\'';", "std::fs::read"),
    ] {
        assert_eq!(RULES[0].violations("model/id.rs", source), [expected], "{source}");
    }
    assert!(calls_itself_pure("//! What it does.\n//!\n//! Pure; `now` is an argument.\n"));
    assert!(calls_itself_pure("//! What it does: pure.\n"));
    assert!(!calls_itself_pure("//! It asks [`mx`], which is pure.\n\n/// Pure.\nfn f() {}"));
}

/// Only one place in the code acknowledges a message, so that one place shows when a message is durable.
#[test]
fn a_message_is_answered_250_in_one_place() {
    let said_in = |words: &str| -> Vec<&str> {
        let all = SOURCES.iter().filter(|source| !source.file.contains("/tests/"));
        let times = |source: &'static Source| vec![&*source.file; source.with_strings().matches(words).count()];
        all.flat_map(times).collect()
    };
    assert_eq!(said_in("\"Stored\""), ["smtp/reply.rs"]);
    assert_eq!(said_in("Reply::STORED"), ["smtp/session/mod.rs"]);
    assert_eq!(said_in("Self::STORED"), [""; 0]);
}

#[test]
fn every_home_is_lived_in() {
    for rule in RULES.iter().filter(|rule| rule.files[0].is_empty()) {
        let is_home = |source: &&Source| rule.files[1..].iter().any(|home| source.file.starts_with(&home[1..]));
        let is_lived_in = SOURCES.iter().filter(is_home).any(|source| !rule.among(&source.paths).is_empty());
        assert!(is_lived_in, "nothing lives there any more: {}", rule.name);
    }
}

#[test]
fn each_rule_notices_what_it_forbids() {
    for (file, source) in [
        ("model/time.rs", "fn now() { chrono::Utc::now() }"),
        ("model/id.rs", "use std::time::{Duration, SystemTime};"),
        ("mime/html.rs", "use std::{fmt, fs};"),
        ("smtp/session/mod.rs", "use crate::{clock::Clock, model::Address};"),
        ("smtp/policy.rs", "async fn f() { tokio::time::sleep(PAUSE).await }"),
        ("dns/mx/mod.rs", "use std::net::{IpAddr, TcpStream};"),
        ("dns/mx/mod.rs", "use tokio::net;"),
        ("domains/round.rs", "let start = Instant::now();"),
        ("store/embedded/writer.rs", "use crate::{smtp::Reply};"),
        ("store/mod.rs", "use super::http::Problem;"),
        ("smtp/connection.rs", "fn f() -> crate::http::Problem {}"),
        ("smtp/mod.rs", "pub use super::http::{self};"),
        ("http/edge.rs", "use super::super::smtp;"),
        ("store/journal/mod.rs", "use redb::Database;"),
        ("mime/mod.rs", "use smtp_proto as smtp;"),
        ("http/raw.rs", "mail_parser::MessageParser::default()"),
        ("http/view.rs", "ammonia::clean(html)"),
        ("domains/verifier.rs", "use hickory_resolver::TokioResolver;"),
        ("dns/resolver.rs", "reqwest::get(url)"),
        ("cli/inbox.rs", "use comfy_table::Table;"),
        ("smtp/mod.rs", "#[derive(Debug, clap::Args)]"),
        ("client/mod.rs", "use clap_complete::{\n    Shell,\n};"),
        ("webhook/queue/mod.rs", "fn now() -> Duration { Instant::now().into() }"),
        ("webhook/request.rs", "use crate::clock::Clock;"),
        ("webhook/attempt.rs", "use crate::http::Problem;"),
        ("cli/inbox.rs", "use crate::store::Store;"),
        ("webhook/dispatcher.rs", "use super::super::smtp::Receiver;"),
        ("store/index/outbox.rs", "use crate::webhook::Schedule;"),
        ("tls/keeper.rs", "use crate::config::Config;"),
        ("connections/proxy/mod.rs", "use tokio::net::TcpStream;"),
        ("connections/clients.rs", "fn now() -> std::time::Instant { std::time::Instant::now() }"),
        ("smtp/deadlines/mod.rs", "use tokio::time::Instant;"),
        ("daemon/mod.rs", "use rcgen::KeyPair;"),
        ("tls/files.rs", "use listenfd::ListenFd;"),
        ("http/server.rs", "use rustls::ServerConfig;"),
        ("smtp/accept.rs", "x509_cert::Certificate::from_der(octets)"),
        ("webhook/attempt.rs", "use aws_lc_rs::hmac::Key;"),
        ("http/webhooks.rs", "aws_lc_rs::digest::digest(&SHA256, secret)"),
        ("smtp/metrics.rs", "use prometheus::IntCounter;"),
        ("smtp/metrics.rs", "tracing::info!(\"smtp session ended\")"),
        ("cli/webhook/secret.rs", "use base64::Engine;"),
        ("cli/wait.rs", "use rmcp::ServerHandler;"),
        ("cli/output/table.rs", "use jaq_core::Compiler;"),
    ] {
        let named: Vec<_> = RULES.iter().flat_map(|rule| rule.violations(file, source)).collect();
        assert!(!named.is_empty(), "{file}: {source}");
    }
}

#[test]
fn what_is_permitted_is_not_taken_for_a_violation() {
    for (file, source) in [
        ("model/time.rs", "use chrono::{DateTime, Utc};\nuse std::time::Duration;"),
        ("dns/mx/mod.rs", "use std::net::IpAddr; // not std::net::TcpStream"),
        ("smtp/session/mod.rs", "//! Unlike tokio::net::TcpStream.\nuse crate::store::StoreError;\nself.clock.now()"),
        ("smtp/session/mod.rs", "use bytes::Bytes;\n#[cfg(test)]\nmod tests { use std::fs; }"),
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
