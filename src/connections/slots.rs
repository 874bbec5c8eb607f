//! Connection slots: how many connections there may be in all, and which one is evicted when all slots are taken.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::clock::Clock;
use crate::model::Client;

/// The most connections that wait for a slot when all are taken. Each of them has a socket open.
pub const WAITING_MAX: usize = 64;
/// How many of them one client may have, so that the flood of one client leaves places for others.
const WAITING_OF_CLIENT_MAX: usize = 16;
/// How long a connection waits for the evicted one to close.
pub(crate) const FREED_WITHIN: Duration = Duration::from_secs(2);
/// The most connections that one eviction compares; the next eviction goes on behind them. So an eviction costs the
/// same however many connections there are.
pub(crate) const COMPARED_MAX: usize = 1_024;

/// A connection as an eviction sees it.
pub trait Occupant: Send + Sync + 'static {
    /// What all occupants of the slots share.
    type Rules: Debug + Send + Sync;

    /// The occupant that connects at `now`.
    fn new(rules: &Self::Rules, now: Duration) -> Self;

    /// The client that the connection counts for. Connections without one count together.
    fn client(&self) -> Option<Client>;

    /// Since when it may be evicted, which is since it has kept the server waiting; `None`: it may not.
    fn evictable_since(&self, rules: &Self::Rules, now: Duration) -> Option<Duration>;
}

/// The connection slots of all listeners of a service.
#[derive(Debug)]
pub struct Slots<O: Occupant> {
    max: usize,
    free: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
    rules: O::Rules,
    taken: Mutex<Taken<O>>,
}

/// What a new connection gets.
#[derive(Debug)]
pub enum SlotRequest<O: Occupant> {
    /// A slot.
    Granted(Slot<O>),
    /// All slots are taken; another connection may be evicted for this one.
    Waiting(WaitingForSlot<O>),
}

/// A connection without a slot. No other connection has been evicted for it yet.
#[derive(Debug)]
pub struct WaitingForSlot<O: Occupant> {
    slots: Arc<Slots<O>>,
    client: Option<Client>,
}

/// The connections that wait for a slot.
#[derive(Debug, Default)]
struct Waiting {
    all: usize,
    /// Those of each client that is known.
    of_clients: HashMap<Client, usize>,
}

/// The connections that have a slot and are not evicted.
#[derive(Debug)]
struct Taken<O> {
    connections: BTreeMap<u64, Arc<Occupied<O>>>,
    next_number: u64,
    /// The number at which the next eviction begins to compare.
    compare_from: u64,
}

#[derive(Debug)]
struct Occupied<O> {
    occupant: O,
    eviction: Notify,
}

/// The slot of one connection; freed when this is dropped. It dereferences to the occupant.
#[derive(Debug)]
pub struct Slot<O: Occupant> {
    slots: Arc<Slots<O>>,
    number: u64,
    occupied: Arc<Occupied<O>>,
    /// `None` while the connection has left its slot.
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

impl<O: Occupant> Slots<O> {
    /// So many slots.
    pub fn new(max: usize, rules: O::Rules) -> Self {
        let max = max.min(Semaphore::MAX_PERMITS);
        let taken = Taken { connections: BTreeMap::new(), next_number: 0, compare_from: 0 };
        let free = Arc::new(Semaphore::new(max));
        Self { max, free, waiting: Mutex::default(), rules, taken: Mutex::new(taken) }
    }

    /// What all occupants share.
    pub const fn rules(&self) -> &O::Rules {
        &self.rules
    }

    /// Whether more than three quarters of the slots are taken.
    pub fn is_stressed(&self) -> bool {
        self.free.available_permits() * 4 < self.max
    }

    /// Requests a slot for `client`, where it is known. `None` if there is none, and enough other connections wait for one,
    /// or enough of the client's own.
    pub fn request(self: &Arc<Self>, client: Option<Client>, now: Duration) -> Option<SlotRequest<O>> {
        if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
            return Some(SlotRequest::Granted(self.take(permit, now)));
        }
        self.waiting().add(client).then(|| SlotRequest::Waiting(WaitingForSlot { slots: Arc::clone(self), client }))
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(self: &Arc<Self>, permit: OwnedSemaphorePermit, now: Duration) -> Slot<O> {
        let occupied = Arc::new(Occupied { occupant: O::new(&self.rules, now), eviction: Notify::new() });
        let mut taken = self.taken();
        let number = taken.next_number;
        taken.next_number += 1;
        taken.connections.insert(number, Arc::clone(&occupied));
        drop(taken);
        Slot { slots: Arc::clone(self), number, occupied, permit: Mutex::new(Some(permit)) }
    }

    fn taken(&self) -> MutexGuard<'_, Taken<O>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Counts a connection. `false` if there is no place for it.
    fn add(&mut self, client: Option<Client>) -> bool {
        if self.all >= WAITING_MAX {
            return false;
        }
        if let Some(client) = client {
            let of_client = self.of_clients.entry(client).or_default();
            if *of_client >= WAITING_OF_CLIENT_MAX {
                return false;
            }
            *of_client += 1;
        }
        self.all += 1;
        true
    }

    fn remove(&mut self, client: Option<Client>) {
        self.all -= 1;
        if let Some(Entry::Occupied(mut of_client)) = client.map(|client| self.of_clients.entry(client)) {
            *of_client.get_mut() -= 1;
            if *of_client.get() == 0 {
                of_client.remove();
            }
        }
    }
}

impl<O: Occupant> Drop for WaitingForSlot<O> {
    fn drop(&mut self) {
        self.slots.waiting().remove(self.client);
    }
}

impl<O: Occupant> WaitingForSlot<O> {
    /// Takes a slot that has become free, or evicts another connection for `client` and takes its slot. `None`: no
    /// connection may be evicted, or the evicted one has not closed in time.
    pub async fn evict(&self, client: Option<Client>, clock: &dyn Clock) -> Option<Slot<O>> {
        let slots = &self.slots;
        let permit = match Arc::clone(&slots.free).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) if slots.taken().evict(client, &slots.rules, clock.boot()) => {
                timeout(FREED_WITHIN, Arc::clone(&slots.free).acquire_owned()).await.ok()?.ok()?
            }
            Err(_) => return None,
        };
        Some(slots.take(permit, clock.boot()))
    }
}

/// The connections of one client among those that an eviction compares.
#[derive(Default)]
struct Holding {
    connections: usize,
    /// The one that may be evicted and has kept the server waiting longest.
    idlest: Option<(Duration, u64)>,
}

impl<O: Occupant> Taken<O> {
    /// Evicts a connection for a new one of `newcomer`. Of the connections that are compared it is one of the client that
    /// holds most, and of these the one that has kept the server waiting longest. `false`: none may be evicted, or only
    /// those of clients that hold fewer than the newcomer.
    fn evict(&mut self, newcomer: Option<Client>, rules: &O::Rules, now: Duration) -> bool {
        let (behind, before) =
            (self.connections.range(self.compare_from..), self.connections.range(..self.compare_from));
        let mut of_clients = HashMap::<_, Holding>::new();
        for (number, occupied) in behind.chain(before).take(COMPARED_MAX) {
            self.compare_from = number + 1;
            let holding = of_clients.entry(occupied.occupant.client()).or_default();
            holding.connections += 1;
            let since = occupied.occupant.evictable_since(rules, now);
            holding.idlest = [holding.idlest, since.map(|since| (since, *number))].into_iter().flatten().min();
        }
        let of_newcomer = of_clients.get(&newcomer).map_or(0, |holding| holding.connections);
        let evictable = of_clients.values().filter(|holding| holding.connections >= of_newcomer);
        let evictable = evictable.filter_map(|holding| holding.idlest.map(|idlest| (holding.connections, idlest)));
        let chosen = evictable.max_by(|(a, idlest), (b, other)| a.cmp(b).then(other.cmp(idlest)));
        let evicted = chosen.and_then(|(_, (_, number))| self.connections.remove(&number));
        if let Some(occupied) = &evicted {
            occupied.eviction.notify_one();
        }
        evicted.is_some()
    }
}

impl<O: Occupant> Slot<O> {
    /// Waits until the connection is evicted.
    pub async fn evicted(&self) {
        self.occupied.eviction.notified().await;
    }

    /// Leaves the slot to others, and cannot be evicted until it is taken again.
    pub fn leave(&self) {
        self.slots.taken().connections.remove(&self.number);
        *self.permit() = None;
    }

    /// Takes a free slot again. `false`: there is none.
    pub fn take_again(&self) -> bool {
        let Ok(permit) = Arc::clone(&self.slots.free).try_acquire_owned() else { return false };
        *self.permit() = Some(permit);
        self.slots.taken().connections.insert(self.number, Arc::clone(&self.occupied));
        true
    }

    fn permit(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O: Occupant> Deref for Slot<O> {
    type Target = O;

    fn deref(&self) -> &O {
        &self.occupied.occupant
    }
}

impl<O: Occupant> Drop for Slot<O> {
    fn drop(&mut self) {
        self.slots.taken().connections.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::pin::pin;
    use std::sync::OnceLock;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::clock::SystemClock;

    /// A connection that may be evicted since the time that is set.
    #[derive(Debug, Default)]
    struct Fake {
        client: OnceLock<Client>,
        since: Mutex<Option<Duration>>,
    }

    impl Occupant for Fake {
        type Rules = ();

        fn new((): &(), _: Duration) -> Self {
            Self::default()
        }

        fn client(&self) -> Option<Client> {
            self.client.get().copied()
        }

        fn evictable_since(&self, (): &(), _: Duration) -> Option<Duration> {
            *self.since.lock().expect("since")
        }
    }

    fn client(number: u8) -> Client {
        Client::of(Ipv4Addr::new(192, 0, 2, number).into())
    }

    /// Slots, all of them taken by connections of these clients that may be evicted since these times.
    fn taken(of: &[(u8, Option<u64>)]) -> (Arc<Slots<Fake>>, Vec<Slot<Fake>>) {
        let slots = Arc::new(Slots::<Fake>::new(of.len(), ()));
        let take = |(number, since): &(u8, Option<u64>)| match slots.request(None, Duration::ZERO) {
            Some(SlotRequest::Granted(slot)) => {
                slot.client.set(client(*number)).expect("once");
                *slot.since.lock().expect("since") = since.map(Duration::from_secs);
                slot
            }
            other => panic!("{other:?}"),
        };
        let taken = of.iter().map(take).collect();
        (slots, taken)
    }

    /// The place of the connection that is evicted for a newcomer.
    fn evicted_for(newcomer: u8, of: &[(u8, Option<u64>)]) -> Option<usize> {
        let (slots, taken) = taken(of);
        let Some(SlotRequest::Waiting(waiting)) = slots.request(None, Duration::ZERO) else {
            panic!("all slots are taken")
        };
        let begun = pin!(waiting.evict(Some(client(newcomer)), &SystemClock));
        let begun = begun.poll(&mut Context::from_waker(Waker::noop()));
        let is_evicted =
            |slot: &Slot<Fake>| pin!(slot.evicted()).poll(&mut Context::from_waker(Waker::noop())).is_ready();
        let evicted: Vec<usize> = (0..taken.len()).filter(|place| is_evicted(&taken[*place])).collect();
        assert!(evicted.len() < 2 && matches!(begun, Poll::Pending | Poll::Ready(None)));
        assert_eq!(begun.is_pending(), evicted.len() == 1);
        evicted.first().copied()
    }

    #[tokio::test]
    async fn the_client_that_holds_most_loses_its_idlest_connection() {
        let idle = |client| (client, Some(9));
        assert_eq!(evicted_for(3, &[(1, Some(1)), idle(2), (2, Some(8)), (2, None)]), Some(2));
        assert_eq!(evicted_for(1, &[(1, Some(1)), idle(2), (2, Some(8))]), Some(2));
        assert_eq!(evicted_for(2, &[(1, Some(1)), idle(2), idle(2)]), Some(1), "its own");
    }

    #[tokio::test]
    async fn busy_connections_stay_and_a_client_with_less_may_be_next() {
        assert_eq!(evicted_for(3, &[(1, Some(1)), (2, None), (2, None)]), Some(0));
        assert_eq!(evicted_for(3, &[(1, None), (2, None)]), None);
    }

    #[tokio::test]
    async fn a_client_takes_no_slot_of_one_that_holds_fewer() {
        assert_eq!(evicted_for(2, &[(1, Some(1)), (2, None), (2, None)]), None);
        assert_eq!(evicted_for(2, &[(1, Some(1)), (2, None)]), Some(0));
    }

    #[tokio::test]
    async fn one_client_leaves_places_for_others_that_wait() {
        let (slots, _taken) = taken(&[(1, None)]);
        let wait = |number: u8| slots.request(Some(client(number)), Duration::ZERO);
        let waiting: Vec<_> = (0..WAITING_OF_CLIENT_MAX).map(|_| wait(2).expect("a place")).collect();
        assert!(wait(2).is_none());
        let other = wait(3).expect("a place for another client");
        drop(waiting);
        assert!(wait(2).is_some(), "the places are free again");
        drop(other);
        assert!(slots.waiting().of_clients.is_empty() && slots.waiting().all == 0);
        let unknown: Vec<_> = (0..WAITING_MAX).map(|_| slots.request(None, Duration::ZERO)).collect();
        assert!(unknown.iter().all(Option::is_some), "clients behind a proxy are not known yet");
        assert!(wait(3).is_none());
    }
}
