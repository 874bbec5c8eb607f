//! The bounds of what is kept: caps of mailboxes, and the limits of the outbox.

use super::decide::Pending;
use super::events::Outbox;
use super::rows::Mailbox as MailboxRows;
use super::{Mail, Receiver};
use crate::model::{EmailId, Mailbox, Timestamp, WebhookId};
use crate::store::names::mailbox_hash;
use crate::store::options::is_young;
use crate::store::{OutboxLimits, StoreOptions};

/// The most Emails of one mailbox, and about the most of all, that one message evicts. A mailbox that was filled under a higher
/// cap shrinks in steps.
const EVICTIONS_MAX: usize = 256;
const EVICTIONS_OF_ALL_MAX: usize = 500;
/// The most pending events that end for those of one message. Beyond them, the new events are dropped.
pub(super) const DROPS_MAX: usize = 500;

/// What a store may keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Emails in all.
    pub(crate) emails_max: u64,
    /// Readable Emails of a mailbox; 0 means no cap.
    pub(crate) emails_per_mailbox_max: u32,
    pub(crate) outbox: OutboxLimits,
}

impl Limits {
    pub(crate) fn of(options: &StoreOptions) -> Self {
        let StoreOptions { emails_max, emails_per_mailbox_max, outbox, .. } = *options;
        Self { emails_max, emails_per_mailbox_max, outbox }
    }
}

impl Mail {
    /// Whether there is no room for another Email.
    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() as u64 >= self.limits.emails_max
    }

    /// Whether the cap permits one more Email of a mailbox.
    pub(crate) fn has_room(&self, mailbox: &Mailbox, now: Timestamp) -> bool {
        self.evicted(mailbox_hash(&self.secret, mailbox), 1, &Pending::default(), now).is_some()
    }

    /// The Emails of a mailbox that make way for one more, of a message with so many recipients. `None` if there is no room,
    /// since one of them is too young.
    pub(crate) fn evicted(
        &self,
        name: [u8; 16],
        recipients: usize,
        pending: &Pending,
        now: Timestamp,
    ) -> Option<Vec<EmailId>> {
        let cap = self.limits.emails_per_mailbox_max as usize;
        let mailbox = self.rows.mailbox(name);
        let (added, deleted) = pending.of_mailbox(name);
        let length = mailbox.map_or(0, |mailbox| mailbox.rows.len());
        if cap == 0 || length + added < cap {
            return Some(Vec::new());
        }
        let readable = mailbox.map_or(0, |mailbox| length - self.expired(mailbox, now));
        let over = (readable + added + 1)
            .saturating_sub(cap + deleted)
            .min(EVICTIONS_MAX.min(1.max(EVICTIONS_OF_ALL_MAX / recipients)));
        if over == 0 {
            return Some(Vec::new());
        }
        // Those of this group are young.
        let evicted = self.oldest(mailbox?, pending, over, now);
        (evicted.len() == over).then_some(evicted)
    }

    /// The oldest readable Emails of a mailbox, as far as they may make way.
    fn oldest(&self, mailbox: &MailboxRows, pending: &Pending, number: usize, now: Timestamp) -> Vec<EmailId> {
        let rows = (0..mailbox.rows.len()).map(|position| self.rows.row(mailbox.rows.at(position)));
        let readable = rows.filter(|row| row.expires_at > now && !pending.is_deleted(row.id)).take(number);
        readable.take_while(|row| !is_young(row.received_at, now)).map(|row| row.id).collect()
    }

    /// Makes room for an event with a message of `octets`: the oldest events of its webhook that end for it, as sequence
    /// numbers. `None` if there is no room.
    pub(super) fn room_for_event(&self, pending: &Pending, receiver: &Receiver, octets: u64) -> Option<Vec<u64>> {
        let dropped = self.room_of_webhook(pending, receiver, octets)?;
        let freed: u64 = dropped.iter().map(|sequence| self.octets_of(receiver.id, *sequence)).sum();
        let (now, more) = (self.events.sums.of(receiver.registrant), pending.sums.of(receiver.registrant));
        let with = |n: usize| (now[n] + more[n]).cast_unsigned().saturating_sub(freed) + octets;
        let (of_client, of_network) = receiver.registrant.map_or((0, 0), |_| (with(0), with(1)));
        let limits = self.limits.outbox;
        limits.shares_allow(receiver.is_proven, of_client, of_network, with(2)).then_some(dropped)
    }

    /// Applies the limits of one webhook.
    fn room_of_webhook(&self, pending: &Pending, receiver: &Receiver, octets: u64) -> Option<Vec<u64>> {
        let limits = self.limits.outbox;
        if limits.is_too_large(receiver.is_proven, octets) {
            return None;
        }
        let (more_events, more_octets) = pending.of_webhook(receiver.id);
        let outbox = self.events.outbox(receiver.id);
        let (events, pending_octets) = outbox.map_or((0, 0), Outbox::count_and_octets);
        let mut count = u32::try_from(events).unwrap_or(u32::MAX).saturating_add_signed(more_events);
        let mut sum = pending_octets.saturating_add_signed(more_octets);
        let oldest = outbox.into_iter().flat_map(Outbox::iter);
        let mut oldest = oldest.filter(|(sequence, _)| !pending.is_ended(receiver.id, *sequence));
        let mut dropped = Vec::new();
        while !limits.webhook_has_room(receiver.is_proven, (count, sum), octets) {
            let (sequence, event) = oldest.next()?;
            dropped.push(sequence);
            (count, sum) = (count - 1, sum - u64::from(event.place.content));
        }
        Some(dropped)
    }

    pub(super) fn octets_of(&self, webhook: WebhookId, sequence: u64) -> u64 {
        self.events.get(webhook, sequence).map_or(0, |event| u64::from(event.place.content))
    }
}
