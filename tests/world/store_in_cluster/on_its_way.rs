//! Mail that is on its way while others read its mailbox: it goes on only when the test lets it.
//! Mechanism: it names tables, and knows after which writes a message may pause.

use std::collections::HashSet;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::join;
use scylla::client::session::Session;
use tempmail::clock::Clock;
use tempmail::model::{Delivery, EmailId, Timestamp};
use tempmail::store::cassandra::CassandraStore;
use tempmail::store::{Cluster, PageRequest, Store, StoreError};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::rows::{Row, mailbox_of, write};
use super::{keyspace, node, run};
use crate::suites::options;
use crate::support::clock::SetClock;
use crate::support::keyspaces::session;
use crate::support::mail::{delivery, mailbox};
use crate::support::until::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "a@example.test";
const OTHER: &str = "b@example.test";
/// What a step of a message has asked is answered after that.
const ANSWERED: Duration = Duration::from_millis(30);
/// Longer than a message may take.
const TOO_LONG: Duration = Duration::from_secs(6);

/// A message on its way.
pub struct OnItsWay<'s> {
    id: EmailId,
    receiving: Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 's>>,
}

impl<'s> OnItsWay<'s> {
    pub fn begin(store: &'s CassandraStore, delivery: Delivery) -> Self {
        Self { id: delivery.envelope.recipients[0].id, receiving: store.receive(delivery) }
    }

    /// Lets it go on step by step, until a statement that asks for its id finds a row.
    async fn until(mut self, session: &Session, reached: &str, key: &[u8]) -> Self {
        loop {
            step(&mut self.receiving).await;
            let rows = session.query_unpaged(reached, (key,)).await.expect("rows").into_rows_result().expect("rows");
            if rows.rows_num() > 0 {
                return self;
            }
        }
    }

    /// Until it is announced.
    async fn announced(self, session: &Session) -> Self {
        let id = self.id.octets();
        self.until(session, "SELECT id FROM email WHERE id = ? ALLOW FILTERING", &id).await
    }

    /// Until it knows the highest sequence of its mailbox.
    async fn numbered(self, session: &Session) -> Self {
        let message = message_of(self.id);
        self.until(session, "SELECT id FROM message WHERE id = ?", &message).await
    }

    /// Until the rows of its Emails are written.
    async fn written(self, session: &Session) -> Self {
        let id = self.id.octets();
        self.until(session, "SELECT id FROM email WHERE id = ? AND sequence > 0 ALLOW FILTERING", &id).await
    }

    /// Until its message is shown. No log tells of it yet.
    pub async fn shown(self, session: &Session) -> Self {
        let message = message_of(self.id);
        self.until(session, "SELECT id FROM message WHERE id = ? AND shown = true ALLOW FILTERING", &message).await
    }

    async fn end(self) -> Result<(), StoreError> {
        self.receiving.await
    }
}

/// Lets something go on until it waits.
async fn step<T>(going: &mut Pin<Box<dyn Future<Output = T> + Send + '_>>) {
    poll_fn(|context| {
        assert!(going.as_mut().poll(context).is_pending(), "it has ended");
        std::task::Poll::Ready(())
    })
    .await;
    sleep(ANSWERED).await;
}

fn message_of(id: EmailId) -> Vec<u8> {
    [&id.octets()[..8], &id.octets()[12..]].concat()
}

/// What each kind of list says of the mailbox, oldest first.
async fn lists(store: &CassandraStore) -> [Vec<EmailId>; 3] {
    let to = mailbox(TO);
    let (page, before, after) = join!(
        store.list(&to, PageRequest { offset: 0, limit: 9 }, NOW),
        store.list_before(&to, u64::MAX, 9, NOW),
        store.list_after(&to, 0, 9, NOW),
    );
    let newest_first = [page.expect("list").emails, before.expect("list")];
    let [page, before] = newest_first.map(|emails| emails.iter().rev().map(|listed| listed.id).collect());
    [page, before, after.expect("list").emails.iter().map(|listed| listed.id).collect()]
}

/// Whoever goes on behind the later mail would never meet the earlier one.
#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_reader_of_later_mail_waits_for_earlier_mail_that_is_on_its_way() {
    let connection = keyspace().await;
    let (slow, other) = (node(&connection, &options()).await, node(&connection, &options()).await);
    let session = session(&connection).await;
    for recipients in [&[TO][..], &[TO, OTHER]] {
        let first = OnItsWay::begin(&slow, delivery(recipients, "first", NOW));
        let first = if recipients.len() == 1 { first.numbered(&session).await } else { first.written(&session).await };
        let second = delivery(&[TO], "second", NOW.plus(Duration::from_millis(1)));
        let expected = vec![first.id, second.envelope.recipients[0].id];
        other.receive(second).await.expect("receive");
        let ends = async {
            sleep(10 * ANSWERED).await;
            first.end().await
        };
        let (read, ended) = join!(lists(&other), ends);
        assert_eq!(ended, Ok(()));
        assert_eq!(read, [(); 3].map(|()| expected.clone()), "{recipients:?}");
        assert_eq!(other.delete_all(&mailbox(TO), u64::MAX, NOW).await, Ok(2));
    }
}

/// The page that would have shown the announcement was read before it.
#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_reader_finds_mail_that_was_announced_while_it_read() {
    let connection = keyspace().await;
    let (slow, other) = (node(&connection, &options()).await, node(&connection, &options()).await);
    let session = session(&connection).await;
    let before = delivery(&[TO], "before", NOW);
    let mut expected = HashSet::from([before.envelope.recipients[0].id]);
    other.receive(before).await.expect("receive");
    // More than a page, one each millisecond.
    let rows: Vec<Row> =
        (2..2500).map(|n| Row::at(NOW.plus(Duration::from_millis(n)), Duration::from_hours(1))).collect();
    write(&session, &mailbox_of(&session).await, &rows).await;
    expected.extend(rows.iter().map(|row| row.id));
    let (to, now) = (mailbox(TO), NOW.plus(Duration::from_secs(4)));
    let mut read: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(other.list_after(&to, 0, 9000, now));
    step(&mut read).await;
    let first = OnItsWay::begin(&slow, delivery(&[TO], "first", NOW.plus(Duration::from_millis(1))));
    let first = first.numbered(&session).await;
    let second = delivery(&[TO], "second", now);
    expected.extend([first.id, second.envelope.recipients[0].id]);
    other.receive(second.clone()).await.expect("receive");
    let ends = async {
        sleep(10 * ANSWERED).await;
        first.end().await
    };
    let (read, ended) = join!(read, ends);
    assert_eq!(ended, Ok(()));
    let read: HashSet<EmailId> = read.expect("list").emails.iter().map(|listed| listed.id).collect();
    assert!(read.contains(&second.envelope.recipients[0].id), "the read had ended before");
    assert_eq!(expected.difference(&read).collect::<Vec<_>>(), Vec::<&EmailId>::new(), "passed over");
}

/// No reader would have waited for it.
#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_message_whose_announcement_has_ended_is_refused_and_nobody_sees_it() {
    let connection = keyspace().await;
    let (slow, other) = (node(&connection, &options()).await, node(&connection, &options()).await);
    let session = session(&connection).await;
    for recipients in [&[TO][..], &[TO, OTHER]] {
        let message = delivery(recipients, "late", NOW);
        let ids: Vec<EmailId> = message.envelope.recipients.iter().map(|to| to.id).collect();
        let message = OnItsWay::begin(&slow, message).announced(&session).await;
        sleep(ANSWERED).await;
        session.query_unpaged("TRUNCATE email", ()).await.expect("its end");
        let refused = message.end().await;
        assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
        assert_eq!(lists(&other).await, [const { Vec::new() }; 3]);
        for id in ids {
            assert_eq!(other.find(id, NOW).await, Ok(None));
        }
    }
}

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_message_that_takes_too_long_is_not_acknowledged() {
    let connection = keyspace().await;
    let (slow, other) = (node(&connection, &options()).await, node(&connection, &options()).await);
    let session = session(&connection).await;
    let (clock, stop) = (Arc::new(SetClock::at(NOW)), CancellationToken::new());
    let runs = run(&slow, Arc::<SetClock>::clone(&clock), &stop);
    until("it runs", async || slow.leads()).await;
    let send = |recipients: &[&str]| OnItsWay::begin(&slow, delivery(recipients, "slow", clock.now()));

    let message = send(&[TO]).numbered(&session).await;
    clock.advance(TOO_LONG);
    let refused = message.end().await;
    assert!(matches!(refused, Err(StoreError::Failed(_))), "before it has a row: {refused:?}");
    let message = send(&[TO, OTHER]).written(&session).await;
    clock.advance(TOO_LONG);
    assert_eq!(message.end().await, Err(StoreError::Unconfirmed), "before it is shown");
    assert_eq!(lists(&other).await, [const { Vec::new() }; 3]);

    let message = send(&[TO]).written(&session).await;
    clock.advance(TOO_LONG);
    assert_eq!(message.end().await, Err(StoreError::Unconfirmed), "when it can be seen");
    let old = delivery(&[TO], "it has waited since then", clock.now().before(3 * TOO_LONG));
    let refused = slow.receive(old).await;
    assert!(matches!(refused, Err(StoreError::Failed(_))), "before it is announced: {refused:?}");
    assert_eq!(send(&[TO, OTHER]).end().await, Ok(()));
    stop.cancel();
    runs.await.expect("its end");
}
