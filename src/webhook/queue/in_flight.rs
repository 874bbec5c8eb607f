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
    /// Attempts in the order in which they began. Some have ended.
    begun: VecDeque<(Duration, EventKey)>,
    /// Slow attempts in the order in which they became slow. Some have ended.
    slow: VecDeque<EventKey>,
}

/// One attempt in flight.
pub(super) struct Attempt {
    pub(super) origin: Origin,
    pub(super) class: Class,
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
        self.attempts.insert(key, Attempt { origin: origin.clone(), class, slot, is_cut_off: false });
        self.begun.push_back((now, key));
        true
    }

    /// Ends an attempt; `None` if it is not in flight.
    pub(super) fn end(&mut self, key: EventKey) -> Option<Attempt> {
        let attempt = self.attempts.remove(&key)?;
        if !attempt.is_cut_off {
            self.slots.give_back(attempt.slot);
        }
        // So the list has no more ended attempts than there can be slow ones.
        while self.slow.front().is_some_and(|key| !self.attempts.contains_key(key)) {
            self.slow.pop_front();
        }
        Some(attempt)
    }

    /// The next attempt that has become slow, if any has.
    pub(super) fn next_slow(&mut self, now: Duration) -> Option<EventKey> {
        while let Some((_, key)) = self.begun.pop_front_if(|(begun, _)| *begun + SLOW_AFTER <= now) {
            if let Some(attempt) = self.attempts.get_mut(&key) {
                self.slots.slow_down(&mut attempt.slot);
                self.slow.push_back(key);
                return Some(key);
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
            && let Some(key) = self.slow.pop_front()
        {
            let Some(attempt) = self.attempts.get_mut(&key).filter(|attempt| !attempt.is_cut_off) else { continue };
            attempt.is_cut_off = true;
            self.slots.give_back(attempt.slot);
            cut_off.push(key);
        }
        cut_off
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.attempts.is_empty() && !self.slots.has_too_many_slow()
    }
}
