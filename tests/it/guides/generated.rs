//! What the reference guide has from the program: the tables of settings, commands, problem codes and metrics.
//! Promise: it outlives the code below it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tempmail::config::{FIRST, Setting, settings};
use tempmail::http::problem::Code;

use super::{guide, path};
use crate::support::exposition::Exposition;
use crate::support::test_server::TestServer;

const UPDATE: &str = "UPDATE_GUIDES=1 cargo test --locked --test it guides::generated";

/// Compares each section with what the program says. Writes the sections if an update was requested.
#[tokio::test]
async fn the_reference_says_what_the_program_says() {
    let sections = [
        ("Settings", settings_tables()),
        ("All commands", commands_table()),
        ("Problem codes", codes_table()),
        ("Metrics", metrics_table().await),
    ];
    let stored = guide("reference");
    let wanted = sections.iter().fold(stored.clone(), |text, (heading, table)| with_section(&text, heading, table));
    if wanted == stored {
        return;
    }
    if std::env::var_os("UPDATE_GUIDES").is_some() {
        std::fs::write(path("man/guide/reference.md"), wanted).expect("a file");
        return;
    }
    let old: Vec<&str> = stored.lines().collect();
    let changed: Vec<&str> = wanted.lines().filter(|line| !old.contains(line)).collect();
    panic!("man/guide/reference.md is stale; write it with\n{UPDATE}\nnew or changed lines:\n{}", changed.join("\n"));
}

/// The text with `table` as its section of this heading.
fn with_section(text: &str, heading: &str, table: &str) -> String {
    let heading = format!("\n## {heading}\n");
    let (before, rest) = text.split_once(&heading).unwrap_or_else(|| panic!("the reference has no section{heading}"));
    let after = rest.find("\n## ").map_or("", |end| &rest[end..]);
    [before, &heading, table, after].concat()
}

/// Every setting with its default and bounds, by subject.
fn settings_tables() -> String {
    const HEAD: &str = "\n| Setting | Default | Meaning and bounds |\n|---|---|---|\n";
    let mut text = format!("\n### The eleven that people change first\n{HEAD}");
    text.extend(FIRST.map(|key| row(Setting::find(key).expect(key))));
    let mut subject = "";
    for setting in settings().filter(|setting| !FIRST.contains(&&*setting.key)) {
        if setting.subject != subject {
            subject = &setting.subject;
            // Writing to a String does not fail.
            let _ = write!(text, "\n### {subject}\n{HEAD}");
        }
        text.push_str(&row(setting));
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("| `")).count(), settings().count());
    text
}

fn row(setting: &Setting) -> String {
    let default = setting.default_text();
    // A dollar sign begins a formula in some readers.
    let default = if default.contains('$') { format!("`{default}`") } else { default };
    format!("| `{}` | {default} | {} |\n", setting.key, setting.help).replace('*', "\\*")
}

fn commands_table() -> String {
    let mut rows = BTreeMap::new();
    let mut command = tempmail::cli::command();
    command.build();
    for noun in command.get_subcommands().filter(|noun| !noun.is_hide_set()) {
        let verbs: Vec<_> = noun.get_subcommands().filter(|verb| verb.get_name() != "help").collect();
        for of in if verbs.is_empty() { vec![noun] } else { verbs } {
            let name = of.get_bin_name().expect("a built command");
            let about = of.get_about().map(ToString::to_string).unwrap_or_default();
            rows.insert(name.to_owned(), format!("| `{name}` | {about} |\n"));
        }
    }
    let rows: String = rows.into_values().collect();
    format!("\n| Command | What it does |\n|---|---|\n{rows}")
}

fn codes_table() -> String {
    let rows = Code::ALL.iter().map(|code| {
        let (status, word) = code.row();
        format!("| `{word}` | {} | {} |\n", status.as_u16(), code.meaning())
    });
    let rows: String = rows.collect();
    format!("\n| Code | Status | When |\n|---|---|---|\n{rows}")
}

async fn metrics_table() -> String {
    let server = TestServer::start().await;
    // The first scrape can't count itself.
    Exposition::of(server.http()).await;
    let metrics = Exposition::of(server.http()).await;
    server.stop().await;
    assert!(metrics.families.len() > 20, "{metrics:?}");
    let rows = metrics.families.iter().map(|(name, family)| {
        let labels: Vec<String> = family.labels().into_iter().map(|label| format!("`{label}`")).collect();
        format!("| `{name}` | {} | {} | {} |\n", family.kind, labels.join(", "), family.help)
    });
    let rows: String = rows.collect();
    format!("\n| Metric | Type | Labels | What it is |\n|---|---|---|---|\n{rows}")
}
