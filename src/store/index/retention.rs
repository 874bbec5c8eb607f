//! The effect of a changed retention on existing mail.
//!
//! A shorter retention shortens the life of every Email once, when the store is opened. So the expiry in the index is always
//! the one in effect, and a longer retention brings nothing back.

use std::time::Duration;

use redb::{Database, Durability, ReadableDatabase, ReadableTable};

use super::IndexError;
use super::keys::{MailKey, expiry_second, sequence_of};
use super::rows::{HeadRow, MailRow, decode_head, decode_mail};
use super::tables::{EXPIRY, EXPIRY_ROW_KEYS, MAIL, META, META_RETENTION};

/// The most rows of expiry that one transaction rewrites.
const ROWS_PER_TRANSACTION: usize = 256;
/// The most heads of mailboxes that one transaction rewrites.
const HEADS_PER_TRANSACTION: usize = 4096;

pub(super) fn shorten_lives_to(database: &Database, retention: Duration) -> Result<(), IndexError> {
    let millis = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
    let stored = stored_retention(database)?;
    if millis == stored {
        return Ok(());
    }
    if millis < stored {
        let mut from = (0, 0);
        while let Some(next) = shorten_some(database, from, retention)? {
            from = next;
        }
        measure_mailboxes(database)?;
    }
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    transaction.set_quick_repair(true);
    transaction.open_table(META)?.insert(META_RETENTION, &millis.to_le_bytes()[..])?;
    Ok(transaction.commit()?)
}

/// Computes the heads of all mailboxes again.
pub(super) fn measure_mailboxes(database: &Database) -> Result<(), IndexError> {
    let mut from = [0; 24];
    while let Some(next) = measure_some(database, from)? {
        from = next;
    }
    Ok(())
}

fn stored_retention(database: &Database) -> Result<u64, IndexError> {
    let transaction = database.begin_read()?;
    let meta = transaction.open_table(META)?;
    let millis = meta.get(META_RETENTION)?.and_then(|row| Some(u64::from_le_bytes(row.value().try_into().ok()?)));
    Ok(millis.unwrap_or(u64::MAX))
}

/// Rewrites a bounded number of rows of expiry from `from` on. Returns where to continue, `None` at the end.
fn shorten_some(database: &Database, from: (u64, u64), retention: Duration) -> Result<Option<(u64, u64)>, IndexError> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::None)?;
    let mut next = None;
    {
        let mut expiry = transaction.open_table(EXPIRY)?;
        let mut mail = transaction.open_table(MAIL)?;
        let mut rows: Vec<((u64, u64), Vec<MailKey>)> = Vec::new();
        for row in expiry.range(from..)?.take(ROWS_PER_TRANSACTION) {
            let (key, keys) = row?;
            rows.push((key.value(), keys.value().as_chunks::<24>().0.to_vec()));
        }
        if rows.len() == ROWS_PER_TRANSACTION {
            next = rows.last().map(|((second, sequence), _)| (*second, sequence + 1));
        }
        for (key, keys) in rows {
            let mut second = 0;
            for mail_key in &keys {
                let row = mail.get(mail_key)?.and_then(|row| MailRow::decode(row.value()));
                let Some(mut row) = row else { continue };
                row.expires_at = row.expires_at.min(row.received_at.plus(retention));
                second = second.max(expiry_second(row.expires_at));
                mail.insert(mail_key, &row.encode()[..])?;
            }
            if second < key.0 {
                move_row(&mut expiry, key, second, &keys)?;
            }
        }
    }
    transaction.commit()?;
    Ok(next)
}

/// Computes a bounded number of heads again, from `from` on. Returns where to continue, `None` at the end.
///
/// Lives were shortened by different amounts, so the latest expiry and the disorder have changed.
fn measure_some(database: &Database, from: MailKey) -> Result<Option<MailKey>, IndexError> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::None)?;
    let mut next = None;
    {
        let mut mail = transaction.open_table(MAIL)?;
        let mut heads: Vec<(MailKey, HeadRow)> = Vec::new();
        for row in mail.range::<&MailKey>(&from..)? {
            let (key, row) = row?;
            let key = *key.value();
            if sequence_of(&key) == 0 {
                if heads.len() == HEADS_PER_TRANSACTION {
                    next = Some(key);
                    break;
                }
                let HeadRow { emails, octets, domain, .. } = decode_head(row.value())?;
                heads.push((key, HeadRow { emails, octets, ..HeadRow::empty(domain) }));
            } else if let Some((_, head)) = heads.last_mut() {
                let row = decode_mail(row.value())?;
                head.record(row.expires_at);
            }
        }
        for (key, head) in heads {
            mail.insert(&key, &head.encode()[..])?;
        }
    }
    transaction.commit()?;
    Ok(next)
}

/// Moves a row of expiry to an earlier second. No row with the same first sequence number can be there.
fn move_row(
    expiry: &mut redb::Table<'_, (u64, u64), &'static [u8]>,
    from: (u64, u64),
    second: u64,
    keys: &[MailKey],
) -> Result<(), IndexError> {
    debug_assert!(keys.len() <= EXPIRY_ROW_KEYS);
    expiry.remove(from)?;
    expiry.insert((second, from.1), keys.as_flattened())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Address, Envelope, Greeting, Protocol, Subaddressing, Timestamp};
    use crate::random;
    use crate::store::change::Change;
    use crate::store::disk::{Directory, Disk};
    use crate::store::index::Index;
    use crate::store::journal::{Position, RecordPlace};
    use crate::store::{OutboxLimits, StoreOptions};

    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
    const MINUTE: Duration = Duration::from_mins(1);
    const HOUR: Duration = Duration::from_hours(1);

    /// An index with a message for each life, received a minute after each other.
    fn index_of(disk: &Arc<dyn Disk>, lives: &[Duration]) -> Index {
        let config = crate::config::Config::of_revision(crate::config::Revision::Two, ".".into());
        let index = Index::create(disk, &StoreOptions::from_config(&config)).expect("create");
        let address: Address = "a@example.test".parse().expect("an address");
        let client = std::net::Ipv4Addr::LOCALHOST.into();
        for (life, n) in lives.iter().zip(1_u32..) {
            let at = NOW.plus(MINUTE * n);
            let envelope = Envelope::new(
                client,
                "c.example".into(),
                Protocol::plain(Greeting::Ehlo),
                String::new(),
                std::slice::from_ref(&address),
                Subaddressing::Keep,
                || random::email_id(at),
            );
            let change = Change::Received {
                envelope,
                received_at: at,
                expires_at: at.plus(*life),
                cap: 0,
                outbox: OutboxLimits::default(),
            };
            let place = RecordPlace { segment: 1, offset: 512 * n, length: 512, content: 9 };
            let end = Position { segment: 1, offset: 512 * (n + 1), group: u64::from(n) + 1 };
            index.apply([(&change, place)], end, false).expect("applied");
        }
        index
    }

    fn head(index: &Index) -> HeadRow {
        let transaction = index.database.begin_read().expect("read");
        let mail = transaction.open_table(MAIL).expect("table");
        let first = mail.first().expect("read").expect("a row");
        HeadRow::decode(first.1.value()).expect("a head")
    }

    #[test]
    fn what_is_known_of_a_mailbox_is_measured_anew() {
        let dir = tempfile::tempdir().expect("directory");
        let disk: Arc<dyn Disk> = Arc::new(Directory::lock(dir.path()).expect("lock"));
        let index = index_of(&disk, &[24 * HOUR, 24 * HOUR, 2 * MINUTE, 24 * HOUR]);
        let last = NOW.plus(4 * MINUTE);
        let before = head(&index);
        assert_eq!((before.latest_expiry, before.disorder), (last.plus(24 * HOUR), Duration::from_mins(24 * 60 - 3)));
        index.shorten_lives_to(HOUR).expect("shortened");
        let after = head(&index);
        assert_eq!((after.latest_expiry, after.disorder), (last.plus(HOUR), Duration::from_mins(57)));
        assert_eq!((after.emails, after.domain), (4, before.domain));
    }
}
