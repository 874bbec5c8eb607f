//! Rules of the outbox that every store follows: its limits, and its delivery log.

use std::time::Duration;

use super::OutboxLimits;
use super::outbox::Replay;
use crate::model::{AttemptRecord, EmailId, EventId, Share, Timestamp, Verdict, WebhookId};

/// The most records of a delivery log that are shown.
pub(super) const RECORDS_SHOWN: usize = 100;
/// The age up to which records of a delivery log are shown.
pub(super) const RECORD_AGE_MAX: Duration = Duration::from_hours(30 * 24);

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

    /// Whether so many octets of events may be pending once a new one of a proven or unproven webhook is among them: those of
    /// its registrant, of the registrant's network, and all. The administrator has no share: the first two are 0.
    pub(super) fn shares_allow(self, is_proven: bool, of_client: u64, of_network: u64, in_all: u64) -> bool {
        Share { all: self.of(is_proven).octets, ..Share::of(self.octets) }.allows(of_client, of_network, in_all)
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
pub(crate) struct DroppedEvent {
    pub(crate) webhook: WebhookId,
    pub(crate) id: EventId,
    pub(crate) email: EmailId,
    pub(crate) sequence: u64,
    pub(crate) attempts: u32,
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
