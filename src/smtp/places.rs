//! Places for connections: how many there are, and who makes room when all are taken.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::pace::{Pace, PaceLimits};

/// How many clients at most wait for a place that is being vacated. Each has a socket open.
const WAITING_MAX: usize = 64;
/// How long one waits.
const VACATED_WITHIN: Duration = Duration::from_secs(2);
/// How many of the idlest are noted in one look at all sessions.
const NOTED_MAX: usize = 64;
/// How long after a look that found nobody the next one is: a look takes as long as there are sessions.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A client that has kept the server waiting for this part of the timeout under stress may have to make room.
const STRESS_PART: u32 = 10;

/// The places of all listeners.
#[derive(Debug)]
pub(super) struct Places {
    max: usize,
    permits: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    limits: PaceLimits,
    seated: Mutex<Seated>,
}

/// A place; another may have it when this is dropped.
#[derive(Debug)]
pub(super) struct Permit(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

/// What a new connection gets.
#[derive(Debug)]
pub(super) enum Knock {
    /// A place.
    Admitted(Permit),
    /// The place of somebody who has been told to go.
    Waits(Waiting),
    /// Nothing.
    Full,
}

/// A turn for a place that is being vacated.
#[derive(Debug)]
pub(super) struct Waiting {
    permits: Arc<Semaphore>,
    _turn: OwnedSemaphorePermit,
}

#[derive(Debug, Default)]
struct Seated {
    sessions: HashMap<u64, Arc<Seat>>,
    next: u64,
    /// The idlest at the last look and since when, the idlest last.
    noted: Vec<(Duration, u64)>,
    looked_at: Option<Duration>,
}

/// A session as the others see it.
#[derive(Debug)]
pub(super) struct Seat {
    pace: Mutex<Pace>,
    leave: Notify,
}

/// A session's own side of its [`Seat`], which is given up when this is dropped.
#[derive(Debug)]
pub(super) struct Seating<'a> {
    places: &'a Places,
    number: u64,
    seat: Arc<Seat>,
}

impl Places {
    pub(super) fn new(max: usize, limits: PaceLimits) -> Self {
        let max = max.min(Semaphore::MAX_PERMITS);
        let permits = Arc::new(Semaphore::new(max));
        Self { max, permits, waiting: Arc::new(Semaphore::new(WAITING_MAX)), limits, seated: Mutex::default() }
    }

    /// Whether more than three quarters of the places are taken.
    pub(super) fn is_stressed(&self) -> bool {
        self.permits.available_permits() * 4 < self.max
    }

    /// Asks for a place. Where none is left, the client that has kept the server waiting longest is told to go.
    pub(super) fn knock(&self, now: Duration) -> Knock {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Knock::Admitted(Permit(permit));
        }
        let Ok(turn) = Arc::clone(&self.waiting).try_acquire_owned() else { return Knock::Full };
        if !self.seated().send_away_idlest(&self.limits, now) {
            return Knock::Full;
        }
        Knock::Waits(Waiting { permits: Arc::clone(&self.permits), _turn: turn })
    }

    /// Takes part in what [`Places::knock`] decides.
    pub(super) fn seat(&self, now: Duration) -> Seating<'_> {
        let seat = Arc::new(Seat { pace: Mutex::new(Pace::new(now)), leave: Notify::new() });
        let mut seated = self.seated();
        let number = seated.next;
        seated.next += 1;
        seated.sessions.insert(number, Arc::clone(&seat));
        drop(seated);
        Seating { places: self, number, seat }
    }

    fn seated(&self) -> MutexGuard<'_, Seated> {
        self.seated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Knock {
    /// The place, if there is one in time.
    pub(super) async fn place(self) -> Option<Permit> {
        match self {
            Self::Admitted(permit) => Some(permit),
            Self::Waits(waiting) => {
                timeout(VACATED_WITHIN, waiting.permits.acquire_owned()).await.ok()?.ok().map(Permit)
            }
            Self::Full => None,
        }
    }
}

impl Seated {
    fn send_away_idlest(&mut self, limits: &PaceLimits, now: Duration) -> bool {
        if self.send_away_noted(limits, now) {
            return true;
        }
        if self.looked_at.is_some_and(|at| now < at + LOOK_EVERY) {
            return false;
        }
        self.look(limits, now);
        let is_found = self.send_away_noted(limits, now);
        self.looked_at = (!is_found).then_some(now);
        is_found
    }

    /// Sends away the idlest of those that were noted and have not moved since.
    fn send_away_noted(&mut self, limits: &PaceLimits, now: Duration) -> bool {
        while let Some((since, number)) = self.noted.pop() {
            let Some(seat) = self.sessions.get(&number) else { continue };
            if seat.pace().waits_since(limits, now) == Some(since) {
                seat.leave.notify_one();
                self.sessions.remove(&number);
                return true;
            }
        }
        false
    }

    fn look(&mut self, limits: &PaceLimits, now: Duration) {
        let idle_from = now.saturating_sub(limits.stress / STRESS_PART);
        let waiting = self.sessions.iter().filter_map(|(number, seat)| {
            let since = seat.pace().waits_since(limits, now)?;
            (since <= idle_from).then_some((since, *number))
        });
        self.noted = waiting.collect();
        self.noted.sort_unstable_by(|a, b| b.cmp(a));
        self.noted.drain(..self.noted.len().saturating_sub(NOTED_MAX));
        self.noted.shrink_to(NOTED_MAX);
    }
}

impl Seat {
    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seating<'_> {
    /// How the client keeps time.
    pub(super) fn pace(&self) -> MutexGuard<'_, Pace> {
        self.seat.pace()
    }

    /// Waits until somebody else is to have the place.
    pub(super) async fn must_leave(&self) {
        self.seat.leave.notified().await;
    }
}

impl Drop for Seating<'_> {
    fn drop(&mut self) {
        self.places.seated().sessions.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::super::pace::Turn;
    use super::*;

    const LIMITS: PaceLimits = PaceLimits {
        idle: Duration::from_secs(300),
        command: Duration::from_secs(300),
        message: Duration::from_secs(600),
        rate_min: 500,
        octets_max: 1 << 30,
        life: Duration::from_secs(3600),
        stress: Duration::from_secs(10),
    };
    const DATA: Turn = Turn { is_in_data: true, transaction: Some(1), has_answered: true };

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn is_told_to_go(seating: &Seating<'_>) -> bool {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        std::pin::pin!(seating.must_leave()).poll(&mut context).is_ready()
    }

    #[test]
    fn stress_is_when_more_than_three_quarters_are_taken() {
        let places = Places::new(8, LIMITS);
        let mut permits = Vec::new();
        for taken in 1..=8 {
            let Knock::Admitted(permit) = places.knock(seconds(0)) else { panic!("a place") };
            permits.push(permit);
            assert_eq!(places.is_stressed(), taken > 6, "{taken}");
        }
        permits.truncate(6);
        assert!(!places.is_stressed());
    }

    #[test]
    fn the_idlest_make_room_and_nobody_who_keeps_time() {
        let places = Places::new(4, LIMITS);
        let permits: Vec<_> = (0..4).map(|_| places.knock(seconds(0))).collect();
        let seats: Vec<_> = (0..4).map(|at| places.seat(seconds(at))).collect();
        seats[0].pace().turn(DATA, seconds(0));
        seats[0].pace().heard(1 << 20, seconds(1));
        seats[1].pace().occupied();
        assert!(matches!(places.knock(seconds(2)), Knock::Full), "nobody was silent for a second");
        assert!(matches!(places.knock(seconds(9)), Knock::Waits(_)));
        assert!(is_told_to_go(&seats[2]) && !is_told_to_go(&seats[3]));
        assert!(matches!(places.knock(seconds(9)), Knock::Waits(_)));
        assert!(is_told_to_go(&seats[3]));
        assert!(matches!(places.knock(seconds(10)), Knock::Full), "nobody is told twice");
        assert!(!is_told_to_go(&seats[0]) && !is_told_to_go(&seats[1]));
        drop(permits);
    }

    #[test]
    fn who_has_moved_since_the_look_is_not_the_idlest_any_more() {
        let places = Places::new(2, LIMITS);
        let _permits = [places.knock(seconds(0)), places.knock(seconds(0))];
        let seats = [places.seat(seconds(0)), places.seat(seconds(1)), places.seat(seconds(2))];
        assert!(matches!(places.knock(seconds(9)), Knock::Waits(_)));
        seats[1].pace().turn(Turn { is_in_data: false, transaction: None, has_answered: true }, seconds(9));
        assert!(matches!(places.knock(seconds(9)), Knock::Waits(_)));
        assert!(is_told_to_go(&seats[0]) && !is_told_to_go(&seats[1]) && is_told_to_go(&seats[2]));
    }

    #[tokio::test]
    async fn whoever_waits_gets_the_place_before_who_comes_later() {
        let places = Places::new(1, LIMITS);
        let Knock::Admitted(permit) = places.knock(seconds(0)) else { panic!("a place") };
        let seat = places.seat(seconds(0));
        let waiting = places.knock(seconds(9));
        seat.must_leave().await;
        let (got, ()) = tokio::join!(waiting.place(), async {
            drop((seat, permit));
            assert!(matches!(places.knock(seconds(9)), Knock::Full));
        });
        assert!(got.is_some());
    }

    #[test]
    fn no_more_wait_than_may_and_a_look_in_vain_is_not_repeated_at_once() {
        let places = Places::new(1, LIMITS);
        let _permit = places.knock(seconds(0));
        let seats: Vec<_> = (0..=WAITING_MAX).map(|_| places.seat(seconds(1))).collect();
        assert!(matches!(places.knock(seconds(1)), Knock::Full), "nobody is idle yet");
        let idle_at = seconds(1) + LIMITS.stress / STRESS_PART;
        let mut waiting = Vec::new();
        for number in 0..WAITING_MAX {
            let knock = places.knock(idle_at);
            assert!(matches!(knock, Knock::Waits(_)), "{number}");
            waiting.push(knock);
        }
        assert!(matches!(places.knock(idle_at), Knock::Full), "one more than may wait");
        waiting.pop();
        assert!(matches!(places.knock(idle_at), Knock::Waits(_)), "one has gone");
        drop(seats);

        assert!(matches!(places.knock(idle_at), Knock::Full));
        let _idle = places.seat(seconds(1));
        assert!(matches!(places.knock(idle_at + LOOK_EVERY / 2), Knock::Full), "a look that soon");
        assert!(matches!(places.knock(idle_at + LOOK_EVERY), Knock::Waits(_)));
    }

    #[tokio::test]
    async fn nobody_waits_for_ever_for_a_place_that_is_not_vacated() {
        let places = Places::new(1, LIMITS);
        let _permit = places.knock(seconds(0));
        let _seat = places.seat(seconds(0));
        let waiting = places.knock(seconds(9));
        assert!(matches!(waiting, Knock::Waits(_)));
        let place = timeout(VACATED_WITHIN * 5, waiting.place()).await;
        assert!(matches!(place, Ok(None)), "{place:?}");
    }
}
