//! The webhooks guide shows the examples that verify a delivery as they are in `tests/examples`, where they are run.

use super::{file, guide, path};

const UPDATE: &str = "UPDATE_GUIDES=1 cargo test --locked --test it guides::examples";
const HEADING: &str = "\n## Verify a delivery\n";
/// The language of each block, and the file that it shows.
const EXAMPLES: [(&str, &str); 5] =
    [("python", "verify.py"), ("js", "verify.js"), ("go", "verify.go"), ("rust", "verify.rs"), ("sh", "verify.sh")];

#[test]
fn the_webhooks_guide_shows_the_examples_that_are_tested() {
    let guide = guide("webhooks");
    let (before, rest) = guide.split_once(HEADING).expect(HEADING);
    let (section, after) = rest.split_once("\n## ").expect("a section after it");
    let mut shown = section.to_owned();
    for (language, name) in EXAMPLES {
        let start = format!("\n```{language}\n");
        let (text, block) = shown.split_once(&start).unwrap_or_else(|| panic!("no example in {language}"));
        let (_, rest) = block.split_once("```\n").expect("the end of the example");
        shown = [text, &start, &file(&format!("tests/examples/{name}")), "```\n", rest].concat();
    }
    if shown == section {
        return;
    }
    assert!(std::env::var_os("UPDATE_GUIDES").is_some(), "man/guide/webhooks.md is stale; write it with\n{UPDATE}");
    let text = [before, HEADING, &shown, "\n## ", after].concat();
    std::fs::write(path("man/guide/webhooks.md"), text).expect("a file");
}
