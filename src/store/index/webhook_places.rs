//! Places for webhooks: how many each registrant has, and which one makes way where all are taken.

use redb::{ReadableTable, Table, WriteTransaction};

use super::IndexError;
use super::keys::{HashKey, WebhookKey, holder_hash, mailbox_webhook_key, registered_key, webhook_of_registered_key};
use super::tables::{BY_REGISTRANT, UNPROVEN};
use crate::model::{Registrant, Timestamp, WebhookId, WebhookRecord};

/// The tables of places, open for writing.
pub(super) struct WebhookPlaces<'t> {
    by_registrant: Table<'t, &'static [u8; 32], ()>,
    /// Webhooks of strangers that never had a delivery, by when they were registered.
    unproven: Table<'t, &'static WebhookKey, ()>,
    hash_key: HashKey,
}

impl<'t> WebhookPlaces<'t> {
    /// Opens the tables, making those that are missing.
    pub(super) fn open(transaction: &'t WriteTransaction, hash_key: HashKey) -> Result<Self, IndexError> {
        Ok(Self {
            by_registrant: transaction.open_table(BY_REGISTRANT)?,
            unproven: transaction.open_table(UNPROVEN)?,
            hash_key,
        })
    }

    /// Whether a registrant has as many webhooks as this.
    pub(super) fn has_as_many(&self, registrant: Registrant, limit: u32) -> Result<bool, IndexError> {
        let key = |id| by_registrant_key(&self.hash_key, registrant, WebhookId::from_octets([id; 16]));
        let webhooks = self.by_registrant.range::<&[u8; 32]>(&key(0)..=&key(255))?;
        Ok(webhooks.take(limit as usize).count() >= limit as usize)
    }

    pub(super) fn add(&mut self, webhook: &WebhookRecord) -> Result<(), IndexError> {
        if let Some(registrant) = webhook.registrant {
            self.by_registrant.insert(&by_registrant_key(&self.hash_key, registrant, webhook.id), ())?;
        }
        if webhook.is_evictable() {
            self.unproven.insert(&registered_key(webhook), ())?;
        }
        Ok(())
    }

    /// A receiver has taken an event of the webhook.
    pub(super) fn prove(&mut self, webhook: &WebhookRecord) -> Result<(), IndexError> {
        self.unproven.remove(&registered_key(webhook))?;
        Ok(())
    }

    pub(super) fn remove(&mut self, webhook: &WebhookRecord) -> Result<(), IndexError> {
        if let Some(registrant) = webhook.registrant {
            self.by_registrant.remove(&by_registrant_key(&self.hash_key, registrant, webhook.id))?;
        }
        self.prove(webhook)
    }

    /// The webhook without a delivery that a stranger registered first, if that was before `before`.
    pub(super) fn oldest_unproven(&self, before: Timestamp) -> Result<Option<WebhookId>, IndexError> {
        let oldest = self.unproven.first()?.map(|row| webhook_of_registered_key(row.0.value()));
        Ok(oldest.and_then(|(at, webhook)| (at < before).then_some(webhook)))
    }
}

/// The key of a webhook in [`BY_REGISTRANT`].
pub(super) fn by_registrant_key(hash_key: &HashKey, registrant: Registrant, webhook: WebhookId) -> [u8; 32] {
    mailbox_webhook_key(holder_hash(hash_key, "registrant", &registrant.to_string()), webhook)
}
