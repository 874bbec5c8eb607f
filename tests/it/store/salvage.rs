//! A salvage of a journal whose index is lost.

use std::sync::Arc;
use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreOptions, salvage};

use super::{locked, locked_directory};
use crate::suites::options;
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const EVERYTHING: PageRequest = PageRequest { offset: 0, limit: usize::MAX };
/// More mails than two steps of a deletion remove.
const MAILS: usize = 1_500;

/// A regression: the second step of a deletion removed mail that came after the call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mail_that_came_between_two_steps_of_a_deletion_stays() {
    let disk = RecordingDisk::default();
    let rare = StoreOptions { checkpoint_octets: u64::MAX, checkpoint_quiet: Duration::from_hours(1), ..options() };
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &rare).expect("open"));
    for _ in 0..MAILS / 100 {
        let sent = (0..100).map(|n| store.receive(delivery(&["a@example.test"], format!("old {n}"), NOW)));
        for received in futures_util::future::join_all(sent).await {
            received.expect("receive");
        }
    }
    let blocked = disk.block_syncs_of("journal-");
    let deleting = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await })
    };
    tokio::task::block_in_place(|| disk.wait_for_blocked_sync());
    // The mail comes before the first step is answered, and so before the second step.
    let new = store.receive(delivery(&["a@example.test"], "new", NOW));
    let (received, ()) = tokio::join!(new, async { drop(blocked) });
    received.expect("receive");
    assert_eq!(deleting.await.expect("no panic"), Ok(MAILS as u64));
    assert_eq!(store.list(&mailbox("a@example.test"), EVERYTHING, NOW).await.expect("list").total, 1);
    store.close().await.expect("close");

    let dir = tempfile::tempdir().expect("directory");
    for (name, octets) in disk.files().into_iter().filter(|(name, _)| name != "index.redb") {
        std::fs::write(dir.path().join(name), octets).expect("write");
    }
    salvage(locked_directory(dir.path()), &rare, &mut |_, _| {}).expect("salvage");
    let store = EmbeddedStore::open_on(locked(dir.path()), &rare).expect("open");
    let part = store.list(&mailbox("a@example.test"), EVERYTHING, NOW).await.expect("list");
    assert_eq!(part.total, 1);
    assert_eq!(store.load(&part.emails[0]).await.expect("load").expect("an Email").raw, "new");
}
