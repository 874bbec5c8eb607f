//! Counting what the index holds: more than a status may cost, in several reads.

use redb::{ReadableTableMetadata, TableDefinition};

use super::IndexError;
use super::keys::{MailKey, sequence_of};
use super::read::View;
use super::rows::decode_mail;
use super::tables::{
    ATTEMPTS, DOMAIN_COUNTS, DOMAINS, DUE, EVENTS, EXPIRY, HOLDER_USAGE, IDS, MAIL, META, PUNCHES, REFCOUNTS, SEGMENTS,
    WEBHOOK_SETS, WEBHOOKS,
};
use crate::model::Timestamp;

/// Rows of mail that one read looks at: whoever has the index opened again waits for readers.
const ROWS_AT_ONCE: usize = 20_000;

/// What the index knows of a survey.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) domains: u64,
}

/// When the oldest and the newest of some Emails were received.
pub(crate) type Span = (Timestamp, Timestamp);

/// Octets of the file that the rows of a table take. Reads its pages.
pub(crate) type TableOctets = fn(&View) -> Result<u64, IndexError>;

/// One for each table.
pub(crate) const TABLES: [TableOctets; 15] = [
    |view| view.octets(META),
    |view| view.octets(MAIL),
    |view| view.octets(IDS),
    |view| view.octets(EXPIRY),
    |view| view.octets(REFCOUNTS),
    |view| view.octets(SEGMENTS),
    |view| view.octets(PUNCHES),
    |view| view.octets(DOMAIN_COUNTS),
    |view| view.octets(DOMAINS),
    |view| view.octets(WEBHOOKS),
    |view| view.octets(EVENTS),
    |view| view.octets(DUE),
    |view| view.octets(ATTEMPTS),
    |view| view.octets(WEBHOOK_SETS),
    |view| view.octets(HOLDER_USAGE),
];

impl View {
    /// What can be counted without a look at every row of mail.
    pub(crate) fn count(&self) -> Result<Counted, IndexError> {
        Ok(Counted { domains: self.transaction.open_table(DOMAINS)?.len()? })
    }

    /// When some Emails were received, from the key `from` on, and where to go on; `None` at the end.
    pub(crate) fn received(&self, from: MailKey) -> Result<(Option<Span>, Option<MailKey>), IndexError> {
        let mut span: Option<Span> = None;
        for (nth, row) in self.transaction.open_table(MAIL)?.range::<&MailKey>(&from..)?.enumerate() {
            let (key, row) = row?;
            if nth == ROWS_AT_ONCE {
                return Ok((span, Some(*key.value())));
            }
            if sequence_of(key.value()) == 0 {
                continue;
            }
            let row = decode_mail(row.value())?;
            let (oldest, newest) = span.unwrap_or((row.received_at, row.received_at));
            span = Some((oldest.min(row.received_at), newest.max(row.received_at)));
        }
        Ok((span, None))
    }

    fn octets<K: redb::Key, V: redb::Value>(&self, table: TableDefinition<K, V>) -> Result<u64, IndexError> {
        let stats = self.transaction.open_table(table)?.stats()?;
        Ok(stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes())
    }
}
