//! Compaction of the index: giving its free pages back to the file system, while nothing else uses the index.

use redb::{Database, Durability, ReadTransaction, ReadableDatabase, ReadableTableMetadata, TableDefinition};

use super::rows::MailRow;
use super::tables::{ATTEMPTS, DUE, EVENTS, IDS, MAIL, WEBHOOKS};
use super::{Index, IndexError};

/// A smaller index is not compacted.
const LEAST_OCTETS: u64 = 1 << 20;
/// An index with more octets in its rows is not compacted, since a compaction reads and writes them and would delay the start.
pub(crate) const AT_START_OCTETS_MAX: u64 = 32 << 20;

impl Index {
    /// Compacts an index of `octets` if more than half of it is free, and returns whether it did.
    ///
    /// An index that is small, or has more than about `used_octets_max` in use, is not compacted.
    pub(crate) fn compact_if_worthwhile(&mut self, octets: u64, used_octets_max: u64) -> Result<bool, IndexError> {
        // Counting the used octets reads all of them, so the cheap checks come first.
        if octets < LEAST_OCTETS
            || octets_of_rows(&self.database)? > used_octets_max
            || used_octets(&self.database)?.saturating_mul(2) > octets
        {
            return Ok(false);
        }
        self.compact()?;
        Ok(true)
    }

    /// Whether rows use less than a quarter of the `octets` of the file, estimated without reading them.
    pub(crate) fn is_sparse(&self, octets: u64) -> bool {
        octets_of_rows(&self.database).is_ok_and(|rows| rows.saturating_mul(4) < octets)
    }

    /// Moves the used pages to the front of the file and truncates it. Reads and writes all of them.
    fn compact(&mut self) -> Result<(), IndexError> {
        // What one pass frees may let the next one move more.
        while self.database.compact()? {}
        Ok(())
    }
}

/// Estimates the least octets of the large tables, without reading them.
fn octets_of_rows(database: &Database) -> Result<u64, IndexError> {
    const KEY_OCTETS: u64 = 24;
    /// The least octets of an event, a page of a delivery log or a webhook.
    const OTHERS_OCTETS: u64 = 64;
    let transaction = database.begin_read()?;
    let mail = rows(&transaction, MAIL)? * (KEY_OCTETS + MailRow::OCTETS as u64);
    let ids = rows(&transaction, IDS)? * (16 + KEY_OCTETS);
    let due = rows(&transaction, DUE)? * 32;
    let events = rows(&transaction, EVENTS)?;
    let others = events + rows(&transaction, ATTEMPTS)? + rows(&transaction, WEBHOOKS)?;
    Ok(mail + ids + due + others * (KEY_OCTETS + OTHERS_OCTETS))
}

fn rows<K: redb::Key, V: redb::Value>(
    transaction: &ReadTransaction,
    table: TableDefinition<K, V>,
) -> Result<u64, IndexError> {
    Ok(transaction.open_table(table)?.len()?)
}

/// Octets of the pages in use.
fn used_octets(database: &Database) -> Result<u64, IndexError> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::None)?;
    let stats = transaction.stats()?;
    transaction.abort()?;
    Ok(stats.allocated_pages().saturating_mul(stats.page_size() as u64))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use redb::TableHandle;

    use super::*;
    use crate::config::{Config, Revision};
    use crate::store::StoreOptions;
    use crate::store::disk::{Directory, Disk};
    use crate::store::index::TABLES;
    use crate::store::index::keys::mail_key;
    use crate::store::index::tables::{
        DOMAIN_COUNTS, DOMAINS, EXPIRY, HOLDER_USAGE, PUNCHES, REFCOUNTS, SEGMENTS, WEBHOOK_SETS,
    };

    /// An index of 50,000 rows of mail from which those at or above number `kept` were removed.
    fn thinned(disk: &Arc<dyn Disk>, path: &std::path::Path, kept: u64) -> Index {
        let options = StoreOptions::from_config(&Config::of_revision(Revision::Two, path.into()));
        let index = Index::create(disk, &options).expect("create");
        for is_kept in [|_, _| true, |number: u64, kept: u64| number < kept] {
            let transaction = index.database.begin_write().expect("write");
            {
                let mut mail = transaction.open_table(MAIL).expect("table");
                for number in 0..50_000 {
                    mail.insert(&mail_key([1; 16], number), &[7; MailRow::OCTETS][..]).expect("insert");
                }
                mail.retain(|key, _| is_kept(super::super::keys::sequence_of(key), kept)).expect("retain");
            }
            transaction.commit().expect("commit");
        }
        index
    }

    /// Lists every table with the number of its rows.
    fn rows_of_tables(index: &Index) -> Vec<(String, u64)> {
        let transaction = index.database.begin_read().expect("read");
        let tables = transaction.list_tables().expect("tables");
        let rows = |table| transaction.open_untyped_table(table).expect("table").len().expect("rows");
        tables.map(|table| (table.name().to_owned(), rows(table))).collect()
    }

    #[test]
    fn compaction_keeps_the_rows_of_every_table() {
        let dir = tempfile::tempdir().expect("directory");
        let disk: Arc<dyn Disk> = Arc::new(Directory::lock(dir.path()).expect("lock"));
        let mut index = thinned(&disk, dir.path(), 1_000);
        let transaction = index.database.begin_write().expect("write");
        {
            transaction.open_table(IDS).expect("ids").insert(&[1; 16], &[1; 24]).expect("insert");
            transaction.open_table(EXPIRY).expect("expiry").insert((1, 1), &[1; 24][..]).expect("insert");
            transaction.open_table(REFCOUNTS).expect("shared").insert((1, 1), (1, 1)).expect("insert");
            transaction.open_table(SEGMENTS).expect("segments").insert(1, (1, 1, 1)).expect("insert");
            transaction.open_table(PUNCHES).expect("punches").insert((1, 1), (1, 1)).expect("insert");
            transaction.open_table(DOMAIN_COUNTS).expect("emails").insert(&[1; 24], 1).expect("insert");
            transaction.open_table(DOMAINS).expect("domains").insert("a.example", &[1][..]).expect("insert");
            transaction.open_table(WEBHOOKS).expect("webhooks").insert(&[1; 16], &[1][..]).expect("insert");
            transaction.open_table(EVENTS).expect("events").insert(&[1; 24], &[1][..]).expect("insert");
            transaction.open_table(DUE).expect("due").insert(&[1; 32], ()).expect("insert");
            transaction.open_table(WEBHOOK_SETS).expect("sets").insert(&[1; 40], ()).expect("insert");
            transaction.open_table(HOLDER_USAGE).expect("usage").insert(&[1; 16], 1).expect("insert");
            transaction.open_table(ATTEMPTS).expect("attempts").insert(&[1; 24], &[1][..]).expect("insert");
        }
        transaction.commit().expect("commit");
        let before = rows_of_tables(&index);
        assert_eq!(before.len(), TABLES.len());
        assert!(before.iter().all(|(_, rows)| *rows > 0), "{before:?}");
        let octets = Index::octets_on(&disk).expect("octets");
        index.compact().expect("compact");
        assert!(Index::octets_on(&disk).expect("octets") < octets);
        assert_eq!(rows_of_tables(&index), before);
        assert!(index.is_sound().expect("a look"));
    }

    #[test]
    fn an_index_with_little_in_it_is_compacted_and_one_with_more_is_not_even_read() {
        let dir = tempfile::tempdir().expect("directory");
        let disk: Arc<dyn Disk> = Arc::new(Directory::lock(dir.path()).expect("lock"));
        let mut index = thinned(&disk, dir.path(), 1_000);
        let octets = Index::octets_on(&disk).expect("octets");
        assert!(octets > 4 << 20, "{octets}");
        assert!(!index.compact_if_worthwhile(octets, 50_000).expect("compact"), "its rows have 77,000 octets");
        assert_eq!(Index::octets_on(&disk).expect("octets"), octets);
        assert!(index.compact_if_worthwhile(octets, 100_000).expect("compact"));
        assert!(Index::octets_on(&disk).expect("octets") * 4 < octets);
        let octets = Index::octets_on(&disk).expect("octets");
        assert!(
            !index.compact_if_worthwhile(octets, u64::MAX).expect("compact"),
            "half of it is in use, or it is small"
        );
    }
}
