//! The memory for messages that are coming in: one budget for all sessions, of which each message has a share.
//!
//! A message never takes more memory than its share, and the shares never come to more than the budget. A share is there
//! from before the client may send to after the store has answered. Nobody waits here: where nothing is left, the client
//! is told to come again.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is counted in: one number must be enough for any budget.
const UNIT_OCTETS: u64 = 1024;

/// How much memory all messages that are coming in may take.
#[derive(Clone, Debug)]
pub struct Budget {
    units: Arc<Semaphore>,
}

/// A part of a [`Budget`], given back when it is dropped.
#[derive(Debug)]
pub struct Share {
    permit: OwnedSemaphorePermit,
}

impl Budget {
    /// A budget of so many octets, rounded up to KB.
    pub fn new(octets: u64) -> Self {
        let units = usize::try_from(octets.div_ceil(UNIT_OCTETS)).unwrap_or(usize::MAX);
        Self { units: Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))) }
    }

    /// Sets so many octets aside; `None` if they are not left.
    pub fn share(&self, octets: u64) -> Option<Share> {
        let permit = Arc::clone(&self.units).try_acquire_many_owned(units(octets)).ok()?;
        Some(Share { permit })
    }
}

impl Share {
    /// How many octets are set aside, a whole number of KB.
    pub fn octets(&self) -> u64 {
        self.permit.num_permits() as u64 * UNIT_OCTETS
    }

    /// Sets more aside, so that it is at least so many octets. `false` if they are not left; the share stays as it is.
    pub fn grow_to(&mut self, octets: u64) -> bool {
        let Some(more) = octets.checked_sub(self.octets()) else { return true };
        let granted = Arc::clone(self.permit.semaphore()).try_acquire_many_owned(units(more));
        granted.map(|more| self.permit.merge(more)).is_ok()
    }

    /// Gives back what is beyond so many octets.
    pub fn shrink_to(&mut self, octets: u64) {
        let kept = usize::try_from(units(octets)).unwrap_or(usize::MAX);
        // Dropping the part gives it back; there is none if the share is smaller.
        drop(self.permit.num_permits().checked_sub(kept).and_then(|surplus| self.permit.split(surplus)));
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
        assert!(budget.share(1).is_none());
        assert!(first.grow_to(4 * 1024) && !first.grow_to(4 * 1024 + 1));
        assert_eq!((first.octets(), second.octets()), (4 * 1024, 6 * 1024));
        drop(second);
        assert!(first.grow_to(10 * 1024));
        assert!(budget.share(1).is_none());
        first.shrink_to(1);
        assert_eq!(first.octets(), 1024);
        assert!(budget.share(9 * 1024).is_some());
        drop(first);
        assert!(budget.share(10 * 1024).is_some());
    }

    #[test]
    fn what_no_budget_has_is_not_set_aside() {
        assert!(Budget::new(u64::MAX).share(u64::MAX).is_some(), "the budget is as large as it can be counted");
        assert!(Budget::new(1 << 30).share(u64::MAX).is_none());
        assert!(Budget::new(0).share(0).is_some());
        assert!(Budget::new(1025).share(1025).is_some(), "a budget of one message has room for it");
    }
}
