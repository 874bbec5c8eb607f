//! What each client may have of something at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;

use crate::model::Client;

/// The number of clients at which idle ones are first removed.
pub(crate) const CLIENTS_MIN: usize = 1024;

/// A share for each client that uses its share now. Others are forgotten.
#[derive(Debug)]
pub(crate) struct Shares {
    /// The units of a share.
    pub(crate) units_max: u32,
    of_clients: Mutex<HashMap<Client, Weak<Semaphore>>>,
}

impl Shares {
    pub(crate) fn new(units_max: u32) -> Self {
        Self { units_max, of_clients: Mutex::default() }
    }

    /// The share of a client.
    pub(crate) fn of(&self, client: Client) -> Arc<Semaphore> {
        let mut shares = self.of_clients.lock().unwrap_or_else(PoisonError::into_inner);
        if shares.len() >= CLIENTS_MIN && shares.len().is_power_of_two() {
            shares.retain(|_, share| share.strong_count() > 0);
        }
        let share = shares.entry(client).or_default();
        share.upgrade().unwrap_or_else(|| {
            let semaphore = Arc::new(Semaphore::new(self.units_max as usize));
            *share = Arc::downgrade(&semaphore);
            semaphore
        })
    }

    #[cfg(test)]
    pub(crate) fn clients(&self) -> usize {
        self.of_clients.lock().expect("shares").len()
    }
}
