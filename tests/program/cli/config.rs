//! `tempmail config show` of a daemon that was started with flags and variables.
//! Promise: it outlives the code below it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::program::Program;

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
    let settings = binary.tempmail(&["config", "show", "--json"]).json();
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
