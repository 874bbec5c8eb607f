//! What a node remembers of the outbox, to write and read less.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::statements::OutboxStatements;
use super::usage::Usages;
use crate::model::WebhookId;

/// The most slots of webhooks that a node remembers to have entered.
const ENTERED_MAX: usize = 20_000;

/// The part of the state that belongs to the outbox.
#[derive(Debug)]
pub(in super::super) struct OutboxState {
    pub(super) statements: OutboxStatements,
    pub(super) hint: Arc<Notify>,
    pub(super) usages: Usages,
    /// Held while dropped events are counted, which reads and writes a count.
    pub(super) counting: tokio::sync::Mutex<()>,
    entered: Mutex<HashMap<(WebhookId, i64), Instant>>,
    mail_written: Mutex<HashMap<WebhookId, i64>>,
}

impl OutboxState {
    pub(in super::super) fn new(statements: OutboxStatements) -> Self {
        Self {
            statements,
            hint: Arc::default(),
            usages: Usages::default(),
            counting: tokio::sync::Mutex::default(),
            entered: Mutex::default(),
            mail_written: Mutex::default(),
        }
    }

    /// Whether this node entered a slot of a webhook within the last time.
    pub(super) fn was_entered(&self, webhook: WebhookId, slot: i64, within: Duration) -> bool {
        locked(&self.entered).get(&(webhook, slot)).is_some_and(|at| at.elapsed() < within)
    }

    pub(super) fn entered(&self, webhook: WebhookId, slot: i64, at: Instant) {
        let mut entered = locked(&self.entered);
        if entered.len() >= ENTERED_MAX {
            entered.clear();
        }
        entered.insert((webhook, slot), at);
    }

    /// The time of the last mail of a webhook that this node has written, in milliseconds.
    pub(super) fn mail_written_at(&self, webhook: WebhookId) -> Option<i64> {
        locked(&self.mail_written).get(&webhook).copied()
    }

    pub(super) fn mail_written(&self, webhook: WebhookId, at: i64, webhooks_max: usize) {
        let mut written = locked(&self.mail_written);
        if written.len() >= webhooks_max {
            written.clear();
        }
        written.insert(webhook, at);
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
