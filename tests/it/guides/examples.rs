//! The guides show the examples as they are in `tests/examples`, where they are run.
//! Promise: it outlives the code below it.

use super::{file, guide, path};

const UPDATE: &str = "UPDATE_GUIDES=1 cargo test --locked --test it guides::examples";
/// The language of a block, and the file that it shows by its path from the root of the package.
type Example = (&'static str, &'static str);
/// Sections of guides, with their examples.
const SECTIONS: [(&str, &str, &[Example]); 2] = [
    ("webhooks", "\n## Verify a delivery\n", &[("python", "tests/examples/verify.py")]),
    ("testing", "\n## In a test suite\n", &[("python", "tests/examples/test_sign_up.py")]),
];

#[test]
fn the_guides_show_the_examples_that_are_tested() {
    for (name, heading, examples) in SECTIONS {
        let guide = guide(name);
        let (before, rest) = guide.split_once(heading).expect(heading);
        let (section, after) = rest.find("\n## ").map_or((rest, ""), |end| rest.split_at(end));
        let mut shown = section.to_owned();
        for (language, file_name) in examples {
            let start = format!("\n```{language}\n");
            let (text, block) = shown.split_once(&start).unwrap_or_else(|| panic!("no example in {language}"));
            let (_, rest) = block.split_once("```\n").expect("the end of the example");
            shown = [text, &start, &file(file_name), "```\n", rest].concat();
        }
        if shown == section {
            continue;
        }
        assert!(std::env::var_os("UPDATE_GUIDES").is_some(), "man/guide/{name}.md is stale; write it with\n{UPDATE}");
        let text = [before, heading, &shown, after].concat();
        std::fs::write(path(&format!("man/guide/{name}.md")), text).expect("a file");
    }
}
