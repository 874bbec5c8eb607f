//! The rate limits of addresses: how many attempts and octets each may get, whatever names lead there.

mod accounts;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use accounts::{Accounts, Charged};

use crate::clock::Clock;

pub use accounts::Busy;

/// The rate limits of all addresses, and how much of them is used.
#[derive(Clone)]
pub(super) struct AddressLimits {
    accounts: Arc<Mutex<Accounts>>,
    clock: Arc<dyn Clock>,
}

/// Permits one attempt at an address. The attempt ends when the permit is dropped.
pub(super) struct Permit {
    limits: AddressLimits,
    accounts: Charged,
    pub(super) address: SocketAddr,
}

impl AddressLimits {
    /// A proven address and port gets `per_minute` attempts per minute, and twice as many in the first one. 0 counts as 1.
    /// Without a probation every address and port is proven.
    pub(super) fn new(per_minute: usize, has_probation: bool, clock: Arc<dyn Clock>) -> Self {
        Self { accounts: Arc::new(Mutex::new(Accounts::new(per_minute, has_probation))), clock }
    }

    /// Begins an attempt at `address`, or says when to try again.
    pub(super) fn begin(&self, address: SocketAddr) -> Result<Permit, Busy> {
        let accounts = self.accounts().begin(address, self.clock.boot())?;
        Ok(Permit { limits: self.clone(), accounts, address })
    }

    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// Records that the attempt sends so many octets.
    pub(super) fn send(&self, octets: usize) {
        self.limits.accounts().send(self.accounts, octets, self.limits.clock.boot());
    }

    /// Records that the answer was a 2xx, which ends the probation of this address and port.
    pub(super) fn prove(&self) {
        self.limits.accounts().prove(self.address, self.limits.clock.boot());
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.limits.accounts().end(self.accounts);
    }
}
