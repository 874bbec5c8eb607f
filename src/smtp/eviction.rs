//! Places for connections: how many there are, and who makes room when all are taken.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::deadlines::{Pace, PaceLimits};
use crate::clock::Clock;

/// How many clients at most wait for a place where none is left. Each has a socket open.
pub const WAITING_MAX: usize = 64;
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

/// What a new connection gets.
#[derive(Debug)]
pub(super) enum Knock {
    /// A place.
    Seated(Seating),
    /// A turn to have the place of somebody else.
    Waits(Turn),
}

/// A turn to have the place of somebody else. Nobody has been told to go yet.
#[derive(Debug)]
pub(super) struct Turn {
    places: Arc<Places>,
    _turn: OwnedSemaphorePermit,
}

#[derive(Debug, Default)]
struct Seated {
    connections: HashMap<u64, Arc<Seat>>,
    next: u64,
    /// The idlest at the last look and since when, the idlest last.
    noted: Vec<(Duration, u64)>,
    looked_at: Option<Duration>,
}

/// A connection as the others see it.
#[derive(Debug)]
struct Seat {
    pace: Mutex<Pace>,
    leave: Notify,
}

/// A place, and the connection's own side of its [`Seat`]; another may have both when this is dropped.
#[derive(Debug)]
pub(super) struct Seating {
    places: Arc<Places>,
    number: u64,
    seat: Arc<Seat>,
    _permit: OwnedSemaphorePermit,
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

    /// Asks for a place; `None`: there is none, and enough others wait.
    pub(super) fn knock(self: &Arc<Self>, now: Duration) -> Option<Knock> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Some(Knock::Seated(self.seat(permit, now)));
        }
        let turn = Arc::clone(&self.waiting).try_acquire_owned().ok()?;
        Some(Knock::Waits(Turn { places: Arc::clone(self), _turn: turn }))
    }

    /// Who has a seat may be told to go for somebody else.
    fn seat(self: &Arc<Self>, permit: OwnedSemaphorePermit, now: Duration) -> Seating {
        let seat = Arc::new(Seat { pace: Mutex::new(Pace::new(now)), leave: Notify::new() });
        let mut seated = self.seated();
        let number = seated.next;
        seated.next += 1;
        seated.connections.insert(number, Arc::clone(&seat));
        drop(seated);
        Seating { places: Arc::clone(self), number, seat, _permit: permit }
    }

    fn seated(&self) -> MutexGuard<'_, Seated> {
        self.seated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// A place that is free by now, or that of the client that has kept the server waiting longest, which is told to go.
    /// `None`: nobody does so, or nobody has gone in time.
    pub(super) async fn vacated(self, clock: &dyn Clock) -> Option<Seating> {
        let Self { places, _turn } = &self;
        let permit = match Arc::clone(&places.permits).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) if places.seated().send_away_idlest(&places.limits, clock.boot()) => {
                timeout(VACATED_WITHIN, Arc::clone(&places.permits).acquire_owned()).await.ok()?.ok()?
            }
            Err(_) => return None,
        };
        Some(places.seat(permit, clock.boot()))
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
            let Some(seat) = self.connections.get(&number) else { continue };
            if seat.pace().waits_since(limits, now) == Some(since) {
                seat.leave.notify_one();
                self.connections.remove(&number);
                return true;
            }
        }
        false
    }

    fn look(&mut self, limits: &PaceLimits, now: Duration) {
        let idle_from = now.saturating_sub(limits.stress / STRESS_PART);
        let waiting = self.connections.iter().filter_map(|(number, seat)| {
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

impl Seating {
    /// How the client keeps time.
    pub(super) fn pace(&self) -> MutexGuard<'_, Pace> {
        self.seat.pace()
    }

    /// Waits until somebody else is to have the place.
    pub(super) async fn must_leave(&self) {
        self.seat.leave.notified().await;
    }
}

impl Drop for Seating {
    fn drop(&mut self) {
        self.places.seated().connections.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::super::deadlines::Prompt;
    use super::super::rate::Rate;
    use super::*;
    use crate::model::Timestamp;

    const LIMITS: PaceLimits = PaceLimits {
        idle: Duration::from_secs(300),
        command: Duration::from_secs(300),
        message: Duration::from_secs(600),
        rate: Rate { octets_per_second: 500, octets_max: 1 << 30 },
        life: Duration::from_secs(3600),
        stress: Duration::from_secs(10),
    };
    const DATA: Prompt = Prompt { is_in_data: true, transaction: Some(1), has_answered: true, progress: 0 };

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn is_told_to_go(seating: &Seating) -> bool {
        pin!(seating.must_leave()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    /// A clock that stands still.
    #[derive(Debug)]
    struct At(u64);

    impl Clock for At {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(0)
        }

        fn boot(&self) -> Duration {
            seconds(self.0)
        }

        fn boot_id(&self) -> Option<String> {
            None
        }
    }

    /// Places, all of them taken: the first at 0 s, the others a second after each other.
    fn taken(max: usize) -> (Arc<Places>, Vec<Seating>) {
        let places = Arc::new(Places::new(max, LIMITS));
        let seat = |at| match places.knock(seconds(at)) {
            Some(Knock::Seated(seating)) => seating,
            other => panic!("{other:?}"),
        };
        let seats = (0..max as u64).map(seat).collect();
        (places, seats)
    }

    /// Asks for the place of somebody else; the wait for it.
    fn turn(places: &Arc<Places>, at: u64) -> impl Future<Output = Option<Seating>> + use<> {
        let Some(Knock::Waits(turn)) = places.knock(seconds(at)) else { panic!("a turn") };
        async move { turn.vacated(&At(at)).await }
    }

    /// How far the wait is when it has just begun.
    fn begun(wait: impl Future<Output = Option<Seating>>) -> Poll<Option<Seating>> {
        pin!(wait).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn stress_is_when_more_than_three_quarters_are_taken() {
        let (places, mut seats) = taken(8);
        for left in (0..8).rev() {
            assert_eq!(places.is_stressed(), left >= 6, "{left}");
            seats.truncate(left);
        }
        assert!(!places.is_stressed());
    }

    #[tokio::test]
    async fn the_idlest_make_room_and_nobody_who_keeps_time() {
        let (places, seats) = taken(4);
        seats[0].pace().prompted(DATA, seconds(0));
        seats[0].pace().heard(1 << 20, seconds(1));
        seats[1].pace().occupied(seconds(1));
        assert!(matches!(begun(turn(&places, 2)), Poll::Ready(None)), "nobody was silent for a second");
        assert!(begun(turn(&places, 9)).is_pending());
        assert!(is_told_to_go(&seats[2]) && !is_told_to_go(&seats[3]));
        assert!(begun(turn(&places, 9)).is_pending());
        assert!(is_told_to_go(&seats[3]));
        assert!(matches!(begun(turn(&places, 10)), Poll::Ready(None)), "nobody is told twice");
        assert!(!is_told_to_go(&seats[0]) && !is_told_to_go(&seats[1]));
    }

    #[tokio::test]
    async fn who_has_moved_since_the_look_is_not_the_idlest_any_more() {
        let (places, seats) = taken(3);
        assert!(begun(turn(&places, 9)).is_pending());
        seats[1].pace().prompted(Prompt { is_in_data: false, transaction: None, ..DATA }, seconds(9));
        assert!(begun(turn(&places, 9)).is_pending());
        assert!(is_told_to_go(&seats[0]) && !is_told_to_go(&seats[1]) && is_told_to_go(&seats[2]));
    }

    #[tokio::test]
    async fn whoever_waits_gets_the_place_before_who_comes_later() {
        let (places, mut seats) = taken(1);
        let seat = seats.pop().expect("a seat");
        let (got, ()) = tokio::join!(turn(&places, 9), async {
            seat.must_leave().await;
            drop(seat);
            assert!(matches!(places.knock(seconds(9)), Some(Knock::Waits(_))));
        });
        assert!(got.is_some());
    }

    #[test]
    fn so_many_wait_and_no_more_and_a_turn_tells_nobody_to_go() {
        let (places, seats) = taken(1);
        let turns: Vec<_> = (0..WAITING_MAX).map(|_| places.knock(seconds(9))).collect();
        assert!(turns.iter().all(|knock| matches!(knock, Some(Knock::Waits(_)))));
        assert!(places.knock(seconds(9)).is_none());
        assert!(!is_told_to_go(&seats[0]));
    }

    #[test]
    fn a_look_in_vain_is_not_repeated_at_once() {
        let (places, seats) = taken(2);
        seats[0].pace().occupied(seconds(0));
        let idle_at = seconds(1) + LIMITS.stress / STRESS_PART;
        let send_away = |now| places.seated().send_away_idlest(&LIMITS, now);
        assert!(!send_away(idle_at.saturating_sub(LOOK_EVERY / 2)), "nobody is idle yet");
        assert!(!send_away(idle_at), "a look that soon");
        assert!(send_away(idle_at + LOOK_EVERY / 2));
    }

    #[tokio::test]
    async fn nobody_waits_for_ever_for_a_place_that_is_not_vacated() {
        let (places, _seats) = taken(1);
        let place = timeout(VACATED_WITHIN * 5, turn(&places, 9)).await;
        assert!(matches!(place, Ok(None)), "{place:?}");
    }
}
