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
use crate::model::{Client, WebhookId, WebhookRecord};
use crate::store::OutboxLimits;

/// The events of a webhook with new mail are counted again after this time.
const COUNTED_FOR: Duration = Duration::from_secs(10);
/// The events of all webhooks are counted again after this time.
const ALL_COUNTED_FOR: Duration = Duration::from_mins(1);

/// An event in the order of its webhook: sequence number and Email.
pub(super) type EventKey = (i64, Uuid);

/// What the limits must know of a webhook.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Receiver {
    is_proven: bool,
    /// `None` for the administrator.
    registrant: Option<Client>,
}

impl Receiver {
    pub(super) fn of(webhook: &WebhookRecord) -> Self {
        Self { is_proven: webhook.is_proven(), registrant: webhook.registrant }
    }
}

#[derive(Debug, Default)]
struct WebhookUsage {
    /// With the octets of their messages.
    events: BTreeMap<EventKey, u64>,
    octets: u64,
    receiver: Receiver,
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

    /// The oldest events, at most so many, without which the webhook may have a new one; with their octets. `None` if it may
    /// not even then.
    fn in_the_way(&self, limits: OutboxLimits, octets: u64, drops_max: usize) -> Option<(Vec<EventKey>, u64)> {
        let is_proven = self.receiver.is_proven;
        if limits.is_too_large(is_proven, octets) {
            return None;
        }
        let (mut oldest, mut freed, mut left) = (Vec::new(), 0, self.events.iter());
        loop {
            let number = u32::try_from(left.len()).unwrap_or(u32::MAX);
            if limits.webhook_has_room(is_proven, (number, self.octets.saturating_sub(freed)), octets) {
                return Some((oldest, freed));
            }
            let (event, of_event) = left.next().filter(|_| oldest.len() < drops_max)?;
            oldest.push(*event);
            freed += of_event;
        }
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
    pub(super) fn count(&self, webhook: &WebhookRecord, events: &[EventRow]) {
        let (receiver, counted_at) = (Receiver::of(webhook), Some(Instant::now()));
        let mut usage = WebhookUsage { receiver, counted_at, ..WebhookUsage::default() };
        for event in events {
            usage.add((event.sequence, event.email), event.octets.cast_unsigned());
        }
        locked(&self.webhooks).insert(webhook.id, usage);
    }

    /// Forgets all webhooks but these.
    pub(super) fn retain(&self, is_known: impl Fn(&WebhookId) -> bool) {
        locked(&self.webhooks).retain(|webhook, _| is_known(webhook));
    }

    pub(super) fn remove(&self, webhook: WebhookId, event: EventKey) {
        if let Some(usage) = locked(&self.webhooks).get_mut(&webhook) {
            usage.remove(event);
        }
    }

    pub(super) fn forget(&self, webhook: WebhookId) {
        locked(&self.webhooks).remove(&webhook);
    }

    /// Says what a webhook is now.
    pub(super) fn update(&self, webhook: &WebhookRecord) {
        if let Some(usage) = locked(&self.webhooks).get_mut(&webhook.id) {
            usage.receiver = Receiver::of(webhook);
        }
    }

    /// Adds a new event of a webhook, and takes those away that its own limits have no more room for, at most `drops_max`.
    /// Returns these. `None` if there is no room for the new one: nothing changed then.
    pub(super) fn make_room(
        &self,
        limits: OutboxLimits,
        webhook: &WebhookRecord,
        (event, octets): (EventKey, u64),
        drops_max: usize,
    ) -> Option<Vec<EventKey>> {
        let mut webhooks = locked(&self.webhooks);
        let receiver = Receiver::of(webhook);
        let usage = webhooks.entry(webhook.id).or_default();
        usage.receiver = receiver;
        let (dropped, freed) = usage.in_the_way(limits, octets, drops_max)?;
        // The dropped ones are in each sum.
        let with_new = |sum: u64| sum.saturating_sub(freed).saturating_add(octets);
        let (of_client, of_network, in_all) = sums(webhooks.values(), receiver.registrant);
        let (of_client, of_network) = match receiver.registrant {
            Some(_) => (with_new(of_client), with_new(of_network)),
            None => (0, 0),
        };
        if !limits.shares_allow(receiver.is_proven, of_client, of_network, with_new(in_all)) {
            return None;
        }
        let usage = webhooks.entry(webhook.id).or_default();
        for event in &dropped {
            usage.remove(*event);
        }
        usage.add(event, octets);
        Some(dropped)
    }
}

/// The octets of pending events: those of a registrant, of its network, and all.
fn sums<'a>(webhooks: impl Iterator<Item = &'a WebhookUsage>, registrant: Option<Client>) -> (u64, u64, u64) {
    let (mut of_client, mut of_network, mut in_all) = (0, 0, 0);
    for usage in webhooks {
        in_all += usage.octets;
        let (Some(client), Some(other)) = (registrant, usage.receiver.registrant) else { continue };
        if other == client {
            of_client += usage.octets;
        }
        if other.network() == client.network() {
            of_network += usage.octets;
        }
    }
    (of_client, of_network, in_all)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    use super::*;
    use crate::model::{Address, Subaddressing, Timestamp, WebhookStatus};

    const LIMITS: OutboxLimits =
        OutboxLimits { events_per_webhook: 100, octets_per_webhook: 64 << 20, octets: 16 << 20 };

    /// A proven webhook of a client, or of the administrator.
    fn proven(number: u32, registrant: Option<IpAddr>) -> WebhookRecord {
        let mut id = [0; 16];
        id[..4].copy_from_slice(&number.to_be_bytes());
        WebhookRecord {
            id: WebhookId::from_octets(id),
            recipient: "a@example.test".into(),
            mailbox: "a@example.test".parse::<Address>().expect("address").mailbox(Subaddressing::Keep),
            url: "https://a.example/".into(),
            origin: "https://a.example".into(),
            registrant: registrant.map(Client::of),
            secret: None,
            status: WebhookStatus::Active,
            created_at: Timestamp::from_millis(0),
            last_mail_at: Timestamp::from_millis(0),
            last_delivery_at: Some(Timestamp::from_millis(0)),
            failures: 0,
            failing_since: None,
            dropped: 0,
        }
    }

    fn unproven(number: u32, registrant: IpAddr) -> WebhookRecord {
        WebhookRecord { last_delivery_at: None, ..proven(number, Some(registrant)) }
    }

    fn key(number: i64) -> EventKey {
        (number, Uuid::from_u128(0))
    }

    /// Adds events of so many octets as long as there is room for them, and returns how many there were.
    fn fill(usages: &Usages, webhook: &WebhookRecord, octets: u64) -> i64 {
        (0..1_000).find(|event| usages.make_room(LIMITS, webhook, (key(*event), octets), 0).is_none()).expect("a limit")
    }

    fn v4(bits: u32) -> IpAddr {
        Ipv4Addr::from_bits(bits).into()
    }

    #[test]
    fn webhooks_of_four_thousand_networks_take_no_room_from_one_that_answers() {
        let usages = Usages::default();
        let mut taken = 0;
        for number in 0..4_000 {
            taken += fill(&usages, &unproven(number, v4(0x0a00_0001 + (number << 8))), 64 << 10);
        }
        assert_eq!(taken, (12 << 20) / (64 << 10), "all but the last quarter");
        assert_eq!(fill(&usages, &proven(5_000, Some(v4(0xc000_0201))), 64 << 10), 16, "a sixteenth of the outbox");
    }

    #[test]
    fn a_client_has_a_sixteenth_and_its_network_a_quarter() {
        let v6 = |subnet: u128| Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) + (subnet << 64)).into();
        for client in [&(|n: u32| v4(0xc000_0200 + n)) as &dyn Fn(u32) -> IpAddr, &|n| v6(u128::from(n))] {
            let usages = Usages::default();
            // Two webhooks of each client, which have no more together than one would have.
            let filled: Vec<i64> =
                (0..12).map(|number| fill(&usages, &proven(number, Some(client(number / 2))), 64 << 10)).collect();
            assert_eq!(filled, [16, 0, 16, 0, 16, 0, 16, 0, 0, 0, 0, 0]);
            assert_eq!(fill(&usages, &proven(20, Some(v4(0xc633_6401))), 64 << 10), 16, "another network");
            assert_eq!(fill(&usages, &proven(21, None), 64 << 10), 100, "the administrator");
        }
    }

    #[test]
    fn a_new_event_without_room_takes_none_away() {
        let usages = Usages::default();
        let webhook = proven(1, Some(v4(0xc000_0201)));
        for event in 0..100 {
            assert_eq!(usages.make_room(LIMITS, &webhook, (key(event), 10), 0), Some(vec![]));
        }
        let more_than_a_sixteenth = (key(100), (1 << 20) + 1);
        assert_eq!(usages.make_room(LIMITS, &webhook, more_than_a_sixteenth, 256), None);
        assert_eq!(usages.make_room(LIMITS, &webhook, (key(100), 10), 0), None, "nothing may be dropped");
        assert_eq!(usages.make_room(LIMITS, &webhook, (key(100), 10), 256), Some(vec![key(0)]));
        // What it loses by its own limit is out of its share.
        let large = (key(101), (1 << 20) - 10 * 99);
        assert_eq!(usages.make_room(LIMITS, &webhook, large, 256), Some(vec![key(1)]));
    }
}
