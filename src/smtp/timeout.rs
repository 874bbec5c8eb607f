//! Waiting for a client: no longer than it may take, and only while nobody else is to have its place.

use std::time::Duration;

use tokio::time::sleep;

use super::Receiver;
use super::eviction::Seating;
use super::session::End;

/// Waits for `work` until `deadline`, which is asked again once stress would be felt: it may begin meanwhile. The error is
/// why the wait is over: what the deadline says, or [`End::MadeRoom`]; without a seat there is no place to lose.
pub(super) async fn wait<T>(
    receiver: &Receiver,
    seating: Option<&Seating>,
    deadline: impl Fn() -> (Duration, End),
    work: impl Future<Output = T>,
) -> Result<T, End> {
    let must_leave = async {
        match seating {
            Some(seating) => seating.must_leave().await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(work, must_leave);
    loop {
        let (at, end) = deadline();
        let left = at.saturating_sub(receiver.clock.boot());
        if left.is_zero() {
            return Err(end);
        }
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            () = &mut must_leave => return Err(End::MadeRoom),
            () = sleep(left.min(receiver.settings.bounds.stress_timeout)) => {}
        }
    }
}

/// The deadline of what began at `since` and may take `most`, else it is the `end`; under stress no longer than
/// `smtp-stress-timeout`.
pub(super) fn allowance(
    receiver: &Receiver,
    since: Duration,
    most: Duration,
    end: End,
) -> impl Fn() -> (Duration, End) + use<'_> {
    move || {
        let stress = receiver.settings.bounds.stress_timeout;
        if stress < most && receiver.places.is_stressed() {
            (since + stress, End::Stressed)
        } else {
            (since + most, end)
        }
    }
}
