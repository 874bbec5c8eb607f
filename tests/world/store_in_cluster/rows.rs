//! Rows of Emails that tests write by hand: many at once, with times of their own.

use std::fmt::Write;
use std::time::Duration;

use scylla::client::session::Session;
use tempmail::model::{EmailId, Timestamp};
use tempmail::random;

/// The most rows of one statement.
const AT_ONCE: usize = 100;

/// An Email without octets.
pub struct Row {
    pub id: EmailId,
    received_at: Timestamp,
    expires_at: Timestamp,
}

impl Row {
    /// One that is received at a time, and expires after its life.
    pub fn at(received_at: Timestamp, life: Duration) -> Self {
        Self { id: random::email_id(received_at), received_at, expires_at: received_at.plus(life) }
    }

    /// The microsecond of its sequence.
    pub fn micros(&self) -> i64 {
        self.received_at.millis() * 1000
    }
}

/// The mailbox of the keyspace's only Emails, as rows name it.
pub async fn mailbox_of(session: &Session) -> Vec<u8> {
    let rows = session.query_unpaged("SELECT mailbox FROM email LIMIT 1", ()).await.expect("rows");
    rows.into_rows_result().expect("rows").first_row::<(Vec<u8>,)>().expect("a row").0
}

/// Writes visible Emails of a mailbox.
pub async fn write(session: &Session, mailbox: &[u8], rows: &[Row]) {
    for rows in rows.chunks(AT_ONCE) {
        let mut batch = "BEGIN UNLOGGED BATCH\n".to_owned();
        for row in rows {
            let Row { id, received_at, expires_at } = row;
            let (id, micros) = (hex(&id.octets()), row.micros());
            writeln!(
                batch,
                "INSERT INTO email (mailbox, id, sequence, message, received_at, expires_at, octets, shared) \
                 VALUES ({}, {id}, {}, {id}, {}, {}, 0, false) USING TTL 86400 AND TIMESTAMP {micros};",
                hex(mailbox),
                micros << 12,
                received_at.millis(),
                expires_at.millis()
            )
            .expect("a string");
        }
        batch.push_str("APPLY BATCH");
        session.query_unpaged(batch, ()).await.expect("written");
    }
}

fn hex(octets: &[u8]) -> String {
    octets.iter().fold("0x".to_owned(), |hex, octet| hex + &format!("{octet:02x}"))
}
