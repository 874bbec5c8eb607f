//! Places of attempts under way, and memory for their bodies: so that receivers which take long leave both to the others.
//!
//! Pure. An attempt has a place until it has taken a quarter of a second. Then it is slow: it counts against a bound of its
//! own and leaves its place to another.

use std::time::Duration;

/// After so long an attempt is slow.
pub(super) const SLOW_AFTER: Duration = Duration::from_millis(250);
/// Slow attempts at once. Beyond, the one is cut off that has been slow for longest.
pub const SLOW_MAX: usize = 1_024;
/// Octets of the bodies of attempts in each line, and of slow ones.
const OCTETS_MAX: usize = 32 << 20;
const SLOW_OCTETS_MAX: usize = 64 << 20;
/// What one body counts at most, so that one that is longer waits for half of that alone and not for all.
const BODY_OCTETS_MAX: usize = OCTETS_MAX / 2;

/// Who waits for a place together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Origins that answered the last attempt before it was slow. All places are for them.
    Prompt = 0,
    /// All others: at most half of the places.
    Other = 1,
}

#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    attempts: usize,
    octets: usize,
}

/// What is taken.
#[derive(Debug)]
pub(super) struct Places {
    in_flight_max: usize,
    of_lines: [Taken; 2],
    slow: Taken,
}

/// A place of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    line: Line,
    octets: usize,
    pub(super) is_slow: bool,
}

impl Places {
    /// So many places for attempts that are not slow; 0 is taken as 1.
    pub(super) fn new(in_flight_max: usize) -> Self {
        Self { in_flight_max: in_flight_max.max(1), of_lines: [Taken::default(); 2], slow: Taken::default() }
    }

    /// Whether there is a place for those in `line`, whatever memory they need.
    pub(super) fn has_room(&self, line: Line) -> bool {
        let [prompt, other] = self.of_lines.map(|taken| taken.attempts);
        let is_of_line = line == Line::Prompt || other < self.in_flight_max.div_ceil(2);
        prompt + other < self.in_flight_max && is_of_line
    }

    /// Takes a place for an attempt with a body of so many octets, if there is one.
    pub(super) fn take(&mut self, line: Line, octets: usize) -> Option<Place> {
        let octets = octets.min(BODY_OCTETS_MAX);
        if !self.has_room(line) || self.of_lines[line as usize].octets + octets > OCTETS_MAX {
            return None;
        }
        self.of_lines[line as usize].add(octets);
        Some(Place { line, octets, is_slow: false })
    }

    /// Makes a place that of a slow attempt.
    pub(super) fn slow_down(&mut self, place: &mut Place) {
        if !place.is_slow {
            self.of_lines[place.line as usize].subtract(place.octets);
            self.slow.add(place.octets);
            place.is_slow = true;
        }
    }

    /// Whether one slow attempt or more has to be cut off.
    pub(super) fn has_too_many_slow(&self) -> bool {
        self.slow.attempts > SLOW_MAX || self.slow.octets > SLOW_OCTETS_MAX
    }

    pub(super) fn give_back(&mut self, place: Place) {
        let of = if place.is_slow { &mut self.slow } else { &mut self.of_lines[place.line as usize] };
        of.subtract(place.octets);
    }
}

impl Taken {
    fn add(&mut self, octets: usize) {
        (self.attempts, self.octets) = (self.attempts + 1, self.octets + octets);
    }

    fn subtract(&mut self, octets: usize) {
        (self.attempts, self.octets) = (self.attempts - 1, self.octets - octets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_not_prompt_have_half_of_the_places_and_leave_them_when_they_are_slow() {
        let mut places = Places::new(8);
        let mut others: Vec<Place> = std::iter::from_fn(|| places.take(Line::Other, 10)).collect();
        assert_eq!(others.len(), 4);
        let prompt: Vec<Place> = std::iter::from_fn(|| places.take(Line::Prompt, 10)).collect();
        assert_eq!(prompt.len(), 4);
        for place in &mut others {
            places.slow_down(place);
        }
        assert!(others.iter().all(|place| place.is_slow));
        assert_eq!(std::iter::from_fn(|| places.take(Line::Other, 10)).count(), 4);
        for place in others.into_iter().chain(prompt) {
            places.give_back(place);
        }
        assert_eq!((places.slow.attempts, places.slow.octets), (0, 0));
        assert_eq!(places.of_lines.map(|taken| (taken.attempts, taken.octets)), [(0, 0), (4, 40)]);
    }

    #[test]
    fn bodies_in_memory_and_slow_attempts_have_bounds() {
        let mut places = Places::new(10_000);
        for line in [Line::Other, Line::Prompt] {
            assert!(places.take(line, usize::MAX).is_some(), "as large as half of the room");
            assert!(places.take(line, BODY_OCTETS_MAX).is_some());
            assert!(places.take(line, 1).is_none());
            assert!(places.take(line, 0).is_some());
        }
        let mut places = Places::new(10_000);
        let mut slow: Vec<Place> = (0..=SLOW_MAX).filter_map(|_| places.take(Line::Prompt, 1)).collect();
        for place in &mut slow {
            places.slow_down(place);
        }
        assert!(places.has_too_many_slow());
        places.give_back(slow.remove(0));
        assert!(!places.has_too_many_slow(), "as many as permitted");
        let mut large: Vec<Place> = std::iter::from_fn(|| places.take(Line::Other, BODY_OCTETS_MAX)).collect();
        for place in &mut large {
            places.slow_down(place);
        }
        assert!(places.has_too_many_slow(), "in octets as well");
    }
}
