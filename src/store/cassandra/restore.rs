//! Filling a keyspace from a backup.
//!
//! A restore marks the keyspace first, and nobody opens one that is marked. It removes the mark when all is written. If it
//! is interrupted the mark stays, and a second restore of the same file does everything again. The mark names the file.
//!
//! The numbers of a store in a directory begin with 1, and readers of a cluster pass over numbers below the time of receipt.
//! So the same is added to every number: the least that lifts them all to their times. Numbers of a cluster stay.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::try_join;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::message::Message;
use super::nodes::Node;
use super::sequences::least_of;
use super::state::ClusterState;
use super::{CassandraOptions, CassandraStore, cluster, schema};
use crate::model::{EmailId, Timestamp};
use crate::store::backup::{BackupCounts, BackupError, BackupItem, BackupRecord, RestoreError, each_record};
use crate::store::names::HashKey;
use crate::store::{Registry, Store, StoreError, StoreOptions, WebhookFilter};

/// The most messages that are written at once.
const MESSAGES_AT_ONCE: usize = 32;
/// Their octets, in kilobytes. A larger message is written alone.
const KILOBYTES_AT_ONCE: u32 = 32 << 10;
/// A write that failed is tried so often again, each time after twice the pause.
const RETRIES_MAX: u32 = 5;
const PAUSE: Duration = Duration::from_millis(250);

/// What the first reading of a backup tells about it.
#[derive(Clone, Copy, Debug)]
pub struct Survey {
    secret: HashKey,
    /// A checksum of the file and its length.
    fingerprint: [u8; 12],
    /// What is added to every number of mail.
    lift: u64,
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
        let mut file = Summed { file, crc: 0, octets: 0 };
        let (mut secret, mut lift) = (HashKey::default(), 0);
        each_record(&mut file, progress, &mut |item| {
            match item.record {
                BackupRecord::Store { secret: found } => secret = found,
                BackupRecord::Mail { received_at, sequence, .. } => {
                    lift = least_of(received_at).saturating_sub(sequence).max(lift);
                }
                _ => {}
            }
            Ok::<(), BackupError>(())
        })?;
        let mut fingerprint = [0; 12];
        fingerprint[..4].copy_from_slice(&file.crc.to_be_bytes());
        fingerprint[4..].copy_from_slice(&file.octets.to_be_bytes());
        Ok(Self { secret, fingerprint, lift })
    }
}

/// A file with the checksum of what was read of it.
struct Summed<'a> {
    file: &'a mut dyn Read,
    crc: u32,
    octets: u64,
}

impl Read for Summed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(into)?;
        self.crc = crc32c::crc32c_append(self.crc, &into[..length]);
        self.octets += length as u64;
        Ok(length)
    }
}

impl CassandraStore {
    /// Fills an empty keyspace from a backup that was [surveyed](Survey). Blocks the thread, which must not run tasks.
    ///
    /// The counts are those of what was restored. After [`RestoreError::Unfinished`] nobody can open the keyspace until the
    /// same file is restored into it. After any other error nothing has changed.
    pub fn restore(
        file: &mut dyn Read,
        survey: &Survey,
        (options, store): (&CassandraOptions, &StoreOptions),
        how: RestoreInto,
        progress: &mut dyn FnMut(u64),
    ) -> Result<BackupCounts, RestoreError> {
        let runtime = tokio::runtime::Handle::current();
        let mut filling = runtime.block_on(Filling::begin(options, store, survey, how))?;
        runtime
            .block_on(filling.take_over(survey))
            .and_then(|()| each_record(file, progress, &mut |item| runtime.block_on(filling.push(item))))
            .and_then(|_| runtime.block_on(filling.finish()))
            .map_err(|error| RestoreError::Unfinished(Box::new(error)))
    }

    /// What is in the keyspace, in a word; `None` if it is empty.
    async fn holds(&self) -> Result<Option<&'static str>, StoreError> {
        for slot in self.state.slots_of_mail().await? {
            if self.state.walk_slot(slot).await?.next().await?.is_some() {
                return Ok(Some("mail"));
            }
        }
        if !self.domains().await?.is_empty() {
            return Ok(Some("domains"));
        }
        let webhooks = self.all_webhooks(WebhookFilter::default(), None, 1).await?;
        Ok((!webhooks.webhooks.is_empty() || webhooks.next.is_some()).then_some("webhooks"))
    }
}

/// A keyspace that is being filled.
struct Filling {
    store: CassandraStore,
    keyspace: String,
    how: RestoreInto,
    lift: u64,
    counts: BackupCounts,
    /// Each returns the events that it wrote.
    writes: JoinSet<Result<u64, StoreError>>,
    room: Arc<Semaphore>,
    /// Whether mail or webhooks may still be in writing, which events need.
    is_before_events: bool,
}

impl Filling {
    async fn begin(
        options: &CassandraOptions,
        store: &StoreOptions,
        survey: &Survey,
        how: RestoreInto,
    ) -> Result<Self, RestoreError> {
        let keyspace = options.keyspace.clone();
        let session = cluster::connect_to_keyspace(options).await?;
        let found = schema::check(&session, &keyspace).await?;
        let is_again = match &found.restoring {
            Some(fingerprint) if fingerprint[..] == survey.fingerprint => true,
            Some(_) => return Err(RestoreError::AnotherUnfinished { keyspace }),
            None => false,
        };
        let store = CassandraStore::on(session, options, store, found.secret).await?;
        refuse_nodes(&store.state, &keyspace).await?;
        if !is_again && let Some(what) = store.holds().await? {
            return Err(RestoreError::NotEmpty { keyspace, what });
        }
        if !is_again && !schema::begin_restore(store.state.cluster.session(), &survey.fingerprint).await? {
            return Err(RestoreError::AnotherUnfinished { keyspace });
        }
        Ok(Self {
            store,
            keyspace,
            how,
            lift: survey.lift,
            counts: BackupCounts::default(),
            writes: JoinSet::new(),
            room: Arc::new(Semaphore::new(KILOBYTES_AT_ONCE as usize)),
            is_before_events: true,
        })
    }

    /// Gives the keyspace, which is marked, the secret of the backup.
    async fn take_over(&mut self, survey: &Survey) -> Result<(), RestoreError> {
        schema::replace_secret(self.store.state.cluster.session(), &survey.secret).await?;
        let state = Arc::get_mut(&mut self.store.state);
        let state = state.ok_or_else(|| StoreError::Failed("somebody uses the store already".into()))?;
        state.secret = survey.secret;
        Ok(())
    }

    async fn push(&mut self, item: BackupItem) -> Result<(), RestoreError> {
        let is_wanted = match &item.record {
            BackupRecord::Mail { expires_at, live, .. } => *expires_at > self.how.now && !live.is_empty(),
            BackupRecord::Event { .. } => self.how.with_events,
            BackupRecord::Domain(_) | BackupRecord::Webhook(_) => true,
            BackupRecord::Store { .. } | BackupRecord::End(_) => false,
        };
        if !is_wanted {
            return Ok(());
        }
        if self.is_before_events && matches!(item.record, BackupRecord::Event { .. }) {
            self.settle(0).await?;
            self.is_before_events = false;
        }
        if !matches!(item.record, BackupRecord::Event { .. }) {
            self.counts.count(&item);
        }
        self.settle(MESSAGES_AT_ONCE - 1).await?;
        let kilobytes = u32::try_from(item.content.len() >> 10).unwrap_or(u32::MAX).clamp(1, KILOBYTES_AT_ONCE);
        let room = Arc::clone(&self.room).acquire_many_owned(kilobytes).await;
        let (store, how, lift) = (Arc::clone(&self.store.state), self.how, self.lift);
        self.writes.spawn(async move {
            let _room = room;
            store.restore_item(item, how, lift).await
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

    async fn finish(mut self) -> Result<BackupCounts, RestoreError> {
        self.settle(0).await?;
        // A node that started meanwhile knows another secret.
        refuse_nodes(&self.store.state, &self.keyspace).await?;
        self.store.state.change_domain_version().await;
        schema::end_restore(self.store.state.cluster.session()).await?;
        self.store.close().await?;
        Ok(self.counts)
    }
}

async fn refuse_nodes(state: &ClusterState, keyspace: &str) -> Result<(), RestoreError> {
    let nodes = state.cluster.all::<Node>(&state.statements.node_select, ()).await?.len();
    if nodes > 0 { Err(RestoreError::InUse { keyspace: keyspace.into(), nodes }) } else { Ok(()) }
}

impl ClusterState {
    /// Writes a record of a backup. Returns the number of events.
    async fn restore_item(&self, item: BackupItem, how: RestoreInto, lift: u64) -> Result<u64, StoreError> {
        let BackupItem { record, content } = item;
        let mut pause = PAUSE;
        for _ in 0..RETRIES_MAX {
            match self.restore_record(&record, &content, how, lift).await {
                Err(StoreError::Failed(reason)) => tracing::debug!(reason, "a record of the backup is written again"),
                Err(StoreError::OutcomeUnknown) => {}
                done => return done,
            }
            sleep(pause).await;
            pause *= 2;
        }
        self.restore_record(&record, &content, how, lift).await
    }

    async fn restore_record(
        &self,
        record: &BackupRecord,
        content: &Bytes,
        how: RestoreInto,
        lift: u64,
    ) -> Result<u64, StoreError> {
        match record {
            BackupRecord::Mail { envelope, received_at, expires_at, sequence, live } => {
                let count = envelope.recipients.len() as u64;
                let first = sequence.saturating_add(lift);
                let message = Message {
                    envelope: envelope.clone(),
                    received_at: *received_at,
                    begun_at: how.now,
                    expires_at: *expires_at,
                    octets: content.len() as u64,
                    sequences: (first..first.saturating_add(count)).collect(),
                    events: Vec::new(),
                    // Above what an earlier deletion of the same mail left in the keyspace.
                    written_at: how.now.millis().saturating_mul(1000),
                };
                self.restore_message(&message, content, live, how).await.map(|()| 0)
            }
            BackupRecord::Domain(record) => self.insert_domain(record).await.map(|()| 0),
            BackupRecord::Webhook(record) => self.insert_webhook(record).await.map(|()| 0),
            BackupRecord::Event { webhook, email, attempts, due_at } => {
                self.insert_event(*webhook, *email, *attempts, *due_at).await.map(u64::from)
            }
            BackupRecord::Store { .. } | BackupRecord::End(_) => Ok(0),
        }
    }

    /// Writes a message with those of its Emails that are live.
    async fn restore_message(
        &self,
        message: &Message,
        content: &Bytes,
        live: &[EmailId],
        how: RestoreInto,
    ) -> Result<(), StoreError> {
        let Some(id) = Message::id_of(&message.envelope) else { return Ok(()) };
        let _admission = self.admit(message.envelope.recipients.len()).await?;
        let ttl = self.ttl_of_raw(message.ttl());
        let raw = self.write_raw(id, &message.envelope, content, ttl, message.written_at);
        try_join(raw, self.enter_slot(how.now, message.expires_at)).await?;
        let mut rows = message.rows(self);
        rows.retain(|row| live.contains(&EmailId::from_octets(row.id.into_bytes())));
        for row in &mut rows {
            // An event that comes later must find the octets, even if the Email is deleted.
            row.shared |= how.with_events;
        }
        self.write_rows(&rows, message).await
    }
}
