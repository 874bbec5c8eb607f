//! `tempmail config`
//! Promise: it outlives the code below it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::run;
use crate::support::program::{Program, local, local_with, on_terminal};

fn shown(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The setting with this key, without the key.
fn setting(settings: &Value, key: &str) -> Value {
    let found = settings.as_array().expect("a list").iter().find(|it| it["key"] == key);
    let mut found = found.unwrap_or_else(|| panic!("{key} in {settings}")).clone();
    found.as_object_mut().expect("an object").remove("key");
    found
}

fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn a_daemon_tells_what_it_runs_with_and_where_that_comes_from() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("own.toml");
    fs::write(&file, "# mine\nretention = '30m'\npage-size-max = 50\n").expect("write");
    let binary = Program::serve_with(dir.path(), &["--config", path(&file), "--max-domains", "7"], |command| {
        command.env("TEMPMAIL_PAGE_SIZE_MAX", "60");
    });
    // It tells what it runs with, not what the file says by now.
    fs::write(&file, "retention = '1h'\n").expect("write");
    let settings = shown(&binary.tempmail(&["config", "show", "--json"]).stdout);
    assert_eq!(
        setting(&settings, "retention"),
        json!({ "values": ["30m"], "origin": "file", "file": path(&file), "line": 2 })
    );
    let of = |origin, value| json!({ "values": [value], "origin": origin, "file": null, "line": null });
    assert_eq!(setting(&settings, "max-domains"), of("flag", "7"));
    assert_eq!(setting(&settings, "page-size-max"), of("environment", "60"));
    assert_eq!(setting(&settings, "page-size-default"), of("default", "20"));
    let lines = binary.tempmail(&["config", "show", "--origin"]);
    assert_eq!((lines.code, lines.stderr.as_str()), (Some(0), ""));
    let line = format!("\nretention\t30m\t{}:2\n", path(&file));
    for line in [&line, "\nmax-domains\t7\t--max-domains\n", "\npage-size-max\t60\tTEMPMAIL_PAGE_SIZE_MAX\n"] {
        assert!(lines.stdout.contains(line), "{line:?} in {}", lines.stdout);
    }
}

#[test]
fn without_a_daemon_it_is_what_one_would_start_with() {
    let dir = tempfile::tempdir().expect("directory");
    fs::create_dir(dir.path().join("tempmail")).expect("directory");
    fs::write(dir.path().join("tempmail/config.toml"), "domain = ['a.test', 'b.test']\n").expect("write");
    let outcome = local(dir.path(), &["config", "show"]).ok();
    assert!(outcome.stdout.contains("\ndomain\ta.test,b.test\n"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("no daemon runs"), "{}", outcome.stderr);
    let screen = on_terminal(dir.path(), 60, "", &["config", "show", "--origin"]).text;
    assert!(screen.contains("SETTING") && screen.contains("ORIGIN"), "{screen}");
    let rows = screen.lines().skip_while(|line| !line.starts_with("SETTING"));
    assert!(rows.clone().count() > 40 && rows.clone().all(|line| line.chars().count() <= 60), "{screen}");
    let bad = local_with(dir.path(), &[("TEMPMAIL_RETENTION", "soon")], &["config", "show"]);
    assert_eq!(bad.code, Some(78), "{}", bad.stderr);
    assert!(!dir.path().join("tempmail.sock").exists() && !dir.path().join("store").exists());
}

#[test]
fn what_init_prints_passes_check() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("config.toml");
    let printed = run(&["config", "init"]);
    assert_eq!(run(&["config", "init", path(&file)]).code, Some(0));
    assert_eq!(fs::read_to_string(&file).expect("read"), printed.stdout);
    let checked = run(&["config", "check", path(&file)]);
    assert_eq!((checked.code, checked.stdout), (Some(0), format!("{} is valid and has 0 settings\n", path(&file))));
    // Without the first comment marks every setting is in effect.
    let bare: String =
        printed.stdout.lines().map(|line| line.strip_prefix('#').unwrap_or(line).to_owned() + "\n").collect();
    fs::write(&file, bare).expect("write");
    let checked = run(&["config", "check", path(&file)]).ok();
    assert!(!checked.stdout.contains("has 0 settings"), "{}", checked.stdout);

    fs::write(&file, "mine").expect("write");
    let refused = run(&["config", "init", path(&file)]);
    assert_eq!(refused.code, Some(5), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&file).expect("read"), "mine");
}

#[test]
fn check_reports_every_fault_with_its_line_and_reads_nothing_else() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("config.toml");
    fs::write(&file, "retentoin = '1h'\n\npage-size-max = 500\ndomain = ['a b']\n").expect("write");
    let outcome = run(&["config", "check", path(&file)]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(8), ""));
    for fault in [
        ":1: retentoin: unknown key; did you mean retention?",
        ":3: page-size-max: '500' is out of range; accepted is 1 to 300",
        ":4: domain: 'a b'",
    ] {
        assert!(outcome.stderr.contains(fault), "{fault} in {}", outcome.stderr);
    }
    let json = shown(&run(&["config", "check", path(&file), "--json"]).stdout);
    assert_eq!(json["ok"], false);
    let lines: Vec<_> = json["faults"].as_array().expect("faults").iter().map(|fault| &fault["line"]).collect();
    assert_eq!(lines, [1, 3, 4]);

    fs::write(&file, "page-size-max = 10\npage-size-default = 20\n").expect("write");
    let contradiction = run(&["config", "check", path(&file)]);
    assert_eq!(contradiction.code, Some(8));
    assert!(
        contradiction.stderr.contains(":2: page-size-default: 20 is more than page-size-max"),
        "{}",
        contradiction.stderr
    );

    fs::write(&file, "retention = '1h'\n").expect("write");
    let env = [("TEMPMAIL_RETENTION", "nonsense"), ("TEMPMAIL_CONFIG", "/does/not/exist")];
    local_with(dir.path(), &env, &["config", "check", path(&file)]).ok();
    assert_eq!(run(&["config", "check", "/does/not/exist.toml"]).code, Some(2));
}
