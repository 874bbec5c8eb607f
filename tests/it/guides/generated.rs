//! What the reference guide has from the program: the lists of settings, commands, problem codes and metrics.
//! Promise: it outlives the code below it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use tempmail::config::{FIRST, Setting, settings};
use tempmail::http::problem::Code;

use super::{guide, path};
use crate::exits;
use crate::support::exposition::Exposition;
use crate::support::test_server::TestServer;

const UPDATE: &str = "UPDATE_GUIDES=1 cargo test --locked --test it guides::generated";

/// Compares each section with what the program says. Writes the sections if an update was requested.
#[tokio::test]
async fn the_reference_says_what_the_program_says() {
    let sections = [
        ("Settings", settings_list()),
        ("All commands", commands_list()),
        ("Problem codes", codes_list()),
        ("Metrics", metrics_list().await),
    ];
    let stored = guide("reference");
    let wanted = sections.iter().fold(stored.clone(), |text, (heading, list)| with_section(&text, heading, list));
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

/// The text with `list` as its section of this heading.
fn with_section(text: &str, heading: &str, list: &str) -> String {
    let heading = format!("\n## {heading}\n");
    let (before, rest) = text.split_once(&heading).unwrap_or_else(|| panic!("the reference has no section{heading}"));
    let after = rest.find("\n## ").map_or("", |end| &rest[end..]);
    [before, &heading, list, after].concat()
}

/// Every setting with its default and bounds, by subject.
fn settings_list() -> String {
    let mut text = "\n### The eleven that people change first\n\n".to_owned();
    text.extend(FIRST.map(|key| line(Setting::find(key).expect(key))));
    let mut subject = "";
    for setting in settings().filter(|setting| !FIRST.contains(&&*setting.key)) {
        if setting.subject != subject {
            subject = &setting.subject;
            // Writing to a String does not fail.
            let _ = write!(text, "\n### {subject}\n\n");
        }
        text.push_str(&line(setting));
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("- `")).count(), settings().count());
    text
}

fn line(setting: &Setting) -> String {
    let default = setting.default_text();
    // A dollar sign begins a formula in some readers.
    let default = if default.contains('$') { format!("`{default}`") } else { default };
    format!("- `{}` ({default}): {}\n", setting.key, setting.help).replace('*', "\\*")
}

/// The items of a list.
fn listed(items: &[String]) -> String {
    format!("\n- {}\n", items.join("\n- "))
}

/// Words as code.
fn code<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Every command in the item of its noun.
fn commands_list() -> String {
    let (commands, mut alone) = (exits::commands(), BTreeSet::new());
    let mut verbs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for command in &commands {
        match command.split_once(' ') {
            Some((noun, verb)) => verbs.entry(noun).or_default().insert(verb),
            None => alone.insert(&**command),
        };
    }
    let items = verbs.into_iter().map(|(noun, verbs)| format!("`{noun}`: {}", code(verbs)));
    let items: Vec<String> = items.chain([format!("Alone: {}", code(alone))]).collect();
    format!("\n`tempmail COMMAND --help` explains each.\n{}", listed(&items))
}

fn codes_list() -> String {
    listed(&Code::ALL.iter().map(|code| code.described()).collect::<Vec<_>>())
}

async fn metrics_list() -> String {
    let server = TestServer::start().await;
    // The first scrape can't count itself.
    Exposition::of(server.http()).await;
    let metrics = Exposition::of(server.http()).await;
    server.stop().await;
    assert!(metrics.families.len() > 20, "{metrics:?}");
    let mut by_subject: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, family) in &metrics.families {
        assert!(!family.help.is_empty(), "{name} has no HELP, to which the reference sends its readers");
        let subject = name.split('_').nth(1).expect("tempmail_ and a subject");
        let labels = family.labels();
        let by = if labels.is_empty() { String::new() } else { format!(" by {}", code(labels)) };
        by_subject.entry(subject).or_default().push(format!("`{name}`{by}"));
    }
    let items: Vec<String> = by_subject.into_values().map(|names| names.join("; ")).collect();
    format!("\nWhat each is stands beside it at `/metrics`; its labels follow `by`.\n{}", listed(&items))
}
