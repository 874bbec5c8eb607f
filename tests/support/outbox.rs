//! The pending events of a webhook.

use std::collections::HashSet;

use tempmail::model::{PendingEvent, Timestamp, WebhookId};
use tempmail::store::{DueQuery, Outbox, StoreError};

/// All events of a webhook, the next one due first, without their messages.
pub async fn pending_events(store: &dyn Outbox, webhook: WebhookId) -> Result<Vec<PendingEvent>, StoreError> {
    let wanted =
        DueQuery { due_by: Timestamp::MAX, due_after: Timestamp::MAX, without: HashSet::new(), limit: usize::MAX };
    let due = store.due_events(webhook, wanted).await?;
    Ok(due.map_or(Vec::new(), |due| due.events))
}
