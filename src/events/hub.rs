//! Passes events from a store to its subscriptions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::subscription::{Buffer, Subscription};
use super::{Event, Topic};

/// The number of parts with a lock of their own, among which the mailboxes are spread.
const SHARDS: usize = 64;

/// The subscriptions of one store.
///
/// While there are none, a store pays one read of a counter for each group of changes.
#[derive(Debug)]
pub struct Hub {
    subscriptions: AtomicUsize,
    next_number: AtomicU64,
    shards: [Mutex<Shard>; SHARDS],
}

/// In the order of their topics, so that those of one mailbox are together.
type Shard = BTreeMap<(Topic, u64), Arc<Buffer>>;

impl Default for Hub {
    fn default() -> Self {
        Self {
            subscriptions: AtomicUsize::new(0),
            next_number: AtomicU64::new(0),
            shards: std::array::from_fn(|_| Mutex::default()),
        }
    }
}

impl Hub {
    /// Subscribes to the events of a topic. The subscriber may be late by `events_max` of them before it misses any; with 0
    /// it learns only that something happened.
    pub fn subscribe(self: &Arc<Self>, topic: Topic, events_max: usize) -> Subscription {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let buffer = Arc::new(Buffer::new(events_max));
        self.shard(topic).insert((topic, number), Arc::clone(&buffer));
        // A store shows a change and then asks whether anybody watches. A subscriber is counted and then reads the store.
        // Both hold the store's lock in between: if the change comes first, the reader sees it; otherwise the store sees the
        // subscriber.
        self.subscriptions.fetch_add(1, Ordering::SeqCst);
        Subscription::new(Arc::clone(self), topic, number, buffer)
    }

    /// Whether anybody subscribes.
    pub fn is_watched(&self) -> bool {
        self.subscriptions.load(Ordering::SeqCst) > 0
    }

    /// Passes an event about a mailbox to the subscriptions of that mailbox, and of all.
    pub fn publish(&self, topic: Topic, event: &Event) {
        for topic in [topic, Topic::ALL] {
            for (_, buffer) in self.shard(topic).range((topic, 0)..=(topic, u64::MAX)) {
                buffer.push(event);
            }
        }
    }

    /// Tells all subscribers that they missed events. What was made visible before the call, later ones see.
    pub fn miss(&self) {
        for shard in &self.shards {
            locked(shard).values().for_each(|buffer| buffer.miss());
        }
    }

    pub(super) fn unsubscribe(&self, topic: Topic, number: u64) {
        self.shard(topic).remove(&(topic, number));
        self.subscriptions.fetch_sub(1, Ordering::Relaxed);
    }

    fn shard(&self, topic: Topic) -> MutexGuard<'_, Shard> {
        let Topic([first, ..]) = topic;
        locked(&self.shards[usize::from(first) % SHARDS])
    }
}

fn locked(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::events::{Happening, Hint};
    use crate::model::{EmailId, Listed, Place, Timestamp};

    const ANN: Topic = Topic::new([1; 16]);
    /// In the same shard as [`ANN`].
    const BOB: Topic = Topic::new([65; 16]);

    fn event(sequence: u64) -> Event {
        let at = Timestamp::from_millis(0);
        let email = Listed {
            id: EmailId::from_octets([0; 16]),
            sequence,
            received_at: at,
            expires_at: at,
            size_octets: 0,
            place: Place([0; 16]),
        };
        Event { happening: Happening::Received, email }
    }

    fn now(subscription: &mut Subscription) -> Option<Hint> {
        subscription.next().now_or_never()
    }

    #[test]
    fn an_event_reaches_the_subscribers_of_its_mailbox_and_of_all_and_nobody_else() {
        let hub = Arc::new(Hub::default());
        let mut ann = [hub.subscribe(ANN, 1), hub.subscribe(ANN, 1)];
        let (mut bob, mut all) = (hub.subscribe(BOB, 1), hub.subscribe(Topic::ALL, 1));
        hub.publish(ANN, &event(1));
        for subscription in ann.iter_mut().chain([&mut all]) {
            assert_eq!(now(subscription), Some(Hint::Event(event(1))));
            assert_eq!(now(subscription), None);
        }
        assert_eq!(now(&mut bob), None);
    }

    #[test]
    fn a_subscriber_that_is_late_misses_events_and_learns_it_once() {
        let hub = Arc::new(Hub::default());
        let (mut late, mut waiter) = (hub.subscribe(ANN, 2), hub.subscribe(ANN, 0));
        for sequence in 1..=3 {
            hub.publish(ANN, &event(sequence));
        }
        assert_eq!([now(&mut late), now(&mut late)], [Some(Hint::Missed), None]);
        assert_eq!([now(&mut waiter), now(&mut waiter)], [Some(Hint::Missed), None]);
        hub.publish(ANN, &event(4));
        assert_eq!(now(&mut late), Some(Hint::Event(event(4))));
        hub.miss();
        let mut later = hub.subscribe(ANN, 0);
        assert_eq!(now(&mut later), None);
        assert_eq!([now(&mut late), now(&mut waiter)], [Some(Hint::Missed), Some(Hint::Missed)]);
    }

    #[test]
    fn a_subscription_that_ends_leaves_nothing() {
        let hub = Arc::new(Hub::default());
        assert!(!hub.is_watched());
        let subscription = hub.subscribe(ANN, 0);
        assert!(hub.is_watched());
        drop(subscription);
        assert!(!hub.is_watched());
        assert!(hub.shards.iter().all(|shard| locked(shard).is_empty()));
    }
}
