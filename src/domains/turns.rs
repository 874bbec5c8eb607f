//! The checks that callers may have in progress. Each client has its own share, so that slow names of one client delay
//! no other client.

use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::connections::shares::Shares;
use crate::model::Client;

/// The most checks of one client at once.
const OF_CLIENT_MAX: u32 = 4;

/// The most checks of all clients at once. Rounds of verification have their own limit.
const OF_ALL_MAX: usize = 64;

/// How long a caller waits for its turn.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);

/// The turns of all clients.
pub(super) struct Turns {
    of_all: Semaphore,
    of_clients: Shares,
}

/// Permission for one check, until it is dropped: the client's, and that of all.
type Turn<'t> = (OwnedSemaphorePermit, SemaphorePermit<'t>);

impl Turns {
    pub(super) fn new() -> Self {
        Self { of_all: Semaphore::new(OF_ALL_MAX), of_clients: Shares::new(OF_CLIENT_MAX) }
    }

    /// Waits for a turn; `None` if it does not come in time.
    pub(super) async fn take(&self, client: Client) -> Option<Turn<'_>> {
        let own = self.of_clients.of(client);
        let turn = async { Some((own.acquire_owned().await.ok()?, self.of_all.acquire().await.ok()?)) };
        timeout(QUEUE_TIMEOUT, turn).await.ok().flatten()
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
    async fn all_clients_together_have_a_limit() {
        let turns = Turns::new();
        let mut held = Vec::new();
        for number in 0..OF_ALL_MAX {
            let client = client(u8::try_from(number).expect("a small number"));
            held.push(turns.take(client).now_or_never().flatten().expect("a turn"));
        }
        assert!(turns.take(client(200)).now_or_never().is_none(), "it waits");
    }
}
