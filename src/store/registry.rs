//! What people typed in, domains, webhooks and tokens, behind one trait.

use async_trait::async_trait;

use super::StoreError;
use crate::model::{
    AttemptRecord, DomainName, DomainRecord, Mailbox, Timestamp, TokenRecord, WebhookId, WebhookRecord,
};

/// The result of a domain's registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registration {
    /// The domain is registered now, and was not before.
    Won,
    /// The domain was registered before. Nothing changed.
    Taken(DomainRecord),
    /// The limit of domains is reached. Nothing changed.
    Full,
}

/// The result of a webhook's registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookRegistration {
    /// The webhook is registered now.
    New,
    /// A webhook with the same mailbox, URL and secret is registered. If it was disabled, it is active again and its
    /// failures are forgotten. Otherwise nothing changed.
    Same(Box<WebhookRecord>),
    /// The mailbox has reached its limit of webhooks. Nothing changed.
    FullForRecipient,
    /// The registrant has reached its limit of webhooks. Nothing changed.
    FullForRegistrant,
    /// The limit of all webhooks is reached. Nothing changed.
    Full,
}

/// Which webhooks to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookFilter {
    /// Only webhooks of this origin, as in [`WebhookRecord::origin`].
    pub origin: Option<String>,
    /// Only webhooks of mailboxes of this domain.
    pub domain: Option<DomainName>,
}

impl WebhookFilter {
    pub(super) fn lets_through(&self, webhook: &WebhookRecord) -> bool {
        self.origin.as_ref().is_none_or(|origin| webhook.origin == *origin)
            && self.domain.as_ref().is_none_or(|domain| webhook.mailbox.domain() == domain.as_str())
    }
}

/// One page of the list of all webhooks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookPage {
    /// In the order of their ids.
    pub webhooks: Vec<WebhookRecord>,
    /// The next page begins after this id; `None` on the last page. A page may be empty and still have a next one.
    pub next: Option<WebhookId>,
}

impl WebhookPage {
    /// The first of some webhooks, which come in the order of their ids, after `after`. At most `limit` are in the page.
    pub(super) fn of<'r>(
        mut webhooks: impl Iterator<Item = &'r WebhookRecord>,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Self {
        let page: Vec<WebhookRecord> = webhooks.by_ref().take(limit).cloned().collect();
        let next = webhooks.next().and_then(|_| page.last().map(|webhook| webhook.id).or(after));
        Self { webhooks: page, next }
    }
}

/// The limits of the number of webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WebhookLimits {
    /// The most webhooks of one mailbox.
    pub per_recipient: u32,
    /// The most webhooks of one registrant. The administrator has no such limit.
    pub per_registrant: u32,
    /// The most webhooks in all.
    pub total: u32,
    /// At `total` webhooks, a new one evicts the oldest unproven webhook that was registered before this time.
    pub unproven_before: Timestamp,
}

impl WebhookLimits {
    /// No limits, for webhooks that were accepted before.
    pub const UNBOUNDED: Self = Self {
        per_recipient: u32::MAX,
        per_registrant: u32::MAX,
        total: u32::MAX,
        unproven_before: Timestamp::from_millis(i64::MIN),
    };
}

/// What a registration of a webhook comes to.
pub(super) enum Registering<'r> {
    /// It is registered already, as this one.
    Same(&'r WebhookRecord),
    /// A limit is reached.
    Refused(WebhookRegistration),
    /// It is added, and another one is deleted to make room.
    New { evicts: Option<WebhookId> },
}

impl WebhookLimits {
    /// Decides about a new webhook among all that are registered.
    pub(super) fn decide<'r>(
        self,
        new: &WebhookRecord,
        all: impl Iterator<Item = &'r WebhookRecord> + Clone,
    ) -> Registering<'r> {
        let of_mailbox = all.clone().filter(|known| known.mailbox == new.mailbox);
        let mut same = of_mailbox.clone().filter(|known| (&known.url, &known.secret) == (&new.url, &new.secret));
        if let Some(known) = same.next() {
            return Registering::Same(known);
        }
        if of_mailbox.count() >= self.per_recipient as usize {
            return Registering::Refused(WebhookRegistration::FullForRecipient);
        }
        let of_registrant = all.clone().filter(|known| known.registrant == new.registrant);
        if new.registrant.is_some() && of_registrant.count() >= self.per_registrant as usize {
            return Registering::Refused(WebhookRegistration::FullForRegistrant);
        }
        if all.clone().count() < self.total as usize {
            return Registering::New { evicts: None };
        }
        let oldest = all.filter(|known| known.is_evictable()).min_by_key(|known| (known.created_at, known.id));
        match oldest.filter(|oldest| oldest.created_at < self.unproven_before) {
            Some(oldest) => Registering::New { evicts: Some(oldest.id) },
            None => Registering::Refused(WebhookRegistration::Full),
        }
    }
}

/// Which webhooks a sweep deletes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookSweep {
    /// The webhooks of a domain.
    Domain(DomainName),
    /// The webhooks without mail since this time.
    IdleSince(Timestamp),
    /// The evictable webhooks that were registered before this time.
    UnprovenSince(Timestamp),
    /// The webhooks of an origin.
    Origin(String),
}

impl WebhookSweep {
    /// Whether the sweep deletes this webhook.
    pub(crate) fn matches(&self, webhook: &WebhookRecord) -> bool {
        match self {
            Self::Domain(domain) => webhook.mailbox.domain() == domain.as_str(),
            Self::IdleSince(since) => webhook.last_mail_at < *since,
            Self::UnprovenSince(since) => webhook.is_evictable() && webhook.created_at < *since,
            Self::Origin(origin) => webhook.origin == *origin,
        }
    }
}

/// The operations on domains, webhooks and tokens.
///
/// Every method can return any error of [`StoreError`].
#[async_trait]
pub trait Registry: Send + Sync + 'static {
    /// Lists every registered domain, in the order of the names.
    async fn domains(&self) -> Result<Vec<DomainRecord>, StoreError>;

    /// Finds the record of one domain.
    async fn domain(&self, name: &DomainName) -> Result<Option<DomainRecord>, StoreError> {
        Ok(self.domains().await?.into_iter().find(|record| record.name == *name))
    }

    /// Registers a domain, unless it is registered already or `limit` domains are.
    ///
    /// Webhooks that the domain had in an earlier registration are deleted first.
    async fn register_domain(&self, record: DomainRecord, limit: usize) -> Result<Registration, StoreError>;

    /// Replaces the record of a registered domain. `false` if the record is not `before` any more, or the domain is not
    /// registered: then nothing changed.
    async fn update_domain(&self, before: &DomainRecord, after: DomainRecord) -> Result<bool, StoreError>;

    /// Removes a domain and its webhooks. Its Emails stay until they expire. `false` if the domain is not registered.
    async fn remove_domain(&self, name: &DomainName) -> Result<bool, StoreError>;

    /// The tokens of remote callers, in the order of creation.
    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError>;

    /// Replaces all tokens. `false` if they are not `before` any more: then nothing changed.
    async fn replace_tokens(&self, before: &[TokenRecord], after: &[TokenRecord]) -> Result<bool, StoreError>;

    /// Registers a webhook, unless one with the same mailbox, URL and secret is registered or a limit is reached.
    async fn register_webhook(
        &self,
        record: WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<WebhookRegistration, StoreError>;

    /// Lists the webhooks of a mailbox, in the order of their registration.
    async fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, StoreError>;

    /// Finds the webhook with this id.
    async fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError>;

    /// Deletes a webhook with its events and its delivery log, in steps if it has many events. `false` if there is none.
    async fn delete_webhook(&self, id: WebhookId) -> Result<bool, StoreError>;

    /// Deletes the webhooks that a sweep is about. Returns how many.
    async fn delete_webhooks(&self, sweep: WebhookSweep) -> Result<usize, StoreError>;

    /// Lists the webhooks of all mailboxes that match `filter`, in the order of their ids, after `after`; about `limit`.
    async fn all_webhooks(
        &self,
        filter: WebhookFilter,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<WebhookPage, StoreError>;

    /// Reads the last `limit` records of a webhook's delivery log, newest first, without those older than 30 days at `now`.
    async fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, StoreError>;
}
