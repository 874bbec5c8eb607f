//! What a start waits for, and what it does not wait for.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreOptions};

use crate::suites::options;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;
use crate::support::until::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// The most segments that may be tried: the first, a larger one that fails, a small one, and the two after that.
const ATTEMPTS_MAX: usize = 5;
/// More room than the first segment needs.
const ROOM_OCTETS: u64 = 18 << 20;

/// A regression: a start, and the end of a fault, wrote a whole segment of zeros before it accepted mail: up to a gigabyte.
#[tokio::test]
async fn a_process_starts_with_a_small_segment_and_does_so_again_after_a_failure() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let made = Arc::<Mutex<Vec<u64>>>::default();
    disk.fail({
        let made = Arc::clone(&made);
        move |operation, _| {
            let Operation::Allocate(octets) = operation else { return None };
            made.lock().expect("sizes").push(octets);
            (octets > ROOM_OCTETS).then_some(ErrorKind::StorageFull)
        }
    });
    let large = StoreOptions { segment_octets: 200 << 20, ..options() };
    let store = EmbeddedStore::open_on(Arc::new(disk), &large).expect("open");
    // More messages than one segment has room for.
    let mails = 350;
    for _ in 0..mails {
        until("a segment has room for a message", async || {
            assert!(made.lock().expect("sizes").len() <= ATTEMPTS_MAX, "{made:?}");
            store.receive(delivery(&["a@example.test"], vec![b'x'; 60_000], NOW)).await.is_ok()
        })
        .await;
    }
    let made = made.lock().expect("sizes").clone();
    let first = made[0];
    assert!(((16 << 20)..ROOM_OCTETS).contains(&first), "{made:?}");
    assert_eq!(made[1..3], [4 * first, first], "they grow, and start small again after a failure: {made:?}");
    let part = PageRequest { offset: 0, limit: 1 };
    assert_eq!(store.list(&mailbox("a@example.test"), part, NOW).await.expect("list").total, mails);
}
