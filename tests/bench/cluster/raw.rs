//! What the driver and the ring do alone: inserts of rows with the octets of a mail, each by a quorum.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::Consistency;
use uuid::Uuid;

use crate::support::Result;

/// The rows of a mail beside its octets: its announcement, and its place in the mailbox. A row of a log has many mails.
const FURTHER_ROWS: usize = 2;
/// The octets of such a row.
const FURTHER_OCTETS: usize = 120;

/// Inserts the rows of so many mails, `at_once` at a time, those of one mail one after the other. Returns how long it took.
pub(crate) async fn insert(contact_points: &[String], mails: usize, at_once: usize, octets: usize) -> Result<Duration> {
    let session: Session = SessionBuilder::new().known_nodes(contact_points).build().await?;
    let keyspace = "CREATE KEYSPACE IF NOT EXISTS raw_inserts WITH replication = \
                    {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}";
    session.query_unpaged(keyspace, ()).await?;
    session.query_unpaged("CREATE TABLE IF NOT EXISTS raw_inserts.mail (id uuid PRIMARY KEY, octets blob)", ()).await?;
    let mut insert = session.prepare("INSERT INTO raw_inserts.mail (id, octets) VALUES (?, ?)").await?;
    insert.set_consistency(Consistency::LocalQuorum);
    let (mail, further, next) = (vec![b'x'; octets], vec![b'x'; FURTHER_OCTETS], AtomicUsize::new(0));
    let begun = Instant::now();
    let inserters = (0..at_once).map(async |_| {
        while next.fetch_add(1, Ordering::Relaxed) < mails {
            session.execute_unpaged(&insert, (Uuid::now_v7(), &mail)).await?;
            for _ in 0..FURTHER_ROWS {
                session.execute_unpaged(&insert, (Uuid::now_v7(), &further)).await?;
            }
        }
        Ok::<_, scylla::errors::ExecutionError>(())
    });
    futures_util::future::try_join_all(inserters).await?;
    Ok(begun.elapsed())
}
