//! The settings of a store.

use std::time::Duration;

use super::{OutboxLimits, journal};
use crate::config::{Config, Revision};
use crate::model::Timestamp;

/// An Email makes way for another one only so long after its receipt, by the clock of the service: its reader must have time
/// to see it.
pub const MAKES_WAY_AFTER: Duration = Duration::from_mins(1);

/// Whether an Email may not make way for another one yet. The clock may have been set back since its receipt, so it is as old
/// as the two times are apart: mail from far ahead must not close its mailbox.
pub(super) fn is_young(received_at: Timestamp, now: Timestamp) -> bool {
    now.since(received_at).max(received_at.since(now)) < MAKES_WAY_AFTER
}

/// Settings of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// How long an Email is readable.
    ///
    /// A shorter retention than before shortens the life of existing Emails for good. `None` changes no existing Email: it
    /// is for a command that opens the store briefly.
    pub retention: Option<Duration>,
    /// The largest message in octets.
    pub message_octets_max: u64,
    /// Size of a segment of the journal in octets, at least twice `message_octets_max`.
    pub segment_octets: u64,
    /// How much may be pending for webhooks.
    pub outbox: OutboxLimits,
    /// The most Emails in all.
    pub emails_max: u64,
    /// The most readable Emails of a mailbox; 0 means no cap. At the cap the oldest makes way for a new one, unless it is
    /// younger than [`MAKES_WAY_AFTER`]: then the message is refused.
    pub emails_per_mailbox_max: u32,
}

impl StoreOptions {
    /// The options for a process that opens the store for one command.
    ///
    /// Its segments are as small as messages permit, so that a check or a restore does not write megabytes of zeros. It
    /// shortens no life, since it may not know the settings of the daemon.
    pub fn for_a_moment(config: &Config) -> Self {
        let options = Self::from_config(config);
        Self {
            retention: None,
            segment_octets: options.segment_octets.min(journal::least_segment_octets(config.mail.message_octets_max)),
            ..options
        }
    }

    /// These options, with segments that are large enough for a message of `octets`.
    #[must_use]
    pub fn taking(self, octets: u64) -> Self {
        let message_octets_max = self.message_octets_max.max(octets);
        let least = 2 * journal::least_segment_octets(message_octets_max);
        Self { message_octets_max, segment_octets: self.segment_octets.max(least), ..self }
    }

    /// The options that the daemon's settings ask for.
    pub fn from_config(config: &Config) -> Self {
        // In revision 1 webhooks of an earlier start stay, but nobody sends their events.
        let events_per_webhook = match config.revision {
            Revision::One => 0,
            Revision::Two => config.webhooks.outbox_events_max,
        };
        Self {
            retention: Some(config.mail.retention),
            message_octets_max: config.mail.message_octets_max,
            segment_octets: config.store.segment_octets,
            outbox: OutboxLimits {
                events_per_webhook,
                octets_per_webhook: config.webhooks.outbox_octets_per_webhook_max,
                octets: config.webhooks.outbox_octets_max,
            },
            emails_max: config.mail.emails_max,
            emails_per_mailbox_max: config.mail.emails_per_mailbox_max,
        }
    }
}
