//! Moving what lives out of segments in which little does, so that they can go: a small message that stays keeps the blocks of
//! all that was deleted around it, whose heads are never punched out.
//!
//! A thread of its own reads the messages and hands them to the writer, some at a time, which writes them down once more as
//! any group. Between two of these the writer is left to others for as long as the last one took.

mod choice;
mod step;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::queue::Message;
use super::shared::Shared;
use crate::model::{Envelope, Timestamp};
use crate::store::StoreError;
use crate::store::index::{SegmentLife, View};
use crate::store::journal::{RecordPlace, SegmentFiles, Step, Walk, WalkedContent, WalkedRecord};

/// Messages that are moved at once, and octets of them; one more may lie beyond. A few milliseconds of the writer's time.
const BATCH_MESSAGES: usize = 128;
const BATCH_OCTETS: usize = 256 << 10;
/// The longest pause between two batches.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// How often it is looked whether to stop while the writer is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A message as it was found.
#[derive(Debug)]
pub(super) struct Found {
    from: RecordPlace,
    envelope: Envelope,
    received_at: Timestamp,
    content: Bytes,
}

/// Messages for the writer to move.
#[derive(Debug)]
pub(super) struct Batch {
    messages: Vec<Found>,
    /// Whether to go on.
    answer: SyncSender<bool>,
}

/// The mover, if one is at it, and what is known of segments that were looked at.
#[derive(Debug, Default)]
pub(super) struct Moving {
    mover: Option<Running>,
    /// How much lived in them then. As long as it is the same there is nothing to do.
    seen: BTreeMap<u64, SegmentLife>,
}

#[derive(Debug)]
struct Running {
    thread: JoinHandle<Vec<(u64, SegmentLife)>>,
    is_to_stop: Arc<AtomicBool>,
}

impl Moving {
    /// After a checkpoint that knows what is `alive`: begins with the segments before number `end` that are worth it,
    /// unless there is a mover. Whoever opened the store in passing moves nothing.
    pub(super) fn go_on(&mut self, shared: &Arc<Shared>, alive: &BTreeMap<u64, SegmentLife>, end: u64) {
        let Some(retention) = shared.options().retention else { return };
        if self.mover.as_ref().is_some_and(|mover| !mover.thread.is_finished()) {
            return;
        }
        self.end();
        self.seen.retain(|number, _| alive.contains_key(number));
        let mut candidates = choice::candidates(alive, end, retention);
        candidates.retain(|(number, life)| self.seen.get(number) != Some(life));
        if !candidates.is_empty() {
            self.start(Arc::clone(shared), candidates);
        }
    }

    fn start(&mut self, shared: Arc<Shared>, candidates: Vec<(u64, SegmentLife)>) {
        let is_to_stop = Arc::<AtomicBool>::default();
        let mover = Mover { shared, is_to_stop: Arc::clone(&is_to_stop) };
        let thread = std::thread::Builder::new().name("segment-mover".into());
        match thread.spawn(move || mover.run(candidates)) {
            Ok(thread) => self.mover = Some(Running { thread, is_to_stop }),
            Err(error) => tracing::warn!(%error, "no thread to move messages; it is tried again"),
        }
    }

    /// Stops the mover, if there is one, which is soon.
    pub(super) fn end(&mut self) {
        if let Some(Running { thread, is_to_stop }) = self.mover.take() {
            is_to_stop.store(true, Ordering::Relaxed);
            thread.thread().unpark();
            // After a panic the segments are looked at again.
            self.seen.extend(thread.join().unwrap_or_default());
        }
    }
}

impl Drop for Moving {
    /// The mover holds the directory, which whoever waits for the end of the writer may open again.
    fn drop(&mut self) {
        self.end();
    }
}

struct Mover {
    shared: Arc<Shared>,
    is_to_stop: Arc<AtomicBool>,
}

impl Mover {
    /// Empties those of the segments that are worth it; which of all it is done with.
    fn run(&self, candidates: Vec<(u64, SegmentLife)>) -> Vec<(u64, SegmentLife)> {
        let mut done = Vec::new();
        for (number, life) in candidates {
            match self.segment(number, &life) {
                Ok(true) => {}
                Ok(false) => break,
                // Others may read back.
                Err(error) => tracing::warn!(segment = number, %error, "what lives in a segment could not be moved"),
            }
            done.push((number, life));
        }
        done
    }

    /// Whether to go on with others.
    fn segment(&self, number: u64, life: &SegmentLife) -> Result<bool, StoreError> {
        if self.is_to_stop() {
            return Ok(false);
        }
        let Some(file) = self.shared.segments().file(number) else { return Ok(true) };
        let used_octets = file.used_octets().map_err(|error| StoreError::from_io(&error))?;
        if !choice::is_worth_emptying(life, used_octets) {
            return Ok(true);
        }
        tracing::debug!(segment = number, octets = life.octets, used_octets, "moving what lives in a segment");
        let files = SegmentFiles::around(self.shared.segments(), number).map_err(|error| error.to_store_error())?;
        match files.walk(number) {
            Some(walk) => self.messages(walk),
            None => Ok(true),
        }
    }

    fn messages(&self, mut walk: Walk) -> Result<bool, StoreError> {
        let mut found: Vec<Found> = Vec::new();
        let mut octets = 0;
        let failed = |error: io::Error| StoreError::from_io(&error);
        while let Some(step) = walk.step().map_err(failed)? {
            let Step::Group { records, .. } = step else { continue };
            for message in self.needed(records)? {
                octets += message.content.len();
                found.push(message);
                if found.len() >= BATCH_MESSAGES || octets >= BATCH_OCTETS {
                    octets = 0;
                    if !self.hand_over(std::mem::take(&mut found)) {
                        return Ok(false);
                    }
                }
            }
            if self.is_to_stop() {
                return Ok(false);
            }
        }
        Ok(found.is_empty() || self.hand_over(found))
    }

    /// The messages among `records` that are needed. One that does not read back stays where it is.
    fn needed(&self, records: Vec<WalkedRecord>) -> Result<Vec<Found>, StoreError> {
        let mut found: Vec<Found> = Vec::with_capacity(records.len());
        for WalkedRecord { change, place, content } in records {
            if let (Some((envelope, received_at)), WalkedContent::Whole(content)) = (change.into_message(), content) {
                found.push(Found { from: place, envelope, received_at, content });
            }
        }
        let is_needed =
            |view: &View, message: &Found| Ok(view.needed(&message.envelope.recipients, message.from)?.is_some());
        let are_needed: Vec<bool> =
            self.shared.read(|view| found.iter().map(|message| is_needed(view, message)).collect())?;
        let needed = found.into_iter().zip(are_needed).filter_map(|(message, is_needed)| is_needed.then_some(message));
        // Else a message would hold the octets of its whole group in memory.
        let by_itself = |message: Found| Found { content: Bytes::copy_from_slice(&message.content), ..message };
        Ok(needed.map(by_itself).collect())
    }

    /// Has the writer move some, and leaves it to others for as long as that took; whether to go on.
    fn hand_over(&self, messages: Vec<Found>) -> bool {
        let begun = Instant::now();
        let (answer, answered) = sync_channel(1);
        if !self.shared.tell_writer(Message::Move(Batch { messages, answer })) {
            return false;
        }
        let goes_on = loop {
            match answered.recv_timeout(LOOK_EVERY) {
                Ok(goes_on) => break goes_on,
                Err(RecvTimeoutError::Timeout) if !self.is_to_stop() => {}
                Err(_) => break false,
            }
        };
        if goes_on && !self.is_to_stop() {
            std::thread::park_timeout(begun.elapsed().min(PAUSE_MAX));
        }
        goes_on
    }

    fn is_to_stop(&self) -> bool {
        self.is_to_stop.load(Ordering::Relaxed)
    }
}
