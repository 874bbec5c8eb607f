//! Rules of the outbox that every store follows: its limits, who uses how much of it, and its delivery log.

use std::time::Duration;

use super::OutboxLimits;
use super::names::{HashKey, named_hash};
use super::outbox::Replay;
use crate::model::{AttemptRecord, EmailId, EventId, Timestamp, Verdict, WebhookId, WebhookRecord};

/// The most records of a delivery log that are shown.
pub(super) const RECORDS_SHOWN: usize = 100;
/// The age up to which records of a delivery log are shown.
pub(super) const RECORD_AGE_MAX: Duration = Duration::from_hours(30 * 24);

/// The unit in which the usage of a proven webhook is measured. It is small enough that somebody uses as much whenever the
/// outbox is full, unless there are very many webhooks. It is large enough that a webhook whose receiver answers uses none.
const PROVEN_UNIT_OCTETS: u64 = 16 << 10;
/// The unit for an unproven webhook, whose own limit is low.
const UNPROVEN_UNIT_OCTETS: u64 = 1 << 10;

/// The usage of a webhook by the octets of its pending events, in whole units.
pub(super) const fn usage(is_proven: bool, octets: u64) -> u64 {
    octets / if is_proven { PROVEN_UNIT_OCTETS } else { UNPROVEN_UNIT_OCTETS }
}

/// Whose usage a webhook adds to: its origin, and its registrant unless that is the administrator. Proven and unproven
/// webhooks have different holders.
pub(super) fn holders(secret: &HashKey, webhook: &WebhookRecord) -> impl Iterator<Item = [u8; 16]> + use<> {
    let is_proven = webhook.is_proven();
    let kind = |proven, unproven| if is_proven { proven } else { unproven };
    let origin = named_hash(secret, kind("origin", "unproven origin"), &webhook.origin);
    let registrant = webhook
        .registrant
        .map(|registrant| named_hash(secret, kind("registrant", "unproven registrant"), &registrant.to_string()));
    std::iter::once(origin).chain(registrant)
}

impl OutboxLimits {
    /// Whether a webhook with so many pending events, of so many octets, may have one more with a message of `octets`.
    pub(super) fn webhook_has_room(self, is_proven: bool, (events, pending): (u32, u64), octets: u64) -> bool {
        let bounds = self.of(is_proven);
        // An unproven webhook may have a single message that is larger than its limit.
        let is_first = !is_proven && events == 0;
        events < bounds.events_per_webhook && (is_first || pending + octets <= bounds.octets_per_webhook)
    }

    /// Whether a message of `octets` fits into no outbox of such a webhook, even an empty one.
    pub(super) fn is_too_large(self, is_proven: bool, octets: u64) -> bool {
        octets > self.octets_per_webhook.min(self.of(is_proven).octets)
    }
}

impl Replay {
    /// The Emails of the events that this selects, each once. The log begins with its oldest record.
    pub(super) fn select(&self, log: impl IntoIterator<Item = AttemptRecord>) -> Vec<EmailId> {
        let mut emails: Vec<(EmailId, bool)> = Vec::new();
        for attempt in log {
            let Some(email) = attempt.email else { continue };
            let is_selected = match self {
                Self::Event(event) => attempt.event == *event,
                // This includes an event that was to be retried, but ended when its webhook was disabled.
                Self::Failed => attempt.verdict != Verdict::Delivered,
                Self::Since(since) => attempt.at >= *since,
            };
            match emails.iter_mut().find(|(known, _)| *known == email) {
                // The last attempt decides whether an event failed.
                Some((_, was_selected)) if *self == Self::Failed => *was_selected = is_selected,
                Some((_, was_selected)) => *was_selected |= is_selected,
                None => emails.push((email, is_selected)),
            }
        }
        emails.into_iter().filter_map(|(email, is_selected)| is_selected.then_some(email)).collect()
    }
}

/// An event that is dropped because the outbox is full.
#[derive(Clone, Copy, Debug)]
pub(super) struct DroppedEvent {
    pub(super) webhook: WebhookId,
    pub(super) id: EventId,
    pub(super) email: EmailId,
    pub(super) sequence: u64,
    pub(super) attempts: u32,
}

impl DroppedEvent {
    /// Its record of the delivery log.
    pub(super) fn record(self, now: Timestamp) -> AttemptRecord {
        AttemptRecord {
            webhook: self.webhook,
            event: self.id,
            email: Some(self.email),
            sequence: self.sequence,
            number: self.attempts,
            at: now,
            duration_millis: 0,
            status: None,
            error: Some(AttemptRecord::OUTBOX_FULL.into()),
            response: String::new(),
            verdict: Verdict::GivenUp,
            disables: None,
            backs_off_until: None,
        }
    }
}
