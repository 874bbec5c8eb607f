//! Memory for answers with mail: a bound for all of them, and a share for each client.
//!
//! An answer reserves room before its mail is loaded, and gives it back when the client has read it. Without room it waits,
//! first come, first served. Large answers have a pool of their own, so that small ones never wait for them. A client that
//! reads slowly keeps its room until others wait for it: then its connection is closed.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::principal::Requester;
use super::problem::{Code, Problem};
use crate::model::{Client, Listed};

/// The unit in which room is reserved, in octets.
const UNIT: u64 = 1024;
/// What a message needs at most while it becomes JSON, as a multiple of its size: its octets, its text, and both bodies
/// as JSON, where a control character takes six octets.
const RENDERED: u64 = 14;
/// What any answer needs beside its mail, in octets.
const OVERHEAD: u64 = 4 * UNIT;
/// Answers that may need more than this take their room from the pool of large ones, in octets.
const SMALL_MAX: u64 = 4 * 1024 * UNIT;
/// Room for small answers, in octets.
const SMALL_POOL: u64 = 48 * 1024 * UNIT;
/// The least room for large answers, in octets. It always suffices for the largest message.
const LARGE_POOL_MIN: u64 = 64 * 1024 * UNIT;
/// One client's share of a pool is this part. An answer that needs more than the share has all of it.
const SHARES: u64 = 4;
/// The number of clients at which idle ones are first removed.
const CLIENTS_MIN: usize = 1024;

/// How long answers wait for room, and how long others keep it meanwhile.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// How long an answer waits for room. Then it is refused.
    wait_max: Duration,
    /// How long an answer may keep its room while others wait.
    held_min: Duration,
    /// How often those who wait look for answers that have kept their room too long.
    look_every: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { wait_max: Duration::from_secs(10), held_min: Duration::from_secs(5), look_every: Duration::from_secs(1) }
    }
}

/// Room for the answers of all clients.
#[derive(Clone, Debug)]
pub struct AnswerMemory {
    small: Arc<Pool>,
    large: Arc<Pool>,
}

#[derive(Debug)]
struct Pool {
    units: u32,
    patience: Patience,
    room: Arc<Semaphore>,
    shares: Mutex<HashMap<Client, Weak<Semaphore>>>,
    holders: Mutex<Holders>,
}

/// The answers that have room now, in the order in which they got it.
#[derive(Debug, Default)]
struct Holders {
    next: u64,
    by_number: BTreeMap<u64, Holder>,
}

#[derive(Debug)]
struct Holder {
    since: Instant,
    asker: Asker,
}

/// A connection; to cancel its token closes it. In the extensions of a request over a socket.
#[derive(Clone, Debug, Default)]
pub(super) struct Connection(pub(super) CancellationToken);

/// Who asks for an answer, and over which connection.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    requester: Requester,
    connection: Connection,
}

/// The room of one answer.
#[derive(Debug)]
pub(super) struct Room {
    pool: Arc<Pool>,
    number: u64,
    of_all: OwnedSemaphorePermit,
    of_client: Option<OwnedSemaphorePermit>,
}

impl AnswerMemory {
    /// Room for answers where no message is longer than `message_octets_max`.
    pub fn new(message_octets_max: u64) -> Self {
        Self::with_patience(message_octets_max, Patience::default())
    }

    fn with_patience(message_octets_max: u64, patience: Patience) -> Self {
        let largest = message_octets_max.saturating_mul(RENDERED) + OVERHEAD;
        Self { small: Pool::new(SMALL_POOL, patience), large: Pool::new(largest.max(LARGE_POOL_MIN), patience) }
    }

    /// Reserves what it takes at most to show these Emails as JSON.
    pub(super) async fn reserve_rendered(&self, asker: &Asker, emails: &[Listed]) -> Result<Room, Problem> {
        let octets: u64 = emails.iter().map(|listed| listed.size_octets).sum();
        self.reserve(asker, octets.saturating_mul(RENDERED)).await
    }

    /// Reserves room for so many octets. The problem is that there was none in time.
    pub(super) async fn reserve(&self, asker: &Asker, octets: u64) -> Result<Room, Problem> {
        let octets = octets.saturating_add(OVERHEAD);
        let pool = if octets <= SMALL_MAX { &self.small } else { &self.large };
        let reserved = timeout(pool.patience.wait_max, pool.reserve(asker, units(octets))).await;
        reserved.map_err(|_| {
            Problem::new(Code::Busy, "too many answers with mail are on their way to slow readers; try again")
                .with_retry_after(5)
        })
    }
}

fn units(octets: u64) -> u32 {
    u32::try_from(octets.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

impl Pool {
    fn new(octets: u64, patience: Patience) -> Arc<Self> {
        let units = units(octets);
        let room = Arc::new(Semaphore::new(units as usize));
        Arc::new(Self { units, patience, room, shares: Mutex::default(), holders: Mutex::default() })
    }

    async fn reserve(self: &Arc<Self>, asker: &Asker, units: u32) -> Room {
        let units = units.min(self.units);
        let of_client = match asker.requester {
            Requester::Administrator => None,
            Requester::At(client) => {
                let (share, units_max) = self.share(client);
                Some(self.acquire(share, units.min(units_max), Some(asker.requester)).await)
            }
        };
        let of_all = self.acquire(Arc::clone(&self.room), units, None).await;
        let number = self.holders().add(asker.clone());
        Room { pool: Arc::clone(self), number, of_all, of_client }
    }

    /// Waits for room. Meanwhile answers that have kept theirs too long lose it: those of `requester`, or all.
    async fn acquire(
        &self,
        semaphore: Arc<Semaphore>,
        units: u32,
        requester: Option<Requester>,
    ) -> OwnedSemaphorePermit {
        let acquired = semaphore.acquire_many_owned(units);
        tokio::pin!(acquired);
        loop {
            match timeout(self.patience.look_every, acquired.as_mut()).await {
                Ok(permit) => return permit.expect("the semaphores are never closed"),
                Err(_) => self.holders().close_old(self.patience.held_min, requester),
            }
        }
    }

    /// The share of a client, and the units of a whole one.
    fn share(&self, client: Client) -> (Arc<Semaphore>, u32) {
        let units_max = self.units / u32::try_from(SHARES).unwrap_or(1);
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if shares.len() >= CLIENTS_MIN && shares.len().is_power_of_two() {
            shares.retain(|_, share| share.strong_count() > 0);
        }
        let share = shares.entry(client).or_default();
        let semaphore = share.upgrade().unwrap_or_else(|| {
            let semaphore = Arc::new(Semaphore::new(units_max as usize));
            *share = Arc::downgrade(&semaphore);
            semaphore
        });
        (semaphore, units_max)
    }

    fn holders(&self) -> MutexGuard<'_, Holders> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Holders {
    fn add(&mut self, asker: Asker) -> u64 {
        self.next += 1;
        self.by_number.insert(self.next, Holder { since: Instant::now(), asker });
        self.next
    }

    /// Closes the connections whose answers have had room for longer than `held_min`.
    fn close_old(&self, held_min: Duration, requester: Option<Requester>) {
        let is_old = |holder: &&Holder| holder.since.elapsed() >= held_min;
        for Holder { asker, .. } in self.by_number.values().take_while(is_old) {
            if requester.is_none_or(|requester| requester == asker.requester) {
                asker.connection.0.cancel();
            }
        }
    }
}

impl Room {
    /// Gives back what is beyond `octets`.
    pub(super) fn shrink_to(&mut self, octets: u64) {
        let needed = units(octets.saturating_add(OVERHEAD)) as usize;
        for permit in [Some(&mut self.of_all), self.of_client.as_mut()].into_iter().flatten() {
            drop(permit.split(permit.num_permits().saturating_sub(needed)));
        }
    }

    /// Whether there is room for so many octets.
    pub(super) fn fits(&self, octets: usize) -> bool {
        units(octets as u64) as usize <= self.of_all.num_permits()
    }

    /// Octets that keep this room until they are sent or dropped, and no more of it than they need.
    pub(super) fn hold(mut self, octets: impl AsRef<[u8]> + Send + 'static) -> Bytes {
        self.shrink_to(octets.as_ref().len() as u64);
        Bytes::from_owner(Held { octets, _room: self })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.pool.holders().by_number.remove(&self.number);
    }
}

struct Held<T> {
    octets: T,
    _room: Room,
}

impl<T: AsRef<[u8]>> AsRef<[u8]> for Held<T> {
    fn as_ref(&self) -> &[u8] {
        self.octets.as_ref()
    }
}

impl<S: Sync> FromRequestParts<S> for Asker {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let connection = parts.extensions.get().cloned().unwrap_or_default();
        Ok(Self { requester: Requester::of(&parts.extensions), connection })
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    const MESSAGE_MAX: u64 = 10 << 20;

    fn asker(number: u8) -> Asker {
        let address = IpAddr::V4(Ipv4Addr::new(192, 0, 2, number));
        Asker { requester: Requester::At(Client::of(address)), connection: Connection::default() }
    }

    /// Answers that find no room are refused at once.
    fn impatient() -> AnswerMemory {
        memory(Duration::ZERO, Duration::MAX)
    }

    fn memory(wait_max: Duration, held_min: Duration) -> AnswerMemory {
        let patience = Patience { wait_max, held_min, look_every: Duration::from_millis(1) };
        AnswerMemory::with_patience(MESSAGE_MAX, patience)
    }

    /// Asks for the room that the largest message takes to become JSON.
    async fn largest(memory: &AnswerMemory, asker: &Asker) -> Result<Room, Problem> {
        memory.reserve(asker, MESSAGE_MAX * RENDERED).await
    }

    #[tokio::test]
    async fn small_answers_never_wait_for_large_ones() {
        let memory = impatient();
        let _room = largest(&memory, &asker(1)).await.expect("room");
        memory.reserve(&asker(1), 100 * UNIT).await.expect("room for a small answer");
        let refused = largest(&memory, &asker(2)).await.expect_err("no room");
        assert_eq!(refused.code(), Code::Busy);
    }

    #[tokio::test]
    async fn a_client_has_its_share_and_leaves_the_rest_to_others() {
        let memory = impatient();
        let share = SMALL_POOL / SHARES / SMALL_MAX;
        let mut rooms = Vec::new();
        for _ in 0..share {
            rooms.push(memory.reserve(&asker(1), SMALL_MAX - OVERHEAD).await.expect("room"));
        }
        let busy = memory.reserve(&asker(1), SMALL_MAX - OVERHEAD).await.expect_err("no room");
        assert_eq!(busy.code(), Code::Busy);
        memory.reserve(&asker(2), SMALL_MAX - OVERHEAD).await.expect("another client has room");
        rooms.pop();
        memory.reserve(&asker(1), SMALL_MAX - OVERHEAD).await.expect("room was given back");
    }

    #[tokio::test]
    async fn room_goes_back_as_far_as_it_is_not_needed_and_then_with_the_octets() {
        let memory = memory(Duration::MAX, Duration::MAX);
        let mut room = largest(&memory, &asker(1)).await.expect("room");
        room.shrink_to(UNIT);
        let octets = room.hold(vec![0; 1024]);
        let room = memory.reserve(&asker(2), MESSAGE_MAX * (RENDERED - 1)).await.expect("what was given back");
        let third = asker(3);
        let waiting = largest(&memory, &third);
        tokio::pin!(waiting);
        assert!(futures_util::poll!(waiting.as_mut()).is_pending());
        drop(room);
        assert!(futures_util::poll!(waiting.as_mut()).is_pending());
        drop(octets);
        waiting.await.expect("all of it");
    }

    #[tokio::test]
    async fn a_slow_reader_keeps_its_room_until_others_wait_for_it() {
        let memory = memory(Duration::MAX, Duration::ZERO);
        let slow = asker(1);
        let room = largest(&memory, &slow).await.expect("room");
        assert!(!slow.connection.0.is_cancelled());
        let closed = slow.connection.0.clone();
        // The connection ends when it is closed, and its answer with it.
        tokio::spawn(async move {
            closed.cancelled().await;
            drop(room);
        });
        largest(&memory, &asker(2)).await.expect("the room of the slow reader");
    }

    #[tokio::test]
    async fn a_client_that_waits_for_its_own_share_closes_no_other() {
        let memory = memory(Duration::MAX, Duration::ZERO);
        let other = asker(1);
        let _room = memory.reserve(&other, UNIT).await.expect("room");
        let mut rooms = Vec::new();
        let greedy = asker(2);
        for _ in 0..SMALL_POOL / SHARES / SMALL_MAX {
            rooms.push(memory.reserve(&greedy, SMALL_MAX - OVERHEAD).await.expect("room"));
        }
        tokio::select! {
            _ = memory.reserve(&greedy, SMALL_MAX - OVERHEAD) => panic!("there was no room"),
            () = greedy.connection.0.cancelled() => {}
        }
        assert!(!other.connection.0.is_cancelled());
    }

    #[tokio::test]
    async fn clients_that_ask_for_nothing_now_are_forgotten() {
        let memory = impatient();
        for number in 0..100_000_u32 {
            let client = Client::of(IpAddr::V4(number.into()));
            let asker = Asker { requester: Requester::At(client), connection: Connection::default() };
            drop(memory.reserve(&asker, UNIT).await.expect("room"));
        }
        let clients = memory.small.shares.lock().expect("shares").len();
        assert!(clients <= 2 * CLIENTS_MIN, "{clients} clients");
    }
}
