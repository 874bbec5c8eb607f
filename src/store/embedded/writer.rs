//! The writer thread: takes the queued requests as one group, decides what they change, makes that durable, shows it, and
//! answers.
//!
//! There is no timer: the requests that arrive during one commit are the next group, with those of threads that are ready
//! to run. Only this thread changes the rows of mail, so what it decides is still true when it is durable.

use std::any::Any;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError};
use std::time::{Duration, Instant};
use std::vec::IntoIter;

use tokio::sync::oneshot;

use super::queue::{Job, Signal, Swept, WriterCommand, answer, answer_all, answer_group, gather};
use super::shared::Shared;
use crate::model::{EmailId, Timestamp, WebhookId};
use crate::store::StoreError;
use crate::store::change::{Change, Ending};
use crate::store::counters::Removed;
use crate::store::drop_warnings::DropWarnings;
use crate::store::journal::{AppendError, Group, Journal, group_room};
use crate::store::mail::{Decided, Outcome, Pending, Removals, Request, Told};
use crate::store::outbox_rules::DroppedEvent;

/// The most expired Emails that are removed in one hold of the rows' lock.
const EXPIRE_STEP: usize = 1_000;
/// How long a close punches dead messages out. The next start punches the rest.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(1500);

/// Runs the writer until the store closes.
pub(super) fn start(
    shared: Arc<Shared>,
    journal: Journal,
    commands: Receiver<WriterCommand>,
) -> std::io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new().name("store-writer".into()).spawn(move || {
        let mut writer = Writer { shared: Arc::clone(&shared), journal, drop_warnings: DropWarnings::default() };
        let ended = catch_unwind(AssertUnwindSafe(|| writer.run(&commands)));
        if let Err(panic) = &ended {
            tracing::error!(cause = what_panicked(&**panic), "the writer of the store has ended");
            shared.writer_ended.cancel();
        }
        let Writer { shared, journal, .. } = writer;
        shared.add_dead(shared.mail_mut().take_dead(), Timestamp::MAX);
        let deadline = Instant::now() + CLOSE_TIMEOUT;
        // Only what is known to have expired may lose its octets.
        if shared.registry.flush().is_ok() {
            shared.punch(|_| true, journal.last_group(), || Instant::now() < deadline);
        }
        journal.close();
        if let Err(error) = shared.registry.close() {
            tracing::warn!(%error, "what was learnt of webhooks in the last second is lost");
        }
        // All files are closed before the waiting close returns, since its caller may open the directory at once. If the
        // writer panicked, this also drops the queue, so that its senders learn that their result is unknown.
        drop((commands, shared));
        drop(ended);
    })
}

/// The message of a panic.
fn what_panicked(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

struct Writer {
    shared: Arc<Shared>,
    journal: Journal,
    drop_warnings: DropWarnings,
}

impl Writer {
    /// Works until the store closes. Returns the sender to drop when all files are closed.
    fn run(&mut self, commands: &Receiver<WriterCommand>) -> Option<oneshot::Sender<()>> {
        let mut closing = None;
        while closing.is_none() {
            match commands.recv() {
                Ok(WriterCommand::Request(job)) => {
                    let mut jobs = vec![job];
                    let behind = gather(commands, &mut jobs);
                    self.commit(jobs);
                    closing = behind.and_then(|signal| self.handle(signal));
                }
                Ok(WriterCommand::Signal(signal)) => closing = self.handle(signal),
                Err(RecvError) => break,
            }
        }
        // Requests may have entered the queue after the close.
        for command in commands.try_iter() {
            if let WriterCommand::Request(job) = command {
                answer(job, Err(StoreError::Stopping));
            }
        }
        closing
    }

    /// Handles a signal. Returns the sender to drop at the end if the signal was a close.
    fn handle(&mut self, signal: Signal) -> Option<oneshot::Sender<()>> {
        match signal {
            Signal::Close(done) => return Some(done),
            // Sending fails only if the caller has gone.
            Signal::Answer(answer) => drop(answer.send(())),
            Signal::Sweep(now, limit, answer) => drop(answer.send(self.sweep(now, limit))),
        }
        None
    }

    /// Commits the requests of `jobs` and answers each. The size of a segment may require several groups.
    fn commit(&mut self, jobs: Vec<Job>) {
        let mut jobs = jobs.into_iter().peekable();
        while jobs.peek().is_some() {
            let begun = Instant::now();
            let mut batch = self.decide(&mut jobs);
            match self.write(&mut batch) {
                Ok(told) => {
                    self.shared.counters.committed(begun.elapsed());
                    self.settle(&batch);
                    // A subscription that begins after an answer is not told of what was answered.
                    self.shared.publish(told);
                    batch.answer();
                }
                Err(AppendError::NoRoom(cause)) => self.commit_freeing(batch, &cause),
                Err(AppendError::Failed(error)) => batch.fail(&error),
            }
        }
    }

    /// Decides as many requests as fit into a group.
    fn decide(&self, jobs: &mut Peekable<IntoIter<Job>>) -> Batch {
        let room = group_room(&self.shared.options);
        let (mut batch, mut pending) = (Batch::default(), Pending::default());
        let mail = self.shared.mail();
        while let Some(job) = jobs.next_if(|_| batch.jobs.is_empty() || batch.group.octets() <= room) {
            let decided = mail.decide(&mut pending, &job.request, &*self.shared.registry);
            batch.push(job, decided);
        }
        batch.next_sequence = pending.next_sequence(&mail);
        batch
    }

    /// Makes what a batch changes durable and shows it to readers. Returns what subscribers are to be told.
    fn write(&mut self, batch: &mut Batch) -> Result<Told, AppendError> {
        if batch.facts.is_empty() {
            return Ok(Told::new());
        }
        let places = self.journal.append(&mut batch.group, batch.next_sequence)?;
        let mut told = Told::new();
        let mut mail = self.shared.mail_mut();
        for (fact, place) in batch.facts.iter().zip(places) {
            told.extend(mail.apply(fact, place, &*self.shared.registry));
        }
        Ok(told)
    }

    /// Records what a durable batch means for webhooks, and counts it.
    fn settle(&mut self, batch: &Batch) {
        let Shared { registry, counters, outbox_hint, .. } = &*self.shared;
        for fact in &batch.facts {
            if let Change::Received { envelope, received_at, events, .. } = fact {
                envelope.recipients.iter().for_each(|to| registry.record_mail(&to.mailbox, *received_at));
                if !events.is_empty() {
                    outbox_hint.notify_one();
                }
            }
        }
        let mut dropped: BTreeMap<WebhookId, u64> = BTreeMap::new();
        for (now, events) in &batch.dropped {
            registry.record_dropped(events, *now);
            for event in events {
                *dropped.entry(event.webhook).or_default() += 1;
            }
        }
        counters.removed(Removed::Deleted, batch.removals.deleted);
        counters.removed(Removed::MadeWay, batch.removals.evicted);
        counters.events_dropped(dropped.values().sum());
        self.drop_warnings.add(&dropped, Instant::now());
    }

    /// Commits only the requests that free space, since there is no room for the others.
    fn commit_freeing(&mut self, batch: Batch, cause: &StoreError) {
        let (freeing, others) = batch.by_whether_they_free();
        if others.is_empty() {
            return answer_all(freeing, cause);
        }
        answer_all(others, cause);
        self.commit(freeing);
    }

    /// Removes what has expired by `now`, at most `limit` Emails, and segments that nothing needs.
    fn sweep(&mut self, now: Timestamp, limit: usize) -> Swept {
        let longest = self.shared.options.retention;
        if let Some(longest) = longest {
            let emails = self.shared.mail_mut().too_far_ahead(now, longest, EXPIRE_STEP);
            if !emails.is_empty() {
                self.delete(emails);
            }
        }
        let last = self.shared.mail().last_sequence();
        let (mut removed, mut more) = (0, true);
        while more && removed < limit {
            let told;
            (told, more) = self.shared.mail_mut().expire(now, EXPIRE_STEP.min(limit - removed));
            removed += told.len();
            self.shared.publish(told);
        }
        self.shared.counters.removed(Removed::Expired, removed as u64);
        if removed > 0 {
            self.shared.registry.record_ending(Ending::Swept { by: now, through: last });
        }
        if let Some(retention) = longest {
            let next_sequence = self.shared.mail().last_sequence() + 1;
            self.journal.roll_if_old(retention / 4, next_sequence);
        }
        let dead = self.shared.mail_mut().take_dead();
        self.shared.add_dead(dead, now);
        let sealed = self.journal.sealed();
        let removable = self.shared.mail_mut().removable(&sealed);
        self.journal.retire(&removable);
        Swept { removed, last_group: self.journal.last_group() }
    }

    /// Deletes Emails that nobody asked to delete.
    fn delete(&mut self, emails: Vec<EmailId>) {
        let mut batch = Batch { next_sequence: self.shared.mail().last_sequence() + 1, ..Batch::default() };
        let fact = Change::Deleted { emails };
        let pushed = batch.group.push(&fact, &[]).map_err(AppendError::Failed);
        batch.facts.push(fact);
        match pushed.and_then(|()| self.write(&mut batch)) {
            Ok(told) => self.shared.publish(told),
            Err(error) => {
                tracing::warn!(
                    ?error,
                    "mail of a clock that was ahead could not be removed; the next second tries again"
                );
            }
        }
    }
}

/// Requests that are decided, and the group of what they change.
#[derive(Default)]
struct Batch {
    jobs: Vec<DecidedJob>,
    facts: Vec<Change>,
    group: Group,
    /// Events that end without a delivery, with the time.
    dropped: Vec<(Timestamp, Vec<DroppedEvent>)>,
    removals: Removals,
    /// The sequence number after all of the group.
    next_sequence: u64,
}

struct DecidedJob {
    job: Job,
    outcome: Result<Outcome, StoreError>,
    /// Whether the request only frees space.
    frees_space: bool,
}

impl Batch {
    fn push(&mut self, job: Job, decided: Decided) {
        let Decided { facts, outcome, dropped, removals } = decided;
        let frees_space = facts.iter().all(Change::frees_space);
        let mut outcome = Ok(outcome);
        for fact in facts {
            let content = if matches!(fact, Change::Received { .. }) { &job.content[..] } else { &[] };
            match self.group.push(&fact, content) {
                Ok(()) => self.facts.push(fact),
                Err(error) => outcome = Err(error),
            }
        }
        if let Request::Receive { delivery, .. } = &job.request
            && !dropped.is_empty()
        {
            self.dropped.push((delivery.received_at, dropped));
        }
        self.removals += removals;
        self.jobs.push(DecidedJob { job, outcome, frees_space });
    }

    fn answer(self) {
        answer_group(self.jobs.into_iter().map(|DecidedJob { job, outcome, .. }| (job, outcome)).collect());
    }

    fn fail(self, error: &StoreError) {
        answer_all(self.jobs.into_iter().map(|decided| decided.job).collect(), error);
    }

    /// The requests that only free space, and the others.
    fn by_whether_they_free(self) -> (Vec<Job>, Vec<Job>) {
        let (freeing, others): (Vec<_>, Vec<_>) = self.jobs.into_iter().partition(|decided| decided.frees_space);
        let jobs = |decided: Vec<DecidedJob>| decided.into_iter().map(|decided| decided.job).collect();
        (jobs(freeing), jobs(others))
    }
}
