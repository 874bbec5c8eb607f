//! README and the guides describe each setting, command, exit code, error code, route and metric of the program.
//! Promise: it outlives the code below it.

mod examples;
mod generated;

use std::collections::BTreeSet;

use tempmail::config::{Sources, load};
use tempmail::error::Exit;

use crate::support::document::Document;
use crate::support::files::{blocks, file, pages, path};

fn guide(name: &str) -> String {
    file(&format!("man/guide/{name}.md"))
}

#[test]
fn the_command_that_ci_runs_is_alone_in_a_code_block() {
    let readme = file("README.md");
    let mut is_code = false;
    let lines = readme.lines().filter(|line| {
        is_code ^= line.starts_with("```");
        is_code
    });
    let commands: Vec<&str> = lines.filter(|line| line.trim_start().starts_with("cargo test")).collect();
    assert_eq!(commands.first(), Some(&"cargo test --locked --features cassandra"), "{commands:?}");
}

#[test]
fn readme_is_short() {
    let readme = file("README.md");
    let (lines, words) = (readme.lines().count(), readme.split_whitespace().count());
    assert!(
        lines <= 200 && words <= 900,
        "README.md has {lines} lines and {words} words; the rest belongs into a guide"
    );
}

#[test]
fn readme_and_guides_have_at_most_14_000_words() {
    let words: usize = pages().iter().map(|(_, text)| text.split_whitespace().count()).sum();
    assert!(words <= 14_000, "README and the guides have {words} words; say less, or say it once");
}

#[test]
fn each_configuration_file_that_is_shown_can_be_loaded() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut shown = 0;
    for (page, text) in pages() {
        for block in blocks(&text, "toml") {
            let file = dir.path().join("config.toml");
            std::fs::write(&file, block).expect("a file");
            let env = [("HOME".to_owned(), dir.path().display().to_string())].into();
            let sources = Sources { config_file: Some(file), env, ..Sources::default() };
            assert!(load(&sources).is_ok(), "{page}: {:?}\n{block}", load(&sources));
            shown += 1;
        }
    }
    assert!(shown >= 2, "only {shown} were found");
}

/// `world::examples::commands` runs those of `sh` and `console`.
#[test]
fn each_block_is_of_a_language_that_a_test_knows() {
    const LANGUAGES: [&str; 8] = ["", "sh", "console", "toml", "json", "http", "python", "js"];
    for (page, text) in pages() {
        let fences = text.lines().filter_map(|line| line.trim_start().strip_prefix("```"));
        for language in fences {
            assert!(LANGUAGES.contains(&language), "{page}: {language}");
        }
    }
}

#[test]
fn the_help_of_each_command_has_examples() {
    fn check(command: &clap::Command) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains("Examples:\n  "), "{} has no examples", command.get_name());
        command.get_subcommands().filter(|below| !below.is_hide_set()).for_each(check);
    }
    check(&tempmail::cli::command());
}

#[test]
fn each_exit_code_has_a_line() {
    let guide = guide("reference");
    for code in Exit::ALL.map(Exit::code) {
        let start = format!("- {code}: ");
        assert!(guide.lines().any(|line| line.starts_with(&start)), "the reference has no line for exit code {code}");
    }
}

#[test]
fn each_route_is_named() {
    let guide = guide("http");
    for route in Document::written().paths() {
        let is_named = [' ', '`', '?'].iter().any(|end| guide.contains(&format!(" {route}{end}")));
        assert!(is_named, "the HTTP guide does not name {route}");
    }
}

/// The lines of the reference are those of the program, by its own test.
#[test]
fn the_alerts_and_the_dashboard_have_only_metrics_that_exist() {
    let guide = guide("reference");
    let known: BTreeSet<&str> = guide.split("`tempmail_").skip(1).filter_map(|rest| rest.split('`').next()).collect();
    let dashboard = file("man/monitoring/grafana.json");
    serde_json::from_str::<serde_json::Value>(&dashboard).expect("JSON");
    for (name, text) in [("alerts.yml", file("man/monitoring/alerts.yml")), ("grafana.json", dashboard)] {
        let is_of_name = |c: char| c.is_ascii_lowercase() || c == '_';
        let words = text.split("tempmail_").skip(1).map(|rest| rest.split(|c| !is_of_name(c)).next().unwrap_or(""));
        let metrics: BTreeSet<&str> = words.map(|word| word.trim_end_matches("_bucket")).collect();
        assert!(metrics.len() > 5, "{name}: {metrics:?}");
        assert_eq!(metrics.difference(&known).collect::<Vec<_>>(), Vec::<&&str>::new(), "{name}");
    }
}

/// The anchors of a page's headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let anchor = |heading: &str| {
        let stored = heading.to_lowercase().replace(' ', "-");
        stored.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect::<String>()
    };
    page.lines().filter_map(|line| Some(anchor(line.trim_start_matches('#').strip_prefix(' ')?))).collect()
}

#[test]
fn each_link_leads_to_a_file_and_a_heading() {
    let mut links = 0;
    for (page, text) in pages() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("http") {
                continue;
            }
            let (to, anchor) = link.split_once('#').unwrap_or((link, ""));
            let to = if to.is_empty() { path(&page) } else { path(&page).with_file_name("").join(to) };
            let found = std::fs::read(&to).unwrap_or_else(|error| panic!("{page} links to {link}: {error}"));
            assert!(
                anchor.is_empty() || anchors(&String::from_utf8_lossy(&found)).contains(anchor),
                "{page}: there is no heading for {link}"
            );
            links += 1;
        }
    }
    assert!(links > 20, "only {links} were found");
}
