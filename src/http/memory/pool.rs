//! Room of one pool for the answers of all clients.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::holders::{Holders, Whose};
use super::{Asker, OVERHEAD, Patience, UNIT};
use crate::connections::shares::Shares;
use crate::http::principal::Requester;

/// One client's share of a pool is this part. An answer that needs more than the share has all of it.
pub(super) const SHARES: u32 = 4;

/// A bound in memory.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) patience: Patience,
    units: u32,
    room: Arc<Semaphore>,
    pub(super) shares: Shares,
    /// The one answer that may have more than a share. With several, a few clients would keep the whole pool.
    oversize: Arc<Semaphore>,
    holders: Mutex<Holders>,
}

/// The room of one answer.
#[derive(Debug)]
pub(in crate::http) struct Room {
    pool: Arc<Pool>,
    number: u64,
    of_all: OwnedSemaphorePermit,
    of_client: Option<OfClient>,
    _oversize: Option<OwnedSemaphorePermit>,
}

/// What an answer takes from the shares of its client.
#[derive(Debug)]
struct OfClient {
    share: OwnedSemaphorePermit,
    /// Given back when the answer is prepared.
    preparation: Option<OwnedSemaphorePermit>,
}

fn units(octets: u64) -> u32 {
    u32::try_from(octets.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

impl Pool {
    pub(super) fn new(octets: u64, patience: Patience) -> Arc<Self> {
        let units = units(octets);
        Arc::new(Self {
            patience,
            units,
            room: Arc::new(Semaphore::new(units as usize)),
            shares: Shares::new(units / SHARES),
            oversize: Arc::new(Semaphore::new(1)),
            holders: Mutex::default(),
        })
    }

    /// Waits for room for an answer of `octets`, and for a turn of its client to prepare it.
    pub(super) async fn reserve(self: &Arc<Self>, asker: &Asker, octets: u64, prepared: &Shares) -> Room {
        let units = units(octets).min(self.units);
        let of_client = match asker.requester {
            Requester::Administrator => None,
            Requester::At(client) => {
                let share = units.min(self.shares.units_max);
                let share = self.acquire_own(asker, self.shares.of(client), share).await;
                let preparation = Some(self.acquire_own(asker, prepared.of(client), 1).await);
                Some(OfClient { share, preparation })
            }
        };
        let is_oversize = of_client.is_some() && units > self.shares.units_max;
        let oversize =
            if is_oversize { Some(self.acquire(Arc::clone(&self.oversize), 1, Whose::Oversize).await) } else { None };
        let of_all = self.acquire(Arc::clone(&self.room), units, Whose::All).await;
        let number = self.holders().add(asker.clone(), is_oversize);
        Room { pool: Arc::clone(self), number, of_all, of_client, _oversize: oversize }
    }

    /// Waits for what the client's own answers leave of its share. Meanwhile its connection may be evicted.
    async fn acquire_own(&self, asker: &Asker, share: Arc<Semaphore>, units: u32) -> OwnedSemaphorePermit {
        if let Ok(permit) = Arc::clone(&share).try_acquire_many_owned(units) {
            return permit;
        }
        let _held_up = asker.exchange.held_up();
        self.acquire(share, units, Whose::Of(asker.requester)).await
    }

    /// Waits for room. Meanwhile answers that have kept theirs too long lose it.
    async fn acquire(&self, semaphore: Arc<Semaphore>, units: u32, whose: Whose) -> OwnedSemaphorePermit {
        let held_min = match whose {
            Whose::Oversize => self.patience.oversize_held_min,
            Whose::All | Whose::Of(_) => self.patience.held_min,
        };
        let acquired = semaphore.acquire_many_owned(units);
        tokio::pin!(acquired);
        loop {
            match timeout(self.patience.look_every, acquired.as_mut()).await {
                Ok(permit) => return permit.expect("the semaphores are never closed"),
                Err(_) => self.holders().abort_old(held_min, whose),
            }
        }
    }

    fn holders(&self) -> MutexGuard<'_, Holders> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Room {
    /// Gives back what is beyond `octets`.
    pub(super) fn shrink_to(&mut self, octets: u64) {
        let needed = units(octets.saturating_add(OVERHEAD)) as usize;
        let of_client = self.of_client.as_mut().map(|of_client| &mut of_client.share);
        for permit in [Some(&mut self.of_all), of_client].into_iter().flatten() {
            drop(permit.split(permit.num_permits().saturating_sub(needed)));
        }
    }

    /// Whether there is room for so many octets.
    pub(in crate::http) fn fits(&self, octets: usize) -> bool {
        units(octets as u64) as usize <= self.of_all.num_permits()
    }

    /// Octets that the client can read from now on. They keep this room until they are sent or dropped, and no more of it
    /// than they need.
    pub(in crate::http) fn hold(mut self, octets: impl AsRef<[u8]> + Send + 'static) -> Bytes {
        self.shrink_to(octets.as_ref().len() as u64);
        if let Some(of_client) = &mut self.of_client {
            of_client.preparation = None;
        }
        self.pool.holders().is_readable(self.number);
        Bytes::from_owner(Held { octets, _room: self })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.pool.holders().remove(self.number);
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
