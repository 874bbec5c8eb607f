//! Waiting for a client until its deadline, or until its connection is evicted.

use std::time::Duration;

use tokio::time::sleep;

use super::eviction::{Slot, Slots};
use super::reasons::End;
use crate::clock::Clock;

/// Waits for `work` until `deadline`, which is asked again after each timeout under stress, because stress may begin
/// meanwhile. The error is the reason of the deadline, or [`End::Evicted`]; a connection without a slot is never evicted.
pub(super) async fn wait<T>(
    clock: &dyn Clock,
    slots: &Slots,
    slot: Option<&Slot>,
    deadline: impl Fn() -> (Duration, End),
    work: impl Future<Output = T>,
) -> Result<T, End> {
    let evicted = async {
        match slot {
            Some(slot) => slot.evicted().await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(work, evicted);
    loop {
        let (at, end) = deadline();
        let left = at.saturating_sub(clock.boot());
        if left.is_zero() {
            return Err(end);
        }
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            () = &mut evicted => return Err(End::Evicted),
            () = sleep(left.min(slots.rules().stress)) => {}
        }
    }
}

/// The deadline of work that began at `since` and may take `most`; under stress it may take no longer than the timeout
/// under stress. `end` is the reason without stress.
pub(super) fn deadline(
    slots: &Slots,
    since: Duration,
    most: Duration,
    end: End,
) -> impl Fn() -> (Duration, End) + use<'_> {
    move || {
        let stress = slots.rules().stress;
        if stress < most && slots.is_stressed() { (since + stress, End::Stressed) } else { (since + most, end) }
    }
}
