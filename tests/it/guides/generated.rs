//! What is made from the program's own: the tables of settings and commands in the guides.
//! Promise: it outlives the code below it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tempmail::config::{FIRST, Setting, settings};

use super::{guide, path};

const UPDATE: &str = "UPDATE_GUIDES=1 cargo test --locked --test it guides::generated";
const FIRST_HEADING: &str = "## The eleven settings that people change first\n";
const COMMANDS_HEADING: &str = "## All commands\n";

/// Compares the end of a guide, from `heading` on, with the expected text. Writes that text if an update was requested.
fn compare(name: &str, heading: &str, generated: &str) {
    let text = guide(name);
    let (stored, found) = text.split_once(heading).expect(heading);
    if found == generated {
        return;
    }
    if std::env::var_os("UPDATE_GUIDES").is_some() {
        std::fs::write(path(&format!("man/guide/{name}.md")), [stored, heading, generated].concat()).expect("a file");
        return;
    }
    let old: Vec<&str> = found.lines().collect();
    let changed: Vec<&str> = generated.lines().filter(|line| !old.contains(line)).collect();
    panic!("man/guide/{name}.md is stale; write it with\n{UPDATE}\nnew or changed lines:\n{}", changed.join("\n"));
}

fn row(setting: &Setting) -> String {
    let default = setting.default_text();
    // A dollar sign begins a formula in some readers.
    let default = if default.contains('$') { format!("`{default}`") } else { default };
    format!("| `{}` | {default} | {} |\n", setting.key, setting.help).replace('*', "\\*")
}

#[test]
fn the_configuration_guide_has_every_setting_with_its_default_and_bounds() {
    const HEAD: &str = "\n| Setting | Default | Meaning and bounds |\n|---|---|---|\n";
    let mut text = HEAD.to_owned();
    text.extend(FIRST.map(|key| row(Setting::find(key).expect(key))));
    let mut subject = "";
    for setting in settings().filter(|setting| !FIRST.contains(&&*setting.key)) {
        if setting.subject != subject {
            subject = &setting.subject;
            // Writing to a String does not fail.
            let _ = write!(text, "\n## {subject}\n{HEAD}");
        }
        text.push_str(&row(setting));
    }
    compare("configuration", FIRST_HEADING, &text);
    assert_eq!(text.lines().filter(|line| line.starts_with("| `")).count(), settings().count());
}

#[test]
fn the_commands_guide_has_every_command() {
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
    compare("commands", COMMANDS_HEADING, &format!("\n| Command | What it does |\n|---|---|\n{rows}"));
}
