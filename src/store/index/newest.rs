//! The newest Emails of all mailboxes, and the mailboxes in the order of their newest Email.
//!
//! The table of expiries has all Emails in the order in which they expire, which is that of their receipt while the
//! retention stays the same. So no table of its own is needed.

use redb::ReadableTable;

use super::IndexError;
use super::keys::{MailKey, head_key, mail_key, sequence_of};
use super::read::{ROWS_AT_ONCE, View};
use super::rows::{MailRow, decode_head, decode_mail};
use super::tables::{EXPIRY, MAIL};
use crate::model::Timestamp;
use crate::store::names::domain_hash;
use crate::store::{NewestCursor, NewestEmail, NewestPage, NewestQuery};

impl View {
    /// Reads a page, and examines [`ROWS_AT_ONCE`] Emails for it at most.
    pub(crate) fn newest(&self, query: &NewestQuery, now: Timestamp) -> Result<NewestPage, IndexError> {
        let state = self.state()?;
        let total = match (query.by_mailbox, &query.domain) {
            (false, None) => Some(state.emails),
            (true, None) => Some(state.mailboxes),
            (_, Some(_)) => None,
        };
        let domain = query.domain.as_ref().map(|domain| domain_hash(&self.hash_key, domain.as_str()));
        let expiry = self.transaction.open_table(EXPIRY)?;
        let mail = self.transaction.open_table(MAIL)?;
        let mut page = NewestPage { emails: Vec::new(), total, next: None };
        let mut examined = 0;
        let after = query.after.unwrap_or(NewestCursor::START);
        for row in expiry.range(..=(after.second, after.first_sequence))?.rev() {
            let (key, keys) = row?;
            let (second, first_sequence) = key.value();
            let keys = keys.value().as_chunks::<24>().0;
            let is_begun = (second, first_sequence) == (after.second, after.first_sequence);
            let end = if is_begun { keys.len().min(after.keys_left) } else { keys.len() };
            for (key, keys_left) in keys[..end].iter().rev().zip((1..=end).rev()) {
                if page.emails.len() == query.limit || examined == ROWS_AT_ONCE {
                    page.next = Some(NewestCursor { second, first_sequence, keys_left });
                    return Ok(page);
                }
                examined += 1;
                // The Email may have been deleted, which leaves its key here.
                let Some(row) = mail.get(key)?.map(|row| decode_mail(row.value())).transpose()? else { continue };
                if row.expires_at <= now {
                    continue;
                }
                page.emails.extend(found(&mail, key, &row, query.by_mailbox, domain)?);
            }
        }
        Ok(page)
    }
}

/// The Email, if the query is about it: about each mailbox a query wants only its newest Email.
fn found(
    mail: &impl ReadableTable<&'static MailKey, &'static [u8]>,
    key: &MailKey,
    row: &MailRow,
    by_mailbox: bool,
    domain: Option<[u8; 16]>,
) -> Result<Option<NewestEmail>, IndexError> {
    let head = mail.get(&head_key(key))?.ok_or(IndexError::Corrupt("a mailbox's head is missing"))?;
    let head = decode_head(head.value())?;
    if domain.is_some_and(|domain| domain != head.domain) {
        return Ok(None);
    }
    let mut hash = [0; 16];
    hash.copy_from_slice(&key[..16]);
    let newer = mail_key(hash, sequence_of(key) + 1)..=mail_key(hash, u64::MAX);
    if by_mailbox && mail.range::<&MailKey>(newer.start()..=newer.end())?.next().is_some() {
        return Ok(None);
    }
    Ok(Some(NewestEmail { listed: row.listed(key), mailbox_emails: head.emails, mailbox_octets: head.octets }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::model::{Address, Envelope, Greeting, Protocol, Subaddressing};
    use crate::random;
    use crate::store::change::Change;
    use crate::store::disk::{Directory, Disk};
    use crate::store::index::Index;
    use crate::store::journal::{Position, RecordPlace};
    use crate::store::{OutboxLimits, StoreOptions};

    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    #[test]
    fn a_page_examines_a_bounded_number_of_rows_and_says_where_to_continue() {
        let dir = tempfile::tempdir().expect("directory");
        let disk: Arc<dyn Disk> = Arc::new(Directory::lock(dir.path()).expect("lock"));
        let config = crate::config::Config::of_revision(crate::config::Revision::Two, ".".into());
        let index = Index::create(&disk, &StoreOptions::from_config(&config)).expect("create");
        let received = |address: &str| Change::Received {
            envelope: Envelope::new(
                [127, 0, 0, 1].into(),
                "c.example".into(),
                Protocol::plain(Greeting::Ehlo),
                String::new(),
                &[address.parse::<Address>().expect(address)],
                Subaddressing::Keep,
                || random::email_id(NOW),
            ),
            received_at: NOW,
            expires_at: NOW.plus(Duration::from_hours(2)),
            cap: 0,
            outbox: OutboxLimits::default(),
        };
        let changes: Vec<Change> = std::iter::once("small@x.test")
            .chain(std::iter::repeat_n("large@x.test", ROWS_AT_ONCE + 1))
            .map(received)
            .collect();
        let place = RecordPlace { segment: 1, offset: 512, length: 512, content: 9 };
        let end = Position { segment: 1, offset: 1024, group: 2 };
        index.apply(changes.iter().map(|change| (change, place)), end, false).expect("applied");

        let page = |after| {
            let query = NewestQuery { by_mailbox: true, domain: None, after, limit: 10 };
            index.view().expect("view").newest(&query, NOW).expect("a page")
        };
        let first = page(None);
        assert_eq!((first.emails.len(), first.emails[0].mailbox_emails), (1, ROWS_AT_ONCE as u64 + 1));
        let second = page(Some(first.next.expect("the rest").to_string().parse().expect("a cursor")));
        assert_eq!((second.emails.len(), second.emails[0].mailbox_emails, second.next), (1, 1, None));
    }
}
