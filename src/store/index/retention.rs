//! What a changed retention does to mail that is already there.
//!
//! A shorter one shortens every life to it, once, when the store is opened; so an expiry in the index is always the one in
//! effect, and a longer retention later brings nothing back.

use std::time::Duration;

use redb::{Database, Durability, ReadableDatabase, ReadableTable};

use super::IndexError;
use super::tables::{
    EXPIRY, EXPIRY_ROW_KEYS, HeadRow, MAIL, META, META_RETENTION, MailKey, MailRow, expiry_second, head_key,
};

/// Rows of expiry that one transaction rewrites.
const ROWS_PER_TRANSACTION: usize = 256;

pub(super) fn shorten_lives_to(database: &Database, retention: Duration) -> Result<(), IndexError> {
    let millis = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
    let kept = kept_retention(database)?;
    if millis == kept {
        return Ok(());
    }
    if millis < kept {
        let mut from = (0, 0);
        while let Some(next) = shorten_some(database, from, retention)? {
            from = next;
        }
    }
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    transaction.set_quick_repair(true);
    transaction.open_table(META)?.insert(META_RETENTION, &millis.to_le_bytes()[..])?;
    Ok(transaction.commit()?)
}

fn kept_retention(database: &Database) -> Result<u64, IndexError> {
    let transaction = database.begin_read()?;
    let meta = transaction.open_table(META)?;
    let millis = meta.get(META_RETENTION)?.and_then(|row| Some(u64::from_le_bytes(row.value().try_into().ok()?)));
    Ok(millis.unwrap_or(u64::MAX))
}

/// Rewrites the rows of expiry from `from` on, a bounded number of them; where to go on, `None` at the end.
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
                let head = mail.get(&head_key(mail_key))?.and_then(|row| HeadRow::decode(row.value()));
                if let Some(mut head) = head {
                    // Lives were shortened by different amounts; the order of expiry is not known to be that of receipt.
                    head.disorder = Duration::MAX;
                    mail.insert(&head_key(mail_key), &head.encode()[..])?;
                }
            }
            if second < key.0 {
                move_row(&mut expiry, key, second, &keys)?;
            }
        }
    }
    transaction.commit()?;
    Ok(next)
}

/// Moves a row of expiry to an earlier second, where a row with the same first sequence can't be: sequences are unique.
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
