//! What finds things in the journal: rows of mail and pending events, in memory.
//!
//! ```text
//! rows      the Emails, by id, mailbox and expiry          events    the pending events, by webhook
//! segments  what is alive in each segment                  read      lists and counts
//! request   what is asked, and what that comes to           limits    caps of mailboxes, limits of the outbox
//! decide    what a request changes
//! ```
//!
//! Facts make all of it: applying the same facts in the same order always has the same result, whoever asked for them.

mod decide;
mod events;
mod limits;
mod read;
mod request;
mod rows;
mod segments;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub(crate) use decide::{Decided, Pending, Removals};
pub(crate) use events::Due;
pub(crate) use limits::Limits;
pub(crate) use read::LiveMessage;
pub(crate) use request::{Outcome, Request};

use events::{Event as PendingRow, Events};
pub(crate) use rows::NewMessage;
use rows::{Row, Rows, second_of};
use segments::Segments;

use super::change::{Change, Ending, EventState, RecordPlace};
use crate::events::{Event, Happening, Topic};
#[cfg(feature = "cassandra")]
use crate::model::PendingEvent;
use crate::model::{Client, EmailId, Envelope, Mailbox, Timestamp, WebhookId, WebhookRecord};
use crate::store::names::{HashKey, domain_hash, mailbox_hash};

/// What must be known of webhooks here.
pub(crate) trait Webhooks: Send + Sync {
    /// The active webhooks of a mailbox.
    fn of(&self, mailbox: &Mailbox) -> Vec<Receiver>;
    /// The webhook with this id, active or not.
    fn get(&self, id: WebhookId) -> Option<Receiver>;
}

/// A webhook, as far as its events need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Receiver {
    pub(crate) id: WebhookId,
    /// Who registered it; `None` for the administrator.
    pub(crate) registrant: Option<Client>,
    /// Whether it has ever taken an event.
    pub(crate) is_proven: bool,
}

impl Receiver {
    pub(crate) fn of(webhook: &WebhookRecord) -> Self {
        Self { id: webhook.id, registrant: webhook.registrant, is_proven: webhook.is_proven() }
    }
}

/// What subscribers are told.
pub(crate) type Told = Vec<(Topic, Event)>;

/// The rows of mail and the pending events of a store.
#[derive(Debug)]
pub(crate) struct Mail {
    secret: HashKey,
    limits: Limits,
    rows: Rows,
    events: Events,
    segments: Segments,
    next_sequence: u64,
    /// The latest expiry of an Email without a life of its own.
    latest: Timestamp,
    /// Since when Emails are there whose expiry is further ahead than any that is received now.
    ahead_since: Option<Timestamp>,
}

impl Mail {
    pub(crate) fn new(secret: HashKey, limits: Limits) -> Self {
        Self {
            secret,
            limits,
            rows: Rows::default(),
            events: Events::default(),
            segments: Segments::default(),
            next_sequence: 1,
            latest: Timestamp::from_millis(i64::MIN),
            ahead_since: None,
        }
    }

    /// Sequence numbers go on from `next` at least.
    pub(crate) fn begin_at(&mut self, next: u64) {
        self.next_sequence = self.next_sequence.max(next);
    }

    /// The highest sequence number so far.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.next_sequence - 1
    }

    /// Applies a durable fact, which is recorded at `place`. The same fact again changes nothing.
    pub(crate) fn apply(&mut self, fact: &Change, place: RecordPlace, webhooks: &dyn Webhooks) -> Told {
        match fact {
            Change::Received { envelope, received_at, expires_at, has_own_life, first, events } => {
                let told = self.receive(envelope, (*received_at, *expires_at, *has_own_life), *first, place);
                for (recipient, webhook) in events {
                    let recipient = usize::from(*recipient);
                    let email = envelope.recipients.get(recipient).map(|recipient| recipient.id);
                    self.add_event(*webhook, email, place.segment, *received_at, webhooks);
                }
                told
            }
            Change::Deleted { emails } => {
                emails.iter().filter_map(|email| self.delete(*email, place.segment)).collect()
            }
            Change::EventsAdded { webhook, emails, due_at } => {
                for email in emails {
                    self.add_event(*webhook, Some(*email), place.segment, *due_at, webhooks);
                }
                Told::new()
            }
            Change::EventsChanged { events } => {
                for (webhook, sequence, state) in events {
                    self.change_event(*webhook, *sequence, *state, place.segment);
                }
                Told::new()
            }
        }
    }

    /// Applies an ending, whatever the clock says now.
    pub(crate) fn end(&mut self, ending: &Ending) {
        match *ending {
            Ending::Swept { by, through } => {
                for removed in self.rows.remove_due(second_before(by), through) {
                    self.removed(removed, Happening::Expired);
                }
            }
            Ending::Shortened { retention, through } => {
                self.rows
                    .shorten(|row| if row.sequence <= through { life_within(row, retention) } else { row.expires_at });
            }
        }
    }

    fn receive(
        &mut self,
        envelope: &Envelope,
        (received_at, expires_at, has_own_life): (Timestamp, Timestamp, bool),
        first: u64,
        place: RecordPlace,
    ) -> Told {
        let email = |(to, sequence): (&crate::model::Recipient, u64)| {
            (to.id, sequence, mailbox_hash(&self.secret, &to.mailbox), self.domain_of(to.mailbox.domain()))
        };
        let emails = envelope.recipients.iter().zip(first..).map(email).collect();
        self.insert(NewMessage { place, received_at, expires_at, has_own_life, emails })
    }

    /// Adds the Emails of a message, unless one of them is there.
    pub(crate) fn insert(&mut self, message: NewMessage) -> Told {
        if message.emails.iter().any(|(id, ..)| self.rows.find(*id).is_some()) {
            return Told::new();
        }
        let last = message.emails.iter().map(|(_, sequence, ..)| *sequence).max().unwrap_or(0);
        self.next_sequence = self.next_sequence.max(last.saturating_add(1));
        if !message.has_own_life {
            self.latest = self.latest.max(message.expires_at);
        }
        self.segments.begin(message.place);
        let numbers = self.rows.insert(message);
        numbers.into_iter().map(|number| self.told(self.rows.row(number), Happening::Received)).collect()
    }

    /// Removes an Email, as a record in the segment `told_in` says. `None` if it is not there.
    pub(crate) fn delete(&mut self, email: EmailId, told_in: u32) -> Option<(Topic, Event)> {
        let number = self.rows.find(email)?;
        self.segments.mention(told_in, self.rows.row(number).place.segment);
        let removed = self.rows.remove(number);
        Some(self.removed(removed, Happening::Deleted))
    }

    /// Counts a row as removed. Returns what subscribers are told.
    fn removed(&mut self, (row, name, is_last): (Row, [u8; 16], bool), happening: Happening) -> (Topic, Event) {
        if is_last {
            self.segments.end_emails(row.place);
        }
        (Topic::new(name), Event { happening, email: row.listed() })
    }

    fn told(&self, row: &Row, happening: Happening) -> (Topic, Event) {
        (Topic::new(self.rows.mailbox_of(row).name), Event { happening, email: row.listed() })
    }

    /// A part of the hash of a domain. Nobody can choose two domains that have it in common.
    pub(crate) fn domain_of(&self, domain: &str) -> u64 {
        let hash = domain_hash(&self.secret, domain);
        u64::from_le_bytes(std::array::from_fn(|n| hash[n]))
    }

    /// Begins an event about an Email, unless it is pending or there is no such Email or webhook.
    fn add_event(
        &mut self,
        webhook: WebhookId,
        email: Option<EmailId>,
        begun_in: u32,
        due_at: Timestamp,
        webhooks: &dyn Webhooks,
    ) {
        let Some(row) = email.and_then(|email| self.rows.find(email)).map(|number| *self.rows.row(number)) else {
            return;
        };
        let Some(receiver) = webhooks.get(webhook).filter(|_| self.events.get(webhook, row.sequence).is_none()) else {
            return;
        };
        self.segments.hold(row.place, true, begun_in);
        let event = PendingRow {
            email: row.id,
            received_at: row.received_at,
            expires_at: row.expires_at,
            place: row.place,
            attempts: 0,
            due_at,
            begun_in,
            told_in: begun_in,
        };
        self.events.add(webhook, receiver.registrant, row.sequence, event);
    }

    /// Begins an event that a table has, which may outlive its Email, unless it has no room: then `None`. Returns the events
    /// that end for it. `emails` are all of its message. An event that had an attempt had room before.
    ///
    /// It must not be pending.
    #[cfg(feature = "cassandra")]
    pub(crate) fn admit_event(
        &mut self,
        receiver: &Receiver,
        event: &PendingEvent,
        emails: &[EmailId],
    ) -> Option<Vec<PendingEvent>> {
        let PendingEvent { email, attempts, due_at, .. } = event;
        let place = RecordPlace::of(email);
        let making_way = match attempts {
            0 => self.room_for_event(&Pending::default(), receiver, u64::from(place.content))?,
            _ => Vec::new(),
        };
        let end = |sequence| {
            let ended = self.events.pending(&self.secret, receiver.id, sequence);
            self.change_event(receiver.id, sequence, EventState::Ended, 0);
            ended
        };
        let ended = making_way.into_iter().filter_map(end).collect();
        let has_emails = emails.iter().any(|email| self.rows.find(*email).is_some());
        self.segments.hold(place, has_emails, 0);
        let event = PendingRow {
            email: email.id,
            received_at: email.received_at,
            expires_at: email.expires_at,
            place,
            attempts: *attempts,
            due_at: *due_at,
            begun_in: 0,
            told_in: 0,
        };
        self.events.add(receiver.id, receiver.registrant, email.sequence, event);
        Some(ended)
    }

    /// Ends or changes a pending event, as a record in the segment `told_in` says.
    pub(crate) fn change_event(&mut self, webhook: WebhookId, sequence: u64, state: EventState, told_in: u32) {
        match state {
            EventState::Ended => {
                if let Some(event) = self.events.end(webhook, sequence) {
                    self.segments.mention(told_in, event.place.segment);
                    self.segments.release(event.place, event.begun_in, event.told_in);
                }
            }
            EventState::Retry { attempts, due_at } => {
                let change = |event: &mut PendingRow| {
                    (event.attempts, event.due_at, event.told_in) = (attempts, due_at, told_in);
                };
                if let Some(before) = self.events.change(webhook, sequence, change) {
                    self.segments.tell(before.told_in, told_in);
                }
            }
        }
    }

    /// Ends all events of a webhook that is gone for good. The registry says so durably, and no fact does.
    pub(crate) fn forget_webhook(&mut self, webhook: WebhookId) {
        let sequences: Vec<u64> = self
            .events
            .outbox(webhook)
            .into_iter()
            .flat_map(|outbox| outbox.iter().map(|(sequence, _)| sequence))
            .collect();
        for sequence in sequences {
            if let Some(event) = self.events.end(webhook, sequence) {
                self.segments.release(event.place, event.begun_in, event.told_in);
            }
        }
    }

    /// Removes Emails that have expired by `now`, about `limit` at most. Returns what subscribers are told, and whether
    /// there are more.
    ///
    pub(crate) fn expire(&mut self, now: Timestamp, limit: usize) -> (Told, bool) {
        let removed = self.rows.pop_due(second_before(now), limit);
        let more = removed.len() >= limit;
        let told = removed.into_iter().map(|removed| self.removed(removed, Happening::Expired)).collect();
        if self.rows.len() == 0 {
            // Tables and slabs keep the memory of their largest size.
            self.rows = Rows::default();
        }
        (told, more)
    }

    /// Emails that are to be deleted, at most `limit`: they were received under a clock that has been set back since, and
    /// have been there for `longest`, the longest life, without that the clock was set right.
    pub(crate) fn too_far_ahead(&mut self, now: Timestamp, longest: Duration, limit: usize) -> Vec<EmailId> {
        let end = now.plus(longest);
        if self.latest <= end {
            self.ahead_since = None;
            return Vec::new();
        }
        let since = *self.ahead_since.get_or_insert(now);
        if now < since {
            self.ahead_since = Some(now);
        }
        if now < since.plus(longest) {
            return Vec::new();
        }
        let ahead = self.rows.iter().filter(|row| !row.has_own_life() && row.expires_at > end);
        let found: Vec<EmailId> = ahead.take(limit).map(|row| row.id).collect();
        if found.is_empty() {
            (self.latest, self.ahead_since) = (end, None);
        }
        found
    }

    /// When the next Email expires, to the second. `None` if there are none.
    pub(crate) fn next_due_at(&self) -> Option<Timestamp> {
        self.rows.due().keys().next().map(|second| Timestamp::from_millis(second.saturating_mul(1000)))
    }

    /// Whether an Email lives longer than `retention`.
    pub(crate) fn outlives(&self, retention: Duration) -> bool {
        self.rows.iter().any(|row| life_within(row, retention) < row.expires_at)
    }

    /// Those of the segments `exist` that nothing needs. They come in their order, without the last segment.
    pub(crate) fn removable(&mut self, exist: &[u32]) -> Vec<u32> {
        self.segments.removable(exist)
    }

    /// Forgets what is dead, for a store that has its octets elsewhere.
    #[cfg(feature = "cassandra")]
    pub(crate) fn forget_dead(&mut self) {
        self.segments.forget_dead();
    }

    /// Takes the places of messages that nobody can read any more, since the last call.
    pub(crate) fn take_dead(&mut self) -> Vec<RecordPlace> {
        self.segments.take_dead()
    }
}

/// The last full second.
fn second_before(now: Timestamp) -> i64 {
    now.millis().div_euclid(1000)
}

/// When an Email expires under a retention.
fn life_within(row: &Row, retention: Duration) -> Timestamp {
    if row.has_own_life() { row.expires_at } else { row.expires_at.min(row.received_at.plus(retention)) }
}
