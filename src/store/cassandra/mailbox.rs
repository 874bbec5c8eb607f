//! Lists of a mailbox, which pass over nothing that is acknowledged.
//!
//! A mail announces itself before it takes a sequence above all that it sees. So after a read that shows some Email, a second
//! one shows the announcement of every mail that may get a lower sequence. A reader waits for those, and answers what the
//! first read showed, and what is below it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::TryStreamExt;
use futures_util::future::try_join_all;
use scylla::DeserializeRow;
use tokio::time::{Instant, sleep};

use super::Shared;
use super::message::MessageId;
use super::receive::{SETTLES_WITHIN, micros_of, sequence};
use crate::model::{EmailId, Listed, Mailbox, Timestamp};
use crate::store::names::mailbox_hash;
use crate::store::{PageRequest, StoreError};

/// Mail that is older than this is neither announced nor unshown any more, whatever the clocks say.
const SETTLED_AFTER: Duration = Duration::from_secs(30);
/// How much later than its Email's id the time of a sequence may be, and how much clocks may differ.
const SEQUENCE_AFTER_ID: Duration = Duration::from_secs(25);
/// Rows up to which a list counts exactly.
pub(super) const COUNTED_MAX: usize = 1_000;
/// The most rows that one list reads.
const ROWS_MAX: usize = 10_000;
/// So many rows after another, a read looks whether it has enough.
const LOOK_EVERY: usize = 500;
/// How servers say that a read would pass over more deletions than they allow.
const TOO_MUCH_DELETED: &str = "READ_TOO_MANY_TOMBSTONES";
/// The pauses between looks at what is announced.
const PAUSES: [u64; 6] = [2, 5, 10, 20, 50, 100];

/// An Email in its mailbox.
#[derive(Clone, Debug, DeserializeRow)]
pub(super) struct EmailRow {
    /// The highest sequence of the mailbox. It is read so that a repair by the read carries it along with the row.
    #[expect(dead_code, reason = "the servers compare it")]
    last: Option<i64>,
    id: Vec<u8>,
    /// `None` while it is only announced.
    sequence: Option<i64>,
    message: Option<Vec<u8>>,
    received_at: Option<i64>,
    expires_at: Option<i64>,
    octets: Option<i64>,
    shared: Option<bool>,
}

impl EmailRow {
    pub(super) fn id(&self) -> EmailId {
        EmailId::from_octets(self.id[..].try_into().unwrap_or_default())
    }

    pub(super) fn sequence(&self) -> u64 {
        self.sequence.unwrap_or(0).cast_unsigned()
    }

    pub(super) fn message(&self) -> MessageId {
        MessageId::from_column(self.message.as_deref().unwrap_or_default())
    }

    /// Whether other Emails or events need its message as well.
    pub(super) fn is_shared(&self) -> bool {
        self.shared == Some(true)
    }

    /// Whether it is visible, if its message is `shown` or not.
    pub(super) fn is_visible(&self, shown: bool) -> bool {
        self.sequence.is_some() && (shown || !self.is_shared())
    }

    pub(super) fn listed(&self) -> Listed {
        let octets = self.octets.unwrap_or(0).cast_unsigned();
        Listed {
            id: self.id(),
            sequence: self.sequence(),
            received_at: Timestamp::from_millis(self.received_at.unwrap_or(0)),
            expires_at: Timestamp::from_millis(self.expires_at.unwrap_or(0)),
            size_octets: octets,
            place: self.message().place(octets),
        }
    }

    /// The time of its id.
    fn at(&self) -> Timestamp {
        self.id().received_at().unwrap_or(Timestamp::from_millis(self.received_at.unwrap_or(0)))
    }
}

/// Which rows of a mailbox to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) after: u64,
    pub(super) before: u64,
    pub(super) oldest_first: bool,
    /// How many visible ones are enough. No list reads more than [`ROWS_MAX`] rows.
    pub(super) enough: usize,
}

impl Range {
    /// All, the newest first.
    pub(super) const ALL: Self = Self { after: 0, before: u64::MAX, oldest_first: false, enough: ROWS_MAX };

    /// Whether a sequence comes before those of all rows behind `end`, up to which rows were read.
    fn is_certain(&self, sequence: u64, end: Timestamp) -> bool {
        if self.oldest_first { time_of(sequence) < end } else { time_of(sequence) > end.plus(SEQUENCE_AFTER_ID) }
    }
}

/// What was read of a mailbox.
pub(super) struct Read {
    /// The visible Emails in the range, in its order.
    pub(super) emails: Vec<Listed>,
    /// The time of the id at which the read ended, if there may be more behind it.
    pub(super) end: Option<Timestamp>,
}

/// The least id of a time.
fn id_at(at: Timestamp) -> [u8; 16] {
    let mut id = [0; 16];
    id[..6].copy_from_slice(&at.millis().max(0).to_be_bytes()[2..]);
    id
}

/// The least sequence of a time.
pub(super) fn sequence_at(at: Timestamp) -> u64 {
    sequence(at.millis().saturating_mul(1000), 0)
}

/// Whether more than two milliseconds lie between two ids.
fn is_divisible(from: [u8; 16], to: [u8; 16]) -> bool {
    u128::from_be_bytes(to).saturating_sub(u128::from_be_bytes(from)) > 2 << 80
}

/// What lies between two ids and is no Email's: the time of about now, or else about half way.
fn middle(from: [u8; 16], to: [u8; 16], now: Timestamp) -> [u8; 16] {
    let about_now = id_at(now.plus(SEQUENCE_AFTER_ID));
    if from < about_now && about_now < to {
        return about_now;
    }
    let mut middle = u128::midpoint(u128::from_be_bytes(from), u128::from_be_bytes(to)).to_be_bytes();
    // An Email's id has version 7 here.
    middle[6] &= 0x0f;
    middle
}

fn time_of(sequence: u64) -> Timestamp {
    Timestamp::from_millis(micros_of(sequence) / 1000)
}

impl Shared {
    /// The row of one Email, visible or not.
    pub(super) async fn row_of(&self, mailbox: &[u8; 16], id: EmailId) -> Result<Option<EmailRow>, StoreError> {
        self.session.first(&self.statements.email_select, (&mailbox[..], &id.octets()[..])).await
    }

    /// Whether an Email is readable at `now`. What was announced as expired stays away when the clock goes back.
    ///
    /// What is older than the retention is, if the picture has it: that of a lease, unless it was deleted. So servers need not
    /// remember deletions for as long as mail of leases lives.
    pub(super) fn is_readable(&self, listed: &Listed, now: Timestamp) -> bool {
        let life = self.options.retention.map(|retention| listed.received_at.plus(retention));
        let expires_at = life.map_or(listed.expires_at, |life| life.min(listed.expires_at));
        expires_at > now && !self.picture.has_expired(expires_at)
            || expires_at < listed.expires_at && self.picture.mail().find(listed.id, now).is_some()
    }

    /// The same of an Email in whatever mailbox.
    pub(super) async fn is_surely_readable(&self, listed: &Listed, now: Timestamp) -> Result<bool, StoreError> {
        if self.options.retention.is_some_and(|retention| now.since(listed.received_at) >= retention) {
            self.catch_up().await?;
        }
        Ok(self.is_readable(listed, now))
    }

    /// When the oldest Email of a mailbox was received that may be readable. If the retention does not say it, the picture is
    /// made to.
    async fn oldest_at(&self, mailbox: &Mailbox, now: Timestamp) -> Result<Timestamp, StoreError> {
        let retention = if mailbox.lease().is_some() {
            self.catch_up().await?;
            None
        } else {
            self.options.retention
        };
        Ok(retention.map_or(Timestamp::from_millis(0), |life| now.before(life)))
    }

    /// All visible Emails of a mailbox that may be readable.
    pub(super) async fn visible_rows(&self, mailbox: &Mailbox, now: Timestamp) -> Result<Vec<EmailRow>, StoreError> {
        let oldest = self.oldest_at(mailbox, now).await?;
        let rows = self.all_rows(&mailbox_hash(&self.secret, mailbox), id_at(oldest), now).await?;
        self.only_visible(rows).await
    }

    /// All rows of a mailbox after an id.
    async fn all_rows(&self, mailbox: &[u8; 16], from: [u8; 16], now: Timestamp) -> Result<Vec<EmailRow>, StoreError> {
        let mut rows = Vec::new();
        let take = |row| {
            rows.push(row);
            true
        };
        self.each_row(mailbox, (from, [0xff; 16]), false, now, take).await?;
        Ok(rows)
    }

    /// Reads the visible Emails of a mailbox in a range, as the top of this page says.
    pub(super) async fn read(&self, mailbox: &Mailbox, range: Range, now: Timestamp) -> Result<Read, StoreError> {
        let oldest = self.oldest_at(mailbox, now).await?;
        let mailbox = mailbox_hash(&self.secret, mailbox);
        let (rows, end) = self.rows_in(&mailbox, range, oldest, now).await?;
        let mut rows = self.only_visible(rows).await?;
        let cut = rows.iter().map(EmailRow::sequence).max().unwrap_or(0);
        if cut > 0 && time_of(cut) > now.before(SETTLED_AFTER) {
            self.settle_young(&mailbox, &mut rows, now).await?;
            rows.retain(|row| row.sequence() <= cut);
        }
        let is_wanted = |listed: &Listed| {
            listed.sequence > range.after
                && listed.sequence < range.before
                && end.is_none_or(|end| range.is_certain(listed.sequence, end))
                && self.is_readable(listed, now)
        };
        let mut emails: Vec<Listed> = rows.iter().map(EmailRow::listed).filter(is_wanted).collect();
        emails.sort_unstable_by_key(|listed| listed.sequence);
        if !range.oldest_first {
            emails.reverse();
        }
        Ok(Read { emails, end })
    }

    /// Reads rows of a range until those that are enough cannot change any more. Returns where it ended if there are more. What
    /// lies before `oldest` is not readable any more.
    async fn rows_in(
        &self,
        mailbox: &[u8; 16],
        range: Range,
        oldest: Timestamp,
        now: Timestamp,
    ) -> Result<(Vec<EmailRow>, Option<Timestamp>), StoreError> {
        let from = id_at(time_of(range.after).before(SEQUENCE_AFTER_ID).max(oldest));
        let to =
            if range.before == u64::MAX { [0xff; 16] } else { id_at(time_of(range.before).plus(SEQUENCE_AFTER_ID)) };
        let (mut rows, mut end) = (Vec::<EmailRow>::new(), None);
        let take = |row: EmailRow| {
            if range.oldest_first && row.sequence.is_some() && row.sequence() <= range.after {
                return true;
            }
            let looks = rows.len() >= LOOK_EVERY && rows.len().is_multiple_of(LOOK_EVERY);
            if rows.len() >= ROWS_MAX || looks && self.is_enough(&rows, range, now) {
                end = rows.last().map(EmailRow::at);
                return false;
            }
            rows.push(row);
            true
        };
        self.each_row(mailbox, (from, to), range.oldest_first, now, take).await?;
        Ok((rows, end))
    }

    /// Reads the rows between two ids as long as `take` wants more. Servers refuse to pass over too much that was deleted: then
    /// they are asked for smaller parts.
    async fn each_row(
        &self,
        mailbox: &[u8; 16],
        all: ([u8; 16], [u8; 16]),
        oldest_first: bool,
        now: Timestamp,
        mut take: impl FnMut(EmailRow) -> bool,
    ) -> Result<(), StoreError> {
        let statements = &self.statements;
        let statement = if oldest_first { &statements.email_oldest_first } else { &statements.email_newest_first };
        let mut parts = vec![all];
        while let Some((mut from, mut to)) = parts.pop() {
            let (begin, end) = (from, to);
            let read = async {
                let mut rows = self.session.rows::<EmailRow>(statement, (&mailbox[..], &begin[..], &end[..])).await?;
                while let Some(row) = rows.try_next().await? {
                    *(if oldest_first { &mut from } else { &mut to }) = row.id().octets();
                    if !take(row) {
                        return Ok(false);
                    }
                }
                Ok(true)
            };
            match read.await {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(StoreError::Failed(reason)) if reason.contains(TOO_MUCH_DELETED) && is_divisible(from, to) => {
                    let middle = middle(from, to, now);
                    let (old, new) = ((from, middle), (middle, to));
                    parts.extend(if oldest_first { [new, old] } else { [old, new] });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Those rows that are visible.
    async fn only_visible(&self, rows: Vec<EmailRow>) -> Result<Vec<EmailRow>, StoreError> {
        let shown = try_join_all(rows.iter().map(|row| self.is_visible(row))).await?;
        Ok(rows.into_iter().zip(shown).filter_map(|(row, is_visible)| is_visible.then_some(row)).collect())
    }

    async fn is_visible(&self, row: &EmailRow) -> Result<bool, StoreError> {
        if row.sequence.is_none() || self.is_surely_visible(row) {
            return Ok(row.sequence.is_some());
        }
        Ok(self.head_of(row.message()).await?.is_some_and(|(_, shown)| shown))
    }

    /// Whether a row is visible, without a look at its message. The log tells only of what is shown.
    fn is_surely_visible(&self, row: &EmailRow) -> bool {
        row.is_visible(false)
            || row.is_visible(true) && self.picture.mail().find(row.id(), Timestamp::from_millis(i64::MIN)).is_some()
    }

    /// Reads the young rows a second time, and waits for those that are announced or not shown yet.
    async fn settle_young(
        &self,
        mailbox: &[u8; 16],
        rows: &mut Vec<EmailRow>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let from = id_at(now.before(SETTLED_AFTER));
        let young = self.all_rows(mailbox, from, now).await?;
        let mut known: HashMap<EmailId, EmailRow> = rows.drain(..).map(|row| (row.id(), row)).collect();
        // What the second read does not have any more was deleted.
        let there: HashSet<EmailId> = young.iter().map(EmailRow::id).collect();
        known.retain(|id, _| id.octets() <= from || there.contains(id));
        let begun = Instant::now();
        let (mut waiting, mut pauses, mut is_last) = (young, PAUSES.into_iter(), false);
        let too_late = now.before(SETTLED_AFTER);
        loop {
            let before: Vec<EmailId> = waiting.iter().filter(|row| row.at() > too_late).map(EmailRow::id).collect();
            let visible = self.only_visible(waiting).await?;
            known.extend(visible.into_iter().map(|row| (row.id(), row)));
            let left: Vec<EmailId> = before.into_iter().filter(|id| !known.contains_key(id)).collect();
            if left.is_empty() || is_last {
                break;
            }
            sleep(Duration::from_millis(pauses.next().unwrap_or(100))).await;
            // Only a look that begins after that time may end the wait.
            is_last = begun.elapsed() > SETTLES_WITHIN;
            let again = try_join_all(left.into_iter().map(|id| self.row_of(mailbox, id))).await?;
            waiting = again.into_iter().flatten().collect();
        }
        rows.extend(known.into_values());
        Ok(())
    }

    /// Whether rows that were not read cannot change what is wanted.
    fn is_enough(&self, rows: &[EmailRow], range: Range, now: Timestamp) -> bool {
        let Some(end) = rows.last().map(EmailRow::at) else { return false };
        let certain = rows.iter().filter(|row| {
            let it = row.sequence();
            it > range.after && it < range.before && range.is_certain(it, end) && self.is_surely_visible(row)
        });
        certain.filter(|row| self.is_readable(&row.listed(), now)).count() >= range.enough
    }

    /// How many Emails of a mailbox the picture has.
    pub(super) async fn total(&self, mailbox: &Mailbox, now: Timestamp) -> Result<u64, StoreError> {
        self.catch_up().await?;
        Ok(self.picture.mail().list(mailbox, PageRequest { offset: 0, limit: 0 }, now).total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_divides_ids_lies_between_them_and_is_no_id() {
        let now = Timestamp::from_millis(1_700_000_000_000);
        for millis in [3_u64, 16, 1001, 7_200_000] {
            let (from, mut to) = (id_at(now), id_at(now.plus(Duration::from_millis(millis))));
            while is_divisible(from, to) {
                let middle = middle(from, to, now);
                assert!(from < middle && middle < to && middle[6] >> 4 == 0, "{middle:x?}");
                to = middle;
            }
        }
    }
}
