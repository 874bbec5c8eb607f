//! What is appended reads back, and what a disk does to it is torn or damaged as it should be.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::scan::Scanned;
use super::*;
use crate::model::{EmailId, Envelope, Greeting, Mailbox, Protocol, Recipient, Subaddressing, Timestamp};
use crate::store::OpenError;
use crate::store::change::Change;
use crate::store::check::FindingKind;
use crate::store::disk::{Directory, Disk};

const SEGMENT_OCTETS: u64 = 256 << 10;

/// Hints in memory.
#[derive(Debug, Default)]
struct Kept(Mutex<BTreeMap<u32, Vec<u8>>>);

impl Hints for Kept {
    fn get(&self, segment: u32) -> Option<Vec<u8>> {
        self.0.lock().expect("hints").get(&segment).cloned()
    }

    fn put(&self, segment: u32, hint: Vec<u8>) {
        self.0.lock().expect("hints").insert(segment, hint);
    }

    fn remove(&self, segments: &[u32]) -> bool {
        self.0.lock().expect("hints").retain(|number, _| !segments.contains(number));
        true
    }

    fn numbers(&self) -> Vec<u32> {
        self.0.lock().expect("hints").keys().copied().collect()
    }
}

struct Store {
    dir: tempfile::TempDir,
    hints: Arc<Kept>,
}

impl Store {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("directory"), hints: Arc::default() }
    }

    fn files(&self) -> Files {
        let disk: Arc<dyn Disk> = Arc::new(Directory::lock(self.dir.path()).expect("lock"));
        Files::open(&disk).expect("open")
    }

    fn journal(&self) -> Journal {
        let files = self.files();
        let found = scan(&files, &*self.hints, Mode::Strict, &mut |_| {}).expect("scan");
        Journal::begin(files, found, &options(), self.hints.clone()).expect("begin")
    }

    fn scan(&self, mode: Mode) -> (Result<Scanned, OpenError>, Vec<Found>) {
        let mut all = Vec::new();
        let scanned = scan(&self.files(), &*self.hints, mode, &mut |found| all.push(found));
        (scanned, all)
    }

    /// The Emails of the messages that a strict scan finds.
    fn found(&self) -> Result<Vec<u64>, OpenError> {
        let (scanned, all) = self.scan(Mode::Strict);
        scanned.map(|_| sequences(&all))
    }

    fn path(&self, number: u32) -> std::path::PathBuf {
        self.dir.path().join("store").join(segment_name(number))
    }
}

fn options() -> StoreOptions {
    StoreOptions {
        retention: None,
        message_octets_max: 64 << 10,
        segment_octets: SEGMENT_OCTETS,
        outbox: crate::store::OutboxLimits::default(),
        emails_max: 1_000_000,
        emails_per_mailbox_max: 0,
    }
}

fn message(sequence: u64) -> Change {
    let mailbox: Mailbox =
        "ann@example.test".parse::<crate::model::Address>().expect("address").mailbox(Subaddressing::Keep);
    let id = EmailId::from_parts(Timestamp::from_millis(1), [u8::try_from(sequence % 256).expect("an octet"); 10]);
    let recipients = vec![Recipient { id, address: "ann@example.test".into(), mailbox }];
    Change::Received {
        envelope: Envelope {
            client: std::net::IpAddr::from([127, 0, 0, 1]),
            helo: "client.test".into(),
            protocol: Protocol::plain(Greeting::Ehlo),
            reverse_path: String::new(),
            recipients,
        },
        received_at: Timestamp::from_millis(1),
        expires_at: Timestamp::from_millis(2),
        has_own_life: false,
        first: sequence,
        events: Vec::new(),
    }
}

fn sequences(found: &[Found]) -> Vec<u64> {
    let of = |found: &Found| match found {
        Found::Fact { fact: Change::Received { first, .. }, .. } => Some(*first),
        _ => None,
    };
    found.iter().filter_map(of).collect()
}

fn append(journal: &mut Journal, sequence: u64, content: &[u8]) -> RecordPlace {
    let mut group = Group::default();
    group.push(&message(sequence), content).expect("push");
    journal.append(&mut group, sequence + 1).expect("append")[0]
}

#[test]
fn what_is_appended_reads_back_from_segments_and_from_hints() {
    let store = Store::new();
    let mut journal = store.journal();
    assert!(journal.files().is_empty(), "no file before the first group");
    let content = vec![b'x'; 40 << 10];
    let places: Vec<_> = (1..=20).map(|sequence| append(&mut journal, sequence, &content)).collect();
    for place in &places {
        let message = journal.files().read(*place).expect("read").expect("a message");
        assert_eq!(message.raw, content);
    }
    assert!(journal.files().numbers().len() > 3);
    drop(journal);
    let all: Vec<u64> = (1..=20).collect();
    assert_eq!(store.found().expect("with hints"), all);
    let sealed = store.hints.0.lock().expect("hints").len();
    assert_eq!(sealed, store.files().numbers().len() - 1);
    let (_, with_hints) = store.scan(Mode::Strict);
    store.hints.0.lock().expect("hints").clear();
    let (scanned, without) = store.scan(Mode::Strict);
    let scanned = scanned.expect("scan");
    assert_eq!(format!("{with_hints:?}"), format!("{without:?}"));
    assert!(scanned.next_sequence > 1);
    assert_eq!(scanned.next_group, 21);
    // The next process goes on in a segment of its own.
    let mut journal = store.journal();
    let place = append(&mut journal, 21, b"more");
    assert!(place.segment > places[19].segment);
    drop(journal);
    assert_eq!(store.found().expect("scan").len(), 21);
}

#[test]
fn a_last_group_is_torn_wherever_it_is_cut_and_the_ones_before_it_stay() {
    let store = Store::new();
    let mut journal = store.journal();
    append(&mut journal, 1, b"first");
    let last = append(&mut journal, 2, b"second message");
    let octets = journal.active.as_ref().expect("active").end;
    drop(journal);
    let whole = std::fs::read(store.path(1)).expect("read");
    let start = last.offset - u32::try_from(GROUP_HEADER_OCTETS).expect("small");
    for cut in start..octets {
        let mut torn = whole.clone();
        torn[cut as usize..].fill(0);
        std::fs::write(store.path(1), &torn).expect("write");
        assert_eq!(store.found().expect("torn"), [1], "cut at {cut}");
        assert!(!store.scan(Mode::Lenient).1.iter().any(|found| matches!(found, Found::Damage(_))));
    }
}

#[test]
fn a_flipped_bit_of_a_durable_group_is_damage_and_a_lenient_scan_goes_on_behind_it() {
    let store = Store::new();
    let mut journal = store.journal();
    let first = append(&mut journal, 1, b"first");
    append(&mut journal, 2, b"second");
    append(&mut journal, 3, b"third");
    drop(journal);
    let whole = std::fs::read(store.path(1)).expect("read");
    let group = first.offset as usize - GROUP_HEADER_OCTETS;
    let content = (first.offset + first.length - first.content) as usize;
    for bit in (0..12 * 8).chain(16 * 8..52 * 8).chain(group * 8..content * 8) {
        let mut bad = whole.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(store.path(1), &bad).expect("write");
        let found = store.found();
        assert!(matches!(found, Err(OpenError::Damaged { .. } | OpenError::Format { .. })), "bit {bit}: {found:?}");
        let (scanned, all) = store.scan(Mode::Lenient);
        if bit >= group * 8 {
            assert!(all.iter().any(|found| matches!(found, Found::Damage(_))), "bit {bit}");
            assert_eq!(sequences(&all), [2, 3], "bit {bit}");
        } else if scanned.is_ok() {
            assert!(matches!(&all[0], Found::Damage(found) if found.kind == FindingKind::SegmentHeader), "bit {bit}");
        }
    }
    // The content of an acknowledged message is looked at by a lenient scan alone.
    let mut bad = whole.clone();
    bad[content] ^= 1;
    std::fs::write(store.path(1), &bad).expect("write");
    assert_eq!(store.found().expect("strict"), [1, 2, 3]);
    let (_, all) = store.scan(Mode::Lenient);
    assert!(matches!(all[0], Found::Fact { content: Content::Damaged, .. }));
}

#[test]
fn a_first_block_of_zeros_is_damage() {
    let store = Store::new();
    let mut journal = store.journal();
    let content = vec![b'x'; 10 << 10];
    for sequence in 1..=3 {
        append(&mut journal, sequence, &content);
    }
    drop(journal);
    let mut octets = std::fs::read(store.path(1)).expect("read");
    for zeros in [512, 4096, octets.len()] {
        octets[..zeros].fill(0);
        std::fs::write(store.path(1), &octets).expect("write");
        assert!(matches!(store.found(), Err(OpenError::Damaged { segment: 1, .. })), "{zeros}");
    }
}

#[test]
fn a_segment_that_is_gone_leaves_the_others_readable_and_numbers_rise() {
    let store = Store::new();
    let mut journal = store.journal();
    let content = vec![b'x'; 60 << 10];
    for sequence in 1..=16 {
        append(&mut journal, sequence, &content);
    }
    let sealed = journal.sealed();
    assert!(sealed.len() >= 3, "{sealed:?}");
    // What is being sealed is in use, and the next try removes it.
    let begun = std::time::Instant::now();
    while journal.sealed().len() == sealed.len() && begun.elapsed().as_secs() < 60 {
        journal.retire(&sealed[1..2]);
    }
    assert_eq!(journal.sealed().len(), sealed.len() - 1);
    drop(journal);
    for has_hints in [true, false] {
        if !has_hints {
            store.hints.0.lock().expect("hints").clear();
        }
        let found = store.found().expect("scan");
        assert!(found.len() < 16 && found.contains(&1) && found.contains(&16), "{found:?}");
    }
    let mut journal = store.journal();
    let sealed = journal.sealed();
    journal.retire(&sealed);
    drop(journal);
    let (scanned, _) = store.scan(Mode::Strict);
    let scanned = scanned.expect("scan");
    assert_eq!(scanned.next_group, 17, "the last segment is never retired");
}
