//! Waiting for a condition: a test that waits fails with the name of what did not happen, and never hangs.
//!
//! The limit is far longer than any condition takes, so that it says nothing about speed.

use std::fmt::Display;
use std::time::{Duration, Instant};

/// How long a condition may take.
const LIMIT: Duration = Duration::from_mins(1);
/// How long a test sleeps between the first two looks, and at most. A look is work, which takes from what is waited for.
const PAUSE: Duration = Duration::from_millis(2);
const PAUSE_MAX: Duration = Duration::from_millis(16);

/// Waits until `condition` holds. `what` names it in the panic that ends a wait of more than a minute.
///
/// A `what` that shows a state is [`std::fmt::from_fn`]: it is written only when the wait has failed.
pub(crate) async fn until(what: impl Display, mut condition: impl AsyncFnMut() -> bool) {
    until_some(what, async || condition().await.then_some(())).await;
}

/// Waits until `look` finds a value, and returns it.
pub(crate) async fn until_some<T>(what: impl Display, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let (begun, mut pauses) = (Instant::now(), pauses());
    loop {
        if let Some(found) = look().await {
            return found;
        }
        check_limit(begun, &what);
        tokio::time::sleep(pauses()).await;
    }
}

/// Waits until `condition` holds; `false` if it does not in time, for a test that then asks why.
pub(crate) async fn comes_true(mut condition: impl AsyncFnMut() -> bool) -> bool {
    let (begun, mut pauses) = (Instant::now(), pauses());
    while !condition().await {
        if begun.elapsed() >= LIMIT {
            return false;
        }
        tokio::time::sleep(pauses()).await;
    }
    true
}

/// The functions of this module for tests without a runtime.
pub(crate) mod blocking {
    use super::{Display, Instant, check_limit, pauses};

    /// Waits until `condition` holds.
    pub(crate) fn until(what: impl Display, mut condition: impl FnMut() -> bool) {
        until_some(what, || condition().then_some(()));
    }

    /// Waits until `look` finds a value, and returns it.
    pub(crate) fn until_some<T>(what: impl Display, mut look: impl FnMut() -> Option<T>) -> T {
        let (begun, mut pauses) = (Instant::now(), pauses());
        loop {
            if let Some(found) = look() {
                return found;
            }
            check_limit(begun, &what);
            std::thread::sleep(pauses());
        }
    }
}

/// The pauses between looks, each twice as long as the one before.
fn pauses() -> impl FnMut() -> Duration {
    let mut next = PAUSE / 2;
    move || {
        next = (2 * next).min(PAUSE_MAX);
        next
    }
}

fn check_limit(begun: Instant, what: &impl Display) {
    assert!(begun.elapsed() < LIMIT, "waited in vain: {what}");
}
