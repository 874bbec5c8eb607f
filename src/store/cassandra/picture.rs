//! What the logs of all nodes say is there: the rows of an embedded store, in memory.
//!
//! It is behind the tables by the time that a log takes, some tenths of a second. So it answers where that does not matter:
//! lists of the newest of all mailboxes, counts, caps, and what has expired.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use tokio::sync::Mutex as AsyncMutex;

use super::Shared;
use super::log::{Fact, NewEmail, Received, minute_of};
use crate::model::{EmailId, Mailbox, Timestamp};
use crate::store::mail::{Limits, Mail, NewMessage, Pending, Told};
use crate::store::names::HashKey;
use crate::store::{Expired, StoreError, StoreOptions, StoreStats};

/// How long a deletion is remembered that came before its Email: longer than logs are read late.
const GONE_FOR: Duration = Duration::from_mins(10);
/// The most such deletions. Beyond them all are forgotten.
const GONE_MAX: usize = 100_000;

/// A count that takes longer is used again, for so many times of what it took. So counting takes a small part of the
/// cluster's time, however often it is asked.
const COUNTS_FAST: Duration = Duration::from_millis(200);
const USED_TIMES: u32 = 20;

/// The rows of all living Emails.
#[derive(Debug)]
pub(super) struct Picture {
    mail: RwLock<Mail>,
    /// Deletions of Emails that no log has told of yet.
    gone: Mutex<HashMap<EmailId, Instant>>,
    /// What expires up to this time is gone, in milliseconds, even if the clock goes back.
    expired_by: AtomicI64,
    options: StoreOptions,
    /// Webhooks and events.
    counted: Counted<(u64, u64)>,
}

/// The last count of something, and until when it is used.
#[derive(Debug, Default)]
pub(super) struct Counted<T>(AsyncMutex<Option<(T, Instant)>>);

impl<T: Copy> Counted<T> {
    /// Counts. A count that took long is used again for a while.
    pub(super) async fn of(&self, count: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let mut counted = self.0.lock().await;
        let begun = Instant::now();
        if let Some((known, _)) = counted.filter(|(_, used_until)| *used_until > begun) {
            return Ok(known);
        }
        let found = count.await?;
        let took = begun.elapsed();
        *counted = (took > COUNTS_FAST).then(|| (found, Instant::now() + took * USED_TIMES));
        Ok(found)
    }
}

impl Picture {
    pub(super) fn new(secret: HashKey, options: &StoreOptions) -> Self {
        Self {
            mail: RwLock::new(Mail::new(secret, Limits::of(options))),
            gone: Mutex::default(),
            expired_by: AtomicI64::new(i64::MIN),
            options: *options,
            counted: Counted::default(),
        }
    }

    /// The rows, to be read, for a moment.
    pub(super) fn mail(&self) -> RwLockReadGuard<'_, Mail> {
        self.mail.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows, to be changed, for a moment.
    pub(super) fn mail_mut(&self) -> RwLockWriteGuard<'_, Mail> {
        self.mail.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies a fact of any node. Returns what subscribers are told.
    pub(super) fn apply(&self, fact: &Fact) -> Told {
        match fact {
            Fact::Received(received) => self.insert(received, false),
            Fact::ReceivedByLeases(received) => self.insert(received, true),
            Fact::Deleted(emails) => {
                let (mut mail, mut gone) = (self.mail_mut(), self.gone());
                if gone.len() > GONE_MAX {
                    gone.clear();
                }
                let deleted = emails.iter().filter_map(|email| {
                    let told = mail.delete(*email, 0);
                    if told.is_none() {
                        gone.insert(*email, Instant::now());
                    }
                    told
                });
                deleted.collect()
            }
            Fact::EventsAdded(_) | Fact::RegistryChanged => Told::new(),
        }
    }

    fn insert(&self, received: &Received, has_own_life: bool) -> Told {
        let Received { message, octets, at: received_at, expires_at, ref emails, .. } = *received;
        // A shorter retention than at its receipt holds for it as well.
        let life = self.options.retention.filter(|_| !has_own_life).map(|retention| received_at.plus(retention));
        let expires_at = life.map_or(expires_at, |life| life.min(expires_at));
        if self.has_expired(expires_at) {
            return Told::new();
        }
        let (place, emails) = (message.record_place(octets), emails.clone());
        let mut mail = self.mail_mut();
        let mut told = mail.insert(NewMessage { place, received_at, expires_at, has_own_life, emails });
        let mut gone = self.gone();
        told.retain(|(_, event)| {
            let is_gone = gone.remove(&event.email.id).is_some();
            if is_gone {
                mail.delete(event.email.id, 0);
            }
            !is_gone
        });
        told
    }

    fn gone(&self) -> std::sync::MutexGuard<'_, HashMap<EmailId, Instant>> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what expires at a time was removed as expired.
    pub(super) fn has_expired(&self, expires_at: Timestamp) -> bool {
        expires_at.millis() <= self.expired_by.load(Ordering::Relaxed)
    }

    /// Refuses mail while there are as many Emails as there may be.
    pub(super) fn check_room(&self) -> Result<(), StoreError> {
        if self.mail().is_full() { Err(StoreError::Full) } else { Ok(()) }
    }

    /// Why there is no room, in words.
    pub(super) fn shortage(&self) -> Option<String> {
        let emails_max = self.options.emails_max;
        self.mail().is_full().then(|| format!("{emails_max} messages are kept, as many as max-emails permits"))
    }

    /// The Emails that make way for the new ones of a message, each with the hash of its mailbox.
    pub(super) fn evicted(&self, new: &[NewEmail], now: Timestamp) -> Result<Vec<([u8; 16], EmailId)>, StoreError> {
        let (mail, pending, mut evicted) = (self.mail(), Pending::default(), Vec::new());
        for (_, _, mailbox, _) in new {
            let emails = mail.evicted(*mailbox, new.len(), &pending, now).ok_or(StoreError::MailboxFull)?;
            evicted.extend(emails.into_iter().map(|email| (*mailbox, email)));
        }
        Ok(evicted)
    }

    /// Whether the newest mail of a mailbox came in the minute of `at`.
    pub(super) fn has_mail_of_minute(&self, mailbox: &Mailbox, at: Timestamp) -> bool {
        let newest = self.mail().list_before(mailbox, u64::MAX, 1, Timestamp::from_millis(i64::MIN)).pop();
        newest.is_some_and(|newest| minute_of(newest.received_at) == minute_of(at))
    }

    /// Removes expired Emails, about `limit` at most. Returns what subscribers are told, and whether there are more.
    fn expire(&self, now: Timestamp, limit: usize) -> (Told, bool) {
        let mut mail = self.mail_mut();
        let (told, more) = mail.expire(now, limit);
        mail.forget_dead();
        // Whole seconds are removed at a time, and readers must agree with that.
        let by = told.iter().map(|(_, event)| event.email.expires_at.millis()).max();
        drop(mail);
        self.expired_by.fetch_max(by.unwrap_or(i64::MIN), Ordering::Relaxed);
        self.gone().retain(|_, since| since.elapsed() < GONE_FOR);
        (told, more)
    }
}

impl Shared {
    pub(super) async fn expire(&self, now: Timestamp, limit: usize) -> Result<Expired, StoreError> {
        self.catch_up().await?;
        let (told, more) = self.picture.expire(now, limit);
        let removed = told.len();
        for (topic, event) in told {
            self.hub.publish(topic, &event);
        }
        let next_due_at = self.picture.mail().next_due_at();
        Ok(Expired { removed, next_due_at: if more { Some(now) } else { next_due_at } })
    }

    pub(super) async fn stats(&self) -> Result<StoreStats, StoreError> {
        self.catch_up().await?;
        let (webhooks, events) = self.picture.counted.of(self.count()).await?;
        let leases = self.number_of_leases().await?;
        Ok(StoreStats { webhooks, events, leases, ..self.picture.mail().stats() })
    }

    /// Counts webhooks and events.
    async fn count(&self) -> Result<(u64, u64), StoreError> {
        Ok((self.stored_webhooks().await?.len() as u64, self.pending_events().await?.len() as u64))
    }
}
