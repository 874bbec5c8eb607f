//! What is queued, in flight and to be noted: what all that make attempts share, and which event is sent next.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::ahead::{Batch, Queued};
use super::delivery::{Attempt, Delivery};
use super::intake::{EventKey, Intake, Read, Reading};
use super::octets::{OfBoth, Parked, Room, Share};
use super::{End, Lanes, PacingLimits, Place, Unnoted};
use crate::clock::Clock;
use crate::model::{AttemptRecord, Verdict, WebhookId};

/// Attempts that are over and not noted yet, at most, before others start.
const UNNOTED_MAX: usize = 1024;
/// The shortest time from one note to the next, in which what is to be noted gathers: each costs a write to the disk, which
/// mail that comes in pays as well. And where no endpoint waits for one.
const NOTE_PAUSE: Duration = Duration::from_millis(1);
const NOTE_PAUSE_UNWANTED: Duration = Duration::from_millis(4);
/// Octets of the bodies that are rendered before their turn.
const RENDERED_OCTETS_MAX: usize = 16 << 20;

/// An attempt that is to be made.
pub(super) struct Turn {
    pub(super) place: Place,
    pub(super) event: EventKey,
    pub(super) queued: Queued,
    /// What of memory it may use.
    pub(super) share: Share,
}

/// An attempt that is over.
pub(super) struct Attempted {
    pub(super) place: Place,
    pub(super) event: EventKey,
    pub(super) attempt: Attempt,
}

/// An event whose attempt is over and about to be noted.
pub(super) struct Over {
    event: EventKey,
    /// If its receiver was told.
    told: Option<Unnoted>,
    is_taken: bool,
}

/// What is to be noted at once.
pub(super) struct Note {
    pub(super) records: Vec<AttemptRecord>,
    /// The events that it is about.
    pub(super) events: Vec<Over>,
}

/// What is known of the turns.
pub(super) struct Turns {
    clock: Arc<dyn Clock>,
    pub(super) intake: Intake,
    lanes: Lanes<Queued>,
    /// Octets of the bodies in `lanes`.
    rendered_octets: usize,
    /// For those of the attempts in flight.
    room: Arc<Room>,
    /// Events that wait for room in it.
    parked: OfBoth<Vec<Parked>>,
    /// Whether the worker is woken when there is some.
    is_woken_for: OfBoth<bool>,
    /// What is noted next, all at once, and the events that it is about.
    records: Vec<AttemptRecord>,
    unnoted: Vec<Over>,
    /// How many events the note under way is about.
    noting: usize,
    /// When the last one was made, on the clock that never jumps.
    noted_at: Duration,
    /// Webhooks that are disabled by what is not noted yet: nothing more is sent to them.
    ending: HashSet<WebhookId>,
    /// Events that are past their end by a clock that can't be relied on.
    resting: Vec<EventKey>,
    /// Until when the worker sleeps, on the clock that never jumps.
    sleeps_until: Duration,
    /// Nobody has a turn any more.
    is_closed: bool,
}

impl Turns {
    pub(super) fn new(delivery: &Arc<Delivery>, pacing: PacingLimits, room: Arc<Room>) -> Self {
        Self {
            clock: Arc::clone(&delivery.clock),
            intake: Intake::new(Arc::clone(delivery)),
            lanes: Lanes::new(pacing),
            rendered_octets: 0,
            room,
            parked: OfBoth::default(),
            is_woken_for: OfBoth::default(),
            records: Vec::new(),
            unnoted: Vec::new(),
            noting: 0,
            noted_at: Duration::ZERO,
            ending: HashSet::new(),
            resting: Vec::new(),
            sleeps_until: Duration::ZERO,
            is_closed: false,
        }
    }

    /// Nobody has a turn from now on; what is in flight may end.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// The next attempt; `None` if nothing may be sent now.
    pub(super) fn next(&mut self) -> Option<Turn> {
        while self.is_open() {
            let (place, queued) = self.lanes.next(self.clock.boot())?;
            let event = (queued.event.webhook, queued.event.sequence);
            self.rendered_octets -= queued.octets();
            self.intake.start(event);
            if self.ending.contains(&event.0) {
                self.hold(place, None, event, false);
            } else if let Some(share) = self.admit(&place, event, queued.octets_in_flight()) {
                return Some(Turn { place, event, queued, share });
            } else {
                self.lanes.done(place, None, self.clock.boot());
            }
        }
        None
    }

    fn is_open(&self) -> bool {
        !self.is_closed && self.unnoted.len() + self.noting < UNNOTED_MAX
    }

    /// The share of memory of an event that may be sent, or else puts it where it waits.
    fn admit(&mut self, place: &Place, event: EventKey, octets: usize) -> Option<Share> {
        if self.intake.is_resting(event.0) {
            self.intake.let_go(event);
            return None;
        }
        self.room.take(place, event, octets, &mut self.parked, self.clock.boot())
    }

    /// Gives back the turn of an attempt that is over. What became of it is to be noted.
    pub(super) fn end(&mut self, attempted: Attempted) {
        let Attempted { place, event, attempt } = attempted;
        if let Some(asked) = attempt.asked {
            self.intake.rest(event.0, asked);
        }
        let Some(record) = attempt.record else {
            self.lanes.done(place, attempt.end, self.clock.boot());
            return if attempt.rests { self.resting.push(event) } else { self.intake.let_go(event) };
        };
        if record.disables.is_some() {
            self.ending.insert(event.0);
        }
        self.hold(place, attempt.end, event, record.verdict == Verdict::Delivered);
        self.records.push(record);
    }

    /// Holds an event whose attempt is over until that is noted: the store would give it out again.
    fn hold(&mut self, place: Place, end: Option<End>, event: EventKey, is_taken: bool) {
        let now = self.clock.boot();
        let told = if end.is_some() {
            Some(self.lanes.over(place, end, now))
        } else {
            self.lanes.done(place, None, now);
            None
        };
        self.unnoted.push(Over { event, told, is_taken });
    }

    /// What there is to be noted, unless a note is under way or was right now: what comes up meanwhile is noted after it, all
    /// at once. [`Turns::noted`] is told when that is done.
    pub(super) fn next_note(&mut self) -> Option<Note> {
        if self.notes_at().is_none_or(|notes_at| notes_at > self.clock.boot()) {
            return None;
        }
        self.lanes.begin_note();
        let note = Note { records: std::mem::take(&mut self.records), events: std::mem::take(&mut self.unnoted) };
        self.noting = note.events.len();
        Some(note)
    }

    /// When the next note is to be made, if there is one and none is under way.
    fn notes_at(&self) -> Option<Duration> {
        let is_waited_for = self.lanes.wants_note() || !self.is_open();
        let pause = match (self.is_closed, is_waited_for) {
            (true, _) => Duration::ZERO,
            (false, true) => NOTE_PAUSE,
            (false, false) => NOTE_PAUSE_UNWANTED,
        };
        (self.noting == 0 && !self.unnoted.is_empty()).then_some(self.noted_at + pause)
    }

    pub(super) fn noted(&mut self, events: Vec<Over>) {
        (self.noting, self.noted_at) = (0, self.clock.boot());
        for Over { event, told, is_taken } in events {
            // What disables it may only be noted next.
            if self.ending.contains(&event.0)
                && !self.records.iter().any(|record| record.webhook == event.0 && record.disables.is_some())
            {
                self.ending.remove(&event.0);
            }
            if let Some(told) = told {
                self.lanes.noted(told, is_taken);
            }
            self.intake.let_go(event);
        }
    }

    /// Whether the webhooks that have events are to be looked for now; [`Intake::looked`] is told what was found.
    pub(super) fn begin_look(&mut self) -> bool {
        let begins = self.intake.begin_look();
        if begins {
            self.wake_parked();
        }
        begins
    }

    /// What is to be read at once; [`Turns::queue`] is given what was.
    pub(super) fn next_reading(&mut self) -> Option<Reading> {
        self.intake.next_reading(RENDERED_OCTETS_MAX.saturating_sub(self.rendered_octets))
    }

    pub(super) fn queue(&mut self, read: Read) {
        let webhook = read.webhook;
        let Some(Batch { endpoint, known, events, .. }) = self.intake.take(read) else { return };
        let octets = &mut self.rendered_octets;
        let events = events.into_iter().map(|mut queued| {
            // A body may be longer than the message that it was rendered from.
            if *octets + queued.octets() > RENDERED_OCTETS_MAX {
                queued.rendered = None;
            }
            *octets += queued.octets();
            queued
        });
        self.lanes.add(endpoint, webhook, known, events, self.clock.boot());
    }

    /// Events rested whose end is known now.
    pub(super) fn wake_resting(&mut self) {
        self.resting.drain(..).for_each(|event| self.intake.let_go(event));
    }

    /// What waited for room that there is now is read again: the store may have ended it meanwhile.
    pub(super) fn wake_parked(&mut self) {
        for event in self.room.take_out(&mut self.parked, self.clock.boot()) {
            self.intake.let_go(event);
        }
    }

    /// How long the worker may sleep, `pause_max` at most: [`Turns::wants_worker`] says if it is wanted before. And for which
    /// room it is to be woken.
    pub(super) fn pause(&mut self, pause_max: Duration) -> (Duration, OfBoth<bool>) {
        let now = self.clock.boot();
        self.sleeps_until = self.wakes_at().map_or(now + pause_max, |wakes_at| wakes_at.min(now + pause_max));
        self.is_woken_for = self.waits_for_room();
        (self.sleeps_until.saturating_sub(now), self.is_woken_for)
    }

    fn waits_for_room(&self) -> OfBoth<bool> {
        self.parked.each_ref().map(|parked| !parked.is_empty())
    }

    /// When there is something to do although nothing comes in and nothing ends.
    fn wakes_at(&self) -> Option<Duration> {
        // Nobody asks the lanes while too much is not noted.
        let has_turn_at = self.lanes.wakes_at().filter(|_| self.is_open());
        [has_turn_at, self.intake.wakes_at(), self.notes_at()].into_iter().flatten().min()
    }

    /// Whether there is something to do for the worker before it wakes by itself.
    pub(super) fn wants_worker(&self) -> bool {
        self.intake.wants_to_read()
            || (self.is_open() && self.lanes.has_turn())
            || self.waits_for_room().iter().zip(self.is_woken_for).any(|(waits, is_woken)| *waits && !is_woken)
            || self.wakes_at().is_some_and(|wakes_at| wakes_at < self.sleeps_until)
    }
}

#[cfg(test)]
mod tests;
