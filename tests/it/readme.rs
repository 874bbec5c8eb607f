//! README says what the program does: each setting, command, exit code, error code and endpoint is in it.

use std::collections::BTreeSet;
use std::path::Path;

use tempmail::config::{SETTINGS, Setting};
use tempmail::error::Exit;

use crate::support::exposition::{Exposition, Family};
use crate::support::test_server::TestServer;

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The first cells of README's tables, without backticks.
fn first_cells(readme: &str) -> BTreeSet<String> {
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| "));
    rows.filter_map(|row| row.split(" | ").next()).map(|cell| cell.replace('`', "").trim().to_owned()).collect()
}

#[test]
fn the_command_that_ci_runs_stands_alone_in_a_code_block() {
    let readme = file("README.md");
    let mut is_code = false;
    let lines = readme.lines().filter(|line| {
        is_code ^= line.starts_with("```");
        is_code
    });
    let commands: Vec<&str> = lines.filter(|line| line.trim_start().starts_with("cargo test")).collect();
    assert_eq!(commands.first(), Some(&"cargo test --locked"), "{commands:?}");
}

#[test]
fn each_setting_has_a_row_with_its_flag_variable_default_and_bounds() {
    let readme = file("README.md");
    let row = |setting: &Setting| {
        let key = setting.key;
        let default = setting.default_text().replace(',', ", ").replace("  ", " ");
        // A dollar sign begins a formula in some readers.
        let default = if default.contains('$') { format!("`{default}`") } else { default };
        let row = format!("| `{key}` | `--{key}` | `{}` | {default} | {} |", setting.variable(), setting.help);
        row.replace('*', "\\*")
    };
    let missing: Vec<String> = SETTINGS.iter().map(row).filter(|row| !readme.lines().any(|line| line == row)).collect();
    assert!(missing.is_empty(), "README.md lacks the rows\n{}", missing.join("\n"));
}

#[test]
fn each_command_has_a_row() {
    let cells = first_cells(&file("README.md"));
    let command = tempmail::cli::command();
    for sub in command.get_subcommands() {
        let name = sub.get_name();
        let verbs: Vec<String> = sub.get_subcommands().map(|verb| format!("{name} {}", verb.get_name())).collect();
        let wanted = if verbs.is_empty() { vec![name.to_owned()] } else { verbs };
        for wanted in wanted {
            let is_there = cells.iter().any(|cell| *cell == wanted || cell.starts_with(&format!("{wanted} ")));
            assert!(is_there, "README.md has no row for `tempmail {wanted}`");
        }
    }
}

#[test]
fn the_help_of_each_command_has_examples() {
    fn check(command: &clap::Command) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains("Examples:\n  "), "{} has no examples", command.get_name());
        command.get_subcommands().for_each(check);
    }
    check(&tempmail::cli::command());
}

#[test]
fn each_exit_code_has_a_row() {
    let cells = first_cells(&file("README.md"));
    for exit in Exit::ALL {
        assert!(cells.contains(&exit.code().to_string()), "README.md has no row for exit code {}", exit.code());
    }
}

#[test]
fn each_error_code_has_a_row_with_its_status() {
    let readme = file("README.md");
    let source = file("src/http/problem.rs");
    let rows: Vec<(&str, &str)> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Self::")?.split_once("=> (S::")?.1.strip_suffix("\"),"))
        .filter_map(|row| row.split_once(", \""))
        .collect();
    assert!(rows.len() > 30, "the table in problem.rs was not found: {rows:?}");
    for (status, code) in rows {
        let status = match status {
            "BAD_REQUEST" => 400,
            "UNAUTHORIZED" => 401,
            "FORBIDDEN" => 403,
            "NOT_FOUND" => 404,
            "METHOD_NOT_ALLOWED" => 405,
            "REQUEST_TIMEOUT" => 408,
            "CONFLICT" => 409,
            "PAYLOAD_TOO_LARGE" => 413,
            "URI_TOO_LONG" => 414,
            "UNSUPPORTED_MEDIA_TYPE" => 415,
            "MISDIRECTED_REQUEST" => 421,
            "UNPROCESSABLE_ENTITY" => 422,
            "TOO_MANY_REQUESTS" => 429,
            "INTERNAL_SERVER_ERROR" => 500,
            "SERVICE_UNAVAILABLE" => 503,
            "INSUFFICIENT_STORAGE" => 507,
            other => panic!("teach this test the number of {other}"),
        };
        let start = format!("| `{code}` | {status} | ");
        assert!(readme.lines().any(|line| line.starts_with(&start)), "README.md has no row that begins with\n{start}");
    }
}

#[test]
fn each_route_is_named() {
    let readme = file("README.md");
    let routes = |path: &str, prefix: &str| -> Vec<String> {
        let source = file(path);
        let paths = source.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next());
        paths
            .map(|route| if route.starts_with(prefix) { route.to_owned() } else { format!("{prefix}{route}") })
            .filter(|route| route != "/api/admin/")
            .collect()
    };
    let all = [routes("src/http/mod.rs", ""), routes("src/http/admin/mod.rs", "/api/admin")].concat();
    assert!(all.len() > 10 && all.contains(&"/api/webhooks".to_owned()), "{all:?}");
    for route in all {
        let is_named = [' ', '`', '?'].iter().any(|end| readme.contains(&format!(" {route}{end}")));
        assert!(is_named, "README.md does not name {route}");
    }
}

#[tokio::test]
async fn each_metric_has_a_row_with_its_type_labels_and_help_and_no_row_is_left_over() {
    let readme = file("README.md");
    let server = TestServer::start().await;
    // The first scrape can't count itself.
    Exposition::of(server.http()).await;
    let metrics = Exposition::of(server.http()).await;
    let row = |(name, family): (&String, &Family)| {
        let labels: Vec<String> = family.labels().into_iter().map(|label| format!("`{label}`")).collect();
        format!("| `{name}` | {} | {} | {} |", family.kind, labels.join(", "), family.help)
    };
    let wanted: BTreeSet<String> = metrics.families.iter().map(row).collect();
    let rows: BTreeSet<String> =
        readme.lines().filter(|line| line.starts_with("| `tempmail_")).map(str::to_owned).collect();
    assert!(wanted.len() > 30, "{wanted:?}");
    assert_eq!(rows.difference(&wanted).collect::<Vec<_>>(), Vec::<&String>::new(), "rows without a metric");
    assert_eq!(wanted.difference(&rows).collect::<Vec<_>>(), Vec::<&String>::new(), "metrics without a row");
    server.stop().await;
}

#[test]
fn each_word_for_a_failed_delivery_is_named() {
    let readme = file("README.md");
    let source = file("src/webhook/outcome.rs") + &file("src/model/webhook.rs");
    let of_classes =
        source.lines().filter_map(|line| line.trim().strip_prefix("Self::")?.split_once("=> \"")?.1.split('"').next());
    let of_store = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub const ")?.split_once(": &str = \"")?.1.split('"').next());
    let words: Vec<&str> = of_classes.chain(of_store).collect();
    assert!(words.len() == 11, "{words:?}");
    for word in words {
        assert!(readme.contains(&format!("`{word}`")), "README.md does not name {word}");
    }
}

#[test]
fn each_link_within_the_page_has_its_heading() {
    let readme = file("README.md");
    let anchor = |heading: &str| {
        let kept = heading.to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect::<String>()
    };
    let headings: BTreeSet<String> =
        readme.lines().filter_map(|line| Some(anchor(line.trim_start_matches('#').strip_prefix(' ')?))).collect();
    let links: Vec<&str> = readme.split("](#").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() > 20, "{links:?}");
    for link in links {
        assert!(headings.contains(link), "README.md has no heading for #{link}");
    }
}
