//! The places of attempts in flight, which are rows of `admission`: slow receivers must leave places to the others, and memory.
//!
//! Webhooks that deliver have places of their own; the doubtful ones, which are new or fail, share a few others. An attempt
//! that takes longer than 250 ms gives its places back and becomes a slow call, of which each registrant has a share. A
//! webhook whose last attempt was slow waits for room among the slow calls before the next one.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::Cache;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::admission::{ANSWER_OCTETS, Admission, Permit, SLOW_CALL_OCTETS, What, Who};
use crate::model::{WebhookId, WebhookRecord};

/// An attempt that takes longer than this is slow.
pub(super) const SLOW_AFTER: Duration = Duration::from_millis(250);
/// The octets of a request that one place is for. A larger one takes several, at most a quarter of all.
const PLACE_OCTETS: u64 = 512 << 10;
/// The most octets that a request counts for, so that a large one does not wait until nobody else has any.
const REQUEST_OCTETS_MAX: u64 = 16 << 20;
/// The most webhooks that are known to be slow: as many as there can be by default.
const SLOW_KNOWN_MAX: usize = 10_000;

/// All places.
pub(super) struct Places {
    admission: Arc<Admission>,
    /// Webhooks whose last attempt was slow.
    slow: Cache<WebhookId, ()>,
    stop: CancellationToken,
}

/// The place of one attempt. Dropping it gives back what it holds.
#[derive(Debug)]
pub(super) struct Place {
    permit: Permit,
    /// Whose slow call the attempt would be, and how large.
    who: Who,
    octets: u64,
}

impl Places {
    /// Nobody waits for a place once `stop` is cancelled.
    pub(super) fn new(admission: Arc<Admission>, stop: CancellationToken) -> Self {
        Self { admission, slow: Cache::new(SLOW_KNOWN_MAX), stop }
    }

    /// Waits for a place for an attempt whose request has about so many octets. `None` if there is none in time.
    pub(super) async fn take(&self, webhook: &WebhookRecord, octets: u64) -> Option<Place> {
        // The administrator has no share of its own, but memory is bounded for everybody.
        let who = webhook.registrant.map_or(Who::Server, Who::Client);
        let (request_octets, octets) = (octets.min(REQUEST_OCTETS_MAX), held_by(octets));
        let admitted = if self.slow.contains_key(&webhook.id) {
            self.stop.run_until_cancelled(self.admission.admit_soon(who, What::SlowCall, octets)).await
        } else {
            let what = if is_good(webhook) { What::GoodCall } else { What::DoubtfulCall };
            let places = request_octets.div_ceil(PLACE_OCTETS).clamp(1, self.admission.quota(what).unwrap_or(1));
            self.stop.run_until_cancelled(self.admission.admit_soon(who, what, places)).await
        };
        Some(Place { permit: admitted?.ok()?, who, octets })
    }

    /// Remembers how long the last attempt of a webhook took.
    pub(super) fn learn(&self, webhook: WebhookId, took: Duration) {
        if took >= SLOW_AFTER {
            self.slow.insert(webhook, ());
        } else {
            self.slow.remove(&webhook);
        }
    }
}

/// Whether the last recorded attempt of a webhook was delivered.
pub(super) fn is_good(webhook: &WebhookRecord) -> bool {
    webhook.is_proven() && webhook.failures == 0
}

/// What a slow call with a request of so many octets holds.
fn held_by(octets: u64) -> u64 {
    (octets.min(REQUEST_OCTETS_MAX) + ANSWER_OCTETS).max(SLOW_CALL_OCTETS)
}

impl Place {
    /// The request has so many octets, which may be more than it was thought to have. `None` if there is no room for them.
    pub(super) fn weigh(&mut self, octets: u64) -> Option<()> {
        self.octets = self.octets.max(held_by(octets));
        if self.permit.what() == What::SlowCall { self.permit.grow_to(self.octets).ok() } else { Some(()) }
    }

    /// Does a part of the attempt, which becomes a slow call if this part takes too long. `None` if there is no room for
    /// one then.
    pub(super) async fn during<T>(&mut self, part: impl Future<Output = T>) -> Option<T> {
        let mut part = pin!(part);
        if self.permit.what() != What::SlowCall {
            if let Ok(done) = timeout(SLOW_AFTER, &mut part).await {
                return Some(done);
            }
            self.permit.exchange(self.who, What::SlowCall, self.octets).ok()?;
        }
        Some(part.await)
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::net::Ipv4Addr;

    use futures_util::FutureExt;

    use super::*;
    use crate::config::{Config, Revision};
    use crate::model::{Address, Client, Subaddressing, Timestamp, WebhookStatus};

    fn places() -> Places {
        let admission = Admission::new(&Config::of_revision(Revision::Two, "unused".into()));
        Places::new(Arc::new(admission), CancellationToken::new())
    }

    /// A webhook of the administrator's, or of a client in one of 256 networks.
    fn webhook(number: u8, is_good: bool, of: Option<(u8, u8)>) -> WebhookRecord {
        let at = Timestamp::from_millis(0);
        WebhookRecord {
            id: WebhookId::from_octets([number; 16]),
            recipient: "a@example.test".to_owned(),
            mailbox: "a@example.test".parse::<Address>().expect("an address").mailbox(Subaddressing::Keep),
            url: "http://a.example/".to_owned(),
            origin: "http://a.example".to_owned(),
            registrant: of.map(|(network, host)| Client::of(Ipv4Addr::new(198, 51, network, host).into())),
            secret: None,
            status: WebhookStatus::Active,
            created_at: at,
            last_mail_at: at,
            last_delivery_at: is_good.then_some(at),
            failures: 0,
            failing_since: None,
            dropped: 0,
        }
    }

    /// The places that so many attempts have at once.
    fn taken(places: &Places, hook: &WebhookRecord, octets: u64, attempts: usize) -> Vec<Place> {
        (0..attempts).filter_map(|_| places.take(hook, octets).now_or_never().flatten()).collect()
    }

    #[tokio::test]
    async fn doubtful_webhooks_leave_all_places_of_good_ones() {
        let places = places();
        let doubtful = taken(&places, &webhook(1, false, None), 1, 1_000);
        let good = taken(&places, &webhook(2, true, None), 1, 1_000);
        assert_eq!((doubtful.len(), good.len()), (32, 96));
        drop(doubtful);
        let large = taken(&places, &webhook(1, false, None), u64::MAX, 10);
        assert_eq!(large.len(), 4, "however large, others have room");
        drop(large);
        assert_eq!(taken(&places, &webhook(1, false, None), 3 * PLACE_OCTETS, 100).len(), 10);
    }

    #[tokio::test]
    async fn one_network_leaves_places_to_others() {
        let places = places();
        let held: Vec<_> =
            (1..=3).flat_map(|host| taken(&places, &webhook(host, true, Some((1, host))), 1, 100)).collect();
        assert_eq!(held.len(), 24);
        assert_eq!(taken(&places, &webhook(4, true, Some((2, 1))), 1, 100).len(), 24);
        assert_eq!(taken(&places, &webhook(5, false, Some((1, 1))), 1, 100).len(), 8);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_counts_for_what_it_turns_out_to_have() {
        let (places, hook) = (places(), webhook(1, true, Some((1, 1))));
        places.learn(hook.id, SLOW_AFTER);
        let mut place = places.take(&hook, 1).await.expect("a place");
        assert_eq!(place.weigh(3 << 20), Some(()));
        assert_eq!(place.permit.amount(), (3 << 20) + ANSWER_OCTETS);
        let mut another = places.take(&hook, 1).await.expect("a place");
        assert_eq!(another.weigh(u64::MAX), None, "beyond the share of the registrant");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_attempt_leaves_its_place() {
        let (places, hanging) = (places(), webhook(1, false, None));
        let mut held = taken(&places, &hanging, 1, 32);
        for place in &mut held {
            assert!(timeout(2 * SLOW_AFTER, place.during(pending::<()>())).await.is_err(), "it goes on");
        }
        assert_eq!(taken(&places, &hanging, 1, 1_000).len(), 32);
    }

    /// The attempts of a webhook that become slow calls until one ends for want of room.
    async fn slow_calls(places: &Places, hook: &WebhookRecord, octets: u64) -> Vec<Place> {
        let mut held = Vec::new();
        loop {
            let mut place = places.take(hook, octets).now_or_never().flatten().expect("a place");
            match timeout(2 * SLOW_AFTER, place.during(pending::<()>())).await {
                Err(_) => held.push(place),
                Ok(ended) => {
                    assert_eq!(ended, None);
                    return held;
                }
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_calls_have_a_share_for_each_registrant_and_its_network_and_end_beyond_it() {
        let places = places();
        let mut all = slow_calls(&places, &webhook(1, false, Some((1, 1))), 1).await;
        assert_eq!(all.len(), 16);
        for host in 2..=5 {
            all.extend(slow_calls(&places, &webhook(2, false, Some((1, host))), 1).await);
        }
        assert_eq!(all.len(), 64, "one network");
        all.extend(slow_calls(&places, &webhook(3, false, None), 1).await);
        assert_eq!(all.len(), 256, "all, with the administrator's");
        drop(all);
        let large = slow_calls(&places, &webhook(3, false, None), u64::MAX).await;
        assert_eq!(large.len(), 6, "they count for their memory");
    }

    #[tokio::test(start_paused = true)]
    async fn a_webhook_that_was_slow_waits_for_room_among_slow_calls() {
        let places = places();
        let all = slow_calls(&places, &webhook(1, false, None), 1).await;
        let slow = webhook(2, true, Some((1, 1)));
        places.learn(slow.id, SLOW_AFTER);
        let mut waiting = pin!(places.take(&slow, 1));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(all);
        assert!(waiting.await.is_some_and(|place| place.permit.what() == What::SlowCall));
        places.learn(slow.id, SLOW_AFTER / 2);
        assert!(places.take(&slow, 1).await.is_some_and(|place| place.permit.what() == What::GoodCall));
    }
}
