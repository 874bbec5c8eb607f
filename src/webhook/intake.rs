//! What is taken out of the outbox into memory: which webhooks to look at, when, and how many events of each.
//!
//! It says what is to be read and takes what was read; all of it is a hint. What is lost with it is still in the store, and is
//! found again.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::ahead::Batch;
use super::delivery::Delivery;
use super::held::{Held, Page};
use super::schedule::RETRY_AFTER_MAX;
use crate::model::{Timestamp, WebhookId};
use crate::store::StoreError;

/// Webhooks whose events are read at the same time, and how many of these because a look found them.
const READS_MAX: usize = 4;
const READS_OF_LOOK_MAX: usize = 2;
/// Octets of the messages that one read takes along; what does not fit is read when its turn comes.
const READ_OCTETS_MAX: u64 = 256 << 10;
/// The longest time between two looks at the whole outbox; a clock that was put right is noticed within it.
const LOOK_EVERY_MAX: Duration = Duration::from_secs(5);
/// The shortest: mail that comes in by the thousand makes no more looks than this.
const LOOK_EVERY_MIN: Duration = Duration::from_millis(20);

/// By so much the clock is put back at least, not only slowed down, where it goes by less from one look to the next than the
/// one that never jumps.
const SET_BACK_MIN: Duration = Duration::from_secs(1);

/// An event in the outbox: its webhook and its sequence.
pub(super) type EventKey = (WebhookId, u64);

/// What a look found: the webhooks that have events, and when the first of those is due that were tried.
pub(super) type Looked = Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError>;

/// What is to be read of a webhook's events.
pub(super) struct Reading {
    webhook: WebhookId,
    is_of_look: bool,
    /// After how many steps of the clock each event is looked at, if it is: none of those that were set before is left out.
    checked: Option<u32>,
    rests_max: Vec<Duration>,
    webhook_rest_max: Duration,
    without: HashSet<u64>,
    limit: usize,
    octets_max: u64,
}

/// What was read of them.
pub(super) struct Read {
    pub(super) webhook: WebhookId,
    pub(super) is_of_look: bool,
    pub(super) checked: Option<u32>,
    pub(super) batch: Result<Option<Batch>, StoreError>,
}

impl Reading {
    pub(super) async fn read(self, delivery: &Delivery) -> Read {
        let Self { webhook, is_of_look, checked, rests_max, webhook_rest_max, without, limit, octets_max } = self;
        let batch = delivery.read_ahead(webhook, rests_max, webhook_rest_max, without, limit, octets_max).await;
        Read { webhook, is_of_look, checked, batch }
    }
}

/// What is known in memory of the outbox.
pub(super) struct Intake {
    delivery: Arc<Delivery>,
    held: HashMap<WebhookId, Held>,
    /// Webhooks whose receivers asked for a rest, and until when, on the clock that never jumps.
    resting: HashMap<WebhookId, Duration>,
    /// By how much the time of day is ahead of the clock that never jumps, in milliseconds, and how often that was put back.
    ahead_millis: i64,
    set_back: u32,
    /// How long an event rests at most that was set to rest after that; those that rest for longer are due.
    rests_max: Vec<Duration>,
    /// How long a webhook rests at most by what the store says; what was asked for since the start is in `resting`.
    webhook_rest_max: Duration,
    /// Webhooks whose events were looked at for that.
    checked: HashSet<WebhookId>,
    /// Events that are held since before: the time of their next attempt may be set by the clock of then.
    held_since_before: HashSet<EventKey>,
    /// Webhooks whose events are to be read: those whose queue runs low, and those that a look has found.
    low: VecDeque<WebhookId>,
    found: VecDeque<WebhookId>,
    reads: usize,
    reads_of_look: usize,
    /// When the look began whose webhooks are not all read yet, on the clock that never jumps.
    looking_since: Option<Duration>,
    /// The look has not found them yet.
    is_looking: bool,
    /// The end of the last look, how long it took, and the start of the next.
    looked_at: Duration,
    look_took: Duration,
    look_at: Duration,
}

impl Intake {
    pub(super) fn new(delivery: Arc<Delivery>) -> Self {
        let now = delivery.clock.boot();
        Self {
            ahead_millis: delivery.ahead_millis(),
            set_back: 0,
            // What a receiver asked for before the start can't be told from a wait that was set by another clock.
            rests_max: vec![Duration::ZERO, delivery.schedule.longest()],
            webhook_rest_max: RETRY_AFTER_MAX,
            checked: HashSet::new(),
            held_since_before: HashSet::new(),
            delivery,
            held: HashMap::new(),
            resting: HashMap::new(),
            low: VecDeque::new(),
            found: VecDeque::new(),
            reads: 0,
            reads_of_look: 0,
            looking_since: None,
            is_looking: false,
            looked_at: now,
            look_took: Duration::ZERO,
            look_at: now,
        }
    }

    pub(super) fn look_soon(&mut self) {
        self.look_at = self.look_at.min(self.looked_at + self.look_pause());
    }

    /// When there is something to do although nothing comes in; `None` while a look is under way.
    pub(super) fn wakes_at(&self) -> Option<Duration> {
        self.looking_since.is_none().then_some(self.look_at)
    }

    /// The shortest pause between two looks: four times as long as a look takes, so that with thousands of webhooks waiting
    /// no more than a fifth of the time goes into it.
    fn look_pause(&self) -> Duration {
        (self.look_took * 4).clamp(LOOK_EVERY_MIN, LOOK_EVERY_MAX)
    }

    /// Whether the webhooks that have events are to be looked for now; [`Intake::looked`] is told what was found.
    pub(super) fn begin_look(&mut self) -> bool {
        let now = self.delivery.clock.boot();
        if now < self.look_at || self.looking_since.is_some() {
            return false;
        }
        (self.looking_since, self.is_looking) = (Some(now), true);
        self.look_at = now + LOOK_EVERY_MAX;
        self.resting.retain(|_, until| *until > now);
        self.check_again_if_set_back();
        true
    }

    /// Takes what a look found.
    pub(super) fn looked(&mut self, looked: Looked) {
        self.is_looking = false;
        match looked {
            Ok(lanes) => {
                // Those that have nothing left.
                if self.checked.len() > 2 * lanes.len() {
                    self.checked.clear();
                }
                for (webhook, due_at) in lanes {
                    self.find(webhook, due_at);
                }
            }
            Err(StoreError::Stopping) => {}
            Err(error) => tracing::error!(%error, "the outbox can't be read"),
        }
        self.end_look_if_over();
    }

    fn check_again_if_set_back(&mut self) {
        let before = std::mem::replace(&mut self.ahead_millis, self.delivery.ahead_millis());
        let set_back = u64::try_from(before.saturating_sub(self.ahead_millis)).unwrap_or(0);
        if Duration::from_millis(set_back) >= SET_BACK_MIN {
            self.set_back += 1;
            (self.rests_max, self.webhook_rest_max) = (self.delivery.schedule.longest_each(), Duration::ZERO);
            self.checked.clear();
            let held = self.held.iter();
            let held = held.flat_map(|(webhook, held)| held.sequences.iter().map(|sequence| (*webhook, *sequence)));
            self.held_since_before.extend(held);
        }
    }

    fn find(&mut self, webhook: WebhookId, due_at: Option<Timestamp>) {
        let page = self.page();
        if let Some(due_at) = due_at.filter(|due_at| self.checked.contains(&webhook) && !self.is_due(*due_at)) {
            return self.look_when_due(due_at);
        }
        if let Some(until) = self.resting.get(&webhook) {
            return self.look_by(*until);
        }
        let held = self.held.entry(webhook).or_default();
        held.has_more = true;
        if held.is_low(page) {
            held.is_listed = true;
            self.found.push_back(webhook);
        }
    }

    /// Nothing is sent to a webhook for so long: all of its events go to the receiver that asks for it. Others at the same
    /// endpoint may be somebody else's.
    pub(super) fn rest(&mut self, webhook: WebhookId, wait: Duration) {
        let until = self.resting.entry(webhook).or_default();
        *until = (*until).max(self.delivery.clock.boot() + wait);
    }

    pub(super) fn is_resting(&self, webhook: WebhookId) -> bool {
        self.resting.get(&webhook).is_some_and(|until| *until > self.delivery.clock.boot())
    }

    /// A time further ahead than the schedule sets any was set before the clock was put back: nobody waits for it.
    fn is_due(&self, due_at: Timestamp) -> bool {
        let now = self.delivery.clock.now();
        due_at <= now || due_at.since(now) > self.delivery.schedule.longest()
    }

    fn look_when_due(&mut self, due_at: Timestamp) {
        let wait = due_at.since(self.delivery.clock.now());
        self.look_by(self.delivery.clock.boot() + wait);
    }

    fn look_by(&mut self, until: Duration) {
        self.look_at = self.look_at.min(until).max(self.looked_at + self.look_pause());
    }

    pub(super) fn end_look_if_over(&mut self) {
        let is_over = !self.is_looking && self.found.is_empty() && self.reads_of_look == 0;
        let Some(since) = self.looking_since.take_if(|_| is_over) else { return };
        self.looked_at = self.delivery.clock.boot();
        self.look_took = self.looked_at.saturating_sub(since);
        self.look_at = self.look_at.max(self.looked_at + self.look_pause());
    }

    /// Whether there is anything to be read at once.
    pub(super) fn wants_to_read(&self) -> bool {
        let is_look_waiting = self.reads_of_look < READS_OF_LOOK_MAX && !self.found.is_empty();
        self.reads < READS_MAX && (is_look_waiting || !self.low.is_empty())
    }

    /// What is to be read at once; [`Intake::take`] is given what was. `octets_left` is how much may be rendered in advance.
    pub(super) fn next_reading(&mut self, octets_left: usize) -> Option<Reading> {
        if !self.wants_to_read() {
            return None;
        }
        let of_look = if self.reads_of_look < READS_OF_LOOK_MAX { self.found.pop_front() } else { None };
        let is_of_look = of_look.is_some();
        let webhook = of_look.or_else(|| self.low.pop_front())?;
        let page = self.page();
        let held = self.held.entry(webhook).or_default();
        held.has_more = false;
        let (limit, without) = (held.room(page), held.sequences.clone());
        let reading = READ_OCTETS_MAX * self.reads as u64;
        let octets_max = (octets_left as u64).saturating_sub(reading).min(READ_OCTETS_MAX);
        let rests_max = if self.checked.contains(&webhook) { Vec::new() } else { self.rests_max.clone() };
        let looks_at_all = !without.iter().any(|sequence| self.held_since_before.contains(&(webhook, *sequence)));
        let checked = (!rests_max.is_empty() && looks_at_all).then_some(self.set_back);
        self.reads += 1;
        self.reads_of_look += usize::from(is_of_look);
        let webhook_rest_max = self.webhook_rest_max;
        Some(Reading { webhook, is_of_look, checked, rests_max, webhook_rest_max, without, limit, octets_max })
    }

    fn page(&self) -> Page {
        Page::among(self.held.len())
    }

    /// Takes what was read into memory.
    pub(super) fn take(&mut self, read: Read) -> Option<Batch> {
        let Read { webhook, is_of_look, checked, batch } = read;
        self.reads -= 1;
        self.reads_of_look -= usize::from(is_of_look);
        let has_more = batch.as_ref().map_or(true, |batch| batch.as_ref().is_some_and(|batch| batch.has_more));
        if checked == Some(self.set_back) && !has_more {
            self.checked.insert(webhook);
        }
        let batch = batch.unwrap_or_else(|error| {
            if error != StoreError::Stopping {
                // Its own trouble alone: the other webhooks have their turn.
                tracing::error!(%webhook, %error, "the events of a webhook can't be read");
            }
            None
        });
        if let Some(due_at) = batch.as_ref().and_then(|batch| batch.next_due_at) {
            self.look_when_due(due_at);
        }
        let rest = batch.as_ref().and_then(|batch| batch.rest);
        if let Some(rest) = rest.filter(|rest| *rest <= self.webhook_rest_max) {
            self.rest(webhook, rest);
            self.look_by(self.delivery.clock.boot() + rest);
        }
        self.change(webhook, |held| {
            held.is_listed = false;
            if let Some(batch) = &batch {
                held.has_more |= batch.has_more;
                held.queued += batch.events.len();
                held.sequences.extend(batch.events.iter().map(|queued| queued.event.sequence));
            }
        });
        self.end_look_if_over();
        batch
    }

    /// An event that was queued is in flight.
    pub(super) fn start(&mut self, (webhook, _): EventKey) {
        self.change(webhook, |held| held.queued -= 1);
    }

    /// An event is the store's alone again, if it has not ended.
    pub(super) fn let_go(&mut self, event: EventKey) {
        self.held_since_before.remove(&event);
        let (webhook, sequence) = event;
        self.change(webhook, |held| _ = held.sequences.remove(&sequence));
        // Its next attempt may be due before anything else.
        self.look_soon();
    }

    /// Changes what is held of a webhook; sees to it that more is read of one whose queue runs low, and forgets one that has
    /// nothing left.
    fn change(&mut self, webhook: WebhookId, change: impl FnOnce(&mut Held)) {
        let (is_resting, page) = (self.is_resting(webhook), self.page());
        let Some(held) = self.held.get_mut(&webhook) else { return };
        change(held);
        if held.has_more && held.is_low(page) && !is_resting {
            held.is_listed = true;
            self.low.push_back(webhook);
        } else if held.sequences.is_empty() && !held.is_listed {
            self.held.remove(&webhook);
        }
    }
}
