//! The seeds of a target, and the loop that runs them and what is made from them.

use std::fmt::Debug;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestError, TestRunner};

/// How many made-up inputs each target runs unless told otherwise.
const CASES: u32 = 400;

/// The files of `corpus/TARGET`, by name.
pub(crate) fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target);
    let entries = fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut seeds: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("a seed"))
        })
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{} has no seeds", dir.display());
    seeds
}

/// Runs the seeds of `target` as they are, then inputs made by `strategy`.
pub(crate) fn run<S>(
    target: &str,
    strategy: S,
    check: impl Fn(&S::Value) -> TestCaseResult,
    of_seed: impl Fn(Vec<u8>) -> S::Value,
) where
    S: Strategy,
    S::Value: Debug,
{
    for (name, octets) in seeds(target) {
        if let Err(error) = check(&of_seed(octets)) {
            panic!("corpus/{target}/{name}: {error}");
        }
    }
    let cases = cases();
    let config =
        ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 50_000, ..ProptestConfig::default() };
    match TestRunner::new(config).run(&strategy, |input| check(&input)) {
        Ok(()) => println!("{target}: {cases} cases and the corpus"),
        Err(TestError::Fail(reason, input)) => panic!("{target}: {reason}\n{input:?}"),
        Err(TestError::Abort(reason)) => panic!("{target}: {reason}"),
    }
}

fn cases() -> u32 {
    match std::env::var("TEMPMAIL_FUZZ_CASES") {
        Ok(text) => text.parse().expect("TEMPMAIL_FUZZ_CASES is a number"),
        Err(_) => CASES,
    }
}
