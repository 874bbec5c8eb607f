//! What a clock that was ahead leaves behind.
//! Mechanism: it goes with the watch for steps of the clock.

use tempmail::store::Store;

use super::{HOUR, NOW, list, open, receive_all};
use crate::suites::options;
use crate::support::mail::delivery;
use crate::support::test_disk::TestDisk;

const MAILS: u64 = 3_003;

#[tokio::test]
async fn mail_that_came_while_the_clock_was_ahead_is_removed_in_bounded_steps_and_no_other_with_it() {
    let day = 24 * HOUR;
    let disk = TestDisk::default();
    let mut store = open(&disk, &options());
    for at in [NOW.plus(400 * day), NOW] {
        let sent = (0..MAILS).map(|n| {
            let mut sent = delivery(&[&format!("user{}@example.test", n % 7)], "m", at);
            sent.expires_at = at.plus(day);
            sent
        });
        receive_all(&store, sent).await;
    }
    let pass = store.expire(NOW, 500).await.expect("expire");
    assert_eq!((pass.removed, pass.last_due_at), (0, Some(NOW.plus(401 * day))));
    let mut steps = 0;
    while store.remove_overlong(NOW.plus(day), 500).await.expect("a step") > 0 {
        steps += 1;
    }
    assert!((3_003 / 600..=3_003 / 400).contains(&steps), "{steps}");
    for when in ["running", "after an opening"] {
        assert_eq!(store.stats().await.expect("stats").emails, MAILS, "{when}");
        let part = list(&store, "user3@example.test", NOW).await;
        assert_eq!((part.total, part.emails[0].expires_at), (MAILS / 7, NOW.plus(day)), "{when}");
        drop(store);
        store = open(&disk, &options());
    }
}
