//! Codes and links in mails of all kinds: `tests/corpus` has the mails with what a person would find in them.
//!
//! The part `developed` was looked at while the rules were written. Of the part `measured` only the totals were
//! looked at.
//! Promise: it outlives the code below it.

mod corpus;

use std::collections::BTreeMap;

use corpus::Sample;
use tempmail::mime::{self, Message};

/// How often the answers were right.
#[derive(Default)]
struct Count {
    right: usize,
    wrong: usize,
    missed: usize,
}

impl Count {
    fn add(&mut self, expected: &[String], found: &[String]) {
        let right = found.iter().filter(|it| expected.contains(it)).count();
        self.right += right;
        self.wrong += found.len() - right;
        self.missed += expected.iter().filter(|it| !found.contains(it)).count();
    }

    #[expect(clippy::cast_precision_loss, reason = "there are some hundred mails")]
    fn share(&self, of: usize) -> f64 {
        if self.right + of == 0 { 1.0 } else { self.right as f64 / (self.right + of) as f64 }
    }

    fn precision(&self) -> f64 {
        self.share(self.wrong)
    }

    fn recall(&self) -> f64 {
        self.share(self.missed)
    }
}

/// The counts of a part of the corpus by what was searched.
fn measure(part: &str) -> BTreeMap<&'static str, Count> {
    let mut counts = BTreeMap::<_, Count>::new();
    let is_shown = std::env::var("TEMPMAIL_CORPUS_SHOWS").is_ok_and(|shown| shown == part);
    for Sample { name, raw, codes, links } in corpus::samples(part) {
        let findings = mime::findings(&Message::new(&raw));
        let found_codes: Vec<String> = findings.codes.iter().map(|code| code.code.clone()).collect();
        let found_links: Vec<String> =
            findings.links.iter().map(|link| format!("{} {}", link.kind.as_str(), link.url)).collect();
        if is_shown && (found_codes != codes || found_links != links) {
            println!("{name}\n  expected {codes:?} {links:?}\n  found    {findings:?}");
        }
        let first = |links: &[String]| links.iter().take(1).cloned().collect::<Vec<_>>();
        counts.entry("codes").or_default().add(&codes, &found_codes);
        counts.entry("first link").or_default().add(&first(&links), &first(&found_links));
        counts.entry("links").or_default().add(&links, &found_links);
    }
    counts
}

fn assert_found(part: &str, precision_min: f64, recall_min: f64) {
    let counts = measure(part);
    for (what, count) in &counts {
        let Count { right, wrong, missed } = count;
        let (precision, recall) = (count.precision(), count.recall());
        println!(
            "{part}, {what}: precision {precision:.3}, recall {recall:.3} ({right} right, {wrong} wrong, {missed} missed)"
        );
    }
    for (what, count) in counts {
        assert!(count.precision() >= precision_min, "{what} of {part}: precision {:.3}", count.precision());
        assert!(count.recall() >= recall_min, "{what} of {part}: recall {:.3}", count.recall());
    }
}

#[test]
fn codes_and_links_of_mails_that_were_looked_at_are_found() {
    assert_found("developed", 0.994, 0.997);
}

#[test]
fn codes_and_links_of_mails_that_were_only_measured_are_found() {
    assert_found("measured", 0.990, 0.979);
}

#[test]
fn the_corpus_is_broad() {
    let (developed, measured) = (corpus::samples("developed"), corpus::samples("measured"));
    assert!(developed.len() + measured.len() >= 400, "{} and {}", developed.len(), measured.len());
    let silent = measured.iter().filter(|sample| sample.codes.is_empty()).count();
    assert!(3 * silent >= measured.len(), "{silent} of {} have no code", measured.len());
}
