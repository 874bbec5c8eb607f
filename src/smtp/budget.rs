//! The memory for messages that are coming in: one budget for all sessions, of which each message has a share, and each
//! client a part.
//!
//! A message never takes more memory than its share, the shares of a client never come to more than its part, and all
//! shares never to more than the budget. A share is there from before the client may send to after the store has
//! answered. Nobody waits here: where nothing is left, the client is told to come again.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::holdings::{Holdings, Whose};
use super::metrics::Bound;

/// What is counted in: one number must be enough for any budget.
const UNIT_OCTETS: u64 = 1024;

/// How much memory all messages that are coming in may take, and those of one client.
#[derive(Clone, Debug)]
pub struct Budget {
    max: usize,
    units: Arc<Semaphore>,
    parts: Arc<Parts>,
}

/// Units that clients hold.
#[derive(Debug)]
struct Parts(Mutex<Holdings>);

/// What a client holds of its part; given back when this is dropped. Nobody counts what has no client.
#[derive(Debug)]
struct Holding {
    parts: Arc<Parts>,
    client: Option<IpAddr>,
    units: u64,
}

/// A part of a [`Budget`], given back when it is dropped.
#[derive(Debug)]
pub struct Share {
    permit: OwnedSemaphorePermit,
    holding: Holding,
}

impl Budget {
    /// A budget of so many octets, rounded up to KB, all of which one client may have.
    pub fn new(octets: u64) -> Self {
        Self::parted(octets, u64::MAX, u64::MAX)
    }

    /// The same, of which one address and one network (/24 of IPv4, /64 of IPv6) may have so many.
    pub(super) fn parted(octets: u64, per_address_max: u64, per_network_max: u64) -> Self {
        let max = usize::try_from(octets.div_ceil(UNIT_OCTETS)).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        let parts = Holdings::new(per_address_max.div_ceil(UNIT_OCTETS), per_network_max.div_ceil(UNIT_OCTETS));
        Self { max, units: Arc::new(Semaphore::new(max)), parts: Arc::new(Parts(Mutex::new(parts))) }
    }

    /// Whether more than three quarters are set aside.
    pub(super) fn is_scarce(&self) -> bool {
        self.units.available_permits() < self.max / 4
    }

    /// Sets so many octets aside; the error is the bound beyond which they are.
    pub fn share(&self, octets: u64) -> Result<Share, Bound> {
        self.share_of(None, octets)
    }

    /// The same for a client, which has a part only, or for one of whom nobody counts what it has.
    pub(super) fn share_of(&self, client: Option<IpAddr>, octets: u64) -> Result<Share, Bound> {
        let units = units(octets);
        let mut holding = Holding { parts: Arc::clone(&self.parts), client, units: 0 };
        holding.grow(u64::from(units))?;
        let permit = Arc::clone(&self.units).try_acquire_many_owned(units).map_err(|_| Bound::Memory)?;
        Ok(Share { permit, holding })
    }
}

impl Share {
    /// How many octets are set aside, a whole number of KB.
    pub fn octets(&self) -> u64 {
        self.permit.num_permits() as u64 * UNIT_OCTETS
    }

    /// Sets more aside, so that it is at least so many octets. After an error the share is as it was.
    pub fn grow_to(&mut self, octets: u64) -> Result<(), Bound> {
        let Some(more) = octets.checked_sub(self.octets()).map(units) else { return Ok(()) };
        self.holding.grow(u64::from(more))?;
        let granted = Arc::clone(self.permit.semaphore()).try_acquire_many_owned(more);
        if granted.is_err() {
            self.holding.shrink(u64::from(more));
        }
        granted.map(|granted| self.permit.merge(granted)).map_err(|_| Bound::Memory)
    }

    /// Gives back what is beyond so many octets.
    pub fn shrink_to(&mut self, octets: u64) {
        let kept = usize::try_from(units(octets)).unwrap_or(usize::MAX);
        let Some(surplus) = self.permit.num_permits().checked_sub(kept) else { return };
        // Dropping the part gives it back.
        drop(self.permit.split(surplus));
        self.holding.shrink(surplus as u64);
    }
}

impl Holding {
    fn grow(&mut self, units: u64) -> Result<(), Bound> {
        if let Some(client) = self.client {
            self.parts.held().take(client, units).map_err(|whose| match whose {
                Whose::Address => Bound::MemoryOfAddress,
                Whose::Network => Bound::MemoryOfNetwork,
            })?;
        }
        self.units += units;
        Ok(())
    }

    fn shrink(&mut self, units: u64) {
        if let Some(client) = self.client {
            self.parts.held().give_back(client, units);
        }
        self.units -= units;
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.shrink(self.units);
    }
}

impl Parts {
    fn held(&self) -> MutexGuard<'_, Holdings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn units(octets: u64) -> u32 {
    u32::try_from(octets.div_ceil(UNIT_OCTETS)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_never_come_to_more_than_the_budget() {
        let budget = Budget::new(10 * 1024);
        let mut first = budget.share(4 * 1024).expect("room");
        let second = budget.share(5 * 1024 + 1).expect("room");
        assert_eq!(budget.share(1).err(), Some(Bound::Memory));
        assert_eq!((first.grow_to(4 * 1024), first.grow_to(4 * 1024 + 1)), (Ok(()), Err(Bound::Memory)));
        assert_eq!((first.octets(), second.octets()), (4 * 1024, 6 * 1024));
        drop(second);
        assert_eq!(first.grow_to(10 * 1024), Ok(()));
        assert_eq!(budget.share(1).err(), Some(Bound::Memory));
        first.shrink_to(1);
        assert_eq!(first.octets(), 1024);
        assert!(budget.share(9 * 1024).is_ok());
        drop(first);
        assert!(budget.share(10 * 1024).is_ok());
    }

    #[test]
    fn a_client_has_a_part_and_its_network_another() {
        let [one, neighbour, stranger] = [[192, 0, 2, 1], [192, 0, 2, 2], [192, 0, 3, 1]].map(IpAddr::from);
        let budget = Budget::parted(12 * 1024, 3 * 1024, 5 * 1024);
        let share = |client, octets| budget.share_of(Some(client), octets);
        let mut first = share(one, 1024).expect("room");
        assert_eq!((first.grow_to(3 * 1024), first.grow_to(3 * 1024 + 1)), (Ok(()), Err(Bound::MemoryOfAddress)));
        assert_eq!(share(one, 1).err(), Some(Bound::MemoryOfAddress));
        assert_eq!(share(neighbour, 3 * 1024).err(), Some(Bound::MemoryOfNetwork));
        let others = (share(neighbour, 2 * 1024).expect("room"), share(stranger, 3 * 1024).expect("room"));
        let uncounted = budget.share(4 * 1024).expect("room");
        assert_eq!(share([198, 51, 100, 1].into(), 1).err(), Some(Bound::Memory));
        // Who gets nothing is not counted for it either.
        drop(uncounted);
        assert!(share([198, 51, 100, 1].into(), 3 * 1024).is_ok());
        first.shrink_to(1024);
        assert_eq!(first.grow_to(3 * 1024), Ok(()));
        drop((first, others));
        assert!(budget.parts.held().is_empty());
    }

    #[test]
    fn it_is_scarce_when_more_than_three_quarters_are_set_aside() {
        let budget = Budget::new(8 * 1024);
        let mut share = budget.share(6 * 1024).expect("room");
        assert!(!budget.is_scarce());
        share.grow_to(7 * 1024).expect("room");
        assert!(budget.is_scarce());
    }

    #[test]
    fn what_no_budget_has_is_not_set_aside() {
        assert!(Budget::new(u64::MAX).share(u64::MAX).is_ok(), "the budget is as large as it can be counted");
        assert!(Budget::new(1 << 30).share(u64::MAX).is_err());
        assert!(Budget::new(0).share(0).is_ok());
        assert!(Budget::new(1025).share(1025).is_ok(), "a budget of one message has room for it");
    }
}
