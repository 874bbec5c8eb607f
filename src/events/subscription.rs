//! The events of one mailbox, or of all, as one subscriber gets them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::{Event, Hub, Topic};

/// What a subscriber gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// An event.
    Event(Event),
    /// Events were missed: the store says what is so.
    Missed,
}

/// A subscription; it ends when this is dropped.
///
/// Every change that becomes readable after the subscription began gives a [`Hint`]. The same event may come twice.
#[derive(Debug)]
pub struct Subscription {
    hub: Arc<Hub>,
    topic: Topic,
    number: u64,
    buffer: Arc<Buffer>,
}

/// The events that one subscriber has not taken yet.
#[derive(Debug)]
pub(super) struct Buffer {
    events_max: usize,
    state: Mutex<State>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Event>,
    has_missed: bool,
}

impl Subscription {
    pub(super) fn new(hub: Arc<Hub>, topic: Topic, number: u64, buffer: Arc<Buffer>) -> Self {
        Self { hub, topic, number, buffer }
    }

    /// Waits for the next hint. Dropping the future loses none.
    pub async fn next(&mut self) -> Hint {
        loop {
            if let Some(hint) = self.buffer.take() {
                return hint;
            }
            self.buffer.filled.notified().await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.unsubscribe(self.topic, self.number);
    }
}

impl Buffer {
    pub(super) fn new(events_max: usize) -> Self {
        Self { events_max, state: Mutex::default(), filled: Notify::new() }
    }

    /// Adds an event. If there is no room, it and all before it are missed.
    pub(super) fn push(&self, event: &Event) {
        let mut state = self.state();
        if state.has_missed {
            return;
        }
        if state.events.len() < self.events_max {
            state.events.push_back(event.clone());
        } else {
            *state = State { events: VecDeque::new(), has_missed: true };
        }
        drop(state);
        self.filled.notify_one();
    }

    /// Tells the subscriber that it missed events.
    pub(super) fn miss(&self) {
        *self.state() = State { events: VecDeque::new(), has_missed: true };
        self.filled.notify_one();
    }

    fn take(&self) -> Option<Hint> {
        let mut state = self.state();
        if std::mem::take(&mut state.has_missed) {
            return Some(Hint::Missed);
        }
        state.events.pop_front().map(Hint::Event)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
