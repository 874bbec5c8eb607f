//! What a connection does, as an eviction sees it: since when its peer has kept the server waiting.
//!
//! A peer keeps the server waiting while it owes a request, a part of a body, or the reading of an answer.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Frame, SizeHint};

use crate::clock::Clock;
use crate::connections::Occupant;
use crate::model::{Client, Timestamp};

/// The state of one connection.
#[derive(Debug)]
pub(super) struct Activity {
    client: OnceLock<Client>,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// From the end of a request's head to the end of its answer.
    is_answering: bool,
    /// From the end of a request's head until all octets of its answer have been handed to the system.
    owes_octets: bool,
    /// Since when the peer has kept the server waiting; `None`: it does not.
    waiting_since: Option<Duration>,
}

impl Activity {
    /// Sets the client, once it is known.
    pub(super) fn identify(&self, client: Client) {
        let _ = self.client.set(client);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Occupant for Arc<Activity> {
    type Rules = ();

    fn new((): &(), now: Duration) -> Self {
        let state = State { is_answering: false, owes_octets: false, waiting_since: Some(now) };
        Self::new(Activity { client: OnceLock::new(), state: Mutex::new(state) })
    }

    fn client(&self) -> Option<Client> {
        self.client.get().copied()
    }

    fn evictable_since(&self, (): &(), _: Duration) -> Option<Duration> {
        self.state().waiting_since
    }
}

/// Records what happens on a connection.
#[derive(Clone)]
pub(super) struct Recorder {
    activity: Arc<Activity>,
    clock: Arc<dyn Clock>,
}

impl Recorder {
    pub(super) fn new(activity: &Arc<Activity>, clock: &Arc<dyn Clock>) -> Self {
        Self { activity: Arc::clone(activity), clock: Arc::clone(clock) }
    }

    /// Records that the head of a request is complete.
    pub(super) fn requested(&self) {
        *self.activity.state() = State { is_answering: true, owes_octets: true, waiting_since: None };
    }

    /// Records that an answer is complete, except for octets that are still buffered.
    fn answered(&self) {
        *self.activity.state() =
            State { is_answering: false, owes_octets: true, waiting_since: Some(self.clock.boot()) };
    }

    /// Records whether the peer made way for octets, or sent some, or is to do so.
    pub(super) fn moved(&self, is_pending: bool) {
        let mut state = self.activity.state();
        let now = || Some(self.clock.boot());
        state.waiting_since = match state.waiting_since {
            since if is_pending => since.or_else(now),
            _ if state.is_answering => None,
            _ => now(),
        };
    }

    /// A request's body whose octets are recorded.
    pub(super) fn request<B>(&self, body: B) -> RecordedBody<B> {
        RecordedBody { body, recorder: self.clone(), is_answer: false }
    }

    /// An answer's body whose end is recorded.
    pub(super) fn answer<B>(&self, body: B) -> RecordedBody<B> {
        RecordedBody { body, recorder: self.clone(), is_answer: true }
    }

    /// Records that all octets have been handed to the system.
    pub(super) fn flushed(&self) {
        let mut state = self.activity.state();
        state.owes_octets &= state.is_answering;
    }

    /// Whether no answer is in progress, not even one whose last octets are buffered.
    pub(super) fn owes_nothing(&self) -> bool {
        let state = self.activity.state();
        !state.is_answering && !state.owes_octets
    }

    /// The time of day.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// A body of a request or an answer.
pub(super) struct RecordedBody<B> {
    body: B,
    recorder: Recorder,
    is_answer: bool,
}

impl<B: Body + Unpin> Body for RecordedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if !self.is_answer {
            self.recorder.moved(polled.is_pending());
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for RecordedBody<B> {
    fn drop(&mut self) {
        if self.is_answer {
            self.recorder.answered();
        }
    }
}
