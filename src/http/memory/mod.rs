//! Memory for answers with mail: a bound for all of them, and a share for each client.
//!
//! An answer reserves room before its mail is loaded, and gives it back when the client has read it. Without room it waits,
//! first come, first served. Large answers have a pool of their own, so that small ones never wait for them. A client that
//! reads slowly keeps its room until others wait for it: then its exchange is aborted.
//!
//! ```text
//! mod   the pools, and which answer gets room from which
//! pool  room of one pool                     holders  the answers that have room now
//! ```

mod holders;
mod pool;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tokio::time::timeout;

use super::exchange::Exchange;
use super::principal::Requester;
use super::problem::{Code, Problem};
use crate::connections::shares::Shares;
use pool::Pool;

pub(super) use pool::Room;

/// The unit in which room is reserved, in octets.
const UNIT: u64 = 1024;
/// What a message needs at most while it becomes JSON, as a multiple of its size: its octets, its text, and both bodies
/// as JSON. A text of quotation marks needs 16 times its size, since HTML has six octets for each.
const RENDERED: u64 = 18;
/// What any answer needs beside its mail, in octets.
const OVERHEAD: u64 = 4 * UNIT;
/// Answers that may need more than this take their room from the pool of large ones, in octets.
const SMALL_MAX: u64 = 4 * 1024 * UNIT;
/// Room for small answers, in octets.
const SMALL_POOL: u64 = 48 * 1024 * UNIT;
/// The least room for large answers, in octets. It always suffices for the largest message.
const LARGE_POOL_MIN: u64 = 64 * 1024 * UNIT;
/// The most answers of a client that are prepared at once: those that wait for room of others, and those that are read.
/// With fewer, one connection after another would wait although the threads of the reader are idle.
const PREPARED_AT_ONCE: u32 = 8;

/// How long answers wait for room, and how long others keep it meanwhile.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// How long an answer waits for room. Then it is refused.
    wait_max: Duration,
    /// How long a client may take to read an answer while others wait for its room.
    held_min: Duration,
    /// The same where an answer has more than the share of its client, so that only one client can have such a one.
    oversize_held_min: Duration,
    /// How often those who wait look for answers that have kept their room too long.
    look_every: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            wait_max: Duration::from_secs(10),
            held_min: Duration::from_secs(5),
            oversize_held_min: Duration::from_secs(2),
            look_every: Duration::from_secs(1),
        }
    }
}

/// Room for the answers of all clients.
#[derive(Clone, Debug)]
pub struct AnswerMemory {
    small: Arc<Pool>,
    large: Arc<Pool>,
    prepared: Arc<Shares>,
}

/// Who asks for an answer, and in which exchange.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    requester: Requester,
    exchange: Exchange,
}

impl AnswerMemory {
    /// Room for answers where no message is longer than `message_octets_max`.
    pub fn new(message_octets_max: u64) -> Self {
        Self::with_patience(message_octets_max, Patience::default())
    }

    fn with_patience(message_octets_max: u64, patience: Patience) -> Self {
        let largest = message_octets_max.saturating_mul(RENDERED) + OVERHEAD;
        Self {
            small: Pool::new(SMALL_POOL, patience),
            large: Pool::new(largest.max(LARGE_POOL_MIN), patience),
            prepared: Arc::new(Shares::new(PREPARED_AT_ONCE)),
        }
    }

    /// Reserves what it takes at most to show messages of so many octets each as JSON.
    pub(super) async fn reserve_rendered(
        &self,
        asker: &Asker,
        octets: impl IntoIterator<Item = u64>,
    ) -> Result<Room, Problem> {
        self.reserve(asker, octets.into_iter().sum::<u64>().saturating_mul(RENDERED)).await
    }

    /// Reserves room for so many octets. The problem is that there was none in time.
    pub(super) async fn reserve(&self, asker: &Asker, octets: u64) -> Result<Room, Problem> {
        let octets = octets.saturating_add(OVERHEAD);
        let pool = if octets <= SMALL_MAX { &self.small } else { &self.large };
        let reserved = timeout(pool.patience.wait_max, pool.reserve(asker, octets, &self.prepared)).await;
        reserved.map_err(|_| {
            Problem::new(Code::Busy, "too many answers with mail are on their way to slow readers; try again")
                .with_retry_after(5)
        })
    }
}

impl<S: Sync> FromRequestParts<S> for Asker {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let exchange = parts.extensions.get().cloned().unwrap_or_default();
        Ok(Self { requester: Requester::of(&parts.extensions), exchange })
    }
}
