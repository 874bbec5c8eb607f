//! The way to the writer: bounded in octets, so that a slow disk is felt by the senders and not by the memory.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::counters::{Counters, Queued};
use crate::store::StoreError;
use crate::store::change::{Change, Outcome};

/// A group takes no further change once it has this many octets.
const GROUP_OCTETS_MAX: usize = 4 << 20;
/// The most changes of a group.
const GROUP_CHANGES_MAX: usize = 1024;
/// What waits at most for the writer, in units of [`UNIT_OCTETS`].
const UNITS_MAX: u32 = 64 << 10;
const UNIT_OCTETS: usize = 1 << 10;

/// A change on its way, and whom to tell what became of it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) change: Change,
    pub(super) content: Bytes,
    pub(super) answer: oneshot::Sender<Result<Outcome, StoreError>>,
    /// Its share of the queue, given back with the job.
    _share: OwnedSemaphorePermit,
    _queued: Queued,
}

/// What the writer gets.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly every message is a change")]
pub(super) enum Message {
    Change(Job),
    Signal(Signal),
}

/// What the writer is told beside changes.
#[derive(Debug)]
pub(super) enum Signal {
    /// Say so: what was queued before is done.
    Answer(oneshot::Sender<()>),
    /// A read of the index failed: see whether it must be opened again.
    LookAtIndex,
    /// Finish, and drop the sender when everything is durable.
    Close(oneshot::Sender<()>),
}

/// The senders' end. Dropping it closes the store as [`Queue::close`] does.
#[derive(Debug)]
pub(super) struct Queue {
    sender: mpsc::Sender<Message>,
    room: Arc<Semaphore>,
    counters: Arc<Counters>,
    writer: Option<JoinHandle<()>>,
}

impl Queue {
    pub(super) fn new(sender: mpsc::Sender<Message>, counters: Arc<Counters>, writer: JoinHandle<()>) -> Self {
        let room = Arc::new(Semaphore::new(UNITS_MAX as usize));
        Self { sender, room, counters, writer: Some(writer) }
    }

    fn send(&self, message: Message) -> Result<(), StoreError> {
        self.sender.send(message).map_err(|_| StoreError::WriterEnded)
    }

    /// Hands a change over, waits for room if there is none, and then for what became of it.
    ///
    /// Dropping the future does not take the change back once it was handed over.
    pub(super) async fn submit(&self, change: Change, content: Bytes) -> Result<Outcome, StoreError> {
        let units = u32::try_from(1 + (content.len() + change.weight_octets()) / UNIT_OCTETS)
            .unwrap_or(u32::MAX)
            .min(UNITS_MAX);
        let share = Arc::clone(&self.room).acquire_many_owned(units).await.map_err(|_| StoreError::Stopping)?;
        let (answer, answered) = oneshot::channel();
        let job = Job { change, content, answer, _share: share, _queued: self.counters.queued() };
        self.send(Message::Change(job))?;
        answered.await.unwrap_or(Err(StoreError::OutcomeUnknown))
    }

    /// Waits until the writer has done all that was handed over before.
    pub(super) async fn answers(&self) -> Result<(), StoreError> {
        let (answer, is_answered) = oneshot::channel();
        self.send(Message::Signal(Signal::Answer(answer)))?;
        is_answered.await.map_err(|_| StoreError::WriterEnded)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.room.is_closed()
    }

    /// Takes no more changes and waits until those at hand are done and durable.
    pub(super) async fn close(&self) {
        self.room.close();
        let (done, is_done) = oneshot::channel();
        if self.send(Message::Signal(Signal::Close(done))).is_ok() {
            let _ = is_done.await;
        }
    }
}

/// Takes what is queued by now, up to the bounds of a group. A signal ends the group and is returned: it is for after all
/// that was handed over before.
pub(super) fn gather(messages: &Receiver<Message>, jobs: &mut Vec<Job>) -> Option<Signal> {
    let mut octets: usize = jobs.iter().map(|job| job.content.len()).sum();
    while jobs.len() < GROUP_CHANGES_MAX && octets < GROUP_OCTETS_MAX {
        match messages.try_recv() {
            Ok(Message::Change(job)) => {
                octets += job.content.len();
                jobs.push(job);
            }
            Ok(Message::Signal(signal)) => return Some(signal),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => return None,
        }
    }
    None
}

/// The one place where the sender of a change learns what became of it.
pub(super) fn answer(job: Job, outcome: Result<Outcome, StoreError>) {
    // Whoever asked may be gone; the change stands all the same.
    let _ = job.answer.send(outcome);
}

pub(super) fn answer_all(jobs: Vec<Job>, error: &StoreError) {
    for job in jobs {
        answer(job, Err(error.clone()));
    }
}

impl Drop for Queue {
    /// Blocks until the writer has let go of the files, for as long as a checkpoint takes: whoever drop_warnings a store may open
    /// it again at once. After [`Queue::close`], which an async caller awaits before, the thread has nothing left to do.
    fn drop(&mut self) {
        // Readers have senders too, so that the writer would wait for messages for ever.
        let _ = self.send(Message::Signal(Signal::Close(oneshot::channel().0)));
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}
