//! The attempts in flight: which of them are slow, and which have to be cut off. Pure; `now` is an argument.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::EventKey;
use super::slots::{Class, SLOW_AFTER, Slot, Slots};
use crate::webhook::target::Origin;

/// All attempts in flight.
pub(super) struct InFlight {
    slots: Slots,
    attempts: HashMap<EventKey, Attempt>,
    next_number: u64,
    /// Attempts in the order in which they began. Some have ended.
    begun: VecDeque<(Duration, Begun)>,
    /// Slow attempts in the order in which they became slow. Some have ended.
    slow: VecDeque<Begun>,
}

/// Names one attempt: a retry of the event has another number.
#[derive(Clone, Copy)]
struct Begun {
    key: EventKey,
    number: u64,
}

/// One attempt in flight.
pub(super) struct Attempt {
    pub(super) origin: Origin,
    pub(super) class: Class,
    number: u64,
    slot: Slot,
    /// It has to end, and its slot was given back.
    is_cut_off: bool,
}

impl Attempt {
    pub(super) fn is_slow(&self) -> bool {
        self.slot.is_slow
    }
}

impl InFlight {
    pub(super) fn new(in_flight_max: usize) -> Self {
        Self {
            slots: Slots::new(in_flight_max),
            attempts: HashMap::new(),
            next_number: 0,
            begun: VecDeque::new(),
            slow: VecDeque::new(),
        }
    }

    pub(super) fn has_slot(&self, class: Class) -> bool {
        self.slots.has_room(class)
    }

    /// Begins an attempt with a body of so many octets; `false` if there is no slot for it.
    pub(super) fn begin(&mut self, key: EventKey, origin: &Origin, class: Class, octets: usize, now: Duration) -> bool {
        let Some(slot) = self.slots.take(class, octets) else { return false };
        let number = self.next_number;
        self.next_number += 1;
        self.attempts.insert(key, Attempt { origin: origin.clone(), class, number, slot, is_cut_off: false });
        self.begun.push_back((now, Begun { key, number }));
        true
    }

    /// Ends an attempt; `None` if it is not in flight.
    pub(super) fn end(&mut self, key: EventKey) -> Option<Attempt> {
        let attempt = self.attempts.remove(&key)?;
        if !attempt.is_cut_off {
            self.slots.give_back(attempt.slot);
        }
        // So the list has no more ended attempts than there can be slow ones.
        while self.slow.front().is_some_and(|begun| !self.is_in_flight(*begun)) {
            self.slow.pop_front();
        }
        Some(attempt)
    }

    fn is_in_flight(&self, begun: Begun) -> bool {
        self.attempts.get(&begun.key).is_some_and(|attempt| attempt.number == begun.number)
    }

    /// The next attempt that has become slow, if any has, and its event.
    pub(super) fn next_slow(&mut self, now: Duration) -> Option<(EventKey, &Attempt)> {
        while let Some((_, begun)) = self.begun.pop_front_if(|(at, _)| *at + SLOW_AFTER <= now) {
            if self.is_in_flight(begun) {
                let attempt = self.attempts.get_mut(&begun.key)?;
                self.slots.slow_down(&mut attempt.slot);
                self.slow.push_back(begun);
                return Some((begun.key, attempt));
            }
        }
        None
    }

    /// When the next attempt can become slow.
    pub(super) fn next_slow_at(&self) -> Option<Duration> {
        self.begun.front().map(|(begun, _)| *begun + SLOW_AFTER)
    }

    /// Cuts off attempts as long as too many are slow, beginning with those that have been slow for longest. Their slots are
    /// given back now; the caller has to end the attempts.
    #[must_use]
    pub(super) fn cut_off(&mut self) -> Vec<EventKey> {
        let mut cut_off = Vec::new();
        while self.slots.has_too_many_slow()
            && let Some(begun) = self.slow.pop_front()
        {
            if self.is_in_flight(begun)
                && let Some(attempt) = self.attempts.get_mut(&begun.key)
            {
                attempt.is_cut_off = true;
                self.slots.give_back(attempt.slot);
                cut_off.push(begun.key);
            }
        }
        cut_off
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.attempts.is_empty() && !self.slots.has_too_many_slow()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::WebhookId;
    use crate::webhook::Target;

    const LARGE: usize = 16 << 20;

    fn key(number: u8) -> EventKey {
        (WebhookId::from_octets([number; 16]), 0)
    }

    /// A retry of an event has the key of the attempt before.
    #[test]
    fn an_attempt_that_begins_anew_is_not_taken_for_the_slow_one_before() {
        let origin = Target::parse("http://a.example/").expect("url").origin().clone();
        let mut in_flight = InFlight::new(100);
        let mut now = Duration::from_secs(1000);
        let mut slow_down = |in_flight: &mut InFlight, begins: &[(u8, Class)]| {
            for (number, class) in begins {
                assert!(in_flight.begin(key(*number), &origin, *class, LARGE, now));
            }
            now += SLOW_AFTER;
            while in_flight.next_slow(now).is_some() {}
        };
        slow_down(&mut in_flight, &[(1, Class::Other), (2, Class::Other)]);
        assert!(in_flight.end(key(2)).is_some_and(|attempt| attempt.is_slow()));
        slow_down(&mut in_flight, &[(3, Class::Other), (4, Class::Other), (5, Class::Prompt), (6, Class::Prompt)]);
        slow_down(&mut in_flight, &[(7, Class::Other)]);
        assert!(in_flight.begin(key(2), &origin, Class::Prompt, LARGE, now));
        assert_eq!(in_flight.cut_off(), [key(1), key(3)]);
        for number in 1..=7 {
            assert_eq!(in_flight.end(key(number)).map(|attempt| attempt.is_slow()), Some(number != 2), "{number}");
        }
        assert!(in_flight.is_idle());
    }
}
