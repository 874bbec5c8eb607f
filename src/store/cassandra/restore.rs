//! Filling a new keyspace from a backup.
//!
//! A restore makes the keyspace, which must be empty, and marks it; nobody opens one that is marked. It removes the mark when
//! all is written. One that was interrupted leaves its keyspace to be dropped, and begins again in another one.
//!
//! The first reading of the file gives each message its place: in the order of the sequences that it had, none before its
//! receipt.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::receive::PutMessage;
use super::{CassandraOptions, CassandraStore, Shared, schema, session};
use crate::model::Timestamp;
use crate::store::backup::{BackupCounts, BackupError, BackupItem, BackupRecord, RestoreError, each_record};
use crate::store::names::HashKey;
use crate::store::{Registry, Store, StoreError, StoreOptions};

/// The most messages that are written at once.
const MESSAGES_AT_ONCE: usize = 32;
/// Their octets, in kilobytes. A larger message is written alone.
const KILOBYTES_AT_ONCE: u32 = 32 << 10;
/// A write that failed is tried so often again, each time after twice the pause.
const RETRIES_MAX: u32 = 5;
const PAUSE: Duration = Duration::from_millis(250);

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
        runtime.block_on(begin(options, store))?;
        let mut restored = || {
            let mut filling = runtime.block_on(Filling::begin(options, store, survey, how))?;
            each_record(file, progress, &mut |item| runtime.block_on(filling.push(item)))?;
            runtime.block_on(filling.finish(options))
        };
        restored().map_err(|error: RestoreError| RestoreError::Unfinished(Box::new(error)))
    }
}

/// Makes the keyspace if it is missing, sees that it is empty and that no node runs on it, and marks it.
async fn begin(options: &CassandraOptions, store: &StoreOptions) -> Result<(), RestoreError> {
    CassandraStore::create(options, store).await?;
    let keyspace = || options.keyspace.clone();
    let driver = session::connect_to_keyspace(options).await?;
    let found = schema::check(&driver, &options.keyspace).await?;
    if found.is_restoring {
        return Err(RestoreError::AnotherUnfinished { keyspace: keyspace() });
    }
    let store = CassandraStore::on(driver, options, store, found.secret).await?;
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
    Ok(())
}

impl CassandraStore {
    /// What is in the keyspace, in a word; `None` if it is empty.
    async fn holds(&self) -> Result<Option<&'static str>, StoreError> {
        let Shared { session, statements, .. } = &*self.shared;
        if session.first::<(i64, Vec<u8>)>(&statements.log_partitions, ()).await?.is_some() {
            return Ok(Some("mail"));
        }
        if !self.domains().await?.is_empty() {
            return Ok(Some("domains"));
        }
        if !self.shared.stored_webhooks().await?.is_empty() {
            return Ok(Some("webhooks"));
        }
        Ok((!self.tokens().await?.is_empty()).then_some("tokens"))
    }
}

/// A keyspace that is being filled.
struct Filling {
    store: CassandraStore,
    how: RestoreInto,
    survey: Survey,
    /// How many messages of the file came so far.
    messages: u64,
    counts: BackupCounts,
    /// Each returns the events that it wrote.
    writes: JoinSet<Result<u64, StoreError>>,
    room: Arc<Semaphore>,
    /// Whether mail or webhooks may still be in writing, which events need.
    is_before_events: bool,
}

impl Filling {
    /// Gives the keyspace, which is marked, the secret of the backup.
    async fn begin(
        options: &CassandraOptions,
        store: &StoreOptions,
        survey: &Survey,
        how: RestoreInto,
    ) -> Result<Self, RestoreError> {
        let driver = session::connect_to_keyspace(options).await?;
        schema::replace_secret(&driver, &survey.secret).await?;
        Ok(Self {
            // Its lives are those of the backup, whatever today's retention is.
            store: CassandraStore::on(driver, options, &StoreOptions { retention: None, ..*store }, survey.secret)
                .await?,
            how,
            survey: survey.clone(),
            messages: 0,
            counts: BackupCounts::default(),
            writes: JoinSet::new(),
            room: Arc::new(Semaphore::new(KILOBYTES_AT_ONCE as usize)),
            is_before_events: true,
        })
    }

    async fn push(&mut self, item: BackupItem) -> Result<(), RestoreError> {
        let mut micros = 0;
        if let BackupRecord::Mail { .. } = item.record {
            micros = self.survey.places.get(&self.messages).copied().unwrap_or(0);
            self.messages += 1;
        }
        let is_event = matches!(item.record, BackupRecord::Event { .. });
        let is_wanted = match &item.record {
            BackupRecord::Mail { expires_at, live, .. } => *expires_at > self.how.now && !live.is_empty(),
            BackupRecord::Event { .. } => self.how.with_events,
            BackupRecord::Domain(_) | BackupRecord::Webhook(_) => true,
            BackupRecord::Store { .. } | BackupRecord::End(_) => false,
        };
        if !is_wanted {
            return Ok(());
        }
        if is_event && std::mem::take(&mut self.is_before_events) {
            self.settle(0).await?;
        }
        if !is_event {
            self.counts.count(&item);
        }
        self.settle(MESSAGES_AT_ONCE - 1).await?;
        let kilobytes = u32::try_from(item.content.len() >> 10).unwrap_or(u32::MAX).clamp(1, KILOBYTES_AT_ONCE);
        let room = Arc::clone(&self.room).acquire_many_owned(kilobytes).await;
        let (shared, with_events) = (Arc::clone(&self.store.shared), self.how.with_events);
        self.writes.spawn(async move {
            let _room = room;
            shared.restore_item(&item, micros, with_events).await
        });
        Ok(())
    }

    /// Waits until at most `left` writes are on their way.
    async fn settle(&mut self, left: usize) -> Result<(), RestoreError> {
        while self.writes.len() > left {
            let Some(done) = self.writes.join_next().await else { break };
            self.counts.events += done.map_err(|ended| StoreError::Failed(ended.to_string()))??;
        }
        Ok(())
    }

    async fn finish(mut self, options: &CassandraOptions) -> Result<BackupCounts, RestoreError> {
        self.settle(0).await?;
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
    /// Writes a record of a backup, with retries. Returns the number of events.
    async fn restore_item(&self, item: &BackupItem, micros: i64, keeps_messages: bool) -> Result<u64, StoreError> {
        let mut pause = PAUSE;
        for _ in 0..RETRIES_MAX {
            match self.restore_record(item, micros, keeps_messages).await {
                Err(StoreError::Failed(reason)) => tracing::debug!(reason, "a record of the backup is written again"),
                Err(StoreError::OutcomeUnknown) => {}
                done => return done,
            }
            sleep(pause).await;
            pause *= 2;
        }
        self.restore_record(item, micros, keeps_messages).await
    }

    async fn restore_record(
        &self,
        BackupItem { record, content }: &BackupItem,
        micros: i64,
        keeps_message: bool,
    ) -> Result<u64, StoreError> {
        match record {
            BackupRecord::Mail { envelope, received_at, expires_at, live, .. } => {
                let message = PutMessage {
                    envelope: envelope.clone(),
                    raw: content.clone(),
                    received_at: *received_at,
                    expires_at: *expires_at,
                    micros,
                    live: live.clone(),
                    keeps_message,
                };
                self.put(&message).await.map(|()| 0)
            }
            BackupRecord::Domain(record) => self.insert_domain(record).await.map(|()| 0),
            BackupRecord::Webhook(record) => self.insert_webhook(record).await.map(|()| 0),
            BackupRecord::Event { webhook, email, attempts, due_at } => {
                let Some((_, row)) = self.find_row(*email).await? else { return Ok(0) };
                self.insert_event(*webhook, &row.listed(), *attempts, *due_at).await.map(|()| 1)
            }
            BackupRecord::Store { .. } | BackupRecord::End(_) => Ok(0),
        }
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
