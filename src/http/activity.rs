//! What a connection does, as an eviction sees it: since when its peer has kept the server waiting.
//!
//! A peer keeps the server waiting while it owes a request, a part of a body, or the reading of an answer.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
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

    /// Records that the head of a request is complete. The answer is given out in pieces of so many octets at most.
    pub(super) fn requested(&self, piece_octets_max: usize, in_progress: InProgress) -> Answering {
        let mut state = self.activity.state();
        *state = State { answering: state.answering + 1, owes_octets: true, waiting_since: None };
        Answering { recorder: self.clone(), piece_octets_max, _in_progress: in_progress }
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

    /// Waits until the peer has kept the server waiting for too long: without a request in progress, or with one.
    pub(super) async fn kept_waiting(&self, idle_max: Duration, stalled_max: Duration) {
        loop {
            let State { answering, waiting_since, .. } = *self.activity.state();
            let time_max = if answering == 0 { idle_max } else { stalled_max };
            let waited = waiting_since.map_or(Duration::ZERO, |since| self.clock.boot().saturating_sub(since));
            match time_max.checked_sub(waited).filter(|left| !left.is_zero()) {
                Some(left) => tokio::time::sleep(left).await,
                None => return,
            }
        }
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
    piece_octets_max: usize,
    _in_progress: InProgress,
}

impl Answering {
    /// The answer's body, whose progress is recorded.
    pub(super) fn body<B>(self, body: B) -> AnswerBody<B> {
        AnswerBody { body, answering: self, rest: Bytes::new() }
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

/// The body of an answer, in pieces.
pub(super) struct AnswerBody<B> {
    body: B,
    answering: Answering,
    /// The octets of the last frame that were not given out yet.
    rest: Bytes,
}

impl<B: Body<Data = Bytes> + Unpin> AnswerBody<B> {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if self.rest.is_empty() {
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                end => return Poll::Ready(end),
            };
            match frame.into_data() {
                Ok(data) => self.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let octets = self.rest.len().min(self.answering.piece_octets_max);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(octets)))))
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for AnswerBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let polled = self.poll_piece(cx);
        self.answering.recorder.moved(matches!(polled, Poll::Ready(Some(_))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}
