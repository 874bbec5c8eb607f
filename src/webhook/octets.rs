//! How many octets of bodies are in memory for attempts in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use super::Place;
use super::intake::EventKey;

/// Octets of what is rendered for attempts in flight at prompt endpoints, and as many again for those at the others, so that
/// bodies that nobody takes leave room for those that somebody does.
pub(super) const BODY_OCTETS_MAX: usize = 32 << 20;
/// What one event counts at most, so that one that is longer waits for half of that alone and not for all.
const EVENT_OCTETS_MAX: usize = BODY_OCTETS_MAX / 2;
/// How long an event is parked at most before it is tried again.
const PARKED_MAX: Duration = Duration::from_secs(5);
/// A body has so many times the octets of its message at most: a control character stands escaped in the HTML form and in the
/// text.
const OCTETS_PER_OCTET: usize = 12;

/// A number of octets that attempts share.
#[derive(Debug, Default)]
pub(super) struct Octets {
    taken: AtomicUsize,
    freed: Notify,
}

/// A share of it, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    of: Arc<Octets>,
    octets: usize,
}

/// The memory for bodies of attempts in flight.
#[derive(Debug, Default)]
pub(super) struct Room {
    at_prompt: Arc<Octets>,
    at_doubtful: Arc<Octets>,
}

/// An event that there was no room for.
#[derive(Debug)]
pub(super) struct Parked {
    event: EventKey,
    octets: usize,
    since: Duration,
}

/// Something of endpoints that are not prompt, and of those that are.
pub(super) type OfBoth<T> = [T; 2];

impl Room {
    fn of(&self, is_prompt: usize) -> &Arc<Octets> {
        if is_prompt == 0 { &self.at_doubtful } else { &self.at_prompt }
    }

    /// A share for an attempt in a place like this; without room the event is put to those in `parked`.
    pub(super) fn take(
        &self,
        place: &Place,
        event: EventKey,
        octets: usize,
        parked: &mut OfBoth<Vec<Parked>>,
        now: Duration,
    ) -> Option<Share> {
        let is_prompt = usize::from(place.is_prompt());
        let share = self.of(is_prompt).take(octets);
        if share.is_none() {
            parked[is_prompt].push(Parked { event, octets, since: now });
        }
        share
    }

    /// Takes those out of `parked` that there is room for at `now`, all together. Nothing is kept for them: they may not need
    /// it after all, or have become prompt, so that the others come out after a while without room as well.
    pub(super) fn take_out(&self, parked: &mut OfBoth<Vec<Parked>>, now: Duration) -> Vec<EventKey> {
        let mut out = Vec::new();
        for (is_prompt, parked) in parked.iter_mut().enumerate() {
            let mut left = self.of(is_prompt).left();
            let taken = parked.extract_if(.., |parked| {
                let rest = left.checked_sub(parked.octets.min(EVENT_OCTETS_MAX));
                left = rest.unwrap_or(left);
                rest.is_some() || now.saturating_sub(parked.since) >= PARKED_MAX
            });
            out.extend(taken.map(|parked| parked.event));
        }
        out
    }

    /// Waits until some is given back of what is `waited` for; also if that was since the last wait.
    pub(super) async fn freed(&self, waited: OfBoth<bool>) {
        tokio::select! {
            () = self.at_doubtful.freed(), if waited[0] => {}
            () = self.at_prompt.freed(), if waited[1] => {}
            else => std::future::pending().await,
        }
    }
}

impl Octets {
    /// What a message of so many octets may come to.
    pub(super) fn at_most(message_octets: u64) -> usize {
        usize::try_from(message_octets).unwrap_or(usize::MAX).saturating_mul(OCTETS_PER_OCTET)
    }

    /// A share, if there is room for it now.
    pub(super) fn take(self: &Arc<Self>, octets: usize) -> Option<Share> {
        let octets = octets.min(EVENT_OCTETS_MAX);
        let fits = |taken: usize| taken.checked_add(octets).filter(|sum| *sum <= BODY_OCTETS_MAX);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        Some(Share { of: Arc::clone(self), octets })
    }

    fn left(&self) -> usize {
        BODY_OCTETS_MAX.saturating_sub(self.taken.load(Ordering::Relaxed))
    }

    async fn freed(&self) {
        self.freed.notified().await;
    }
}

impl Share {
    /// Gives back what is beyond so many.
    pub(super) fn shrink_to(&mut self, octets: usize) {
        let beyond = self.octets.saturating_sub(octets);
        if beyond > 0 {
            self.octets -= beyond;
            self.of.taken.fetch_sub(beyond, Ordering::Relaxed);
            self.of.freed.notify_one();
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn shares_fit_the_whole_and_one_that_is_too_long_has_half() {
        let octets = Arc::<Octets>::default();
        let mut long = octets.take(usize::MAX).expect("half");
        let rest = octets.take(BODY_OCTETS_MAX / 2).expect("the other half");
        assert!(octets.take(1).is_none());
        assert!(octets.freed().now_or_never().is_none());
        long.shrink_to(1000);
        assert!(octets.freed().now_or_never().is_some());
        let most = octets.take(BODY_OCTETS_MAX / 2 - 1000).expect("what was given back");
        assert!(octets.take(1).is_none());
        drop((long, rest, most));
        assert_eq!(octets.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_body_has_no_more_octets_than_are_taken_for_it() {
        use crate::model::{EmailId, Timestamp};
        use crate::webhook::EventEmail;
        use crate::webhook::attempt::render;
        let text = "\u{1}".repeat(10_000);
        let email = EventEmail {
            id: EmailId::from_parts(Timestamp::from_millis(0), [0; 10]),
            recipient: "a@example.test",
            from: "b@example.test",
            subject: "",
            message: &text,
            body_text: &text,
            received_at: Timestamp::from_millis(0),
        };
        assert!(render(&email).len() <= Octets::at_most(10_000) + 1000);
    }
}
