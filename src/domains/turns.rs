//! The checks that callers may have in progress. Each client has its own share, so that slow names of one client delay
//! no other client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::model::Client;

/// The most checks of one client at once.
const OF_CLIENT_MAX: usize = 4;

/// The most checks of all clients at once. Rounds of verification have their own limit.
const OF_ALL_MAX: usize = 64;

/// How long a caller waits for its turn.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);

/// The turns of all clients.
pub(super) struct Turns {
    of_all: Semaphore,
    clients: Mutex<HashMap<Client, Share>>,
}

/// The turns of one client. It exists while a caller uses it or waits for it.
struct Share {
    turns: Arc<Semaphore>,
    callers: usize,
}

/// Permission for one check, until it is dropped.
pub(super) struct Turn<'t> {
    _of_all: SemaphorePermit<'t>,
    _of_client: OwnedSemaphorePermit,
    _caller: Caller<'t>,
}

/// A caller that has a turn or waits for one.
struct Caller<'t> {
    all: &'t Turns,
    client: Client,
}

impl Turns {
    pub(super) fn new() -> Self {
        Self { of_all: Semaphore::new(OF_ALL_MAX), clients: Mutex::default() }
    }

    /// Waits for a turn; `None` if it does not come in time.
    pub(super) async fn take(&self, client: Client) -> Option<Turn<'_>> {
        let (caller, own) = self.enter(client);
        let turn = async {
            let of_client = own.acquire_owned().await.ok()?;
            let of_all = self.of_all.acquire().await.ok()?;
            Some((of_client, of_all))
        };
        let (of_client, of_all) = tokio::time::timeout(QUEUE_TIMEOUT, turn).await.ok().flatten()?;
        Some(Turn { _of_all: of_all, _of_client: of_client, _caller: caller })
    }

    fn enter(&self, client: Client) -> (Caller<'_>, Arc<Semaphore>) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Share { turns: Arc::new(Semaphore::new(OF_CLIENT_MAX)), callers: 0 };
        let share = clients.entry(client).or_insert_with(new);
        share.callers += 1;
        (Caller { all: self, client }, Arc::clone(&share.turns))
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        let mut clients = self.all.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = clients.get_mut(&self.client) {
            share.callers -= 1;
            if share.callers == 0 {
                clients.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn client(last: u8) -> Client {
        Client::of([192, 0, 2, last].into())
    }

    #[tokio::test]
    async fn a_client_without_a_turn_left_waits_and_others_do_not() {
        let turns = Turns::new();
        let mut held = Vec::new();
        for _ in 0..OF_CLIENT_MAX {
            held.push(turns.take(client(1)).now_or_never().flatten().expect("a turn"));
        }
        assert!(turns.take(client(1)).now_or_never().is_none(), "it waits");
        assert!(turns.take(client(2)).now_or_never().flatten().is_some());
        held.pop();
        assert!(turns.take(client(1)).now_or_never().flatten().is_some());
    }

    #[tokio::test]
    async fn all_clients_together_have_a_limit_and_none_is_remembered() {
        let turns = Turns::new();
        let mut held = Vec::new();
        for number in 0..OF_ALL_MAX {
            let client = client(u8::try_from(number).expect("a small number"));
            held.push(turns.take(client).now_or_never().flatten().expect("a turn"));
        }
        assert!(turns.take(client(200)).now_or_never().is_none(), "it waits");
        drop(held);
        assert!(turns.clients.lock().expect("clients").is_empty());
    }
}
