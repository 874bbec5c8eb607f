//! Mailboxes with many rows that nobody may read any more, between others.
//! Mechanism: it writes rows of Emails by hand.

use std::time::Duration;

use tempmail::model::{EmailId, Timestamp};
use tempmail::store::{PageRequest, Store};

use super::rows::{Row, mailbox_of, write};
use super::{keyspace, node};
use crate::suites::options;
use crate::support::keyspaces::session;
use crate::support::mail::{delivery, mailbox};

const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "a@example.test";
/// More than a list reads before it looks whether that is enough, and together more than a page of a result.
const EXPIRED: u64 = 700;
const LIVING: u64 = 12;
const LIMIT: usize = 5;
/// More deletions than the servers of the tests read over at once.
const MARKS: u64 = 12_000;
const LIFE: Duration = Duration::from_hours(1);

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn all_that_is_readable_is_listed_page_by_page_though_expired_mail_lies_between() {
    let connection = keyspace().await;
    let (store, session) = (node(&connection, &options()).await, session(&connection).await);
    let last = delivery(&[TO], "last", START.plus(Duration::from_mins(20)));
    let last_id = last.envelope.recipients[0].id;
    store.receive(last).await.expect("receive");
    let (mut rows, mut living, mut at) = (Vec::new(), Vec::new(), START);
    for _ in 0..3 {
        for n in 0..EXPIRED + LIVING {
            at = at.plus(Duration::from_millis(100));
            rows.push(Row::at(at, if n < EXPIRED { Duration::from_secs(10) } else { LIFE }));
            living.extend(rows.last().filter(|_| n >= EXPIRED).map(|row| row.id));
        }
    }
    living.push(last_id);
    write(&session, &mailbox_of(&session).await, &rows).await;
    let (to, now) = (mailbox(TO), START.plus(Duration::from_mins(30)));

    let (mut listed, mut after) = (Vec::<EmailId>::new(), Some(0));
    while let Some(since) = after {
        let page = store.list_after(&to, since, LIMIT, now).await.expect("list");
        listed.extend(page.emails.iter().map(|listed| listed.id));
        after = page.next;
    }
    assert_eq!(listed, living, "oldest first");
    living.reverse();
    let (mut listed, mut before) = (Vec::<EmailId>::new(), u64::MAX);
    loop {
        let page = store.list_before(&to, before, LIMIT, now).await.expect("list");
        listed.extend(page.iter().map(|listed| listed.id));
        let Some(last) = page.last() else { break };
        before = last.sequence;
    }
    assert_eq!(listed, living, "newest first");
    for (number, expected) in living.chunks(LIMIT).enumerate() {
        let offset = (number * LIMIT) as u64;
        let page = store.list(&to, PageRequest { offset, limit: LIMIT }, now).await.expect("list");
        assert_eq!(page.emails.iter().map(|listed| listed.id).collect::<Vec<_>>(), expected, "from {offset} on");
        assert_eq!(page.total, living.len() as u64);
    }
}

/// Each deletion leaves a mark for longer than mail lives, and servers refuse to read over too many of them at once.
#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_mailbox_of_which_very_much_was_deleted_is_listed_and_emptied() {
    let connection = keyspace().await;
    let (store, session) = (node(&connection, &options()).await, session(&connection).await);
    let mut living = Vec::new();
    for minutes in [0, 20] {
        let mail = delivery(&[TO], "living", START.plus(Duration::from_mins(minutes)));
        living.push(mail.envelope.recipients[0].id);
        store.receive(mail).await.expect("receive");
    }
    let hash = mailbox_of(&session).await;
    // Within half a minute before the last mail, so that a read of young mail meets them, too.
    let from = START.plus(Duration::from_secs(20 * 60 - 29));
    let ids: Vec<Vec<u8>> =
        (0..MARKS).map(|n| Row::at(from.plus(Duration::from_millis(n * 2)), LIFE).id.octets().to_vec()).collect();
    for ids in ids.chunks(100) {
        let delete = "DELETE FROM email WHERE mailbox = ? AND id IN ?";
        session.query_unpaged(delete, (&hash, ids)).await.expect("deleted");
    }
    let refused = session.query_unpaged("SELECT id FROM email WHERE mailbox = ?", (&hash,)).await;
    assert!(refused.is_err(), "the servers read over {MARKS} deletions");
    let to = mailbox(TO);
    let [soon, later] = [20, 30].map(|minutes| START.plus(Duration::from_mins(minutes)));
    for now in [soon, later] {
        let page = store.list(&to, PageRequest { offset: 0, limit: LIMIT }, now).await.expect("list");
        let before = store.list_before(&to, u64::MAX, LIMIT, now).await.expect("list");
        let after = store.list_after(&to, 0, LIMIT, now).await.expect("list").emails;
        for listed in [page.emails, before, after.into_iter().rev().collect()] {
            assert_eq!(listed.iter().rev().map(|listed| listed.id).collect::<Vec<_>>(), living);
        }
    }
    assert_eq!(store.delete_all(&to, u64::MAX, later).await, Ok(2));
}
