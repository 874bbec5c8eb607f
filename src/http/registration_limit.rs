//! The rate limit on registrations of webhooks. It counts refused registrations too, so that no client can guess a
//! secret.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::principal::Requester;
use super::problem::{Code, Problem};
use crate::clock::Clock;
use crate::model;

/// The period of the rate limit.
const MINUTE: Duration = Duration::from_mins(1);
/// The number of clients at which idle ones are first removed.
const CLIENTS_MIN: usize = 1024;

/// The rate limit of each client: a burst of one minute, then an even rate.
pub(super) struct RegistrationLimit {
    per_minute: u32,
    clock: Arc<dyn Clock>,
    /// For each client, the time until which its registrations use up its rate.
    taken_until: Mutex<HashMap<model::Client, Duration>>,
}

impl RegistrationLimit {
    pub(super) fn new(per_minute: u32, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { per_minute: per_minute.max(1), clock, taken_until: Mutex::default() })
    }

    /// Checks whether [`take`](Self::take) would succeed now, and counts nothing.
    pub(super) fn check(&self, client: model::Client) -> Result<(), Duration> {
        let taken_until = self.taken_until.lock().unwrap_or_else(PoisonError::into_inner);
        self.next(taken_until.get(&client).copied().unwrap_or_default()).map(|_| ())
    }

    /// The time until which the rate is used up after one more registration, or the time until the next one is
    /// permitted.
    fn next(&self, taken_until: Duration) -> Result<Duration, Duration> {
        let now = self.clock.boot();
        let next = taken_until.max(now) + MINUTE / self.per_minute;
        match next.checked_sub(now + MINUTE).filter(|wait| !wait.is_zero()) {
            Some(wait) => Err(wait),
            None => Ok(next),
        }
    }

    /// Counts a registration, or returns the time until the next one is permitted.
    pub(super) fn take(&self, client: model::Client) -> Result<(), Duration> {
        let now = self.clock.boot();
        let mut taken_until = self.taken_until.lock().unwrap_or_else(PoisonError::into_inner);
        if taken_until.len() >= CLIENTS_MIN && taken_until.len().is_power_of_two() {
            taken_until.retain(|_, until| *until > now);
        }
        let until = taken_until.entry(client).or_default();
        *until = self.next(*until)?;
        Ok(())
    }
}

/// Lets a registration pass, or answers 429. The administrator has no limit.
pub(super) async fn pass(State(limit): State<Arc<RegistrationLimit>>, request: Request, next: Next) -> Response {
    let Requester::At(client) = Requester::of(request.extensions()) else { return next.run(request).await };
    match limit.take(client) {
        Ok(()) => next.run(request).await,
        Err(wait) => too_often(limit.per_minute, wait).into_response(),
    }
}

fn too_often(per_minute: u32, wait: Duration) -> Problem {
    let seconds = u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX);
    let field = |text: String| HeaderValue::try_from(text).expect("digits and letters");
    Problem::new(Code::RateLimited, format!("a client registers at most {per_minute} webhooks a minute"))
        .with_retry_after(seconds)
        .with_header(HeaderName::from_static("ratelimit"), field(format!("\"registrations\";r=0;t={seconds}")))
        .with_header(
            HeaderName::from_static("ratelimit-policy"),
            field(format!("\"registrations\";q={per_minute};w=60")),
        )
}
