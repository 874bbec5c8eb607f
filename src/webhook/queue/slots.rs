//! Slots for attempts in flight, and memory for their bodies. Slow receivers must leave both to the others.
//!
//! Pure. After 250 ms an attempt is slow: it gives its slot back, and counts against the limit of slow attempts.

use std::time::Duration;

/// An attempt that takes longer than this is slow.
pub(super) const SLOW_AFTER: Duration = Duration::from_millis(250);
/// The most slow attempts at once. When there are more, the one that has been slow for longest is cut off.
pub const SLOW_MAX: usize = 1_024;
/// The most octets of bodies in each class.
const OCTETS_MAX: usize = 32 << 20;
/// The most octets of the bodies of slow attempts.
const SLOW_OCTETS_MAX: usize = 64 << 20;
/// The most octets that one body counts for, so that a large body does not wait until all memory is free.
const BODY_OCTETS_MAX: usize = OCTETS_MAX / 2;

/// The two classes of webhooks that compete for slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Webhooks whose last attempt was delivered before it was slow. They get at most seven eighths of the slots.
    Prompt = 0,
    /// All other webhooks. They get at most half of the slots.
    Other = 1,
}

#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    attempts: usize,
    octets: usize,
}

/// The slots that are taken.
#[derive(Debug)]
pub(super) struct Slots {
    in_flight_max: usize,
    by_class: [Taken; 2],
    slow: Taken,
}

/// An attempt's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    class: Class,
    octets: usize,
    pub(super) is_slow: bool,
}

impl Slots {
    /// As many slots as `in_flight_max`; 0 counts as 1.
    pub(super) fn new(in_flight_max: usize) -> Self {
        Self { in_flight_max: in_flight_max.max(1), by_class: [Taken::default(); 2], slow: Taken::default() }
    }

    /// Whether a slot is free for `class`, however much memory is needed.
    pub(super) fn has_room(&self, class: Class) -> bool {
        let [prompt, other] = self.by_class.map(|taken| taken.attempts);
        let reserved = (self.in_flight_max / 8).max(usize::from(self.in_flight_max > 1));
        let is_free = match class {
            Class::Prompt => prompt < self.in_flight_max - reserved,
            Class::Other => other < self.in_flight_max.div_ceil(2),
        };
        is_free && prompt + other < self.in_flight_max
    }

    /// Takes a slot for an attempt with a body of so many octets, if one is free.
    pub(super) fn take(&mut self, class: Class, octets: usize) -> Option<Slot> {
        let octets = octets.min(BODY_OCTETS_MAX);
        if !self.has_room(class) || self.by_class[class as usize].octets + octets > OCTETS_MAX {
            return None;
        }
        self.by_class[class as usize].add(octets);
        Some(Slot { class, octets, is_slow: false })
    }

    /// Turns a slot into that of a slow attempt.
    pub(super) fn slow_down(&mut self, slot: &mut Slot) {
        if !slot.is_slow {
            self.by_class[slot.class as usize].subtract(slot.octets);
            self.slow.add(slot.octets);
            slot.is_slow = true;
        }
    }

    /// Whether a slow attempt has to be cut off.
    pub(super) fn has_too_many_slow(&self) -> bool {
        self.slow.attempts > SLOW_MAX || self.slow.octets > SLOW_OCTETS_MAX
    }

    pub(super) fn give_back(&mut self, slot: Slot) {
        let of = if slot.is_slow { &mut self.slow } else { &mut self.by_class[slot.class as usize] };
        of.subtract(slot.octets);
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
    fn webhooks_that_are_not_prompt_get_half_of_the_slots_and_free_them_when_they_are_slow() {
        let mut slots = Slots::new(8);
        let mut others: Vec<Slot> = std::iter::from_fn(|| slots.take(Class::Other, 10)).collect();
        assert_eq!(others.len(), 4);
        let prompt: Vec<Slot> = std::iter::from_fn(|| slots.take(Class::Prompt, 10)).collect();
        assert_eq!(prompt.len(), 4);
        for slot in &mut others {
            slots.slow_down(slot);
        }
        assert!(others.iter().all(|slot| slot.is_slow));
        assert_eq!(std::iter::from_fn(|| slots.take(Class::Other, 10)).count(), 4);
        for slot in others.into_iter().chain(prompt) {
            slots.give_back(slot);
        }
        assert_eq!((slots.slow.attempts, slots.slow.octets), (0, 0));
        assert_eq!(slots.by_class.map(|taken| (taken.attempts, taken.octets)), [(0, 0), (4, 40)]);
    }

    #[test]
    fn bodies_in_memory_and_slow_attempts_are_limited() {
        let mut slots = Slots::new(10_000);
        for class in [Class::Other, Class::Prompt] {
            assert!(slots.take(class, usize::MAX).is_some(), "as large as half of the room");
            assert!(slots.take(class, BODY_OCTETS_MAX).is_some());
            assert!(slots.take(class, 1).is_none());
            assert!(slots.take(class, 0).is_some());
        }
        let mut slots = Slots::new(10_000);
        let mut slow: Vec<Slot> = (0..=SLOW_MAX).filter_map(|_| slots.take(Class::Prompt, 1)).collect();
        for slot in &mut slow {
            slots.slow_down(slot);
        }
        assert!(slots.has_too_many_slow());
        slots.give_back(slow.remove(0));
        assert!(!slots.has_too_many_slow(), "as many as permitted");
        let mut large: Vec<Slot> = std::iter::from_fn(|| slots.take(Class::Other, BODY_OCTETS_MAX)).collect();
        for slot in &mut large {
            slots.slow_down(slot);
        }
        assert!(slots.has_too_many_slow(), "in octets as well");
    }
}
