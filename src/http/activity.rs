//! Whether a connection owes octets of an answer.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use hyper::body::{Body, Frame, SizeHint};

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// How many requests there are from the end of their heads to the end of their answers.
    answering: usize,
    /// From the end of a request's head until all octets of its answer have been handed to the system.
    owes_octets: bool,
}

/// Records what happens on a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorder(Arc<Mutex<State>>);

impl Recorder {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the head of a request is complete.
    pub(super) fn requested(&self) -> Answering {
        let mut state = self.state();
        *state = State { answering: state.answering + 1, owes_octets: true };
        Answering(self.clone())
    }

    /// Records that all octets have been handed to the system.
    pub(super) fn flushed(&self) {
        let mut state = self.state();
        state.owes_octets &= state.answering > 0;
    }

    /// Whether no answer is in progress, not even one whose last octets are buffered.
    pub(super) fn owes_nothing(&self) -> bool {
        !self.state().owes_octets
    }
}

/// A request in progress. When this is dropped, its answer is complete, except for octets that are still buffered.
pub(super) struct Answering(Recorder);

impl Answering {
    /// The body of the answer.
    pub(super) const fn body<B>(self, body: B) -> AnswerBody<B> {
        AnswerBody { body, _answering: self }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.state().answering -= 1;
    }
}

/// The body of an answer, which is in progress until this is dropped.
pub(super) struct AnswerBody<B> {
    body: B,
    _answering: Answering,
}

impl<B: Body + Unpin> Body for AnswerBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
