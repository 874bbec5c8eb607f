//! Commands and flags that have gone: the refusal says what to do instead.
//! Promise: it outlives the code below it.

use super::run;

/// Command lines, and a part of what is said.
const REMOVED: &[(&[&str], &str)] = &[
    (&["inbox", "a@example.test", "--jq", ".total"], "--json into `jq`"),
    (&["--jq=.total", "inbox", "a@example.test"], "--json into `jq`"),
];

#[test]
fn what_has_gone_is_refused_and_the_refusal_says_what_to_do_instead() {
    for (args, instead) in REMOVED {
        let outcome = run(args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{args:?}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.starts_with("error: `") && outcome.stderr.contains(instead), "{}", outcome.stderr);

        let outcome = run(&[&["--json"], *args].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{args:?}: {}", outcome.stderr);
        let problem: serde_json::Value = serde_json::from_str(&outcome.stderr).expect("an error as JSON");
        assert_eq!(problem["code"], "usage", "{problem}");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(instead)), "{problem}");
    }
}
