//! The places of attempts in flight: how many there are, and whose they may be.

use std::collections::BTreeMap;
use std::time::Duration;

use super::LaneNumber;
use super::standing::{Class, PROMPT_WITHIN};

/// The part of the places that are left which may be taken at once where many attempts hang: their reserve lasts for longer
/// than an attempt may take by default.
const RATION: usize = 16;

/// The place of an attempt in flight, until it is given back to [`Lanes::over`](super::Lanes::over) or
/// [`Lanes::done`](super::Lanes::done).
#[derive(Debug)]
#[must_use = "an attempt is in flight until its place is given back"]
pub struct Place {
    lane: LaneNumber,
    number: u64,
    class: Class,
    started_at: Duration,
}

impl Place {
    /// Whether the endpoint was prompt when it was taken.
    pub fn is_prompt(&self) -> bool {
        self.class == Class::Prompt
    }

    pub(super) fn started_at(&self) -> Duration {
        self.started_at
    }

    pub(super) fn lane(&self) -> LaneNumber {
        self.lane
    }
}

/// All places, and how they are taken.
///
/// Nobody takes a place away from an attempt that hangs, so what an endpoint may do is bounded before it hangs. Those that
/// are not prompt have half of all places, and among these those that have not answered yet three quarters, and those that
/// hung half. The prompt ones have half of what is left, with those of their attempts that
/// hang; beyond that, as many as are in their second and fit [`RATION`] times into what is left then. So if all that are
/// prompt hang together, there are still places each second for others that are.
#[derive(Debug)]
pub(super) struct Places {
    /// All of them, at least 1.
    count: usize,
    /// Those that are taken, by the class that their endpoints had then.
    taken: [usize; Class::COUNT],
    /// Those of prompt endpoints whose attempts hang by now.
    hanging: usize,
    /// The attempts that are not a second old, in the order of their starts.
    fresh: BTreeMap<u64, Fresh>,
    next_number: u64,
}

#[derive(Debug)]
struct Fresh {
    lane: LaneNumber,
    class: Class,
    started_at: Duration,
}

impl Places {
    pub(super) fn new(count: usize) -> Self {
        Self { count: count.max(1), taken: [0; Class::COUNT], hanging: 0, fresh: BTreeMap::new(), next_number: 0 }
    }

    /// How many are taken.
    pub(super) fn taken(&self) -> usize {
        self.taken.iter().sum()
    }

    /// Whether an endpoint of this class may take one.
    pub(super) fn is_open(&self, class: Class) -> bool {
        // From a class on: those that are as doubtful as it or more.
        let from = |class: Class| self.taken[class as usize..].iter().sum::<usize>();
        let within = |taken: usize, eighths: usize| taken < (self.count * eighths / 8).max(1);
        if self.taken() >= self.count {
            return false;
        }
        match class {
            Class::Prompt => {
                let left = self.count.saturating_sub(from(Class::Answering));
                let (prompt, in_time) = (self.taken[0], self.taken[0] - self.hanging);
                prompt < left.div_ceil(2) || in_time < left.saturating_sub(self.hanging).div_ceil(RATION)
            }
            Class::Answering => within(from(class) + self.hanging, 4),
            Class::New => within(from(class), 3) && self.is_open(Class::Answering),
            Class::Hanging => within(from(class), 2) && self.is_open(Class::New),
        }
    }

    pub(super) fn take(&mut self, lane: LaneNumber, class: Class, now: Duration) -> Place {
        let number = self.next_number;
        self.next_number += 1;
        self.taken[class as usize] += 1;
        self.fresh.insert(number, Fresh { lane, class, started_at: now });
        Place { lane, number, class, started_at: now }
    }

    /// Whether [`Places::pop_hanging`] has told of it.
    pub(super) fn give_back(&mut self, place: &Place) -> bool {
        self.taken[place.class as usize] -= 1;
        let was_hanging = self.fresh.remove(&place.number).is_none();
        self.hanging -= usize::from(was_hanging && place.class == Class::Prompt);
        was_hanging
    }

    /// The lane of an attempt that hangs at `now`; each attempt is told of once.
    pub(super) fn pop_hanging(&mut self, now: Duration) -> Option<LaneNumber> {
        let oldest = self.fresh.first_entry().filter(|oldest| oldest.get().started_at + PROMPT_WITHIN < now)?;
        let hanging = oldest.remove();
        self.hanging += usize::from(hanging.class == Class::Prompt);
        Some(hanging.lane)
    }

    /// From when on the next attempt hangs.
    pub(super) fn hangs_at(&self) -> Option<Duration> {
        let (_, oldest) = self.fresh.first_key_value()?;
        Some(oldest.started_at + PROMPT_WITHIN + Duration::from_nanos(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_take_a_place_as_a_table() {
        for (count, taken, hanging, open) in [
            // Prompt, answering, new, hanging: of 64 places 32 for the last three, 24 for two of them, 16 for the last.
            (64, [0, 0, 0, 0], 0, [true, true, true, true]),
            (64, [31, 0, 0, 0], 0, [true, true, true, true]),
            (64, [32, 0, 0, 0], 0, [false, true, true, true]),
            (64, [32, 31, 0, 0], 0, [false, true, true, true]),
            (64, [0, 32, 0, 0], 0, [true, false, false, false]),
            (64, [0, 0, 24, 0], 0, [true, true, false, false]),
            (64, [0, 0, 0, 16], 0, [true, true, true, false]),
            (64, [0, 0, 8, 16], 0, [true, true, false, false]),
            (64, [0, 8, 8, 16], 0, [true, false, false, false]),
            // Half of what the doubtful leave.
            (64, [15, 8, 8, 16], 0, [true, false, false, false]),
            (64, [16, 8, 8, 16], 0, [false, false, false, false]),
            // 32 hang: two others at once, then one; and they leave nothing of the half to the doubtful.
            (64, [33, 0, 0, 0], 32, [true, false, false, false]),
            (64, [34, 0, 0, 0], 32, [false, false, false, false]),
            (64, [34, 0, 0, 0], 33, [true, false, false, false]),
            (64, [48, 0, 0, 0], 48, [true, false, false, false]),
            (64, [49, 0, 0, 0], 48, [false, false, false, false]),
            (64, [63, 0, 0, 0], 63, [true, false, false, false]),
            (64, [64, 0, 0, 0], 64, [false, false, false, false]),
            (64, [17, 32, 0, 0], 16, [false, false, false, false]),
            (64, [17, 32, 0, 0], 17, [true, false, false, false]),
            (64, [20, 0, 0, 0], 20, [true, true, true, true]),
            (64, [20, 12, 0, 0], 20, [true, false, false, false]),
            (1, [0, 0, 0, 0], 0, [true, true, true, true]),
            (1, [1, 0, 0, 0], 0, [false, false, false, false]),
            (1, [0, 1, 0, 0], 0, [false, false, false, false]),
            (2, [1, 0, 0, 0], 0, [false, true, true, true]),
            (2, [0, 0, 0, 1], 0, [true, false, false, false]),
        ] {
            let places = Places { taken, hanging, ..Places::new(count) };
            assert_eq!(Class::ALL.map(|class| places.is_open(class)), open, "{taken:?}, {hanging} of {count}");
        }
    }
}
