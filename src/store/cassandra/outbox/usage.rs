//! The pending events that a node knows, to keep to the limits without reading all of them for each message.
//!
//! What other nodes add or end is known after the next count. So a limit can be exceeded by what they add in between.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use super::event::EventRow;
use super::memory::locked;
use crate::model::{WebhookId, WebhookRecord};
use crate::store::OutboxLimits;
use crate::store::names::HashKey;
use crate::store::outbox_rules::{holders, usage};

/// The events of a webhook with new mail are counted again after this time.
const COUNTED_FOR: Duration = Duration::from_secs(10);
/// The events of all webhooks are counted again after this time.
const ALL_COUNTED_FOR: Duration = Duration::from_mins(1);

/// An event in the order of its webhook: sequence number and Email.
pub(super) type EventKey = (i64, Uuid);

/// Whose usage a webhook adds to.
#[derive(Clone, Debug, Default)]
pub(super) struct Holding {
    is_proven: bool,
    holders: Vec<[u8; 16]>,
}

impl Holding {
    pub(super) fn of(secret: &HashKey, webhook: &WebhookRecord) -> Self {
        Self { is_proven: webhook.is_proven(), holders: holders(secret, webhook).collect() }
    }
}

#[derive(Debug, Default)]
struct WebhookUsage {
    /// With the octets of their messages.
    events: BTreeMap<EventKey, u64>,
    octets: u64,
    holding: Holding,
    counted_at: Option<Instant>,
}

impl WebhookUsage {
    fn add(&mut self, event: EventKey, octets: u64) {
        let before = self.events.insert(event, octets).unwrap_or(0);
        self.octets = self.octets.saturating_sub(before) + octets;
    }

    fn remove(&mut self, event: EventKey) {
        self.octets = self.octets.saturating_sub(self.events.remove(&event).unwrap_or(0));
    }

    fn units(&self) -> u64 {
        usage(self.holding.is_proven, self.octets)
    }
}

/// The known events of all webhooks.
#[derive(Debug, Default)]
pub(super) struct Usages {
    webhooks: Mutex<HashMap<WebhookId, WebhookUsage>>,
    counted_at: Mutex<Option<Instant>>,
}

impl Usages {
    /// Whether the events of all webhooks must be counted. The caller counts them then.
    pub(super) fn begin_count(&self) -> bool {
        let mut counted_at = locked(&self.counted_at);
        let is_due = counted_at.is_none_or(|at| at.elapsed() >= ALL_COUNTED_FOR);
        if is_due {
            *counted_at = Some(Instant::now());
        }
        is_due
    }

    /// A count of all webhooks failed, and is due again.
    pub(super) fn abort_count(&self) {
        *locked(&self.counted_at) = None;
    }

    /// Whether the events of a webhook must be counted.
    pub(super) fn is_due(&self, webhook: WebhookId) -> bool {
        let webhooks = locked(&self.webhooks);
        webhooks.get(&webhook).and_then(|usage| usage.counted_at).is_none_or(|at| at.elapsed() >= COUNTED_FOR)
    }

    /// Replaces the known events of a webhook by those that were read.
    pub(super) fn count(&self, webhook: WebhookId, holding: Holding, events: &[EventRow]) {
        let mut usage = WebhookUsage { holding, counted_at: Some(Instant::now()), ..WebhookUsage::default() };
        for event in events {
            usage.add((event.sequence, event.email), event.octets.cast_unsigned());
        }
        locked(&self.webhooks).insert(webhook, usage);
    }

    /// Forgets all webhooks but these.
    pub(super) fn retain(&self, is_known: impl Fn(&WebhookId) -> bool) {
        locked(&self.webhooks).retain(|webhook, _| is_known(webhook));
    }

    pub(super) fn add(&self, webhook: WebhookId, holding: Holding, event: EventKey, octets: u64) {
        let mut webhooks = locked(&self.webhooks);
        let usage = webhooks.entry(webhook).or_default();
        usage.holding = holding;
        usage.add(event, octets);
    }

    pub(super) fn remove(&self, webhook: WebhookId, event: EventKey) {
        if let Some(usage) = locked(&self.webhooks).get_mut(&webhook) {
            usage.remove(event);
        }
    }

    pub(super) fn forget(&self, webhook: WebhookId) {
        locked(&self.webhooks).remove(&webhook);
    }

    /// Replaces whose usage a webhook adds to.
    pub(super) fn hold(&self, webhook: WebhookId, holding: Holding) {
        if let Some(usage) = locked(&self.webhooks).get_mut(&webhook) {
            usage.holding = holding;
        }
    }

    /// Takes old events until a new one of this webhook fits, and adds them to `taken`. `false` if it does not fit then.
    pub(super) fn make_room(
        &self,
        limits: OutboxLimits,
        (webhook, holding): (WebhookId, &Holding),
        octets: u64,
        takes_max: u32,
        taken: &mut Vec<(WebhookId, EventKey)>,
    ) -> bool {
        let is_proven = holding.is_proven;
        if limits.is_too_large(is_proven, octets) {
            return false;
        }
        for _ in 0..=takes_max {
            let from = if !self.webhook_has_room(limits, webhook, is_proven, octets) {
                webhook
            } else if !self.all_have_room(limits, is_proven, octets) {
                // If nobody has a large usage, the webhook loses its own events.
                self.largest(is_proven).unwrap_or(webhook)
            } else {
                return true;
            };
            let Some(oldest) = self.take_oldest(from) else { return false };
            taken.push((from, oldest));
        }
        false
    }

    /// Whether there is room for an event of this webhook, so that no other one must go.
    pub(super) fn has_room(&self, limits: OutboxLimits, webhook: WebhookId, holding: &Holding, octets: u64) -> bool {
        self.webhook_has_room(limits, webhook, holding.is_proven, octets)
            && self.all_have_room(limits, holding.is_proven, octets)
    }

    fn webhook_has_room(&self, limits: OutboxLimits, webhook: WebhookId, is_proven: bool, octets: u64) -> bool {
        let webhooks = locked(&self.webhooks);
        let used = webhooks
            .get(&webhook)
            .map_or((0, 0), |usage| (u32::try_from(usage.events.len()).unwrap_or(u32::MAX), usage.octets));
        limits.webhook_has_room(is_proven, used, octets)
    }

    fn all_have_room(&self, limits: OutboxLimits, is_proven: bool, octets: u64) -> bool {
        let webhooks = locked(&self.webhooks);
        let used: u64 =
            webhooks.values().filter(|usage| usage.holding.is_proven == is_proven).map(|usage| usage.octets).sum();
        used + octets <= limits.of(is_proven).octets
    }

    fn take_oldest(&self, webhook: WebhookId) -> Option<EventKey> {
        let mut webhooks = locked(&self.webhooks);
        let usage = webhooks.get_mut(&webhook)?;
        let oldest = usage.events.keys().next().copied()?;
        usage.remove(oldest);
        Some(oldest)
    }

    /// The webhook with the largest usage of the holder with the largest usage, among the proven or the unproven ones.
    fn largest(&self, are_proven: bool) -> Option<WebhookId> {
        let webhooks = locked(&self.webhooks);
        let using = || webhooks.iter().filter(|(_, usage)| usage.holding.is_proven == are_proven && usage.units() > 0);
        let mut sums: HashMap<[u8; 16], u64> = HashMap::new();
        for (_, usage) in using() {
            for holder in &usage.holding.holders {
                *sums.entry(*holder).or_default() += usage.units();
            }
        }
        let (largest, _) = sums.into_iter().max_by_key(|(holder, sum)| (*sum, *holder))?;
        let of_holder = using().filter(|(_, usage)| usage.holding.holders.contains(&largest));
        of_holder.max_by_key(|(webhook, usage)| (usage.units(), **webhook)).map(|(webhook, _)| *webhook)
    }
}
