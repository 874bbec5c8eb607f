//! Places of requests that wait for mail: so many in all, and so many of one client.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use ipnet::IpNet;

use super::berth::{self, OwnConnection};
use super::edge::Peer;
use super::principal::Requester;
use super::problem::{Code, Problem};
use crate::config::Config;
use crate::counts::{Count, Counts};
use crate::model::Client;

/// How long a client should wait before it tries again to get a place, in seconds.
const RETRY_AFTER: u32 = 5;

/// The places of requests that wait for mail.
#[derive(Clone, Debug)]
pub struct WaitingPlaces(Arc<Places>);

#[derive(Debug)]
struct Places {
    max: usize,
    per_client_max: usize,
    exempt: Vec<IpNet>,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    of_clients: HashMap<Client, usize>,
}

/// A request that may wait.
#[derive(Debug)]
pub(super) struct Waiter {
    /// `None`: no limit of a client applies.
    client: Option<Client>,
    peer: Option<Peer>,
    connection: Option<OwnConnection>,
}

/// The place of a request that waits. Its connection leaves its slot if all of its requests have one.
#[derive(Debug)]
pub(super) struct Place {
    places: WaitingPlaces,
    client: Option<Client>,
    _of_connection: Option<berth::Waiting>,
}

impl WaitingPlaces {
    /// As many places as the settings say.
    pub fn new(config: &Config) -> Self {
        let (max, per_client_max) = (config.http.waiting_max, config.http.waiting_per_client_max);
        let exempt = config.smtp.exempt.clone();
        Self(Arc::new(Places { max, per_client_max, exempt, taken: Mutex::default() }))
    }

    /// Takes a place for a request. The problem is that there is none.
    pub(super) fn take(&self, waiter: &Waiter) -> Result<Place, Problem> {
        let Places { max, per_client_max, exempt, .. } = &*self.0;
        let is_exempt = waiter.peer.is_some_and(|Peer(peer)| {
            let address = peer.ip().to_canonical();
            exempt.iter().any(|network| network.contains(&address))
        });
        let client = waiter.client.filter(|_| !is_exempt);
        let is_administrator = waiter.client.is_none();
        let mut taken = self.taken();
        // Strangers who hold all places keep out only strangers.
        if taken.all >= *max && !is_administrator {
            let detail = "all places of requests that wait for mail are taken; try again";
            return Err(Problem::new(Code::TooManyWaiting, detail).with_retry_after(RETRY_AFTER));
        }
        if let Some(client) = client {
            let of_client = taken.of_clients.entry(client).or_default();
            if *of_client >= *per_client_max {
                let detail = format!("this client has {per_client_max} requests that wait for mail; end some");
                return Err(Problem::new(Code::TooManyWaitingForClient, detail).with_retry_after(RETRY_AFTER));
            }
            *of_client += 1;
        }
        taken.all += 1;
        drop(taken);
        let of_connection = waiter.connection.as_ref().map(|connection| connection.in_progress.wait());
        Ok(Place { places: self.clone(), client, _of_connection: of_connection })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts for WaitingPlaces {
    fn read(&self) -> Vec<Count> {
        vec![Count::one("waiting", self.taken().all as u64)]
    }
}

impl Waiter {
    /// Waits until the service stops. The problem tells the client to try again.
    pub(super) async fn stopping(&self) -> Problem {
        match &self.connection {
            Some(connection) => connection.stopping.cancelled().await,
            None => std::future::pending().await,
        }
        Problem::new(Code::Stopping, "the service stops; try again").with_retry_after(1)
    }
}

impl Place {
    /// Octets that keep the place until they are written or dropped.
    pub(super) fn keep_for(self, octets: Bytes) -> Bytes {
        Bytes::from_owner(Kept { octets, _place: self })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.all -= 1;
        if let Some(client) = self.client
            && let Some(of_client) = taken.of_clients.get_mut(&client)
        {
            *of_client -= 1;
            if *of_client == 0 {
                taken.of_clients.remove(&client);
            }
        }
    }
}

struct Kept {
    octets: Bytes,
    _place: Place,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.octets
    }
}

impl<S: Sync> FromRequestParts<S> for Waiter {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let extensions = &parts.extensions;
        let (peer, connection) = (extensions.get().copied(), extensions.get().cloned());
        Ok(Self { client: Requester::of(extensions).client(), peer, connection })
    }
}
