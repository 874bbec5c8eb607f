//! Filling a new keyspace from a backup.
//!
//! A restore makes the keyspace, which must be empty, and marks it; nobody opens one that is marked. It removes the mark when
//! all is written. One that was interrupted leaves its keyspace to be dropped, and begins again in another one.
//!
//! The first reading of the file gives each message its place: in the order of the sequences that it had, none before its
//! receipt.

use std::collections::HashMap;
use std::io::Read;
use std::mem::discriminant;
use std::time::Duration;

use futures_util::future::try_join_all;
use tokio::time::sleep;

use super::{CassandraOptions, CassandraStore, Shared, schema, session};
use crate::model::{Delivery, Timestamp};
use crate::store::backup::{BackupCounts, BackupError, BackupItem, BackupRecord, RestoreError, each_record};
use crate::store::names::HashKey;
use crate::store::{Registry, Store, StoreError, StoreOptions};

/// The most records that are written at once, and about how many octets of messages.
const RECORDS_AT_ONCE: usize = 32;
const OCTETS_AT_ONCE: usize = 32 << 20;
/// The pauses before further tries of a write that failed, in milliseconds.
const PAUSES: [u64; 5] = [250, 500, 1000, 2000, 4000];

/// What the first reading of a backup tells about it.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    secret: HashKey,
    /// The microsecond of the first Email of each message, by the message's place in the file.
    places: HashMap<u64, i64>,
}

/// How to restore.
#[derive(Clone, Copy, Debug)]
pub struct RestoreInto {
    /// Also restore pending events, although their endpoints may have got them.
    pub with_events: bool,
    /// Mail that has expired by then is left out.
    pub now: Timestamp,
}

impl Survey {
    /// Reads a whole backup. `progress` gets the number of octets read so far.
    pub fn of(file: &mut dyn Read, progress: &mut dyn FnMut(u64)) -> Result<Self, BackupError> {
        let (mut secret, mut messages) = (HashKey::default(), Vec::new());
        each_record(file, progress, &mut |item| {
            match item.record {
                BackupRecord::Store { secret: found } => secret = found,
                BackupRecord::Mail { envelope, received_at, sequence, .. } => {
                    let micros = received_at.millis().saturating_mul(1000);
                    messages.push((sequence, messages.len() as u64, micros, envelope.recipients.len()));
                }
                _ => {}
            }
            Ok::<(), BackupError>(())
        })?;
        Ok(Self { secret, places: places(messages) })
    }
}

/// Places for messages, each with its sequence, its place in the file, the microsecond of its receipt, and how many
/// recipients it has. Each of those has a microsecond of its own.
fn places(mut messages: Vec<(u64, u64, i64, usize)>) -> HashMap<u64, i64> {
    messages.sort_unstable();
    let mut next = i64::MIN;
    let place = |(_, nth, received, recipients): (u64, u64, i64, usize)| {
        let micros = next.max(received);
        next = micros.saturating_add(i64::try_from(recipients).unwrap_or(i64::MAX));
        (nth, micros)
    };
    messages.into_iter().map(place).collect()
}

impl CassandraStore {
    /// Fills a keyspace, which is made, from a backup that was [surveyed](Survey). Blocks the thread, which must not run tasks.
    ///
    /// The counts are those of what was restored. After [`RestoreError::Unfinished`] nobody can open the keyspace any more.
    /// After any other error nothing has changed.
    pub fn restore(
        file: &mut dyn Read,
        survey: &Survey,
        (options, store): (&CassandraOptions, &StoreOptions),
        how: RestoreInto,
        progress: &mut dyn FnMut(u64),
    ) -> Result<BackupCounts, RestoreError> {
        let runtime = tokio::runtime::Handle::current();
        let mut filling = runtime.block_on(Filling::begin(options, store, survey, how))?;
        let mut restored = || {
            runtime.block_on(schema::replace_secret(filling.store.shared.session.driver(), &survey.secret))?;
            each_record(file, progress, &mut |item| runtime.block_on(filling.push(item)))?;
            runtime.block_on(filling.finish(options))
        };
        restored().map_err(|error: RestoreError| RestoreError::Unfinished(Box::new(error)))
    }
}

impl CassandraStore {
    /// What is in the keyspace, in a word; `None` if it is empty.
    async fn holds(&self) -> Result<Option<&'static str>, StoreError> {
        let shared = &self.shared;
        shared.catch_up().await?;
        if shared.picture.mail().stats().emails > 0 {
            return Ok(Some("mail"));
        }
        if !self.domains().await?.is_empty() {
            return Ok(Some("domains"));
        }
        if !shared.stored_webhooks().await?.is_empty() {
            return Ok(Some("webhooks"));
        }
        if !self.tokens().await?.is_empty() {
            return Ok(Some("tokens"));
        }
        // What was deleted would hide what is restored.
        let log = shared.session.first::<(i64, Vec<u8>)>(&shared.statements.log_partitions, ()).await?;
        Ok(log.map(|_| "mail"))
    }
}

/// A keyspace that is being filled.
struct Filling<'a> {
    store: CassandraStore,
    how: RestoreInto,
    survey: &'a Survey,
    /// How many messages of the file came so far.
    messages: u64,
    counts: BackupCounts,
    /// Records of one kind that are written together, each with the microsecond of its first Email.
    waiting: Vec<(BackupItem, i64)>,
    waiting_octets: usize,
}

impl<'a> Filling<'a> {
    /// Makes the keyspace if it is missing, sees that it is empty and that no node runs on it, and marks it.
    async fn begin(
        options: &CassandraOptions,
        store: &StoreOptions,
        survey: &'a Survey,
        how: RestoreInto,
    ) -> Result<Self, RestoreError> {
        CassandraStore::create(options, store).await?;
        let keyspace = || options.keyspace.clone();
        let driver = session::connect_to_keyspace(options).await?;
        if schema::check(&driver, &options.keyspace).await?.is_restoring {
            return Err(RestoreError::AnotherUnfinished { keyspace: keyspace() });
        }
        // The lives of mail are those of the backup, whatever today's retention is.
        let lasting = StoreOptions { retention: None, ..*store };
        let store = CassandraStore::on(driver, options, &lasting, survey.secret).await?;
        let nodes = store.shared.living_nodes().await?;
        if nodes > 0 {
            return Err(RestoreError::InUse { keyspace: keyspace(), nodes });
        }
        if let Some(what) = store.holds().await? {
            return Err(RestoreError::NotEmpty { keyspace: keyspace(), what });
        }
        if !schema::begin_restore(store.shared.session.driver()).await? {
            return Err(RestoreError::AnotherUnfinished { keyspace: keyspace() });
        }
        let counts = BackupCounts::default();
        Ok(Self { store, how, survey, messages: 0, counts, waiting: Vec::new(), waiting_octets: 0 })
    }

    async fn push(&mut self, item: BackupItem) -> Result<(), RestoreError> {
        let mut micros = 0;
        if let BackupRecord::Mail { .. } = item.record {
            micros = self.survey.places.get(&self.messages).copied().unwrap_or(0);
            self.messages += 1;
        }
        let is_wanted = match &item.record {
            BackupRecord::Mail { expires_at, live, .. } => *expires_at > self.how.now && !live.is_empty(),
            BackupRecord::Event { .. } => self.how.with_events,
            BackupRecord::Domain(_) | BackupRecord::Webhook(_) | BackupRecord::Lease(_) => true,
            BackupRecord::Store { .. } | BackupRecord::End(_) => false,
        };
        if !is_wanted {
            return Ok(());
        }
        // Events need the mail and the webhooks before them.
        let is_other = |last: &(BackupItem, i64)| discriminant(&last.0.record) != discriminant(&item.record);
        let is_full = self.waiting.len() == RECORDS_AT_ONCE || self.waiting_octets > OCTETS_AT_ONCE;
        if is_full || self.waiting.last().is_some_and(is_other) {
            self.write().await?;
        }
        self.waiting_octets += item.content.len();
        self.waiting.push((item, micros));
        Ok(())
    }

    /// Writes the records that wait.
    async fn write(&mut self) -> Result<(), StoreError> {
        self.waiting_octets = 0;
        let waiting = std::mem::take(&mut self.waiting);
        let writes = waiting.iter().map(|(item, micros)| self.store.shared.restore(item, *micros));
        for ((item, _), is_restored) in waiting.iter().zip(try_join_all(writes).await?) {
            if is_restored {
                self.counts.count(item);
            }
        }
        Ok(())
    }

    async fn finish(&mut self, options: &CassandraOptions) -> Result<BackupCounts, RestoreError> {
        self.write().await?;
        self.store.close().await?;
        // A node that started meanwhile knows another secret.
        let nodes = self.store.shared.living_nodes().await?;
        if nodes > 0 {
            return Err(RestoreError::InUse { keyspace: options.keyspace.clone(), nodes });
        }
        schema::end_restore(self.store.shared.session.driver()).await?;
        Ok(self.counts)
    }
}

impl Shared {
    /// Writes a record of a backup, with retries. `false` if it is an event whose Email is not there.
    async fn restore(&self, item: &BackupItem, micros: i64) -> Result<bool, StoreError> {
        for pause in PAUSES {
            match self.restore_once(item, micros).await {
                Err(StoreError::Failed(reason)) => tracing::debug!(reason, "a record of the backup is written again"),
                Err(StoreError::OutcomeUnknown) => {}
                done => return done,
            }
            sleep(Duration::from_millis(pause)).await;
        }
        self.restore_once(item, micros).await
    }

    async fn restore_once(&self, item: &BackupItem, micros: i64) -> Result<bool, StoreError> {
        match &item.record {
            BackupRecord::Mail { envelope, received_at, expires_at, live, .. } => {
                let (envelope, raw) = (envelope.clone(), item.content.clone());
                let delivery = Delivery { envelope, raw, received_at: *received_at, expires_at: *expires_at };
                self.put(&delivery, live, micros).await?;
            }
            BackupRecord::Domain(record) => self.insert_domain(record).await?,
            BackupRecord::Webhook(record) => self.insert_webhook(record).await?,
            BackupRecord::Event { webhook, email, attempts, due_at } => {
                let Some((_, row)) = self.find_row(*email).await? else { return Ok(false) };
                self.insert_event(*webhook, row.listed(), *attempts, *due_at).await?;
            }
            BackupRecord::Lease(_) | BackupRecord::Store { .. } | BackupRecord::End(_) => {}
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_their_order_and_share_no_sequence() {
        const SECOND: i64 = 1_000_000;
        let placed = |messages: &[(u64, i64, usize)]| {
            let messages = (0..)
                .zip(messages)
                .map(|(nth, (sequence, received, recipients))| (*sequence, nth, *received, *recipients));
            let placed = places(messages.collect());
            (0..placed.len() as u64).map(|nth| placed[&nth]).collect::<Vec<_>>()
        };
        let at = 100 * SECOND;
        // The order is that of the sequences and not that of the file, also when a clock goes back.
        assert_eq!(placed(&[(2, at, 1), (1, at, 3), (3, at - 90 * SECOND, 2)]), [at + 3, at, at + 4]);
        assert_eq!(placed(&[(1, at, 2), (2, at + SECOND, 2)]), [at, at + SECOND]);
    }
}
