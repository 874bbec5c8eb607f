//! Memory for incoming messages: a budget for all sessions, of which one client may have a part only.
//!
//! Each message reserves a share before the client may send it, and releases it after the store has answered. A message
//! never uses more memory than its share. A reservation never waits: without room it fails, and the client retries later.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::reasons::Limit;
use crate::model::Client;

/// How much memory all incoming messages may use, and those of one client.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Limits>);

#[derive(Debug)]
struct Limits {
    octets_max: u64,
    octets_per_client_max: u64,
    reserved: Mutex<Reserved>,
}

/// The octets that are reserved. A client without a reservation has no entry.
#[derive(Debug, Default)]
struct Reserved {
    octets: u64,
    clients: HashMap<Client, u64>,
}

/// The memory that is reserved for one message; released when this is dropped.
#[derive(Debug)]
pub struct Share {
    limits: Arc<Limits>,
    client: Option<Client>,
    octets: u64,
}

impl Budget {
    /// A budget in octets, all of which one client may have.
    pub fn new(octets_max: u64) -> Self {
        Self::per_client(octets_max, u64::MAX)
    }

    /// A budget in octets, of which one client may have `octets_per_client_max`.
    pub(super) fn per_client(octets_max: u64, octets_per_client_max: u64) -> Self {
        Self(Arc::new(Limits { octets_max, octets_per_client_max, reserved: Mutex::default() }))
    }

    /// Whether more than three quarters are reserved.
    pub(super) fn is_scarce(&self) -> bool {
        self.0.reserved().octets > self.0.octets_max / 4 * 3
    }

    /// Reserves so many octets; the error is the limit that they exceed. `None` stands for a client without a limit of
    /// its own.
    pub fn reserve(&self, client: Option<Client>, octets: u64) -> Result<Share, Limit> {
        self.0.reserved().add(&self.0, client, octets)?;
        Ok(Share { limits: Arc::clone(&self.0), client, octets })
    }
}

impl Share {
    /// How many octets are reserved.
    pub const fn octets(&self) -> u64 {
        self.octets
    }

    /// Reserves more, so that at least `octets` are reserved. After an error the share is as it was.
    pub fn grow_to(&mut self, octets: u64) -> Result<(), Limit> {
        if let Some(more) = octets.checked_sub(self.octets) {
            self.limits.reserved().add(&self.limits, self.client, more)?;
            self.octets = octets;
        }
        Ok(())
    }

    /// Releases what is beyond `octets`.
    pub fn shrink_to(&mut self, octets: u64) {
        if let Some(surplus) = self.octets.checked_sub(octets) {
            self.limits.reserved().remove(self.client, surplus);
            self.octets = octets;
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

impl Limits {
    fn reserved(&self) -> MutexGuard<'_, Reserved> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reserved {
    fn add(&mut self, limits: &Limits, client: Option<Client>, octets: u64) -> Result<(), Limit> {
        let of_client = client.and_then(|client| self.clients.get(&client)).map_or(0, |reserved| *reserved);
        let of_client = of_client.saturating_add(octets);
        if client.is_some() && of_client > limits.octets_per_client_max {
            return Err(Limit::ClientMemory);
        }
        let in_all = self.octets.checked_add(octets).filter(|in_all| *in_all <= limits.octets_max);
        self.octets = in_all.ok_or(Limit::Memory)?;
        if let Some(client) = client.filter(|_| of_client > 0) {
            self.clients.insert(client, of_client);
        }
        Ok(())
    }

    fn remove(&mut self, client: Option<Client>, octets: u64) {
        self.octets -= octets;
        if let Some(client) = client
            && let Entry::Occupied(mut of_client) = self.clients.entry(client)
        {
            *of_client.get_mut() -= octets;
            if *of_client.get() == 0 {
                of_client.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_never_exceed_the_budget() {
        let budget = Budget::new(10);
        let reserve = |octets| budget.reserve(None, octets);
        let mut first = reserve(4).expect("room");
        let second = reserve(6).expect("room");
        assert_eq!(reserve(1).err(), Some(Limit::Memory));
        assert_eq!((first.grow_to(4), first.grow_to(5)), (Ok(()), Err(Limit::Memory)));
        assert_eq!((first.octets(), second.octets()), (4, 6));
        drop(second);
        assert_eq!(first.grow_to(10), Ok(()));
        assert_eq!(reserve(1).err(), Some(Limit::Memory));
        first.shrink_to(1);
        assert_eq!(first.octets(), 1);
        assert!(reserve(9).is_ok());
        drop(first);
        assert!(reserve(10).is_ok());
    }

    #[test]
    fn a_client_has_a_part_of_the_budget() {
        let [one, other, third] = [1, 2, 3].map(|host| Client::of([192, 0, 2, host].into()));
        let budget = Budget::per_client(12, 5);
        let reserve = |client, octets| budget.reserve(Some(client), octets);
        let mut first = reserve(one, 1).expect("room");
        assert_eq!((first.grow_to(5), first.grow_to(6)), (Ok(()), Err(Limit::ClientMemory)));
        assert_eq!(reserve(one, 1).err(), Some(Limit::ClientMemory));
        assert!(reserve(one, 0).is_ok());
        let others = (reserve(other, 3).expect("room"), budget.reserve(None, 4).expect("room"));
        assert_eq!(reserve(third, 1).err(), Some(Limit::Memory));
        first.shrink_to(1);
        // A reservation that failed does not count for its client.
        assert!(reserve(third, 4).is_ok());
        assert_eq!(first.grow_to(5), Ok(()));
        drop((first, others));
        assert!(budget.0.reserved().clients.is_empty());
        assert_eq!(budget.0.reserved().octets, 0);
    }

    #[test]
    fn it_is_scarce_when_more_than_three_quarters_are_reserved() {
        let budget = Budget::new(8 * 1024);
        let mut share = budget.reserve(None, 6 * 1024).expect("room");
        assert!(!budget.is_scarce());
        share.grow_to(6 * 1024 + 1).expect("room");
        assert!(budget.is_scarce());
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let budget = Budget::new(u64::MAX);
        let share = budget.reserve(Some(Client::of([192, 0, 2, 1].into())), u64::MAX);
        assert!(share.is_ok() && budget.reserve(None, 1).is_err());
        assert!(Budget::new(1 << 30).reserve(None, u64::MAX).is_err());
        assert!(Budget::new(0).reserve(None, 0).is_ok());
    }
}
