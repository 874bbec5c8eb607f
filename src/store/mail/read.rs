//! Lists and counts. One read examines a bounded number of rows, since the writer waits for it.

use super::rows::{Mailbox as MailboxRows, Row};
use super::{Due, Mail};
use crate::model::{EmailId, Listed, Mailbox, PendingEvent, Timestamp, WebhookId};
use crate::store::change::RecordPlace;
use crate::store::names::mailbox_hash;
use crate::store::{
    DueQuery, EmailsAfter, MailboxPage, NewestCursor, NewestEmail, NewestPage, NewestQuery, PageRequest, StoreStats,
};

/// The most rows that one list examines.
const ROWS_AT_ONCE: usize = 20_000;
/// The most rows that a list of what came after an Email examines.
const AFTER_ROWS: usize = 500;

/// A message with its living Emails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiveMessage {
    pub(crate) place: RecordPlace,
    pub(crate) expires_at: Timestamp,
    /// In the order of their sequence numbers, with these.
    pub(crate) emails: Vec<(u64, EmailId)>,
}

impl Mail {
    fn mailbox(&self, mailbox: &Mailbox) -> Option<&MailboxRows> {
        self.rows.mailbox(mailbox_hash(&self.secret, mailbox))
    }

    /// The rows of a mailbox by their positions.
    fn row_at(&self, mailbox: &MailboxRows, position: usize) -> &Row {
        self.rows.row(mailbox.rows.at(position))
    }

    /// The number of Emails of a mailbox that have expired and are not removed yet.
    pub(super) fn expired(&self, mailbox: &MailboxRows, now: Timestamp) -> usize {
        if mailbox.is_in_order {
            return mailbox.rows.partition_point(|number| self.rows.row(number).expires_at <= now);
        }
        // Each second the sweep removes what is due, so there is little of it.
        let due = self.rows.due().range(..=super::second_of(now)).flat_map(|(_, numbers)| numbers);
        due.filter(|number| {
            let row = self.rows.row(**number);
            row.expires_at <= now && self.rows.mailbox_of(row).name == mailbox.name
        })
        .count()
    }

    /// Lists a page of a mailbox, newest first.
    pub(crate) fn list(&self, mailbox: &Mailbox, page: PageRequest, now: Timestamp) -> MailboxPage {
        let Some(mailbox) = self.mailbox(mailbox) else { return MailboxPage { emails: Vec::new(), total: 0 } };
        let length = mailbox.rows.len();
        let expired = self.expired(mailbox, now);
        let total = (length - expired) as u64;
        let PageRequest { offset, limit } = page;
        let wanted = usize::try_from(total.saturating_sub(offset)).unwrap_or(usize::MAX).min(limit);
        let mut emails = Vec::with_capacity(wanted);
        if wanted > 0 {
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            // Where the expired ones are all in front, nothing has to be skipped one by one.
            let (from, to_skip) =
                if expired == 0 || mailbox.is_in_order { (length - offset, 0) } else { (length, offset) };
            let readable =
                (0..from).rev().map(|position| self.row_at(mailbox, position)).filter(|row| row.expires_at > now);
            emails.extend(readable.skip(to_skip).take(wanted).map(Row::listed));
        }
        MailboxPage { emails, total }
    }

    /// Lists the newest Emails with sequence numbers below `before`, at most `limit`, among [`ROWS_AT_ONCE`] rows.
    pub(crate) fn list_before(&self, mailbox: &Mailbox, before: u64, limit: usize, now: Timestamp) -> Vec<Listed> {
        let Some(mailbox) = self.mailbox(mailbox) else { return Vec::new() };
        let end = mailbox.rows.partition_point(|number| self.rows.row(number).sequence < before);
        let rows = (0..end).rev().take(ROWS_AT_ONCE).map(|position| self.row_at(mailbox, position));
        rows.filter(|row| row.expires_at > now).take(limit).map(Row::listed).collect()
    }

    /// Lists the oldest Emails with sequence numbers above `after`, at most `limit`, among [`AFTER_ROWS`] rows.
    pub(crate) fn list_after(&self, mailbox: &Mailbox, after: u64, limit: usize, now: Timestamp) -> EmailsAfter {
        let mut found = EmailsAfter { emails: Vec::new(), next: None };
        let Some(mailbox) = self.mailbox(mailbox) else { return found };
        let start = mailbox.rows.partition_point(|number| self.rows.row(number).sequence <= after);
        let mut last = after;
        for position in start..mailbox.rows.len() {
            if position - start == AFTER_ROWS || found.emails.len() == limit {
                found.next = Some(last);
                break;
            }
            let row = self.row_at(mailbox, position);
            last = row.sequence;
            if row.expires_at > now {
                found.emails.push(row.listed());
            }
        }
        found
    }

    /// The sequence number after which the Emails of a mailbox begin that were received at `since` or later; 0 if it has some
    /// that were not received in the order of their numbers.
    pub(crate) fn begin_of(&self, mailbox: &Mailbox, since: Timestamp) -> u64 {
        let Some(mailbox) = self.mailbox(mailbox).filter(|mailbox| mailbox.came_in_order) else { return 0 };
        let before = mailbox.rows.partition_point(|number| self.rows.row(number).received_at < since);
        before.checked_sub(1).map_or(0, |position| self.row_at(mailbox, position).sequence)
    }

    /// Finds an Email that is readable at `now`.
    pub(crate) fn find(&self, id: EmailId, now: Timestamp) -> Option<Listed> {
        self.rows.find(id).map(|number| self.rows.row(number)).filter(|row| row.expires_at > now).map(Row::listed)
    }

    /// The hash of the mailbox of an Email.
    #[cfg(feature = "cassandra")]
    pub(crate) fn mailbox_of(&self, id: EmailId) -> Option<[u8; 16]> {
        self.rows.find(id).map(|number| self.rows.mailbox_of(self.rows.row(number)).name)
    }

    /// Lists the newest Emails of all mailboxes: those that expire last come first. That is the order of their receipt while
    /// the retention stays the same.
    pub(crate) fn newest(&self, query: &NewestQuery, now: Timestamp) -> NewestPage {
        let total = match (query.by_mailbox, &query.domain) {
            (false, None) => Some(self.rows.len() as u64),
            (true, None) => Some(self.rows.mailbox_count() as u64),
            (_, Some(_)) => None,
        };
        let domain = query.domain.as_ref().map(|domain| self.domain_of(domain.as_str()));
        let mut page = NewestPage { emails: Vec::new(), total, next: None };
        let mut before = query.after;
        for row in self.backwards(query.after).take(ROWS_AT_ONCE + 1).zip(1..) {
            let (row, examined) = row;
            if page.emails.len() == query.limit || examined > ROWS_AT_ONCE {
                page.next = before;
                break;
            }
            before = Some(cursor(row));
            let mailbox = self.rows.mailbox_of(row);
            let is_newest = || self.newest_of(mailbox, now) == Some(row.sequence);
            let is_of_domain = domain.is_none_or(|domain| domain == mailbox.domain);
            if row.expires_at > now && is_of_domain && (!query.by_mailbox || is_newest()) {
                let (mailbox_emails, mailbox_octets) = (mailbox.rows.len() as u64, mailbox.octets);
                let (listed, is_of_leases) = (row.listed(), row.has_own_life());
                page.emails.push(NewestEmail { listed, mailbox_emails, mailbox_octets, is_of_leases });
            }
        }
        page
    }

    /// The sequence number of the newest readable Email of a mailbox.
    fn newest_of(&self, mailbox: &MailboxRows, now: Timestamp) -> Option<u64> {
        let mut rows = (0..mailbox.rows.len()).rev().map(|position| self.row_at(mailbox, position));
        rows.find(|row| row.expires_at > now).map(|row| row.sequence)
    }

    /// All rows behind a cursor, the last to expire first.
    fn backwards(&self, after: Option<NewestCursor>) -> impl Iterator<Item = &Row> {
        let after = after.unwrap_or(NewestCursor::START);
        let second = i64::try_from(after.second).unwrap_or(i64::MAX);
        let due = self.rows.due();
        let is_before = move |number: &u32| self.rows.row(*number).sequence < after.first_sequence;
        let begun = due.get(&second).map(|numbers| &numbers[..numbers.partition_point(is_before)]);
        let rest = due.range(..second).rev().map(|(_, numbers)| &numbers[..]);
        begun.into_iter().chain(rest).flat_map(|numbers| numbers.iter().rev()).map(|number| self.rows.row(*number))
    }

    /// The messages with living Emails behind one, in the order in which they expire.
    pub(crate) fn live(&self, after: Option<(i64, u64)>) -> impl Iterator<Item = LiveMessage> {
        let (second, sequence) = after.unwrap_or((i64::MIN, 0));
        let due = self.rows.due();
        let is_before = move |number: &u32| self.rows.row(*number).sequence <= sequence;
        let begun = due.get(&second).map(|numbers| &numbers[numbers.partition_point(is_before)..]);
        let rest = due.range(second.saturating_add(1)..).map(|(_, numbers)| &numbers[..]);
        let numbers = begun.into_iter().chain(rest).flatten().copied();
        numbers.filter_map(|number| self.live_message(number))
    }

    /// The message of a row, if that is its first one.
    fn live_message(&self, number: u32) -> Option<LiveMessage> {
        let row = self.rows.row(number);
        let mut emails: Vec<_> = self.rows.ring(number).map(|row| (row.sequence, row.id)).collect();
        emails.sort_unstable();
        (emails[0].0 == row.sequence).then_some(LiveMessage { place: row.place, expires_at: row.expires_at, emails })
    }

    /// Counts what is stored, without files and webhooks.
    pub(crate) fn stats(&self) -> StoreStats {
        StoreStats {
            emails: self.rows.len() as u64,
            mailboxes: self.rows.mailbox_count() as u64,
            messages: self.segments.messages,
            live_octets: self.segments.octets,
            events: self.events.len() as u64,
            ..StoreStats::default()
        }
    }

    /// When the oldest and the newest Email were received. Looks at every row.
    pub(crate) fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let times = || self.rows.iter().map(|row| row.received_at);
        Some((times().min()?, times().max()?))
    }

    /// The webhooks with pending events, each with the time of its next attempt; `None` if one of its events had none yet.
    pub(crate) fn pending_webhooks(&self) -> Vec<(WebhookId, Option<Timestamp>)> {
        self.events.pending_webhooks()
    }

    /// What is due of a webhook.
    pub(crate) fn due_events(&self, webhook: WebhookId, query: &DueQuery) -> Due {
        self.events.due(&self.secret, webhook, query)
    }

    /// The place of the message of a pending event.
    pub(crate) fn place_of_event(&self, webhook: WebhookId, sequence: u64) -> Option<RecordPlace> {
        self.events.get(webhook, sequence).map(|event| event.place)
    }

    /// The pending events behind one, in the order of webhooks and Emails.
    pub(crate) fn events_after(&self, after: Option<(WebhookId, u64)>) -> impl Iterator<Item = PendingEvent> {
        self.events.after(&self.secret, after)
    }
}

impl LiveMessage {
    /// Where a list of further messages goes on.
    pub(crate) fn position(&self) -> (i64, u64) {
        (super::second_of(self.expires_at), self.emails[0].0)
    }
}

fn cursor(row: &Row) -> NewestCursor {
    let second = u64::try_from(super::second_of(row.expires_at)).unwrap_or(0);
    NewestCursor { second, first_sequence: row.sequence, keys_left: 0 }
}
