//! The limit of mailboxes in a cluster.
//! Promise: it outlives the code below it.

use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::store::{Store, StoreError, StoreOptions};

use super::store;
use crate::suites::options;
use crate::support::mail::delivery;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "full@example.test";

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn the_oldest_makes_way_once_it_is_a_minute_old() {
    let store = store(&StoreOptions { emails_per_mailbox_max: 2, ..options() }).await;
    let receive = async |text: &str, seconds: u64| {
        let at = NOW.plus(Duration::from_secs(seconds));
        store.receive(delivery(&[TO], text.to_owned(), at)).await
    };
    let stored = async || store.stats().await.expect("stats").emails;
    assert_eq!((receive("1", 0).await, receive("2", 30).await), (Ok(()), Ok(())));
    assert_eq!(receive("3", 59).await, Err(StoreError::MailboxFull));
    assert_eq!(stored().await, 2);
    assert_eq!(receive("3", 60).await, Ok(()));
    assert_eq!(receive("4", 60).await, Err(StoreError::MailboxFull));
    assert_eq!(stored().await, 2);
}
