//! The limit of mailboxes in a cluster.
//! Promise: it outlives the code below it.

use std::time::Duration;

use tempmail::model::{EmailId, Timestamp};
use tempmail::store::{PageRequest, Store, StoreError, StoreOptions};

use super::store;
use crate::suites::options;
use crate::support::mail::{delivery, mailbox};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "full@example.test";
const OTHER: &str = "empty@example.test";

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn the_oldest_makes_way_once_it_is_a_minute_old() {
    let store = store(&StoreOptions { emails_per_mailbox_max: 2, ..options() }).await;
    // The ids of what was stored, in the order of receipt.
    let receive = async |to: &[&str], text: &str, seconds: u64| {
        let delivery = delivery(to, text.to_owned(), NOW.plus(Duration::from_secs(seconds)));
        let ids: Vec<EmailId> = delivery.envelope.recipients.iter().map(|recipient| recipient.id).collect();
        store.receive(delivery).await.map(|()| ids)
    };
    let listed = async |to: &str| {
        let everything = PageRequest { offset: 0, limit: 10 };
        let emails = store.list(&mailbox(to), everything, NOW).await.expect("list").emails;
        emails.iter().rev().map(|listed| listed.id).collect::<Vec<_>>()
    };
    let first = receive(&[TO], "1", 0).await.expect("room");
    let second = receive(&[TO], "2", 30).await.expect("room");
    assert_eq!(receive(&[OTHER, TO], "3", 59).await, Err(StoreError::MailboxFull));
    assert_eq!((listed(TO).await, listed(OTHER).await), ([first, second.clone()].concat(), vec![]));
    let both = receive(&[OTHER, TO], "3", 60).await.expect("the first makes way");
    let left = (vec![second[0], both[1]], vec![both[0]]);
    assert_eq!((listed(TO).await, listed(OTHER).await), left);
    assert_eq!(receive(&[OTHER, TO], "4", 60).await, Err(StoreError::MailboxFull));
    assert_eq!((listed(TO).await, listed(OTHER).await), left);
    assert_eq!(store.stats().await.expect("stats").emails, 3);
}

/// The clock was set back since the receipt of what fills the mailbox.
#[tokio::test]
#[ignore = "needs Cassandra"]
async fn mail_from_ahead_of_the_clock_makes_way() {
    let store = store(&StoreOptions { emails_per_mailbox_max: 1, ..options() }).await;
    let receive = async |at: Timestamp| store.receive(delivery(&[TO], "mail", at)).await;
    assert_eq!(receive(NOW.plus(Duration::from_hours(24))).await, Ok(()));
    assert_eq!(receive(NOW).await, Ok(()));
    assert_eq!(receive(NOW.before(Duration::from_secs(30))).await, Err(StoreError::MailboxFull));
    assert_eq!(store.stats().await.expect("stats").emails, 1);
}
