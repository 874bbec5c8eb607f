//! The queue of the writer. It is bounded in octets, so that a slow disk delays the senders and does not fill the memory.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use bytes::Bytes;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::model::Timestamp;
use crate::store::StoreError;
use crate::store::mail::{Outcome, Request};

/// A group takes no further request when it has this many octets.
const GROUP_OCTETS_MAX: usize = 4 << 20;
/// The most requests of a group.
const GROUP_REQUESTS_MAX: usize = 1024;
/// How many times the writer lets other threads run before a group begins.
const YIELDS_MAX: u32 = 2;
/// The size of the queue in units of [`UNIT_OCTETS`].
const UNITS_MAX: u32 = 64 << 10;
const UNIT_OCTETS: usize = 1 << 10;

/// A queued request, and the sender of its answer.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) content: Bytes,
    answer: oneshot::Sender<Result<Outcome, StoreError>>,
    /// The runtime of its sender, if that has one thread.
    runtime: Option<Handle>,
    /// Its part of the queue, which is free again when the job is dropped.
    _permit: OwnedSemaphorePermit,
}

/// What a sweep did.
#[derive(Debug)]
pub(super) struct Swept {
    /// The number of Emails that were removed.
    pub(super) removed: usize,
    /// The segment and the offset of the last group, in which nothing may be punched out.
    pub(super) last_group: Option<(u32, u32)>,
}

/// A command to the writer.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly every command is a request")]
pub(super) enum WriterCommand {
    Request(Job),
    Signal(Signal),
}

/// A command to the writer that is not a request.
#[derive(Debug)]
pub(super) enum Signal {
    /// Answer once every request that was queued before is durable and shown, or has failed.
    Answer(oneshot::Sender<()>),
    /// Remove what has expired by this time, at most so many Emails.
    Sweep(Timestamp, usize, oneshot::Sender<Swept>),
    /// Finish, and drop the sender when everything is durable and all files are closed.
    Close(oneshot::Sender<()>),
}

/// The senders' end. Dropping it closes the store as [`Queue::close`] does.
#[derive(Debug)]
pub(super) struct Queue {
    sender: mpsc::Sender<WriterCommand>,
    room: Arc<Semaphore>,
    writer: Option<JoinHandle<()>>,
}

impl Queue {
    pub(super) fn new(sender: mpsc::Sender<WriterCommand>, writer: JoinHandle<()>) -> Self {
        let room = Arc::new(Semaphore::new(UNITS_MAX as usize));
        Self { sender, room, writer: Some(writer) }
    }

    fn send(&self, command: WriterCommand) -> Result<(), StoreError> {
        self.sender.send(command).map_err(|_| StoreError::WriterEnded)
    }

    /// Queues a request, after a wait for room if the queue is full, and waits for its outcome.
    ///
    /// Once the request is queued, dropping the future does not undo it.
    pub(super) async fn submit(&self, request: Request, content: Bytes) -> Result<Outcome, StoreError> {
        let units = u32::try_from(1 + (content.len() + request.weight_octets()) / UNIT_OCTETS)
            .unwrap_or(u32::MAX)
            .min(UNITS_MAX);
        let permit = Arc::clone(&self.room).acquire_many_owned(units).await.map_err(|_| StoreError::Stopping)?;
        let (answer, answered) = oneshot::channel();
        let has_one_thread = |runtime: &Handle| runtime.runtime_flavor() == RuntimeFlavor::CurrentThread;
        let runtime = Handle::try_current().ok().filter(has_one_thread);
        let job = Job { request, content, answer, runtime, _permit: permit };
        self.send(WriterCommand::Request(job))?;
        answered.await.unwrap_or(Err(StoreError::OutcomeUnknown))
    }

    /// Waits until every request that was queued before is durable and shown, or has failed.
    pub(super) async fn answers(&self) -> Result<(), StoreError> {
        self.signal(Signal::Answer).await
    }

    /// Has the writer remove what has expired by `now`, at most `limit` Emails.
    pub(super) async fn sweep(&self, now: Timestamp, limit: usize) -> Result<Swept, StoreError> {
        if self.is_closed() {
            return Err(StoreError::Stopping);
        }
        self.signal(|answer| Signal::Sweep(now, limit, answer)).await
    }

    async fn signal<T>(&self, signal: impl FnOnce(oneshot::Sender<T>) -> Signal) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.send(WriterCommand::Signal(signal(answer)))?;
        answered.await.map_err(|_| StoreError::WriterEnded)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.room.is_closed()
    }

    /// Refuses new requests and waits until the queued ones are durable.
    pub(super) async fn close(&self) {
        self.room.close();
        // The writer drops the sender without an answer.
        let _ = self.signal(Signal::Close).await;
    }
}

/// Takes the requests of a group: those that are queued, and those of threads that can run now.
///
/// Where processors are scarce, threads that would queue further requests wait for one. The writer lets them run first, so
/// that more requests share the cost of a sync. Where no thread waits for a processor, nothing is delayed.
///
/// A signal ends the group and is returned, since it must be handled after every request that was queued before.
pub(super) fn gather(commands: &Receiver<WriterCommand>, jobs: &mut Vec<Job>) -> Option<Signal> {
    for _ in 0..YIELDS_MAX {
        let before = jobs.len();
        std::thread::yield_now();
        let signal = take_queued(commands, jobs);
        if signal.is_some() || jobs.len() == before {
            return signal;
        }
    }
    None
}

/// Takes the queued requests up to the limits of a group. Returns the signal that ends it, if there is one.
fn take_queued(commands: &Receiver<WriterCommand>, jobs: &mut Vec<Job>) -> Option<Signal> {
    let mut octets: usize = jobs.iter().map(|job| job.content.len()).sum();
    while jobs.len() < GROUP_REQUESTS_MAX && octets < GROUP_OCTETS_MAX {
        match commands.try_recv() {
            Ok(WriterCommand::Request(job)) => {
                octets += job.content.len();
                jobs.push(job);
            }
            Ok(WriterCommand::Signal(signal)) => return Some(signal),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => return None,
        }
    }
    None
}

/// Answers the sender of a request. No other code does.
pub(super) fn answer(job: Job, result: Result<Outcome, StoreError>) {
    // The sender may have gone. What was asked is done nevertheless.
    let _ = job.answer.send(result);
}

/// Answers the senders of a group. To wake a runtime of one thread, as that of SMTP sessions, for each answer of many costs
/// more than the answers do, so one task there gives all of them.
pub(super) fn answer_group(answers: Vec<(Job, Result<Outcome, StoreError>)>) {
    let (there, here): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(job, _)| job.runtime.is_some());
    let give = |answers: Vec<_>| answers.into_iter().for_each(|(job, result)| answer(job, result));
    match there.first().and_then(|(first, _)| first.runtime.clone()) {
        Some(runtime) if there.len() > 1 => drop(runtime.spawn(async move { give(there) })),
        _ => give(there),
    }
    give(here);
}

pub(super) fn answer_all(jobs: Vec<Job>, error: &StoreError) {
    for job in jobs {
        answer(job, Err(error.clone()));
    }
}

impl Drop for Queue {
    /// Blocks until the writer has closed all files, so that the store can be opened again at once.
    ///
    /// This takes as long as one commit. An async caller awaits [`Queue::close`] before, after which it returns at once.
    fn drop(&mut self) {
        let _ = self.send(WriterCommand::Signal(Signal::Close(oneshot::channel().0)));
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}
