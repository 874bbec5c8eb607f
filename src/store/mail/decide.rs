//! What a request changes, decided before anything is written.
//!
//! The requests of one group are decided in their order, each as of the rows and of what those before it will have changed.

use std::collections::{HashMap, HashSet};
use std::ops::AddAssign;

use super::events::{Outbox, Sums};
use super::limits::DROPS_MAX;
use super::request::{Attempt, Outcome, Request};
use super::{Mail, Receiver, Webhooks};
use crate::model::{Delivery, EmailId, Timestamp, Verdict, WebhookId};
use crate::store::Replayed;
use crate::store::change::{Change, EventState};
use crate::store::names::{event_id, mailbox_hash};
use crate::store::outbox_rules::DroppedEvent;

/// The most events that one request ends.
const ENDS_MAX: usize = 1_000;

/// What a request changes.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) facts: Vec<Change>,
    pub(crate) outcome: Outcome,
    /// Events that end without a delivery, since the outbox is full.
    pub(crate) dropped: Vec<DroppedEvent>,
    pub(crate) removals: Removals,
}

/// How many Emails were removed, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removals {
    pub(crate) deleted: u64,
    pub(crate) evicted: u64,
}

impl AddAssign for Removals {
    fn add_assign(&mut self, other: Self) {
        self.deleted += other.deleted;
        self.evicted += other.evicted;
    }
}

impl From<Outcome> for Decided {
    fn from(outcome: Outcome) -> Self {
        Self { facts: Vec::new(), outcome, dropped: Vec::new(), removals: Removals::default() }
    }
}

/// What the requests of a group will have changed.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    added: HashSet<EmailId>,
    deleted: HashSet<EmailId>,
    /// Emails that were added and deleted, by the hash of the mailbox's name.
    mailboxes: HashMap<[u8; 16], (usize, usize)>,
    events: HashMap<(WebhookId, u64), bool>,
    webhooks: HashMap<WebhookId, (i32, i64)>,
    pub(super) sums: Sums,
    sequences: u64,
}

impl Pending {
    /// The next sequence number after the group.
    pub(crate) fn next_sequence(&self, mail: &Mail) -> u64 {
        mail.next_sequence + self.sequences
    }

    pub(super) fn is_deleted(&self, email: EmailId) -> bool {
        self.deleted.contains(&email)
    }

    pub(super) fn of_mailbox(&self, name: [u8; 16]) -> (usize, usize) {
        self.mailboxes.get(&name).copied().unwrap_or_default()
    }

    pub(super) fn is_ended(&self, webhook: WebhookId, sequence: u64) -> bool {
        self.events.get(&(webhook, sequence)) == Some(&false)
    }

    pub(super) fn of_webhook(&self, webhook: WebhookId) -> (i32, i64) {
        self.webhooks.get(&webhook).copied().unwrap_or_default()
    }

    fn delete(&mut self, name: [u8; 16], email: EmailId) {
        self.deleted.insert(email);
        self.mailboxes.entry(name).or_default().1 += 1;
    }

    fn event(&mut self, receiver: &Receiver, sequence: u64, octets: u64, begins: bool) {
        self.events.insert((receiver.id, sequence), begins);
        let (events, pending) = self.webhooks.entry(receiver.id).or_default();
        if begins {
            (*events, *pending) = (*events + 1, *pending + octets.cast_signed());
            self.sums.add(receiver.registrant, octets);
        } else {
            (*events, *pending) = (*events - 1, *pending - octets.cast_signed());
            self.sums.subtract(receiver.registrant, octets);
        }
    }
}

impl Mail {
    /// Decides a request as of the rows and of `pending`, to which it adds. Changes nothing else.
    pub(crate) fn decide(&self, pending: &mut Pending, request: &Request, webhooks: &dyn Webhooks) -> Decided {
        match request {
            Request::Receive { delivery, has_own_life } => {
                self.decide_receive(pending, delivery, *has_own_life, webhooks)
            }
            Request::Delete { id, now } => {
                let rows = self.rows.find(*id).into_iter().filter(|number| self.rows.row(*number).expires_at > *now);
                self.decide_delete(pending, rows.collect(), *now, false)
            }
            Request::DeleteAll { mailbox, through, now, limit } => {
                let Some(rows) = self.rows.mailbox(mailbox_hash(&self.secret, mailbox)) else {
                    return Outcome::Removed { readable: 0, more: false }.into();
                };
                let end = rows.rows.partition_point(|number| self.rows.row(number).sequence <= *through);
                let numbers = (0..end).map(|position| rows.rows.at(position));
                let left = numbers.filter(|number| !pending.is_deleted(self.rows.row(*number).id));
                let numbers: Vec<u32> = left.take(*limit).collect();
                let more = numbers.len() == *limit;
                self.decide_delete(pending, numbers, *now, more)
            }
            Request::Record { attempts } => self.decide_record(pending, attempts, webhooks),
            Request::EndEvents { webhook, expired_by } => self.decide_end(pending, *webhook, *expired_by, webhooks),
            Request::Replay { webhook, emails, now } => self.decide_replay(pending, *webhook, emails, *now, webhooks),
        }
    }

    fn decide_receive(
        &self,
        pending: &mut Pending,
        delivery: &Delivery,
        has_own_life: bool,
        webhooks: &dyn Webhooks,
    ) -> Decided {
        let Delivery { envelope, received_at, expires_at, .. } = delivery;
        let recipients = &envelope.recipients;
        let is_known = |id: EmailId| self.rows.find(id).is_some() || pending.added.contains(&id);
        if recipients.iter().any(|to| is_known(to.id)) {
            return Outcome::Received.into();
        }
        let emails = self.rows.len() + pending.added.len() + recipients.len();
        if (emails - pending.deleted.len()) as u64 > self.limits.emails_max {
            return Outcome::Full.into();
        }
        let names: Vec<[u8; 16]> = recipients.iter().map(|to| mailbox_hash(&self.secret, &to.mailbox)).collect();
        let mut evicted = Vec::new();
        for name in &names {
            let Some(of_mailbox) = self.evicted(*name, names.len(), pending, *received_at) else {
                return Outcome::MailboxFull.into();
            };
            evicted.extend(of_mailbox.into_iter().map(|email| (*name, email)));
        }
        let first = pending.next_sequence(self);
        pending.sequences += recipients.len() as u64;
        for (to, name) in recipients.iter().zip(&names) {
            pending.added.insert(to.id);
            pending.mailboxes.entry(*name).or_default().0 += 1;
        }
        for (name, email) in &evicted {
            pending.delete(*name, *email);
        }
        let mut decided = Decided::from(Outcome::Received);
        decided.removals.evicted = evicted.len() as u64;
        let events = self.begin_events(pending, delivery, first, webhooks, &mut decided);
        if !evicted.is_empty() {
            decided.facts.push(Change::Deleted { emails: evicted.into_iter().map(|(_, email)| email).collect() });
        }
        let (envelope, received_at, expires_at) = (envelope.clone(), *received_at, *expires_at);
        decided.facts.push(Change::Received { envelope, received_at, expires_at, has_own_life, first, events });
        decided
    }

    /// The events that a message begins. Those that have no room, and those that end for them, are among the dropped ones.
    fn begin_events(
        &self,
        pending: &mut Pending,
        delivery: &Delivery,
        first: u64,
        webhooks: &dyn Webhooks,
        decided: &mut Decided,
    ) -> Vec<(u16, WebhookId)> {
        let (mut begun, mut ended) = (Vec::new(), Vec::new());
        if self.limits.outbox.events_per_webhook == 0 {
            return begun;
        }
        let octets = delivery.raw.len() as u64;
        for ((recipient, to), sequence) in (0..).zip(&delivery.envelope.recipients).zip(first..) {
            for receiver in webhooks.of(&to.mailbox) {
                let new = DroppedEvent {
                    webhook: receiver.id,
                    id: event_id(&self.secret, receiver.id, to.id),
                    email: to.id,
                    sequence,
                    attempts: 0,
                };
                let making_way = self.room_for_event(pending, &receiver, octets);
                let Some(making_way) = making_way.filter(|more| ended.len() + more.len() <= DROPS_MAX) else {
                    decided.dropped.push(new);
                    continue;
                };
                for sequence in making_way {
                    decided.dropped.extend(self.drop_event(pending, &receiver, sequence));
                    ended.push((receiver.id, sequence, EventState::Ended));
                }
                pending.event(&receiver, sequence, octets, true);
                begun.push((recipient, receiver.id));
            }
        }
        if !ended.is_empty() {
            decided.facts.push(Change::EventsChanged { events: ended });
        }
        begun
    }

    fn drop_event(&self, pending: &mut Pending, receiver: &Receiver, sequence: u64) -> Option<DroppedEvent> {
        let event = self.events.get(receiver.id, sequence)?;
        pending.event(receiver, sequence, u64::from(event.place.content), false);
        let (webhook, email, attempts) = (receiver.id, event.email, event.attempts);
        Some(DroppedEvent { webhook, id: event_id(&self.secret, webhook, email), email, sequence, attempts })
    }

    fn decide_delete(&self, pending: &mut Pending, numbers: Vec<u32>, now: Timestamp, more: bool) -> Decided {
        let mut readable = 0;
        let mut emails = Vec::new();
        for row in numbers.into_iter().map(|number| self.rows.row(number)) {
            if !pending.is_deleted(row.id) {
                readable += u64::from(row.expires_at > now);
                pending.delete(self.rows.mailbox_of(row).name, row.id);
                emails.push(row.id);
            }
        }
        let mut decided = Decided::from(Outcome::Removed { readable, more });
        decided.removals.deleted = emails.len() as u64;
        if !emails.is_empty() {
            decided.facts.push(Change::Deleted { emails });
        }
        decided
    }

    fn decide_record(&self, pending: &mut Pending, attempts: &[Attempt], webhooks: &dyn Webhooks) -> Decided {
        let (mut counted, mut events) = (Vec::new(), Vec::new());
        for Attempt { webhook, sequence, number, verdict } in attempts {
            let Some(sequence) = *sequence else {
                counted.push(true);
                continue;
            };
            let known = self.events.get(*webhook, sequence).filter(|_| !pending.is_ended(*webhook, sequence));
            let state = known.and_then(|event| match verdict {
                Verdict::Delivered | Verdict::GivenUp => Some(EventState::Ended),
                Verdict::Retry(due_at) => {
                    let retry = EventState::Retry { attempts: *number, due_at: *due_at };
                    (*number > event.attempts).then_some(retry)
                }
            });
            counted.push(state.is_some());
            let Some(state) = state else { continue };
            events.push((*webhook, sequence, state));
            if let (EventState::Ended, Some(receiver)) = (state, webhooks.get(*webhook)) {
                pending.event(&receiver, sequence, self.octets_of(*webhook, sequence), false);
            }
        }
        let mut decided = Decided::from(Outcome::Recorded { counted });
        if !events.is_empty() {
            decided.facts.push(Change::EventsChanged { events });
        }
        decided
    }

    fn decide_end(
        &self,
        pending: &mut Pending,
        webhook: WebhookId,
        expired_by: Option<Timestamp>,
        webhooks: &dyn Webhooks,
    ) -> Decided {
        let oldest = self.events.outbox(webhook).into_iter().flat_map(Outbox::iter);
        let meant = oldest.filter(|(sequence, _)| !pending.is_ended(webhook, *sequence));
        let meant = meant.take_while(|(_, event)| expired_by.is_none_or(|by| event.expires_at < by));
        let sequences: Vec<u64> = meant.take(ENDS_MAX).map(|(sequence, _)| sequence).collect();
        if let Some(receiver) = webhooks.get(webhook) {
            for sequence in &sequences {
                pending.event(&receiver, *sequence, self.octets_of(webhook, *sequence), false);
            }
        }
        let mut decided = Decided::from(Outcome::Ended(sequences.len()));
        let events: Vec<_> = sequences.into_iter().map(|sequence| (webhook, sequence, EventState::Ended)).collect();
        if !events.is_empty() {
            decided.facts.push(Change::EventsChanged { events });
        }
        decided
    }

    /// Makes ended events pending again. No event is dropped for them: a replayed event is old and would be the next to go.
    fn decide_replay(
        &self,
        pending: &mut Pending,
        webhook: WebhookId,
        emails: &[EmailId],
        now: Timestamp,
        webhooks: &dyn Webhooks,
    ) -> Decided {
        let mut replayed = Replayed::default();
        let Some(receiver) = webhooks.get(webhook) else { return Outcome::Replayed(replayed).into() };
        let mut rows: Vec<_> =
            emails.iter().filter_map(|email| self.rows.find(*email)).map(|it| self.rows.row(it)).collect();
        // The oldest come first: they expire first, and their records are the first to leave the log.
        rows.sort_by_key(|row| row.sequence);
        rows.retain(|row| row.expires_at > now && !pending.is_deleted(row.id));
        let mut again = Vec::new();
        for row in rows {
            let is_pending = match pending.events.get(&(webhook, row.sequence)) {
                Some(begins) => *begins,
                None => self.events.get(webhook, row.sequence).is_some(),
            };
            if is_pending {
                continue;
            }
            let octets = u64::from(row.place.content);
            if self.room_for_event(pending, &receiver, octets).is_some_and(|dropped| dropped.is_empty()) {
                pending.event(&receiver, row.sequence, octets, true);
                again.push(row.id);
            } else {
                replayed.no_room += 1;
            }
        }
        replayed.replayed = again.len();
        let mut decided = Decided::from(Outcome::Replayed(replayed));
        if !again.is_empty() {
            decided.facts.push(Change::EventsAdded { webhook, emails: again, due_at: now });
        }
        decided
    }
}
