//! Connection slots: how many connections there may be in all, and which one is evicted when all slots are taken.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::deadlines::{ClientTimer, Timeouts};
use crate::clock::Clock;

/// The most connections that wait for a slot when all are taken. Each of them has a socket open.
pub const WAITING_MAX: usize = 64;
/// How long a connection waits for the evicted one to close.
const FREED_WITHIN: Duration = Duration::from_secs(2);
/// The most connections that one eviction compares; the next eviction goes on behind them. So an eviction costs the
/// same however many connections there are.
const COMPARED_MAX: usize = 1_024;
/// A client may be evicted once it has kept the server waiting for this part of the timeout under stress.
const STRESS_PART: u32 = 10;

/// The connection slots of all listeners.
#[derive(Debug)]
pub(super) struct Slots {
    max: usize,
    free: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    timeouts: Timeouts,
    taken: Mutex<Taken>,
}

/// What a new connection gets.
#[derive(Debug)]
pub(super) enum SlotRequest {
    /// A slot.
    Granted(Slot),
    /// All slots are taken; another connection may be evicted for this one.
    Waiting(WaitingForSlot),
}

/// A connection without a slot. No other connection has been evicted for it yet.
#[derive(Debug)]
pub(super) struct WaitingForSlot {
    slots: Arc<Slots>,
    _permit: OwnedSemaphorePermit,
}

/// The connections that have a slot and are not evicted.
#[derive(Debug, Default)]
struct Taken {
    connections: BTreeMap<u64, Arc<Occupant>>,
    next_number: u64,
    /// The number at which the next eviction begins to compare.
    compare_from: u64,
}

/// A connection as an eviction sees it.
#[derive(Debug)]
struct Occupant {
    timer: Mutex<ClientTimer>,
    eviction: Notify,
}

/// The slot of one connection; freed when this is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    number: u64,
    occupant: Arc<Occupant>,
    _permit: OwnedSemaphorePermit,
}

impl Slots {
    pub(super) fn new(max: usize, timeouts: Timeouts) -> Self {
        let max = max.min(Semaphore::MAX_PERMITS);
        let free = Arc::new(Semaphore::new(max));
        Self { max, free, waiting: Arc::new(Semaphore::new(WAITING_MAX)), timeouts, taken: Mutex::default() }
    }

    /// How long a client may take.
    pub(super) const fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// Whether more than three quarters of the slots are taken.
    pub(super) fn is_stressed(&self) -> bool {
        self.free.available_permits() * 4 < self.max
    }

    /// Requests a slot; `None` if there is none and enough other connections wait for one.
    pub(super) fn request(self: &Arc<Self>, now: Duration) -> Option<SlotRequest> {
        if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
            return Some(SlotRequest::Granted(self.take(permit, now)));
        }
        let permit = Arc::clone(&self.waiting).try_acquire_owned().ok()?;
        Some(SlotRequest::Waiting(WaitingForSlot { slots: Arc::clone(self), _permit: permit }))
    }

    fn take(self: &Arc<Self>, permit: OwnedSemaphorePermit, now: Duration) -> Slot {
        let occupant = Arc::new(Occupant { timer: Mutex::new(ClientTimer::new(now)), eviction: Notify::new() });
        let mut taken = self.taken();
        let number = taken.next_number;
        taken.next_number += 1;
        taken.connections.insert(number, Arc::clone(&occupant));
        drop(taken);
        Slot { slots: Arc::clone(self), number, occupant, _permit: permit }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingForSlot {
    /// Takes a slot that has become free, or evicts another connection and takes its slot. `None`: no connection may be
    /// evicted, or the evicted one has not closed in time.
    pub(super) async fn evict(self, clock: &dyn Clock) -> Option<Slot> {
        let Self { slots, _permit } = &self;
        let permit = match Arc::clone(&slots.free).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) if slots.taken().evict(&slots.timeouts, clock.boot()) => {
                timeout(FREED_WITHIN, Arc::clone(&slots.free).acquire_owned()).await.ok()?.ok()?
            }
            Err(_) => return None,
        };
        Some(slots.take(permit, clock.boot()))
    }
}

impl Taken {
    /// Evicts the connection that has kept the server waiting longest, of those that are compared. `false`: none of them
    /// has kept it waiting long enough.
    fn evict(&mut self, timeouts: &Timeouts, now: Duration) -> bool {
        let latest = now.saturating_sub(timeouts.stress / STRESS_PART);
        let (behind, before) =
            (self.connections.range(self.compare_from..), self.connections.range(..self.compare_from));
        let mut idlest = None;
        for (number, occupant) in behind.chain(before).take(COMPARED_MAX) {
            self.compare_from = number + 1;
            let since = occupant.timer().waiting_since(timeouts, now).filter(|since| *since <= latest);
            idlest = [idlest, since.map(|since| (since, *number))].into_iter().flatten().min();
        }
        let evicted = idlest.and_then(|(_, number)| self.connections.remove(&number));
        if let Some(occupant) = &evicted {
            occupant.eviction.notify_one();
        }
        evicted.is_some()
    }
}

impl Occupant {
    fn timer(&self) -> MutexGuard<'_, ClientTimer> {
        self.timer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// The timer of the connection's client.
    pub(super) fn timer(&self) -> MutexGuard<'_, ClientTimer> {
        self.occupant.timer()
    }

    /// Waits until the connection is evicted.
    pub(super) async fn evicted(&self) {
        self.occupant.eviction.notified().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.taken().connections.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::super::deadlines::Expected;
    use super::super::deadlines::tests::TIMEOUTS;
    use super::*;
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

        fn boot_id(&self) -> Option<String> {
            None
        }
    }

    /// Slots, all of them taken: the first at 0 s, the others a second after each other.
    fn taken(max: usize) -> (Arc<Slots>, Vec<Slot>) {
        let slots = Arc::new(Slots::new(max, TIMEOUTS));
        let take = |at| match slots.request(seconds(at)) {
            Some(SlotRequest::Granted(slot)) => slot,
            other => panic!("{other:?}"),
        };
        let taken = (0..max as u64).map(take).collect();
        (slots, taken)
    }

    /// Requests the slot of another connection; the wait for it.
    fn waiting(slots: &Arc<Slots>, at: u64) -> impl Future<Output = Option<Slot>> + use<> {
        let Some(SlotRequest::Waiting(waiting)) = slots.request(seconds(at)) else { panic!("all slots are taken") };
        async move { waiting.evict(&At(at)).await }
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
            assert!(matches!(slots.request(seconds(9)), Some(SlotRequest::Waiting(_))));
        });
        assert!(got.is_some());
    }

    #[test]
    fn a_bounded_number_waits_and_a_request_alone_evicts_no_connection() {
        let (slots, taken) = taken(1);
        let waiting: Vec<_> = (0..WAITING_MAX).map(|_| slots.request(seconds(9))).collect();
        assert!(waiting.iter().all(|request| matches!(request, Some(SlotRequest::Waiting(_)))));
        assert!(slots.request(seconds(9)).is_none());
        assert!(!is_evicted(&taken[0]));
    }

    #[tokio::test]
    async fn the_wait_for_a_slot_ends_if_the_evicted_connection_stays() {
        let (slots, _taken) = taken(1);
        let slot = timeout(FREED_WITHIN * 5, waiting(&slots, 9)).await;
        assert!(matches!(slot, Ok(None)), "{slot:?}");
    }
}
