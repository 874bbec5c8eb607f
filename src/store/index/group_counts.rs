//! What a group did, in numbers for those who watch the service.

use std::collections::BTreeMap;

use crate::model::WebhookId;

/// Numbers of one group; what a replay does again is nobody's to count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupCounts {
    /// Emails that somebody deleted.
    pub(crate) deleted: u64,
    /// Emails whose time was over.
    pub(crate) expired: u64,
    /// Emails that made way for others under a cap.
    pub(crate) evicted: u64,
    /// Messages of pending events that were copied to the end of the journal.
    pub(crate) relocated: u64,
    /// Events of each webhook that were dropped because too much waited.
    pub(crate) events_dropped: BTreeMap<WebhookId, u64>,
    /// Webhooks that were disabled for what their receivers answered.
    pub(crate) webhooks_disabled: u64,
}
