//! `man/` and `completions/` are up to date with the command tree.
//! Promise: it outlives the code below it.

use std::collections::BTreeMap;
use std::path::Path;

use super::run;

const REMEDY: &str = "regenerate them with: cargo run -- man man && cargo run -- completions --dir completions";

fn files(dir: &Path) -> BTreeMap<String, String> {
    std::fs::read_dir(dir)
        .unwrap_or_else(|error| panic!("{}: {error}; {REMEDY}", dir.display()))
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().expect("name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("text"))
        })
        .collect()
}

fn compare(committed: &str, generated: &Path) {
    let committed = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(committed));
    let generated = files(generated);
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&committed), names(&generated), "{REMEDY}");
    for (name, text) in &generated {
        assert!(committed.get(name) == Some(text), "{name} is stale; {REMEDY}");
    }
}

#[test]
fn manual_pages_are_those_of_the_command_tree() {
    let dir = tempfile::tempdir().expect("directory");
    assert_eq!(run(&["man", dir.path().to_str().expect("path")]).code, Some(0));
    compare("man", dir.path());
}

#[test]
fn each_option_on_a_manual_page_has_its_text() {
    for (name, page) in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("man")) {
        let lines: Vec<&str> = page.lines().collect();
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| **line == ".TP") {
            let text = lines.get(at + 2).copied().unwrap_or_default();
            assert!(!text.is_empty() && !text.starts_with('.'), "{name}: {}", lines[at + 1]);
        }
    }
}

#[test]
fn completions_are_those_of_the_command_tree() {
    let dir = tempfile::tempdir().expect("directory");
    assert_eq!(run(&["completions", "--dir", dir.path().to_str().expect("path")]).code, Some(0));
    compare("completions", dir.path());
    let files = files(dir.path());
    for (shell, file) in [("bash", "tempmail.bash"), ("zsh", "_tempmail"), ("fish", "tempmail.fish")] {
        assert_eq!(run(&["completions", shell]).stdout, files[file], "{shell}");
    }
}

#[test]
fn a_manual_page_has_examples_that_can_be_copied() {
    let page = run(&["man"]).stdout;
    assert!(!page.contains("EXTRA"), "{page}");
    let examples = page.split(".SH EXAMPLES\n").nth(1).expect("examples");
    let examples = examples.split(".fi").next().expect("their end");
    assert!(examples.starts_with(".nf\n"), "{examples}");
    assert!(examples.lines().any(|line| line.contains("jq \\-r \\(aq.emails[0].subject\\(aq")), "{examples}");
    assert!(page.contains(".SH EXIT CODES\n.nf\n"), "{page}");
}
