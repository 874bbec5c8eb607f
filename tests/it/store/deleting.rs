//! A deletion of a mailbox removes the mail of the time of the call. The store does other work between its steps.
//! Promise: it outlives the code below it.

use std::sync::Arc;

use futures_util::future::poll_immediate;
use tempmail::store::Store;

use super::{IN_USE, NOW, REGISTRY, TO, contents, delete_all, open, receive, receive_all, salvaged};
use crate::suites::options;
use crate::support::mail::delivery;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::until::until;

/// More mails than one step deletes.
const MAILS: usize = 1_500;

/// A regression in a salvage, which has the journal alone: the second step removed mail that came after the call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_comes_between_two_steps_stays() {
    let disk = TestDisk::default();
    // Nothing but changes syncs the segment.
    let store = Arc::new(open(&disk, &options()));
    receive_all(&store, (0..MAILS).map(|_| delivery(&[TO], "early", NOW))).await;

    let held = disk.hold(|call| call.is(Kind::Sync, IN_USE));
    let deleting = tokio::spawn({
        let store = Arc::clone(&store);
        async move { delete_all(&store).await }
    });
    until("a sync is held", async || held.waiting() > 0).await;
    // The writer has it before it has answered the first step, and so before it can be asked for the second.
    let mut late = Box::pin(receive(&store, "late"));
    assert_eq!(poll_immediate(&mut late).await, None);
    drop(held);
    assert_eq!(late.await, Ok(()));
    assert_eq!(deleting.await.expect("no panic"), Ok(MAILS as u64));
    assert_eq!(contents(&store).await, ["late"]);
    store.close().await.expect("close");

    let journal = disk.files().into_iter().filter(|(name, _)| name != REGISTRY);
    let (_dir, store) = salvaged(journal, NOW);
    assert_eq!(contents(&store).await, ["late"]);
}
