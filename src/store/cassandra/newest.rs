//! The newest Emails of all mailboxes: those that expire last.

use std::collections::HashMap;

use super::rows::{EmailRow, expiry_slot, signed};
use super::state::ClusterState;
use crate::model::Timestamp;
use crate::store::names::domain_hash;
use crate::store::{NewestCursor, NewestEmail, NewestPage, NewestQuery, StoreError};

/// The most rows that one page examines.
const ROWS_MAX: usize = 2000;

/// Emails of a mailbox and the octets of their messages.
type MailboxUsage = (u64, u64);

impl ClusterState {
    pub(super) async fn newest(&self, query: NewestQuery, now: Timestamp) -> Result<NewestPage, StoreError> {
        let domain = query.domain.as_ref().map(|domain| domain_hash(&self.secret, domain.as_str()));
        let slots = self.slots_of_mail().await?;
        let mut place =
            query.after.map_or((i64::MAX, u64::MAX), |cursor| (signed(cursor.second), cursor.first_sequence));
        let (mut page, mut examined) = (Vec::new(), 0);
        let mut usage = HashMap::new();
        let mut is_end = true;
        let first_slot = expiry_slot(place.0);
        'slots: for slot in slots.iter().rev().copied().filter(|slot| *slot <= first_slot) {
            loop {
                let limit = (query.limit - page.len()).clamp(20, ROWS_MAX);
                let mut rows = self.before_in(slot, place, limit).await?;
                let is_last_of_slot = rows.len() < limit;
                rows.sort_unstable_by_key(|row| std::cmp::Reverse((row.expires_at, row.sequence)));
                // Beyond that, a shard may have further rows in between.
                rows.truncate(limit);
                for row in rows {
                    if page.len() == query.limit || examined == ROWS_MAX {
                        is_end = false;
                        break 'slots;
                    }
                    place = (row.expires_at, row.sequence.cast_unsigned());
                    examined += 1;
                    if !self.is_readable(&row, now)
                        || domain.is_some_and(|domain| row.domain != domain)
                        || (query.by_mailbox && !self.is_newest(&row, now).await?)
                    {
                        continue;
                    }
                    let (mailbox_emails, mailbox_octets) = self.usage(&row, &mut usage, now).await?;
                    page.push(NewestEmail { listed: row.listed(), mailbox_emails, mailbox_octets });
                }
                if is_last_of_slot {
                    break;
                }
            }
        }
        let total = match (&query.domain, query.by_mailbox) {
            (Some(_), _) => None,
            (None, by_mailbox) => {
                let stats = self.count().await?;
                Some(if by_mailbox { stats.mailboxes } else { stats.emails })
            }
        };
        let (second, first_sequence) = (u64::try_from(place.0).unwrap_or(0), place.1);
        let next = (!is_end).then_some(NewestCursor { second, first_sequence, keys_left: 0 });
        Ok(NewestPage { emails: page, total, next })
    }

    async fn is_newest(&self, row: &EmailRow, now: Timestamp) -> Result<bool, StoreError> {
        let newest = self.readable(&row.mailbox, 1, now).await?;
        Ok(newest.first().is_none_or(|newest| newest.id == row.id))
    }

    async fn usage(
        &self,
        row: &EmailRow,
        known: &mut HashMap<Vec<u8>, MailboxUsage>,
        now: Timestamp,
    ) -> Result<MailboxUsage, StoreError> {
        if let Some(usage) = known.get(&row.mailbox) {
            return Ok(*usage);
        }
        let mut usage = (0, 0);
        // Where the retention was shortened, rows outlive their Emails.
        let take = |row: EmailRow| {
            if self.is_readable(&row, now) {
                usage = (usage.0 + 1, usage.1 + row.octets.cast_unsigned());
            }
            true
        };
        self.cluster.each(&self.statements.email_newest_first, (&row.mailbox, 0_i64, i64::MAX), take).await?;
        known.insert(row.mailbox.clone(), usage);
        Ok(usage)
    }
}
