//! What a start waits for, and what it does not wait for.
//! Mechanism: it goes with the index on disk; its regressions become cases of `each_call` or `crash`.

use std::io::ErrorKind;

use tempmail::store::StoreOptions;

use super::{open, receive, total};
use crate::suites::options;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::until::until;

/// The most segments that may be tried: the first, a larger one that fails, a small one, and the two after that.
const ATTEMPTS_MAX: usize = 5;
/// More room than the first segment needs.
const ROOM_OCTETS: u64 = 5 << 20;

/// A regression: a start, and the end of a fault, wrote a whole segment of zeros before it accepted mail: up to a gigabyte.
#[tokio::test]
async fn a_process_starts_with_a_small_segment_and_does_so_again_after_a_failure() {
    let disk = TestDisk::default();
    let _failing =
        disk.fail(|call| (call.kind == Kind::Allocate && call.octets > ROOM_OCTETS).then_some(ErrorKind::StorageFull));
    let made = || -> Vec<u64> {
        let calls = disk.calls().into_iter().filter(|call| call.kind == Kind::Allocate);
        calls.map(|call| call.octets).collect()
    };
    let store = open(&disk, &StoreOptions { segment_octets: 200 << 20, ..options() });
    // More messages than one segment has room for.
    let mails = 100;
    for _ in 0..mails {
        until("a segment has room for a message", async || {
            assert!(made().len() <= ATTEMPTS_MAX, "{:?}", made());
            receive(&store, vec![b'x'; 60_000]).await.is_ok()
        })
        .await;
    }
    let made = made();
    let first = made[0];
    assert!(((4 << 20)..ROOM_OCTETS).contains(&first), "{made:?}");
    assert_eq!(made[1..3], [4 * first, first], "they grow, and start small again after a failure: {made:?}");
    assert_eq!(total(&store).await, mails);
}
