//! A damaged file: plain words that name it and what mends it, or right rows. Never a panic.

use rand::{RngExt, SeedableRng};

use super::*;

/// More than a page.
const HINT_OCTETS: usize = 20_000;

/// A file with some of everything, and what it has.
fn file() -> (Vec<u8>, Contents) {
    let dir = tempfile::tempdir().expect("directory");
    let registry = open(dir.path());
    for number in 0..30 {
        registry.load_domain(&domain(&format!("d{number}.example"))).expect("domain");
        registry.load_webhook(webhook(number, "x@d1.example")).expect("webhook");
    }
    registry.replace_tokens(&registry.tokens(), &[token("a"), token("b")]).expect("tokens");
    registry.flush().expect("flush");
    for number in 0..30 {
        registry.record(&[attempt(number, 1, 50), attempt(number, 2, 51)], &[true, true]).expect("record");
    }
    Hints::put(&registry, 1, vec![5; HINT_OCTETS]);
    registry.flush().expect("flush");
    let contents = contents(&registry);
    drop(registry);
    (std::fs::read(stored(dir.path()).join(NAME)).expect("read"), contents)
}

/// What became of a damaged file.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Refused,
    /// It opens and all rows are right.
    Opens,
}

fn outcome(octets: &[u8], expected: &Contents, what: &str) -> Outcome {
    let dir = tempfile::tempdir().expect("directory");
    std::fs::write(stored(dir.path()).join(NAME), octets).expect("write");
    let disk = disk(dir.path());
    let found = EmbeddedRegistry::check(&disk).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(found.iter().all(|finding| finding.starts_with(NAME)), "{what}: {found:?}");
    assert!(
        std::fs::read(stored(dir.path()).join(NAME)).expect("read") == octets,
        "{what}: the check wrote to the file"
    );
    match EmbeddedRegistry::open(&disk, [0; 16]) {
        Err(OpenError::Registry(words)) => {
            for part in ["registry.redb", "`tempmail db check`", "`tempmail db check --salvage`"] {
                assert!(words.contains(part), "{what}: {words}");
            }
            assert!(!found.is_empty(), "{what}: the check finds nothing: {words}");
            Outcome::Refused
        }
        Err(other) => panic!("{what}: {other}"),
        Ok(registry) => {
            assert_eq!((contents(&registry), registry.secret()), (expected.clone(), SECRET), "{what}");
            use_all(&registry, expected, what);
            drop(registry);
            assert_eq!(EmbeddedRegistry::check(&disk).expect("check"), [""; 0], "{what}: the damage stayed");
            Outcome::Opens
        }
    }
}

/// Everything is there, and can be changed.
fn use_all(registry: &EmbeddedRegistry, expected: &Contents, what: &str) {
    for webhook in &expected.1 {
        let number = webhook.id.octets()[15].into();
        let log = registry.attempts(webhook.id, 10, at(60)).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(log, [attempt(number, 2, 51), attempt(number, 1, 50)], "{what}");
    }
    assert_eq!(Hints::get(registry, 1), Some(vec![5; HINT_OCTETS]), "{what}: the hint");
    Hints::put(registry, 2, vec![6; 100]);
    registry.record(&[attempt(3, 3, 52)], &[true]).unwrap_or_else(|error| panic!("{what}: {error}"));
    registry.register_domain(domain("new.example"), 100).unwrap_or_else(|error| panic!("{what}: {error}"));
    registry.delete_webhooks(&|webhook| webhook.id == id(4)).unwrap_or_else(|error| panic!("{what}: {error}"));
    registry.flush().unwrap_or_else(|error| panic!("{what}: {error}"));
}

#[test]
fn each_page_that_is_damaged_is_refused_in_plain_words_or_harmless() {
    let (whole, expected) = file();
    assert_eq!(outcome(&whole, &expected, "whole"), Outcome::Opens);
    let mut random = rand::rngs::SmallRng::seed_from_u64(1);
    let mut refused = 0;
    for page in (0..whole.len() / 4096).filter(|page| whole[page * 4096..][..4096].iter().any(|octet| *octet != 0)) {
        for kind in ["zeros", "random", "first octets", "a bit"] {
            let mut octets = whole.clone();
            let there = &mut octets[page * 4096..][..4096];
            match kind {
                "zeros" => there.fill(0),
                "random" => random.fill(there),
                "first octets" => random.fill(&mut there[..3000]),
                _ => there[random.random_range(0..4096)] ^= 1 << random.random_range(0..8),
            }
            refused += usize::from(outcome(&octets, &expected, &format!("page {page}: {kind}")) == Outcome::Refused);
        }
    }
    assert!(refused > 20, "only {refused} were refused");
}

#[test]
fn a_file_that_is_cut_off_at_a_page_is_refused_in_plain_words_or_harmless() {
    let (whole, expected) = file();
    for page in 0..whole.len() / 4096 {
        outcome(&whole[..page * 4096], &expected, &format!("cut off at page {page}"));
    }
    assert_eq!(outcome(&[], &expected, "empty"), Outcome::Refused);
    assert_eq!(outcome(&[9; 3000], &expected, "another file"), Outcome::Refused);
}

#[test]
fn a_flipped_bit_in_a_row_of_any_table_is_refused() {
    let (whole, expected) = file();
    for (needle, what) in [(&b"An Owner"[..], "domains"), (b"status", "delivery logs"), (&[5; 64], "a hint")] {
        let places = (0..whole.len() - needle.len()).filter(|place| whole[*place..].starts_with(needle));
        let mut octets = whole.clone();
        // Pages that are not in use any more have some of them too.
        let flipped = places.map(|place| octets[place] ^= 1).count();
        assert!(flipped >= 30, "{flipped} places of {what}");
        assert_eq!(outcome(&octets, &expected, what), Outcome::Refused, "a flipped bit in {what}");
    }
}

#[test]
fn another_format_is_named() {
    let dir = tempfile::tempdir().expect("directory");
    let registry = open(dir.path());
    let format = Row::new(Table::Meta, b"format", 9_u32.to_le_bytes().into());
    registry.lock().file.write(&[format]).expect("write");
    drop(registry);
    let expected = OpenError::Format { file: NAME.into(), found: 9, known: file::FORMAT };
    assert_eq!(EmbeddedRegistry::open(&disk(dir.path()), SECRET).expect_err("format"), expected);
    assert_eq!(EmbeddedRegistry::check(&disk(dir.path())).expect_err("format"), expected);
}

#[test]
fn an_untouched_registry_and_a_creation_that_was_cut_off_leave_no_trace() {
    let dir = tempfile::tempdir().expect("directory");
    assert!(EmbeddedRegistry::open_untouched(&disk(dir.path())).expect("nothing").is_none());
    std::fs::write(stored(dir.path()).join("registry.new"), [0; 5000]).expect("write");
    open(dir.path()).register_domain(domain("a.example"), 1).expect("won");
    assert!(!stored(dir.path()).join("registry.new").exists());
    let before = std::fs::read(stored(dir.path()).join(NAME)).expect("read");
    let registry = EmbeddedRegistry::open_untouched(&disk(dir.path())).expect("open").expect("there");
    assert_eq!(registry.remove_domain(&domain("a.example").name).expect("remove"), Some(vec![]));
    drop(registry);
    assert!(std::fs::read(stored(dir.path()).join(NAME)).expect("read") == before);
}
