//! Waiting for a client: no longer than it may take, and only while nobody else is to have its place.

use std::time::Duration;

use tokio::time::sleep;

use super::Receiver;
use super::places::Seating;

/// Why a wait ended before what was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// It took longer than it may.
    TooLong,
    /// It took longer than it may while most places are taken.
    Stressed,
    /// Somebody else is to have the place.
    MadeRoom,
}

/// Waits for `work`, which began at `since` and may take `most`, under stress no longer than `smtp-stress-timeout`. A
/// connection without a seat has no place to lose.
pub(super) async fn wait<T>(
    receiver: &Receiver,
    seating: Option<&Seating>,
    since: Duration,
    most: Duration,
    work: impl Future<Output = T>,
) -> Result<T, Cut> {
    let Receiver { clock, places, settings, .. } = receiver;
    let stress = settings.bounds.stress_timeout;
    let must_leave = async {
        match seating {
            Some(seating) => seating.must_leave().await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(work, must_leave);
    loop {
        let taken = clock.boot().saturating_sub(since);
        if taken >= most {
            return Err(Cut::TooLong);
        }
        if places.is_stressed() && taken >= stress {
            return Err(Cut::Stressed);
        }
        // No longer than until stress would be felt, which may begin meanwhile.
        let left = stress.saturating_sub(taken);
        let pause = if left.is_zero() { stress } else { left }.min(most.saturating_sub(taken));
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            () = &mut must_leave => return Err(Cut::MadeRoom),
            () = sleep(pause) => {}
        }
    }
}
