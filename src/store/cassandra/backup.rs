//! Backups of a cluster, and its check: a backup to nowhere that names what it cannot read.
//!
//! The picture says what there is. A message is read *before* it is asked which of its Emails are there. An Email that is there
//! then was not deleted while the message was read, so a backup blocks nobody.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::sync::mpsc;
use tokio::time::sleep;

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
/// A message that is not whole is read so often, since somebody may be deleting it.
const READS_MAX: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

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
        let mut after = None;
        while let Some((messages, end)) = shared.next_messages(after, self.now) {
            after = Some(end);
            let mut read = stream::iter(messages).map(|message| shared.back_up(message)).buffered(MESSAGES_AT_ONCE);
            while let Some(message) = read.try_next().await? {
                if let Some(message) = message {
                    self.put(message).await?;
                }
            }
        }
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
    /// None of its Emails is there any more.
    Gone,
    /// It is not whole, although this Email of it is there.
    Damaged(EmailId),
}

impl Shared {
    /// The next messages of the picture that have not expired by `now`, and where they end; `None` at the end of all.
    fn next_messages(&self, after: Option<(i64, u64)>, now: Timestamp) -> Option<(Vec<LiveMessage>, (i64, u64))> {
        let mail = self.picture.mail();
        let mut messages: Vec<LiveMessage> = mail.live(after).take(LOOKED_UP).collect();
        let end = messages.last()?.position();
        messages.retain(|message| message.expires_at > now);
        Some((messages, end))
    }

    /// Reads a message for a backup. `None` if none of its Emails is there any more.
    async fn back_up(&self, message: LiveMessage) -> Result<Option<BackupItem>, StoreError> {
        match self.read_live(message).await? {
            Reading::Whole(item) => Ok(Some(item)),
            Reading::Gone => Ok(None),
            Reading::Damaged(email) => Err(StoreError::Failed(format!(
                "the message of Email {email} is not whole; `nodetool repair` may bring it back, and `tempmail db check` names \
                 all such"
            ))),
        }
    }

    async fn read_live(&self, message: LiveMessage) -> Result<Reading, StoreError> {
        let LiveMessage { place, expires_at, emails } = message;
        let id = MessageId::of_record_place(place);
        let mut left = EmailId::from_octets([0; 16]);
        for _ in 0..READS_MAX {
            let read = self.read_message(id, u64::from(place.content)).await?;
            let found = try_join_all(emails.iter().map(|(_, email)| self.find_row(*email))).await?;
            let live: Vec<_> = found.into_iter().flatten().map(|(_, row)| row).collect();
            if let (ReadMessage::Whole(envelope, content), Some(row)) = (read, live.first()) {
                let nth = envelope.recipients.iter().position(|to| to.id == row.id()).unwrap_or(0);
                let received_at = row.listed().received_at;
                let live = live.iter().map(super::mailbox::EmailRow::id).collect();
                let sequence = row.sequence().saturating_sub((nth as u64) << NODE_BITS);
                let record = BackupRecord::Mail { envelope, received_at, expires_at, sequence, live };
                return Ok(Reading::Whole(BackupItem { record, content }));
            }
            // Without its envelope no row of it is found by its id.
            let Some(row) = self.any_row(&emails).await? else { return Ok(Reading::Gone) };
            left = row;
            sleep(PAUSE).await;
        }
        Ok(Reading::Damaged(left))
    }

    /// One of some Emails that a mailbox still lists.
    async fn any_row(&self, emails: &[(u64, EmailId)]) -> Result<Option<EmailId>, StoreError> {
        for (_, email) in emails {
            let Some(mailbox) = self.picture.mail().mailbox_of(*email) else { continue };
            if self.row_of(&mailbox, *email).await?.is_some() {
                return Ok(Some(*email));
            }
        }
        Ok(None)
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
        let (mut report, mut after) = (CheckReport::default(), None);
        let all = self.picture.mail().stats().emails;
        while let Some((messages, end)) = self.next_messages(after, now) {
            after = Some(end);
            let mut read = stream::iter(messages).map(|message| self.read_live(message)).buffered(MESSAGES_AT_ONCE);
            while let Some(reading) = read.try_next().await? {
                match reading {
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
        }
        Ok(report)
    }
}
