//! Backups of a cluster: a walk over all Emails by their expiry, at which each message comes once.
//!
//! A message is read *before* it is asked which of its Emails are there. An Email that is there then was not deleted while
//! the message was read, so a backup blocks nobody. The number of a message follows from any of its Emails, since theirs are
//! in a row.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::sync::mpsc;
use tokio::time::sleep;
use uuid::Uuid;

use super::CassandraStore;
use super::email::ReadMessage;
use super::rows::{EmailRow, MailboxNames, signed};
use super::state::ClusterState;
use super::walk::MetMessages;
use crate::model::{EmailId, Envelope, PendingEvent, Recipient, Timestamp, WebhookId, WebhookRecord, WebhookStatus};
use crate::store::backup::{BATCHES_WAITING, BackupCounts, BackupItem, BackupRecord, Batch};
use crate::store::{BackupStream, Registry, StoreError, WebhookFilter};

/// Messages are read together until they have this many octets, or are this many.
const GROUP_OCTETS: u64 = 4 << 20;
const GROUP_MESSAGES: usize = 64;
/// The most messages that are read at once.
const MESSAGES_AT_ONCE: usize = 16;
/// The most Emails of a message that are looked for at once.
const EMAILS_AT_ONCE: usize = 16;
/// A message that is not whole is read so often, since somebody may be deleting it.
const READS_MAX: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);
const WEBHOOKS_AT_ONCE: usize = 1_000;

/// Starts a backup. A task of its own reads the cluster, no faster than the stream is read.
pub(super) fn stream(store: CassandraStore) -> BackupStream {
    let (sender, receiver) = mpsc::channel(BATCHES_WAITING);
    tokio::spawn(async move {
        let batch = Batch::default();
        let backup = Backup { store, sender: sender.clone(), batch, counts: BackupCounts::default() };
        if let Err(error) = backup.run().await {
            // This fails only if the reader of the stream has gone.
            let _ = sender.send(Err(error)).await;
        }
    });
    stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) }).boxed()
}

struct Backup {
    store: CassandraStore,
    sender: mpsc::Sender<Result<Vec<BackupItem>, StoreError>>,
    batch: Batch,
    counts: BackupCounts,
}

impl Backup {
    async fn run(mut self) -> Result<(), StoreError> {
        let state = Arc::clone(&self.store.state);
        let (domains, webhooks) = (self.store.domains().await?, self.webhooks().await?);
        let slots = state.slots_of_mail().await?;
        self.put(BackupRecord::Store { secret: state.secret }.into()).await?;
        for domain in domains {
            self.put(BackupRecord::Domain(domain).into()).await?;
        }
        for slot in slots {
            self.slot(&state, slot).await?;
        }
        let is_active = |webhook: &&WebhookRecord| webhook.status == WebhookStatus::Active;
        let active: HashSet<WebhookId> = webhooks.iter().filter(is_active).map(|webhook| webhook.id).collect();
        for webhook in webhooks {
            self.put(BackupRecord::Webhook(Box::new(webhook)).into()).await?;
        }
        self.events(&state, &active).await?;
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

    async fn slot(&mut self, state: &ClusterState, slot: i64) -> Result<(), StoreError> {
        let (mut rows, mut met) = (state.walk_slot(slot).await?, MetMessages::default());
        let (mut group, mut octets) = (Vec::new(), 0);
        while let Some(row) = rows.next().await? {
            if state.is_announced(&row) || !met.is_first(&row) {
                continue;
            }
            octets += row.octets.cast_unsigned();
            group.push(row);
            if octets >= GROUP_OCTETS || group.len() == GROUP_MESSAGES {
                self.messages(state, std::mem::take(&mut group)).await?;
                octets = 0;
            }
        }
        self.messages(state, group).await
    }

    async fn messages(&mut self, state: &ClusterState, group: Vec<EmailRow>) -> Result<(), StoreError> {
        let mut messages = stream::iter(group).map(|row| state.back_up(row)).buffered(MESSAGES_AT_ONCE);
        while let Some(message) = messages.try_next().await? {
            if let Some(message) = message {
                self.put(message).await?;
            }
        }
        Ok(())
    }

    async fn webhooks(&self) -> Result<Vec<WebhookRecord>, StoreError> {
        let (mut webhooks, mut after) = (Vec::new(), None);
        loop {
            let page = self.store.all_webhooks(WebhookFilter::default(), after, WEBHOOKS_AT_ONCE).await?;
            webhooks.extend(page.webhooks);
            after = page.next;
            if after.is_none() {
                return Ok(webhooks);
            }
        }
    }

    async fn events(&mut self, state: &ClusterState, active: &HashSet<WebhookId>) -> Result<(), StoreError> {
        for event in state.pending_events().await? {
            let PendingEvent { webhook, email, attempts, due_at, .. } = event;
            if active.contains(&webhook) && state.find_any(email.id).await?.is_some() {
                self.put(BackupRecord::Event { webhook, email: email.id, attempts, due_at }.into()).await?;
            }
        }
        Ok(())
    }
}

impl ClusterState {
    /// Reads the message of an Email. `None` if none of its Emails is there any more.
    async fn back_up(&self, row: EmailRow) -> Result<Option<BackupItem>, StoreError> {
        for _ in 0..READS_MAX {
            if let ReadMessage::Whole(envelope, content) =
                self.read_message(row.message, row.octets.cast_unsigned()).await?
            {
                let sequence = first_number(&row, &envelope)?;
                let live = self.live(&row, &envelope, sequence).await?;
                let (received_at, expires_at) =
                    (Timestamp::from_millis(row.received_at), Timestamp::from_millis(row.expires_at));
                let is_live = !live.is_empty();
                let record = BackupRecord::Mail { envelope, received_at, expires_at, sequence, live };
                return Ok(is_live.then_some(BackupItem { record, content }));
            }
            if !self.is_listed(&row.mailbox, row.sequence, row.id).await? {
                return Ok(None);
            }
            sleep(PAUSE).await;
        }
        Err(StoreError::Failed(format!(
            "the message of Email {} is not whole; `nodetool repair` may bring it back, and `tempmail db check` names all such",
            row.id
        )))
    }

    /// The Emails of a message that are there, in the order of its envelope.
    async fn live(&self, row: &EmailRow, envelope: &Envelope, first: u64) -> Result<Vec<EmailId>, StoreError> {
        let live = self.listed_of(envelope, first).await?;
        if live.len() == envelope.recipients.len() {
            return Ok(live);
        }
        // Its node may be writing it, or may have died while it did.
        self.finish_message(Timestamp::from_millis(row.received_at), row.message).await?;
        self.listed_of(envelope, first).await
    }

    async fn listed_of(&self, envelope: &Envelope, first: u64) -> Result<Vec<EmailId>, StoreError> {
        let is_listed = |(recipient, sequence): (&Recipient, u64)| {
            let (names, id) = (MailboxNames::new(&self.secret, &recipient.mailbox), recipient.id);
            async move {
                let is_listed = self.is_listed(&names.mailbox, signed(sequence), uuid(id)).await?;
                Ok::<_, StoreError>(is_listed.then_some(id))
            }
        };
        let emails: Vec<_> = envelope.recipients.iter().zip(first..).map(is_listed).collect();
        let emails: Vec<Option<EmailId>> = stream::iter(emails).buffered(EMAILS_AT_ONCE).try_collect().await?;
        Ok(emails.into_iter().flatten().collect())
    }

    /// Whether a mailbox lists an Email.
    pub(super) async fn is_listed(&self, mailbox: &[u8], sequence: i64, id: Uuid) -> Result<bool, StoreError> {
        let row = self.cluster.first::<(i64,)>(&self.statements.email_find, (mailbox, sequence, id)).await?;
        Ok(row.is_some())
    }
}

fn uuid(id: EmailId) -> Uuid {
    Uuid::from_bytes(id.octets())
}

/// The number of the first recipient's Email.
fn first_number(row: &EmailRow, envelope: &Envelope) -> Result<u64, StoreError> {
    let nth = envelope.recipients.iter().position(|recipient| uuid(recipient.id) == row.id);
    let nth = nth.ok_or_else(|| {
        StoreError::Failed(format!("Email {} is not in the envelope of message {}", row.id, row.message))
    })?;
    Ok(row.sequence.cast_unsigned().saturating_sub(nth as u64))
}
