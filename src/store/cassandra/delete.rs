//! Deleting Emails, at the times of their rows. The cluster prefers a deletion, so nothing that repeats a write undoes it.

use futures_util::future::{join, try_join_all};

use super::Shared;
use super::log::Fact;
use super::mailbox::EmailRow;
use super::receive::micros_of;
use crate::model::{EmailId, Mailbox, Timestamp};
use crate::store::StoreError;
use crate::store::counters::Removed;
use crate::store::names::mailbox_hash;

/// How long all nodes must know of a deletion whose mail is not there any more, in seconds.
const FORGOTTEN_SECONDS: i32 = 24 * 3600;
/// The most Emails of one statement.
const AT_ONCE: usize = 100;

impl Shared {
    pub(super) async fn delete(&self, id: EmailId, now: Timestamp) -> Result<bool, StoreError> {
        let Some((mailbox, row)) = self.find_row(id).await? else {
            // A deletion that was cut off may have told no node. What the picture has was visible once.
            if self.picture.mail().find(id, Timestamp::from_millis(i64::MIN)).is_some() {
                self.append(Fact::Deleted(vec![id]), FORGOTTEN_SECONDS).await.map_err(|error| unknown(&error))?;
            }
            return Ok(false);
        };
        if !self.is_surely_readable(&row.listed(), now).await? {
            return Ok(false);
        }
        self.check_open()?;
        self.delete_rows(&mailbox, &[row]).await?;
        self.counters.removed(Removed::Deleted, 1);
        Ok(true)
    }

    pub(super) async fn delete_all(&self, mailbox: &Mailbox, before: u64, now: Timestamp) -> Result<u64, StoreError> {
        let mut rows = self.visible_rows(mailbox, now).await?;
        let mailbox = mailbox_hash(&self.secret, mailbox);
        rows.retain(|row| row.sequence() < before);
        self.check_open()?;
        let mut readable = 0;
        for rows in rows.chunks(AT_ONCE) {
            readable += rows.iter().filter(|row| self.is_readable(&row.listed(), now)).count() as u64;
            self.delete_rows(&mailbox, rows).await?;
            self.counters.removed(Removed::Deleted, rows.len() as u64);
        }
        Ok(readable)
    }

    /// Deletes Emails that make way for others, each of the mailbox that is named with it. The message that they make way
    /// for is safe, so a failure is not its own.
    pub(super) async fn make_way(&self, evicted: Vec<([u8; 16], EmailId)>) {
        let deletions = evicted.iter().map(|(mailbox, id)| async move {
            let Some(row) = self.row_of(mailbox, *id).await? else {
                return self.append(Fact::Deleted(vec![*id]), FORGOTTEN_SECONDS).await;
            };
            self.delete_rows(mailbox, &[row]).await?;
            self.counters.removed(Removed::MadeWay, 1);
            Ok(())
        });
        if let Err(error) = try_join_all(deletions).await {
            tracing::warn!(%error, "the oldest mail of a full mailbox was not deleted; the next mail tries again");
        }
    }

    /// Deletes Emails of a mailbox, and their messages as far as nobody else needs them.
    async fn delete_rows(&self, mailbox: &[u8; 16], rows: &[EmailRow]) -> Result<(), StoreError> {
        // The highest of their times deletes every one of them, and no row of another id.
        let Some(last) = rows.iter().map(EmailRow::sequence).max() else { return Ok(()) };
        let ids: Vec<Vec<u8>> = rows.iter().map(|row| row.id().octets().to_vec()).collect();
        let deleted = self.session.run(&self.statements.email_delete, (micros_of(last), &mailbox[..], ids)).await;
        deleted.map_err(|error| unknown(&error))?;
        let alone = rows.iter().filter(|row| !row.is_shared());
        let messages = alone.map(|row| self.delete_message(row.message(), micros_of(row.sequence())));
        let life = rows.iter().map(|row| row.listed().expires_at.since(row.listed().received_at).as_secs()).max();
        let life = i32::try_from(life.unwrap_or(0).saturating_add(60)).unwrap_or(i32::MAX);
        let deleted = Fact::Deleted(rows.iter().map(EmailRow::id).collect());
        // All nodes must know, even if octets are left, which nobody can read.
        let (octets, told) = join(try_join_all(messages), self.append(deleted, life)).await;
        octets.map(drop).and(told).map_err(|error| unknown(&error))
    }
}

fn unknown(error: &StoreError) -> StoreError {
    tracing::warn!(%error, "the cluster did not say whether mail was deleted");
    StoreError::OutcomeUnknown
}
