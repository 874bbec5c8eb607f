//! The result of a group of changes.

use std::collections::BTreeMap;

use crate::events::{Event, Topic};
use crate::model::WebhookId;
use crate::store::change::ChangeResult;

/// What happened to Emails in a group. `None` if nobody watched, or too much happened.
pub(crate) type GroupEvents = Option<Vec<(Topic, Event)>>;

/// The result of a group.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// The result of each change, in order.
    pub(crate) results: Vec<ChangeResult>,
    /// The counts of all changes together.
    pub(crate) counts: GroupCounts,
    /// What happened to Emails.
    pub(crate) events: GroupEvents,
}

/// The counts of one group. A replayed group is not counted again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupCounts {
    /// Deleted Emails.
    pub(crate) deleted: u64,
    /// Expired Emails.
    pub(crate) expired: u64,
    /// Emails that a cap evicted.
    pub(crate) evicted: u64,
    /// Relocated messages of pending events.
    pub(crate) relocated: u64,
    /// Dropped events of each webhook.
    pub(crate) events_dropped: BTreeMap<WebhookId, u64>,
    /// Webhooks that were disabled after an attempt.
    pub(crate) webhooks_disabled: u64,
}
