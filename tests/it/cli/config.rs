//! `tempmail config`, where no daemon runs.
//! Promise: it outlives the code below it.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{NOWHERE, alone};
use crate::support::in_process::CommandLine;

fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn without_a_daemon_it_is_what_one_would_start_with() {
    let dir = tempfile::tempdir().expect("directory");
    fs::create_dir(dir.path().join("tempmail")).expect("directory");
    fs::write(dir.path().join("tempmail/config.toml"), "domain = ['a.test', 'b.test']\n").expect("write");
    let outcome = CommandLine::on_data(dir.path(), &["config", "show"]).run().ok();
    assert!(outcome.stdout.contains("\ndomain\ta.test,b.test\n"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("no daemon runs"), "{}", outcome.stderr);
    let screen = CommandLine::on_data(dir.path(), &["config", "show", "--origin"]).on_terminal(60).text;
    assert!(screen.contains("SETTING") && screen.contains("ORIGIN"), "{screen}");
    let rows = screen.lines().skip_while(|line| !line.starts_with("SETTING"));
    assert!(rows.clone().count() > 40 && rows.clone().all(|line| line.chars().count() <= 60), "{screen}");
    let bad = CommandLine::on_data(dir.path(), &["config", "show"]).env("TEMPMAIL_RETENTION", "soon").run();
    assert_eq!(bad.code, Some(78), "{}", bad.stderr);
    assert!(!dir.path().join("tempmail.sock").exists() && !dir.path().join("store").exists());
}

#[test]
fn what_init_prints_passes_check() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("config.toml");
    let printed = alone(&["config", "init"]);
    assert_eq!(alone(&["config", "init", path(&file)]).code, Some(0));
    assert_eq!(fs::read_to_string(&file).expect("read"), printed.stdout);
    let checked = alone(&["config", "check", path(&file)]);
    assert_eq!((checked.code, checked.stdout), (Some(0), format!("{} is valid and has 0 settings\n", path(&file))));
    // Without the first comment marks every setting is in effect.
    let bare: String =
        printed.stdout.lines().map(|line| line.strip_prefix('#').unwrap_or(line).to_owned() + "\n").collect();
    fs::write(&file, bare).expect("write");
    let checked = alone(&["config", "check", path(&file)]).ok();
    assert!(!checked.stdout.contains("has 0 settings"), "{}", checked.stdout);

    fs::write(&file, "mine").expect("write");
    let refused = alone(&["config", "init", path(&file)]);
    assert_eq!(refused.code, Some(5), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&file).expect("read"), "mine");
}

#[test]
fn check_reports_every_fault_with_its_line_and_reads_nothing_else() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("config.toml");
    fs::write(&file, "retentoin = '1h'\n\npage-size-max = 500\ndomain = ['a b']\n").expect("write");
    let outcome = alone(&["config", "check", path(&file)]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(8), ""));
    for fault in [
        ":1: retentoin: unknown key; did you mean retention?",
        ":3: page-size-max: '500' is out of range; accepted is 1 to 300",
        ":4: domain: 'a b'",
    ] {
        assert!(outcome.stderr.contains(fault), "{fault} in {}", outcome.stderr);
    }
    let json = alone(&["config", "check", path(&file), "--json"]).json();
    assert_eq!(json["ok"], false);
    let lines: Vec<_> = json["faults"].as_array().expect("faults").iter().map(|fault| &fault["line"]).collect();
    assert_eq!(lines, [1, 3, 4]);

    fs::write(&file, "page-size-max = 10\npage-size-default = 20\n").expect("write");
    let contradiction = alone(&["config", "check", path(&file)]);
    assert_eq!(contradiction.code, Some(8));
    assert!(
        contradiction.stderr.contains(":2: page-size-default: 20 is more than page-size-max"),
        "{}",
        contradiction.stderr
    );

    fs::write(&file, "retention = '1h'\n").expect("write");
    let line = CommandLine::on_data(dir.path(), &["config", "check", path(&file)]);
    line.env("TEMPMAIL_RETENTION", "nonsense").env("TEMPMAIL_CONFIG", "/does/not/exist").run().ok();
    assert_eq!(alone(&["config", "check", "/does/not/exist.toml"]).code, Some(2));
}

#[test]
fn check_reads_standard_input() {
    let check = |args: &[&str], input: &str| {
        CommandLine::new(Path::new(NOWHERE), &[&["config", "check", "-"], args].concat()).fed(input).run()
    };
    let good = check(&[], "retention = '1h'\n");
    assert_eq!((good.code, good.stdout.as_str()), (Some(0), "standard input is valid and has 1 setting\n"));
    let bad = check(&["--json"], "\nretention = 'soon'\n");
    assert_eq!(
        (bad.code, &bad.json()["file"], &bad.json()["faults"][0]["line"]),
        (Some(8), &json!("standard input"), &json!(2))
    );
}
