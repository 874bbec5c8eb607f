//! Backups of a cluster, and its check: a backup to nowhere that names what it cannot read.
//!
//! The picture says what there is. A message is read *before* it is asked which of its Emails are there. An Email that is there
//! then was not deleted while the message was read, so a backup blocks nobody.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use futures_util::future::{ready, try_join_all};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::sync::mpsc;

use super::mailbox::EmailRow;
use super::message::{MessageId, ReadMessage};
use super::receive::NODE_BITS;
use super::{CassandraOptions, CassandraStore, Shared};
use crate::model::{EmailId, Timestamp, WebhookId};
use crate::store::backup::{BATCHES_WAITING, BackupCounts, BackupItem, BackupRecord, Batch};
use crate::store::check::{CheckReport, Finding, FindingKind};
use crate::store::mail::LiveMessage;
use crate::store::{BackupStream, OpenError, StoreError, StoreOptions};

/// How many messages are looked up in one hold of the picture's lock.
const LOOKED_UP: usize = 500;
/// The most messages that are read at once.
const MESSAGES_AT_ONCE: usize = 16;

/// Starts a backup. A task of its own reads the cluster, no faster than the stream is read.
pub(super) fn stream(shared: Arc<Shared>, now: Timestamp) -> BackupStream {
    let (sender, receiver) = mpsc::channel(BATCHES_WAITING);
    tokio::spawn(async move {
        let backup =
            Backup { shared, now, sender: sender.clone(), batch: Batch::default(), counts: BackupCounts::default() };
        if let Err(error) = backup.run().await {
            // This fails only if the reader of the stream has gone.
            let _ = sender.send(Err(error)).await;
        }
    });
    stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) }).boxed()
}

struct Backup {
    shared: Arc<Shared>,
    now: Timestamp,
    sender: mpsc::Sender<Result<Vec<BackupItem>, StoreError>>,
    batch: Batch,
    counts: BackupCounts,
}

impl Backup {
    async fn run(mut self) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        shared.catch_up().await?;
        let (domains, webhooks) = (shared.domain_records().await?, shared.stored_webhooks().await?);
        self.put(BackupRecord::Store { secret: shared.secret }.into()).await?;
        for domain in domains {
            self.put(BackupRecord::Domain(domain).into()).await?;
        }
        let mut leases = shared.all_leases().await?;
        while let Some(lease) = leases.try_next().await? {
            self.put(BackupRecord::Lease(Box::new(lease)).into()).await?;
        }
        drop(leases);
        let mut messages = shared.live_messages(self.now);
        while let Some(message) = messages.try_next().await? {
            match message {
                Reading::Whole(item) => self.put(item).await?,
                Reading::Gone => {}
                Reading::Damaged(email) => {
                    return Err(StoreError::Failed(format!(
                        "the message of Email {email} is not whole; `nodetool repair` may bring it back, and `tempmail db \
                         check` names all such"
                    )));
                }
            }
        }
        drop(messages);
        let active: HashSet<WebhookId> =
            webhooks.iter().filter(|webhook| webhook.is_active()).map(|webhook| webhook.record.id).collect();
        for webhook in webhooks {
            self.put(BackupRecord::Webhook(Box::new(webhook.record)).into()).await?;
        }
        for event in shared.pending_events().await? {
            let (webhook, email, attempts, due_at) = (event.webhook, event.email.id, event.attempts, event.due_at);
            if active.contains(&webhook) && shared.find(email, self.now).await?.is_some() {
                self.put(BackupRecord::Event { webhook, email, attempts, due_at }.into()).await?;
            }
        }
        self.put(BackupRecord::End(self.counts).into()).await?;
        let rest = self.batch.take();
        self.send(rest).await
    }

    async fn put(&mut self, item: BackupItem) -> Result<(), StoreError> {
        self.counts.count(&item);
        match self.batch.push(item) {
            Some(items) => self.send(items).await,
            None => Ok(()),
        }
    }

    async fn send(&self, items: Vec<BackupItem>) -> Result<(), StoreError> {
        // An error ends the backup, since the reader of the stream has gone.
        self.sender.send(Ok(items)).await.map_err(|_| StoreError::Stopping)
    }
}

/// What a reading of a message found.
enum Reading {
    Whole(BackupItem),
    /// None of its Emails is there any more, or they expired meanwhile.
    Gone,
    /// It is not whole, although this Email of it is there.
    Damaged(EmailId),
}

impl Shared {
    /// Reads all messages of the picture that have not expired by `now`.
    fn live_messages(&self, now: Timestamp) -> BoxStream<'_, Result<Reading, StoreError>> {
        let look = move |after| {
            let found: Vec<LiveMessage> = self.picture.mail().live(after).take(LOOKED_UP).collect();
            let end = found.last()?.position();
            Some((found, Some(end)))
        };
        let found = stream::unfold(None, move |after| ready(look(after)));
        let messages = found.flat_map(stream::iter).filter(move |message| ready(message.expires_at > now));
        let begun = Instant::now();
        let read = messages.map(move |message| async move {
            let expires_at = message.expires_at;
            match self.read_live(message).await {
                // The cluster forgets it by and by.
                Ok(Reading::Damaged(_)) if expires_at <= now.plus(begun.elapsed()) => Ok(Reading::Gone),
                read => read,
            }
        });
        read.buffered(MESSAGES_AT_ONCE).boxed()
    }

    async fn read_live(&self, LiveMessage { place, expires_at, emails }: LiveMessage) -> Result<Reading, StoreError> {
        let read = self.read_message(MessageId::of_record_place(place), u64::from(place.content)).await?;
        let rows = emails.iter().map(|(_, email)| async move {
            // What the picture has is shown.
            let mailbox = self.picture.mail().mailbox_of(*email);
            if let Some(mailbox) = mailbox { self.row_of(&mailbox, *email).await } else { Ok(None) }
        });
        let live: Vec<EmailRow> = try_join_all(rows).await?.into_iter().flatten().collect();
        let Some(row) = live.first() else { return Ok(Reading::Gone) };
        if let ReadMessage::Whole(envelope, content) = read {
            let nth = envelope.recipients.iter().position(|to| to.id == row.id()).unwrap_or(0);
            let received_at = row.listed().received_at;
            let live = live.iter().map(EmailRow::id).collect();
            let sequence = row.sequence().saturating_sub((nth as u64) << NODE_BITS);
            let record = BackupRecord::Mail { envelope, received_at, expires_at, sequence, live };
            return Ok(Reading::Whole(BackupItem { record, content }));
        }
        // A deletion removes the rows before the octets.
        Ok(Reading::Damaged(row.id()))
    }
}

impl CassandraStore {
    /// Checks the store in a keyspace: reads every message that has not expired by `now`. `progress` gets the Emails that
    /// were read, and all.
    ///
    /// An error means that the check could not read everything.
    pub async fn check(
        options: &CassandraOptions,
        store: &StoreOptions,
        now: Timestamp,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<CheckReport, OpenError> {
        let store = Self::connect(options, store).await?;
        let report = store.shared.check(now, progress).await;
        report.map_err(|error| OpenError::Cluster { reason: error.to_string() })
    }
}

impl Shared {
    async fn check(
        &self,
        now: Timestamp,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<CheckReport, StoreError> {
        self.catch_up().await?;
        let mut report = CheckReport::default();
        let all = self.picture.mail().stats().emails;
        let mut messages = self.live_messages(now);
        while let Some(message) = messages.try_next().await? {
            match message {
                Reading::Whole(BackupItem { record: BackupRecord::Mail { live, .. }, .. }) => {
                    report.records += 1;
                    report.emails += live.len() as u64;
                }
                Reading::Whole(_) | Reading::Gone => {}
                Reading::Damaged(email) => {
                    let what = format!("the message of Email {email} is not whole");
                    report.found(Finding::of(FindingKind::Email, what));
                }
            }
            progress(report.emails, all);
        }
        Ok(report)
    }
}
