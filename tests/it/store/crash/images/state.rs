//! The visible state of a store, as facts that can be compared.
//! Promise: it outlives the code below it.

use std::collections::{BTreeMap, BTreeSet};

use tempmail::model::{Delivery, EmailId, Mailbox, StoredEmail, Timestamp, WebhookId, WebhookRecord};
use tempmail::store::{EmbeddedStore, Outbox, PageRequest, Registry, Store, StoreError};

use crate::support::mail::mailbox;
use crate::support::outbox::pending_events;

/// When the workload begins.
pub const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// Mailboxes of the workload, in two domains.
pub const MAILBOXES: usize = 7;
/// The mailbox after those, which never has a webhook: mail to it changes nothing but what it holds.
pub const QUIET: usize = MAILBOXES;
/// Stands for the value of a fact whose octets can't be read.
const UNREADABLE: &str = "unreadable";

/// The names of facts about receivers begin with these: what the last second taught may be lost with the power.
const LEARNT: [&str; 2] = ["learnt ", "log "];

/// Whether a fact may be lost, or be as it was before.
pub fn is_learnt(key: &str) -> bool {
    LEARNT.iter().any(|prefix| key.starts_with(prefix))
}

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
    /// Reads everything that is readable at `now`; the error is what contradicts itself or can't be read.
    pub async fn read(store: &EmbeddedStore, now: Timestamp) -> Result<Self, String> {
        let (state, damages) = Self::read_damaged(store, now).await?;
        match damages.first() {
            None => Ok(state),
            Some((key, error)) => Err(format!("{key}: {error}")),
        }
    }

    /// The same where octets may be damaged: with the facts that could not be read whole.
    pub async fn read_damaged(
        store: &EmbeddedStore,
        now: Timestamp,
    ) -> Result<(Self, Vec<(String, StoreError)>), String> {
        let mut reader = Reader { store, now, facts: BTreeMap::new(), damages: Vec::new() };
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

    /// The facts that no power cut takes.
    pub fn certain(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter().filter(|(key, _)| !is_learnt(key))
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
    now: Timestamp,
    facts: BTreeMap<String, String>,
    damages: Vec<(String, StoreError)>,
}

impl Reader<'_> {
    async fn mails(&mut self) -> Result<(), String> {
        let mut emails = 0;
        for n in 0..=QUIET {
            let everything = PageRequest { offset: 0, limit: usize::MAX };
            let part = self.store.list(&name(n), everything, self.now).await.map_err(failed)?;
            if part.total != part.emails.len() as u64 {
                return Err(format!("mailbox {n} counts {} and lists {}", part.total, part.emails.len()));
            }
            emails += part.total;
            for listed in part.emails {
                let key = mail_key(listed.id);
                let found = self.store.find(listed.id, self.now).await.map_err(failed)?;
                if found.as_ref() != Some(&listed) {
                    return Err(format!("{key} is listed and not found by its id"));
                }
                let row = format!("{n} {} {:?} {:?}", listed.sequence, listed.received_at, listed.expires_at);
                let stored = self.store.load(&listed).await;
                self.put(key, row, stored)?;
            }
        }
        let stats = self.store.stats().await.map_err(failed)?;
        // It counts what has expired and is not removed yet.
        if stats.emails < emails {
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
                let WebhookRecord { dropped, failures, failing_since, last_mail_at, last_delivery_at, .. } =
                    webhook.clone();
                let learnt = (dropped, failures, failing_since, last_mail_at, last_delivery_at);
                self.facts.insert(format!("learnt {}", webhook.id), format!("{learnt:?}"));
                let (failures, failing_since, last_delivery_at) = (0, None, None);
                let last_mail_at = webhook.created_at;
                let rest = WebhookRecord {
                    dropped: 0,
                    failures,
                    failing_since,
                    last_mail_at,
                    last_delivery_at,
                    ..webhook.clone()
                };
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
