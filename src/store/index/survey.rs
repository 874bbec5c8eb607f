//! Counting what the index holds: more than a status may cost, in one read.

use redb::{ReadTransaction, ReadableTable, ReadableTableMetadata, TableDefinition};

use super::IndexError;
use super::read::View;
use super::tables::{
    ATTEMPTS, DOMAINS, DUE, EVENTS, EXPIRY, HEAVY, IDS, MAIL, META, MailRow, PUNCHES, SEGMENTS, SHARED, WEBHOOKS,
    WEBHOOKS_OF, sequence_of,
};
use crate::model::Timestamp;

/// What the index knows of a survey.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) domains: u64,
    /// Octets of the file that rows take.
    pub(crate) used_octets: u64,
    pub(crate) oldest: Option<Timestamp>,
    pub(crate) newest: Option<Timestamp>,
}

fn octets<K: redb::Key, V: redb::Value>(
    transaction: &ReadTransaction,
    table: TableDefinition<K, V>,
) -> Result<u64, IndexError> {
    let stats = transaction.open_table(table)?.stats()?;
    Ok(stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes())
}

impl View {
    /// Reads every row of mail.
    pub(crate) fn count(&self) -> Result<Counted, IndexError> {
        let of = &self.transaction;
        let mut counted = Counted { domains: of.open_table(DOMAINS)?.len()?, ..Counted::default() };
        let mut span: Option<(Timestamp, Timestamp)> = None;
        for row in of.open_table(MAIL)?.iter()? {
            let (key, row) = row?;
            if sequence_of(key.value()) == 0 {
                continue;
            }
            let row = MailRow::decode(row.value()).ok_or(IndexError::Corrupt("a row of mail has a wrong length"))?;
            let (oldest, newest) = span.unwrap_or((row.received_at, row.received_at));
            span = Some((oldest.min(row.received_at), newest.max(row.received_at)));
        }
        (counted.oldest, counted.newest) = span.unzip();
        counted.used_octets = octets(of, META)?
            + octets(of, MAIL)?
            + octets(of, IDS)?
            + octets(of, EXPIRY)?
            + octets(of, SHARED)?
            + octets(of, SEGMENTS)?
            + octets(of, PUNCHES)?
            + octets(of, DOMAINS)?
            + octets(of, WEBHOOKS)?
            + octets(of, WEBHOOKS_OF)?
            + octets(of, EVENTS)?
            + octets(of, DUE)?
            + octets(of, ATTEMPTS)?
            + octets(of, HEAVY)?;
        Ok(counted)
    }
}
