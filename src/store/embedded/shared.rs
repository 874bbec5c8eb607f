//! What the writer and the readers of an embedded store share.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::registry::{self, EmbeddedRegistry};
use crate::events::{Hub, Subscription, Topic};
use crate::model::{Mailbox, Timestamp};
use crate::store::change::RecordPlace;
use crate::store::counters::Counters;
use crate::store::journal::{Files, SpareView};
use crate::store::mail::{Mail, Told};
use crate::store::names::{HashKey, topic};
use crate::store::{StoreError, StoreOptions, StoreStats};

/// The rows of mail, the files with its octets, the registry, and what decides whether mail is accepted.
#[derive(Debug)]
pub(super) struct Shared {
    /// Only the writer changes it. A hold of the lock is bounded by a number of rows.
    mail: RwLock<Mail>,
    pub(super) registry: Arc<EmbeddedRegistry>,
    pub(super) files: Files,
    pub(super) spare: SpareView,
    pub(super) options: StoreOptions,
    pub(super) secret: HashKey,
    pub(super) counters: Counters,
    pub(super) outbox_hint: Arc<Notify>,
    /// Messages that nobody can read any more, each with the time of the sweep that found it.
    dead: Mutex<VecDeque<(Timestamp, RecordPlace)>>,
    /// Cancelled when the writer has panicked.
    pub(super) writer_ended: CancellationToken,
    hub: Arc<Hub>,
}

impl Shared {
    pub(super) fn new(
        mail: Mail,
        registry: Arc<EmbeddedRegistry>,
        (files, spare): (Files, SpareView),
        options: StoreOptions,
    ) -> Self {
        Self {
            mail: RwLock::new(mail),
            secret: registry.secret(),
            registry,
            files,
            spare,
            options,
            counters: Counters::default(),
            outbox_hint: Arc::default(),
            dead: Mutex::default(),
            writer_ended: CancellationToken::new(),
            hub: Arc::default(),
        }
    }

    /// The rows, to be read. The caller holds them no longer than it needs, and never across an await.
    pub(super) fn mail(&self) -> RwLockReadGuard<'_, Mail> {
        // A panic of the writer ends it, so nobody builds on what it may have left behind.
        self.mail.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows, to be changed.
    pub(super) fn mail_mut(&self) -> RwLockWriteGuard<'_, Mail> {
        self.mail.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn subscribe(&self, mailbox: Option<&Mailbox>, events_max: usize) -> Subscription {
        let topic = mailbox.map_or(Topic::ALL, |mailbox| topic(&self.secret, mailbox));
        self.hub.subscribe(topic, events_max)
    }

    /// Tells subscribers what every reader can see by now.
    pub(super) fn publish(&self, told: Told) {
        if self.hub.is_watched() {
            for (topic, event) in &told {
                self.hub.publish(*topic, event);
            }
        }
    }

    /// Puts off the octets of messages that nobody can read any more, found by a sweep at `now`, until they are punched out.
    pub(super) fn add_dead(&self, places: Vec<RecordPlace>, now: Timestamp) {
        self.dead().extend(places.into_iter().map(|place| (now, place)));
    }

    /// Punches out dead octets that are due by the time of their sweep, as long as `goes_on`. The last group stays whole until
    /// another one follows. What is not punched out now waits for the next call.
    pub(super) fn punch(
        &self,
        is_due: impl Fn(Timestamp) -> bool,
        last_group: Option<(u32, u32)>,
        goes_on: impl Fn() -> bool,
    ) {
        let (mut failed, mut cause) = (0, None);
        let due = self.dead().iter().take_while(|(at, _)| is_due(*at)).count();
        for _ in 0..due {
            let Some(first) = self.dead().front().copied().filter(|_| goes_on()) else { break };
            let (_, place) = first;
            let is_in_last = last_group.is_some_and(|last| (place.segment, place.offset) >= last);
            let punched = if is_in_last { Ok(()) } else { self.files.punch(place) };
            let mut dead = self.dead();
            if dead.pop_front_if(|now_first| *now_first == first).is_some() && (is_in_last || punched.is_err()) {
                dead.push_back(first);
            }
            if let Err(error) = punched {
                (failed, cause) = (failed + 1, Some(error));
            }
        }
        if let Some(error) = cause {
            tracing::warn!(messages = failed, %error, "deleted messages could not be punched out; the next sweep tries again");
        }
    }

    fn dead(&self) -> MutexGuard<'_, VecDeque<(Timestamp, RecordPlace)>> {
        self.dead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks whether a message of the largest size could be stored now.
    pub(super) fn accepts(&self) -> Result<(), StoreError> {
        if self.writer_ended.is_cancelled() {
            return Err(StoreError::WriterEnded);
        }
        if let Some(failure) = self.spare.failure() {
            return Err(failure);
        }
        if self.mail().is_full() {
            return Err(StoreError::Full);
        }
        match self.files.disk().free_octets() {
            Ok(free) if free < self.needed_octets() => Err(StoreError::Full),
            Ok(_) => Ok(()),
            Err(error) => Err(StoreError::from_io(&error)),
        }
    }

    /// The octets that must be free: for the next segment and a message of the largest size.
    fn needed_octets(&self) -> u64 {
        self.options.segment_octets + self.options.message_octets_max * 3 / 2
    }

    /// What there is too little of, in words.
    pub(super) fn shortage(&self) -> Option<String> {
        if self.mail().is_full() {
            return Some(format!("{} messages are kept, as many as max-emails permits", self.options.emails_max));
        }
        let free = self.files.disk().free_octets().unwrap_or(0);
        let needed = self.needed_octets();
        (free < needed || self.spare.failure() == Some(StoreError::Full))
            .then(|| format!("the disk or a quota is full: {free} octets are free, and {needed} are needed"))
    }

    /// Checks whether the cap permits one more Email of a mailbox.
    pub(super) fn check_cap(&self, mailbox: &Mailbox, now: Timestamp) -> Result<(), StoreError> {
        if self.mail().has_room(mailbox, now) { Ok(()) } else { Err(StoreError::MailboxFull) }
    }

    pub(super) fn stats(&self) -> Result<StoreStats, StoreError> {
        let mut stats = self.mail().stats();
        stats.webhooks = self.registry.webhook_count() as u64;
        stats.leases = self.registry.unended_leases();
        stats.segments = self.files.numbers().len() as u64;
        stats.held_octets = self.files.held_octets();
        let disk = self.files.disk();
        let octets_of = |name: &str| disk.open(name).and_then(|file| file.size()).unwrap_or(0);
        let names = disk.list().map_err(|error| StoreError::from_io(&error))?;
        stats.registry_octets = octets_of(registry::NAME);
        // A file may have been removed meanwhile.
        stats.disk_octets = names.iter().map(|name| octets_of(name)).sum();
        Ok(stats)
    }
}
