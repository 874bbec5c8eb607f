//! The visible state of a store, as facts that can be compared.
//! Promise: it outlives the code below it.

use std::collections::{BTreeMap, BTreeSet};

use tempmail::model::{Delivery, EmailId, Listed, Mailbox, StoredEmail, Timestamp, WebhookId, WebhookRecord};
use tempmail::store::{EmbeddedStore, Outbox, PageRequest, Store, StoreError};

use crate::support::mail::mailbox;
use crate::support::outbox::pending_events;

/// When the workload begins.
pub const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// A time before any mail expires, when a list shows all mail that was not removed.
const EVER: Timestamp = Timestamp::from_millis(0);
/// Mailboxes of the workload, in two domains.
pub const MAILBOXES: usize = 7;
/// The mailbox after those, which never has a webhook: mail to it changes nothing but what it holds.
pub const QUIET: usize = MAILBOXES;
/// Stands for the value of a fact whose octets can't be read.
const UNREADABLE: &str = "unreadable";

/// The name of the fact how many events of a webhook were dropped begins with it.
pub const DROPPED: &str = "dropped ";

/// The address of a mailbox.
pub fn address(n: usize) -> String {
    let domain = if n < 5 { "example.test" } else { "other.test" };
    format!("user{n}@{domain}")
}

/// The mailbox itself.
pub fn name(n: usize) -> Mailbox {
    mailbox(&address(n))
}

/// Facts by name: a mail with its row, envelope and octets; a domain; a webhook; an event; a line of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State(pub BTreeMap<String, String>);

/// The name of the fact that a mail is there.
pub fn mail_key(id: EmailId) -> String {
    format!("mail {id}")
}

impl State {
    /// Reads everything; the error is what contradicts itself or can't be read.
    pub async fn read(store: &EmbeddedStore) -> Result<Self, String> {
        let (state, damages) = Self::read_damaged(store).await?;
        match damages.first() {
            None => Ok(state),
            Some((key, error)) => Err(format!("{key}: {error}")),
        }
    }

    /// The same where octets may be damaged: with the facts that could not be read whole.
    pub async fn read_damaged(store: &EmbeddedStore) -> Result<(Self, Vec<(String, StoreError)>), String> {
        let mut reader = Reader { store, facts: BTreeMap::new(), damages: Vec::new() };
        reader.mails().await?;
        reader.domains().await.map_err(failed)?;
        reader.webhooks().await?;
        Ok((Self(reader.facts), reader.damages))
    }

    /// Records that a message was received. `now` must have it, and nothing else may differ.
    pub fn expect_received(&mut self, sent: &Delivery, now: &Self) -> Result<(), String> {
        for recipient in &sent.envelope.recipients {
            if !now.0.contains_key(&mail_key(recipient.id)) {
                return Err("a message that is received now is not there".into());
            }
        }
        let is_lost = |key: &&String| key.starts_with("mail ") && !now.0.contains_key(*key);
        if let Some(lost) = self.0.keys().find(is_lost) {
            return Err(format!("receiving cost {lost}"));
        }
        self.clone_from(now);
        Ok(())
    }

    /// Fails unless `now` is the same.
    pub fn expect_same(&self, now: &Self) -> Result<(), String> {
        for key in self.0.keys().chain(now.0.keys()) {
            if self.0.get(key) != now.0.get(key) {
                return Err(format!("{key}: {:?}, but {:?} after a stop", self.0.get(key), now.0.get(key)));
            }
        }
        Ok(())
    }
}

struct Reader<'s> {
    store: &'s EmbeddedStore,
    facts: BTreeMap<String, String>,
    damages: Vec<(String, StoreError)>,
}

impl Reader<'_> {
    async fn mails(&mut self) -> Result<(), String> {
        let mut emails = 0;
        for n in 0..=QUIET {
            let everything = PageRequest { offset: 0, limit: usize::MAX };
            let part = self.store.list(&name(n), everything, EVER).await.map_err(failed)?;
            if part.total != part.emails.len() as u64 {
                return Err(format!("mailbox {n} counts {} and lists {}", part.total, part.emails.len()));
            }
            emails += part.total;
            for listed in part.emails {
                let key = mail_key(listed.id);
                let found = self.store.find(listed.id, EVER).await.map_err(failed)?;
                // It may have been copied to another segment meanwhile.
                if found.map(|found| Listed { place: listed.place, ..found }).as_ref() != Some(&listed) {
                    return Err(format!("{key} is listed and not found by its id"));
                }
                let row = format!("{n} {} {:?} {:?}", listed.sequence, listed.received_at, listed.expires_at);
                let stored = self.store.load(&listed).await;
                self.put(key, row, stored)?;
            }
        }
        let stats = self.store.stats().await.map_err(failed)?;
        if stats.emails != emails {
            return Err(format!("the store counts {} emails and lists {emails}", stats.emails));
        }
        Ok(())
    }

    /// Records a fact that includes octets of a message.
    fn put(&mut self, key: String, row: String, stored: Result<Option<StoredEmail>, StoreError>) -> Result<(), String> {
        let value = match stored {
            Ok(Some(stored)) => format!("{row} {:08x} {:?}", crc32c::crc32c(&stored.raw), stored.envelope),
            Ok(None) => return Err(format!("{key} has no octets")),
            Err(error) => {
                self.damages.push((key.clone(), error));
                UNREADABLE.into()
            }
        };
        self.facts.insert(key, value);
        Ok(())
    }

    async fn domains(&mut self) -> Result<(), StoreError> {
        for domain in self.store.domains().await? {
            self.facts.insert(format!("domain {}", domain.name), format!("{domain:?}"));
        }
        Ok(())
    }

    async fn webhooks(&mut self) -> Result<(), String> {
        let mut waiting = BTreeSet::new();
        for n in 0..MAILBOXES {
            for webhook in self.store.webhooks(&name(n)).await.map_err(failed)? {
                let secret = webhook.secret.as_ref().map(|secret| secret.expose().to_owned());
                self.facts.insert(format!("{DROPPED}{}", webhook.id), webhook.dropped.to_string());
                let rest = WebhookRecord { dropped: 0, ..webhook.clone() };
                self.facts.insert(format!("webhook {}", webhook.id), format!("{rest:?} {secret:?}"));
                self.events(webhook.id, &mut waiting).await?;
                for line in self.store.attempts(webhook.id, usize::MAX, NOW).await.map_err(failed)? {
                    self.facts.insert(format!("log {} {line:?}", webhook.id), String::new());
                }
            }
        }
        let pending: BTreeSet<_> = self.store.pending_webhooks().await.map_err(failed)?.into_iter().collect();
        if pending != waiting {
            return Err(format!("the pending webhooks are {pending:?}, what waits is {waiting:?}"));
        }
        Ok(())
    }

    async fn events(
        &mut self,
        webhook: WebhookId,
        waiting: &mut BTreeSet<(WebhookId, Option<Timestamp>)>,
    ) -> Result<(), String> {
        let events = pending_events(self.store, webhook).await.map_err(failed)?;
        let has_fresh = events.iter().any(|event| event.attempts == 0);
        waiting.extend(events.first().map(|event| (webhook, (!has_fresh).then_some(event.due_at))));
        for event in events {
            let key = format!("event {webhook} {}", event.email.id);
            let row = format!("{} {} {} {:?}", event.id, event.email.sequence, event.attempts, event.due_at);
            let stored = self.store.load_event(&event).await;
            self.put(key, row, stored)?;
        }
        Ok(())
    }
}

fn failed(error: StoreError) -> String {
    error.to_string()
}
