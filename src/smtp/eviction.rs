//! Which session is evicted when all connection slots are taken: the one whose client has kept the server waiting longest.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::deadlines::{ClientTimer, Timeouts};
use crate::connections;
use crate::model::Client;

/// A client may be evicted once it has kept the server waiting for this part of the timeout under stress.
const STRESS_PART: u32 = 10;

/// The connection slots of all listeners.
pub(super) type Slots = connections::Slots<Occupant>;
/// The slot of one connection.
pub(super) type Slot = connections::Slot<Occupant>;
/// What a new connection gets.
pub(super) type SlotRequest = connections::SlotRequest<Occupant>;

/// A connection as an eviction sees it.
#[derive(Debug)]
pub(super) struct Occupant(Mutex<ClientTimer>);

impl Occupant {
    /// The timer of the connection's client.
    pub(super) fn timer(&self) -> MutexGuard<'_, ClientTimer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl connections::Occupant for Occupant {
    type Rules = Timeouts;

    fn new(_: &Timeouts, now: Duration) -> Self {
        Self(Mutex::new(ClientTimer::new(now)))
    }

    /// All connections count together: a sender that keeps time is worth more than one with few connections.
    fn client(&self) -> Option<Client> {
        None
    }

    fn evictable_since(&self, timeouts: &Timeouts, now: Duration) -> Option<Duration> {
        let latest = now.saturating_sub(timeouts.stress / STRESS_PART);
        self.timer().waiting_since(timeouts, now).filter(|since| *since <= latest)
    }
}
#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use super::super::deadlines::Expected;
    use super::super::deadlines::tests::TIMEOUTS;
    use super::*;
    use crate::clock::Clock;
    use crate::connections::{COMPARED_MAX, FREED_WITHIN, WAITING_MAX};
    use crate::model::Timestamp;

    const DATA: Expected = Expected { is_in_data: true, transaction: Some(1), has_replied: true, progress: 0 };

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn is_evicted(slot: &Slot) -> bool {
        pin!(slot.evicted()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    /// A clock that stands still.
    #[derive(Debug)]
    struct At(u64);

    impl Clock for At {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(0)
        }

        fn boot(&self) -> Duration {
            seconds(self.0)
        }
    }

    /// Slots, all of them taken: the first at 0 s, the others a second after each other.
    fn taken(max: usize) -> (Arc<Slots>, Vec<Slot>) {
        let slots = Arc::new(Slots::new(max, TIMEOUTS));
        let take = |at| match slots.request(None, seconds(at)) {
            Some(SlotRequest::Granted(slot)) => slot,
            other => panic!("{other:?}"),
        };
        let taken = (0..max as u64).map(take).collect();
        (slots, taken)
    }

    /// Requests the slot of another connection; the wait for it.
    fn waiting(slots: &Arc<Slots>, at: u64) -> impl Future<Output = Option<Slot>> + use<> {
        let Some(SlotRequest::Waiting(waiting)) = slots.request(None, seconds(at)) else {
            panic!("all slots are taken")
        };
        async move { waiting.evict(None, &At(at)).await }
    }

    /// How far the wait is when it has just begun.
    fn begun(wait: impl Future<Output = Option<Slot>>) -> Poll<Option<Slot>> {
        pin!(wait).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn stress_is_when_more_than_three_quarters_are_taken() {
        let (slots, mut taken) = taken(8);
        for left in (0..8).rev() {
            assert_eq!(slots.is_stressed(), left >= 6, "{left}");
            taken.truncate(left);
        }
        assert!(!slots.is_stressed());
    }

    #[tokio::test]
    async fn the_idlest_is_evicted_and_no_client_that_keeps_time() {
        let (slots, taken) = taken(4);
        taken[0].timer().expect(DATA, seconds(0));
        taken[0].timer().received(1 << 20, seconds(1));
        taken[1].timer().suspend(seconds(1));
        assert!(matches!(begun(waiting(&slots, 2)), Poll::Ready(None)), "no client was silent for a second");
        assert!(begun(waiting(&slots, 9)).is_pending());
        assert!(is_evicted(&taken[2]) && !is_evicted(&taken[3]));
        assert!(begun(waiting(&slots, 9)).is_pending());
        assert!(is_evicted(&taken[3]));
        assert!(matches!(begun(waiting(&slots, 10)), Poll::Ready(None)), "no connection is evicted twice");
        assert!(!is_evicted(&taken[0]) && !is_evicted(&taken[1]));
    }

    #[tokio::test]
    async fn the_only_idle_client_among_many_is_found_by_one_of_the_next_evictions() {
        let (slots, taken) = taken(4 * COMPARED_MAX);
        let idle = 3 * COMPARED_MAX;
        for slot in taken.iter().enumerate().filter(|(number, _)| *number != idle).map(|(_, slot)| slot) {
            slot.timer().suspend(seconds(0));
        }
        for _ in 0..3 {
            assert!(matches!(begun(waiting(&slots, 5_000)), Poll::Ready(None)));
        }
        assert!(begun(waiting(&slots, 5_000)).is_pending());
        assert!(is_evicted(&taken[idle]));
    }

    #[tokio::test]
    async fn a_waiting_connection_gets_the_slot_before_a_later_one() {
        let (slots, mut taken) = taken(1);
        let slot = taken.pop().expect("a slot");
        let (got, ()) = tokio::join!(waiting(&slots, 9), async {
            slot.evicted().await;
            drop(slot);
            assert!(matches!(slots.request(None, seconds(9)), Some(SlotRequest::Waiting(_))));
        });
        assert!(got.is_some());
    }

    #[test]
    fn a_bounded_number_waits_and_a_request_alone_evicts_no_connection() {
        let (slots, taken) = taken(1);
        let waiting: Vec<_> = (0..WAITING_MAX).map(|_| slots.request(None, seconds(9))).collect();
        assert!(waiting.iter().all(|request| matches!(request, Some(SlotRequest::Waiting(_)))));
        assert!(slots.request(None, seconds(9)).is_none());
        assert!(!is_evicted(&taken[0]));
    }

    #[tokio::test]
    async fn the_wait_for_a_slot_ends_if_the_evicted_connection_stays() {
        let (slots, _taken) = taken(1);
        let slot = tokio::time::timeout(FREED_WITHIN * 5, waiting(&slots, 9)).await;
        assert!(matches!(slot, Ok(None)), "{slot:?}");
    }
}
