//! What a connection does, as an eviction sees it: since when its peer has kept the server waiting.
//!
//! A peer keeps the server waiting while it owes a request, a part of a body, or the reading of an answer.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Frame, SizeHint};

use super::berth::InProgress;
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
    /// How many requests there are from the end of their heads to the end of their answers.
    answering: usize,
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
        let state = State { answering: 0, owes_octets: false, waiting_since: Some(now) };
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

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("activity", &self.activity).finish_non_exhaustive()
    }
}

impl Recorder {
    pub(super) fn new(activity: &Arc<Activity>, clock: &Arc<dyn Clock>) -> Self {
        Self { activity: Arc::clone(activity), clock: Arc::clone(clock) }
    }

    /// Records that the head of a request is complete.
    pub(super) fn requested(&self, in_progress: InProgress) -> Answering {
        let mut state = self.activity.state();
        *state = State { answering: state.answering + 1, owes_octets: true, waiting_since: None };
        Answering { recorder: self.clone(), _in_progress: in_progress }
    }

    /// Records whether the peer made way for octets, or sent some, or is to do so.
    pub(super) fn moved(&self, is_pending: bool) {
        let mut state = self.activity.state();
        let now = || Some(self.clock.boot());
        state.waiting_since = match state.waiting_since {
            since if is_pending => since.or_else(now),
            _ if state.answering > 0 => None,
            _ => now(),
        };
    }

    /// Records, until the guard is dropped, that the peer keeps the server waiting: it has yet to read other answers.
    pub(super) fn held_up(&self) -> HeldUp {
        self.moved(true);
        HeldUp(self.clone())
    }

    /// A request's body whose octets are recorded.
    pub(super) fn request<B>(&self, body: B) -> RequestBody<B> {
        RequestBody { body, recorder: self.clone() }
    }

    /// Records that all octets have been handed to the system.
    pub(super) fn flushed(&self) {
        let mut state = self.activity.state();
        state.owes_octets &= state.answering > 0;
    }

    /// Whether no answer is in progress, not even one whose last octets are buffered.
    pub(super) fn owes_nothing(&self) -> bool {
        let state = self.activity.state();
        state.answering == 0 && !state.owes_octets
    }

    /// The time of day.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// A request that cannot go on before the peer has read other answers.
pub(super) struct HeldUp(Recorder);

impl Drop for HeldUp {
    fn drop(&mut self) {
        self.0.moved(false);
    }
}

/// A request in progress. When this is dropped, its answer is complete, except for octets that are still buffered.
pub(super) struct Answering {
    recorder: Recorder,
    _in_progress: InProgress,
}

impl Answering {
    /// The answer's body, whose progress is recorded.
    pub(super) fn body<B>(self, body: B) -> AnswerBody<B> {
        AnswerBody { body, answering: self }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut state = self.recorder.activity.state();
        state.answering -= 1;
        state.waiting_since = (state.answering == 0).then(|| self.recorder.clock.boot());
    }
}

/// The body of a request.
pub(super) struct RequestBody<B> {
    body: B,
    recorder: Recorder,
}

impl<B: Body + Unpin> Body for RequestBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        self.recorder.moved(polled.is_pending());
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of an answer.
pub(super) struct AnswerBody<B> {
    body: B,
    answering: Answering,
}

impl<B: Body + Unpin> Body for AnswerBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        self.answering.recorder.moved(matches!(polled, Poll::Ready(Some(_))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
