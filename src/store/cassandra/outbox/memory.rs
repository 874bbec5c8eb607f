//! What a node remembers of the outbox, to write and read less.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::statements::OutboxStatements;
use super::usage::Usages;
use crate::model::WebhookId;
use crate::store::OutboxVersion;

/// The most slots of webhooks that a node remembers to have entered.
const ENTERED_MAX: usize = 20_000;
/// What was read is checked again after this time, since other nodes change the outbox as well.
const CURRENT_FOR: u32 = 1_000;

/// The part of the state that belongs to the outbox.
#[derive(Debug)]
pub(in super::super) struct OutboxState {
    pub(super) statements: OutboxStatements,
    pub(super) hint: Arc<Notify>,
    pub(super) usages: Usages,
    /// Held while dropped events are counted, which reads and writes a count.
    pub(super) counting: tokio::sync::Mutex<()>,
    /// Rises when this node ends webhooks, or events without a delivery.
    generation: AtomicU32,
    opened_at: Instant,
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
            generation: AtomicU32::new(0),
            opened_at: Instant::now(),
            entered: Mutex::default(),
            mail_written: Mutex::default(),
        }
    }

    /// Says that what was read of webhooks or events may no longer be true.
    pub(super) fn outdate(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// The generation, and the milliseconds since the store was opened.
    pub(super) fn version(&self) -> OutboxVersion {
        let generation = u64::from(self.generation.load(Ordering::Acquire));
        OutboxVersion(generation << 32 | u64::from(self.millis()))
    }

    pub(super) fn is_current(&self, OutboxVersion(then): OutboxVersion) -> bool {
        let OutboxVersion(now) = self.version();
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is the time")]
        let age = (now as u32).wrapping_sub(then as u32);
        now >> 32 == then >> 32 && age < CURRENT_FOR
    }

    #[expect(clippy::cast_possible_truncation, reason = "only differences of less than 49 days matter")]
    fn millis(&self) -> u32 {
        self.opened_at.elapsed().as_millis() as u32
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
