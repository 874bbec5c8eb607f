//! What a clock that was ahead leaves behind.

use std::sync::Arc;
use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Store};

use crate::suites::options;
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const DAY: Duration = Duration::from_hours(24);
const FIRST: PageRequest = PageRequest { offset: 0, limit: 1 };
const MAILS: u64 = 3_003;

#[tokio::test]
async fn mail_that_came_while_the_clock_was_ahead_is_removed_in_bounded_steps_and_no_other_with_it() {
    let disk = RecordingDisk::default();
    let mut store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open");
    for at in [NOW.plus(400 * DAY), NOW] {
        let sent = (0..MAILS).map(|n| {
            let mut sent = delivery(&[&format!("user{}@example.test", n % 7)], "m", at);
            sent.expires_at = at.plus(DAY);
            store.receive(sent)
        });
        assert!(futures_util::future::join_all(sent).await.into_iter().all(|received| received == Ok(())));
    }
    let pass = store.expire(NOW, 500).await.expect("expire");
    assert_eq!((pass.removed, pass.last_due_at), (0, Some(NOW.plus(401 * DAY))));
    let mut steps = 0;
    while store.remove_overlong(NOW.plus(DAY), 500).await.expect("a step") > 0 {
        steps += 1;
    }
    assert!((3_003 / 600..=3_003 / 400).contains(&steps), "{steps}");
    for when in ["running", "after an opening"] {
        assert_eq!(store.stats().await.expect("stats").emails, MAILS, "{when}");
        let part = store.list(&mailbox("user3@example.test"), FIRST, NOW).await.expect("list");
        assert_eq!((part.total, part.emails[0].expires_at), (MAILS / 7, NOW.plus(DAY)), "{when}");
        drop(store);
        store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open again");
    }
}
