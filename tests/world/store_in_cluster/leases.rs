//! Leases that nodes share, and what is left of a node that died in the middle of a change.
//! Promise: it outlives the code below it.

use std::slice;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use scylla::client::session::Session;
use tempmail::model::{EmailId, LEASE_REST, LeaseRecord, Timestamp};
use tempmail::store::cassandra::CassandraStore;
use tempmail::store::{Leases, PageRequest, Store};

use super::{keyspace, node};
use crate::suites::leases::{end, lease, mail_to, take};
use crate::suites::options;
use crate::support::keyspaces::session;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const DAY: Duration = Duration::from_hours(24);
const HOUR: Duration = Duration::from_hours(1);
/// How often two nodes lease one address at one moment.
const ROUNDS: u32 = 60;

/// Rows of mail as they are stored, without what ends them.
type Row = (Vec<u8>, Vec<u8>, Option<i64>, i64, Vec<u8>, i64, i64, i64, bool);
type Part = (Vec<u8>, i32, Vec<u8>, Vec<u8>);

/// Two nodes of a keyspace, and a session in it.
async fn two() -> (Arc<CassandraStore>, Arc<CassandraStore>, Session) {
    let connection = keyspace().await;
    let (here, there) = (node(&connection, &options()).await, node(&connection, &options()).await);
    (here, there, session(&connection).await)
}

async fn emails(store: &CassandraStore, lease: &LeaseRecord, now: Timestamp) -> Vec<EmailId> {
    let page = PageRequest { offset: 0, limit: 99 };
    let page = store.list(&lease.private_mailbox(), page, now).await.expect("list");
    page.emails.iter().map(|listed| listed.id).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn of_two_nodes_that_lease_an_address_at_one_moment_one_wins() {
    let (here, there, _) = two().await;
    for round in 0..ROUNDS {
        let address = format!("ann{round}@example.test");
        let (first, second) = (lease(&address, 1, NOW), lease(&address, 2, NOW));
        let takes = [(&here, &first), (&there, &second)].map(|(node, lease)| node.replace_lease(None, Some(lease)));
        let won: Vec<bool> = join_all(takes).await.into_iter().map(|won| won.expect("an outcome")).collect();
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "round {round}: {won:?}");
        let winner = if won[0] { first } else { second };
        for node in [&here, &there] {
            assert_eq!(node.lease(&winner.mailbox).await, Ok(Some(winner.clone())), "round {round}");
        }
        // What a key finds is what it won.
        let (ours, others) = (node_leases(&there, 1).await, node_leases(&there, 2).await);
        assert_eq!(u32::try_from(ours.len() + others.len()), Ok(round + 1));
        assert!(ours.contains(&winner) || others.contains(&winner));
    }
    // A change of one record at one moment has one winner as well, and a node that saw an old record changes nothing.
    let before = lease("bob@example.test", 3, NOW);
    take(&*here, &before).await;
    let mut before = before;
    for round in 1..=ROUNDS {
        let after = [1, 2].map(|node| LeaseRecord { read_at: NOW.plus(HOUR * (2 * round + node)), ..before.clone() });
        let changes = [&here, &there].into_iter().zip(&after);
        let outcomes = join_all(changes.map(|(node, after)| node.replace_lease(Some(&before), Some(after)))).await;
        let won: Vec<bool> = outcomes.into_iter().map(|won| won.expect("an outcome")).collect();
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "round {round}: {won:?}");
        before = after[usize::from(won[1])].clone();
        assert_eq!(there.lease(&before.mailbox).await, Ok(Some(before.clone())));
    }
}

async fn node_leases(store: &CassandraStore, key: u8) -> Vec<LeaseRecord> {
    store.leases_of(&[key; 32]).await.expect("leases")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn a_lease_at_one_node_counts_at_another_at_once() {
    let (here, there, _) = two().await;
    for round in 0..20 {
        let lease = lease(&format!("ann{round}@example.test"), round, NOW);
        take(&*here, &lease).await;
        assert_eq!(there.lease(&lease.mailbox).await, Ok(Some(lease.clone())));
        assert_eq!(node_leases(&there, round).await, slice::from_ref(&lease));
        let mail = mail_to(&lease, "mail", NOW);
        let id = mail.envelope.recipients[0].id;
        there.receive(mail).await.expect("receive");
        assert_eq!(emails(&here, &lease, NOW).await, [id]);
        let ended = end(&*there, &lease, NOW.plus(HOUR)).await;
        assert_eq!(here.lease(&lease.mailbox).await, Ok(Some(ended)));
    }
    let (mailbox, until) = (lease("ann@example.test", 1, NOW).mailbox, NOW.plus(DAY));
    assert_eq!(there.is_mailbox_open(&mailbox, NOW).await, Ok(false));
    assert_eq!(here.open_mailbox(&mailbox, until, 9).await, Ok(true));
    assert_eq!(there.is_mailbox_open(&mailbox, NOW).await, Ok(true));
    assert_eq!(there.is_mailbox_open(&mailbox, until).await, Ok(false));
}

/// The rows of the registry whose kinds begin so.
async fn rows(session: &Session, kind: &str) -> Vec<(String, String)> {
    let rows = session.query_unpaged("SELECT kind, key FROM registry", ()).await.expect("rows");
    let rows = rows.into_rows_result().expect("rows");
    let rows = rows.rows::<(String, String)>().expect("rows").map(|row| row.expect("a row"));
    rows.filter(|(found, _)| found.starts_with(kind)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn a_node_that_dies_in_a_change_loses_no_lease_and_leaves_nothing() {
    let (here, there, session) = two().await;
    let (whole, cut) = (lease("ann@example.test", 1, NOW), lease("bob@example.test", 1, NOW));
    take(&*here, &whole).await;
    take(&*here, &cut).await;
    // It died before the record was written: what leads to it is there. Its key and its address have nothing.
    session
        .query_unpaged("DELETE FROM registry WHERE kind = 'lease:bob@example.test' AND key = '' IF EXISTS", ())
        .await
        .expect("delete");
    assert_eq!(there.lease(&cut.mailbox).await, Ok(None));
    assert_eq!(node_leases(&there, 1).await, slice::from_ref(&whole));
    let counts = there.lease_counts(whole.client).await.expect("counts");
    assert_eq!((counts.client, counts.network, counts.all), (1, 1, 1));
    take(&*there, &lease("bob@example.test", 2, NOW.plus(HOUR))).await;
    assert_eq!(node_leases(&there, 1).await, slice::from_ref(&whole));

    // Another one died before a shorter life was written, just after the hour was looked at.
    let due = async |store: &CassandraStore, at| store.due_leases(at, 9).await.expect("due");
    let shorter = LeaseRecord { expires_at: NOW.plus(2 * HOUR), ..whole.clone() };
    let hour = format!("{:08}", shorter.expires_at.millis() / 3_600_000);
    let key = format!("{:016x}:{:016x}:ann@example.test", shorter.expires_at.millis(), u64::MAX);
    for (kind, key) in [("hours".to_owned(), hour.clone()), (format!("due:{hour}"), key)] {
        let insert = "INSERT INTO registry (kind, key, value) VALUES (?, ?, 0x)";
        session.query_unpaged(insert, (kind, key)).await.expect("a row");
    }
    assert_eq!(due(&here, shorter.expires_at).await, []);
    // It was only slow: its change counts after all, and the last look at the hour finds it.
    assert_eq!(there.replace_lease(Some(&whole), Some(&shorter)).await, Ok(true));
    assert_eq!(due(&here, NOW.plus(4 * HOUR)).await, slice::from_ref(&shorter));
    let ended = end(&*here, &shorter, NOW.plus(4 * HOUR)).await;
    assert_eq!(due(&here, NOW.plus(4 * HOUR)).await, []);
    assert_eq!(node_leases(&there, 1).await, []);
    assert_eq!(rows(&session, &format!("due:{hour}")).await, [], "the hour is forgotten");

    let end_of_all = NOW.plus(5 * HOUR + LEASE_REST);
    assert_eq!(there.replace_lease(Some(&ended), None).await, Ok(true));
    for left in due(&there, end_of_all).await {
        let ended = end(&*there, &left, NOW.plus(4 * HOUR)).await;
        assert_eq!(there.replace_lease(Some(&ended), None).await, Ok(true));
    }
    assert_eq!(due(&there, end_of_all.plus(HOUR)).await, []);
    for kind in ["due:", "hours", "lease:", "network:"] {
        let left = rows(&session, kind).await;
        let is_of_the_dead = |(_, key): &(String, String)| *key == cut.id.to_string();
        assert!(left.iter().all(is_of_the_dead), "{left:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn deleted_mail_of_a_lease_stays_deleted_when_servers_have_forgotten_that() {
    let (here, there, session) = two().await;
    let lease = lease("ann@example.test", 1, NOW);
    let mail = mail_to(&lease, "mail", NOW);
    let id = mail.envelope.recipients[0].id;
    here.receive(mail).await.expect("receive");
    let columns = "mailbox, id, last, sequence, message, received_at, expires_at, octets, shared";
    let row = session.query_unpaged(format!("SELECT {columns} FROM email"), ()).await.expect("rows");
    let row = row.into_rows_result().expect("rows").single_row::<Row>().expect("one row");
    let message = "SELECT id, part, envelope, octets FROM message";
    let part = session.query_unpaged(message, ()).await.expect("rows");
    let part = part.into_rows_result().expect("rows").single_row::<Part>().expect("one row");
    let late = NOW.plus(3 * DAY);
    assert_eq!(here.delete(id, late).await, Ok(true));
    // A server that was down brings its rows back, and nobody else knows better.
    let insert = format!("INSERT INTO email ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    session.query_unpaged(insert, row).await.expect("the row");
    let insert = "INSERT INTO message (id, part, envelope, octets) VALUES (?, ?, ?, ?)";
    session.query_unpaged(insert, part).await.expect("the part");
    for node in [&here, &there] {
        assert_eq!(emails(node, &lease, late).await, []);
        assert_eq!(node.find(id, late).await, Ok(None));
        assert_eq!(node.delete(id, late).await, Ok(false));
    }
}
