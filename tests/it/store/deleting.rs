//! A deletion of a mailbox removes the mail of the time of the call. The store does other work between its steps.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join_all, poll_immediate};
use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreOptions};

use crate::suites::options;
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "a@example.test";
/// More mails than one step deletes.
const MAILS: u64 = 1_500;
/// The segment in use; the next one is made beside it.
const IN_USE: &str = "journal-0000000000000001";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_comes_between_two_steps_stays() {
    let disk = RecordingDisk::default();
    // Nothing but changes syncs the segment.
    let rare = StoreOptions { checkpoint_octets: u64::MAX, checkpoint_quiet: Duration::from_hours(1), ..options() };
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &rare).expect("open"));
    let filling = (0..MAILS).map(|_| store.receive(delivery(&[TO], "early", NOW)));
    assert!(join_all(filling).await.into_iter().all(|received| received == Ok(())));

    let blocked = disk.block_syncs_of(IN_USE);
    let deleting = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.delete_all(&mailbox(TO), u64::MAX, NOW).await }
    });
    tokio::task::block_in_place(|| disk.wait_for_blocked_sync());
    // The writer has it before it has answered the first step, and so before it can be asked for the second.
    let mut late = store.receive(delivery(&[TO], "late", NOW));
    assert_eq!(poll_immediate(&mut late).await, None);
    drop(blocked);
    assert_eq!(late.await, Ok(()));
    assert_eq!(deleting.await.expect("no panic"), Ok(MAILS));

    let part = PageRequest { offset: 0, limit: 9 };
    let left = store.list(&mailbox(TO), part, NOW).await.expect("list");
    assert_eq!(left.total, 1);
    assert_eq!(store.load(&left.emails[0]).await.expect("load").expect("an Email").raw, "late");
}
