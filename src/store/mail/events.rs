//! Pending events: of each webhook in the order of their Emails, and the sums that bound them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::{Client, EmailId, Listed, Network, PendingEvent, Timestamp, WebhookId};
use crate::store::DueQuery;
use crate::store::change::RecordPlace;
use crate::store::names::{HashKey, event_id};

/// A pending event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) email: EmailId,
    pub(super) received_at: Timestamp,
    pub(super) expires_at: Timestamp,
    /// Its message, which it keeps.
    pub(super) place: RecordPlace,
    pub(super) attempts: u32,
    pub(super) due_at: Timestamp,
    /// The segments with the first and the last record about it, which it keeps, too.
    pub(super) begun_in: u32,
    pub(super) told_in: u32,
}

/// The pending events of one webhook.
#[derive(Debug)]
pub(super) struct Outbox {
    registrant: Option<Client>,
    events: BTreeMap<u64, Event>,
    octets: u64,
    /// Events without an attempt.
    fresh: BTreeSet<u64>,
    /// The others, by the time of the next attempt.
    retries: BTreeSet<(Timestamp, u64)>,
}

impl Outbox {
    pub(super) fn count_and_octets(&self) -> (usize, u64) {
        (self.events.len(), self.octets)
    }

    /// All events, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Event)> {
        self.events.iter().map(|(sequence, event)| (*sequence, event))
    }

    fn enter(&mut self, sequence: u64, event: Event) {
        if event.attempts == 0 {
            self.fresh.insert(sequence);
        } else {
            self.retries.insert((event.due_at, sequence));
        }
        self.octets += u64::from(event.place.content);
        self.events.insert(sequence, event);
    }

    fn leave(&mut self, sequence: u64) -> Option<Event> {
        let event = self.events.remove(&sequence)?;
        self.fresh.remove(&sequence);
        self.retries.remove(&(event.due_at, sequence));
        self.octets -= u64::from(event.place.content);
        Some(event)
    }

    /// When the next attempt is due; `None` if one is whatever the clock says.
    fn next_due_at(&self) -> Option<Timestamp> {
        if self.fresh.is_empty() { self.retries.first().map(|(due_at, _)| *due_at) } else { None }
    }
}

/// Octets of events by whose they are. The administrator's count in all alone.
#[derive(Debug, Default)]
pub(super) struct Sums {
    of_client: HashMap<Client, i64>,
    of_network: HashMap<Network, i64>,
    in_all: i64,
}

impl Sums {
    /// Counts an event that begins.
    pub(super) fn add(&mut self, registrant: Option<Client>, octets: u64) {
        self.change(registrant, octets.cast_signed());
    }

    /// Counts an event that ends.
    pub(super) fn subtract(&mut self, registrant: Option<Client>, octets: u64) {
        self.change(registrant, -octets.cast_signed());
    }

    fn change(&mut self, registrant: Option<Client>, octets: i64) {
        self.in_all += octets;
        if let Some(client) = registrant {
            change(&mut self.of_client, client, octets);
            change(&mut self.of_network, client.network(), octets);
        }
    }

    /// Those of a client, of its network, and all.
    pub(super) fn of(&self, registrant: Option<Client>) -> [i64; 3] {
        let of_client = registrant.and_then(|client| self.of_client.get(&client));
        let of_network = registrant.and_then(|client| self.of_network.get(&client.network()));
        [of_client.copied().unwrap_or(0), of_network.copied().unwrap_or(0), self.in_all]
    }
}

fn change<K: std::hash::Hash + Eq + Copy>(sums: &mut HashMap<K, i64>, key: K, octets: i64) {
    let sum = sums.entry(key).or_default();
    *sum += octets;
    if *sum == 0 {
        sums.remove(&key);
    }
}

/// What is due of a webhook.
pub(crate) struct Due {
    pub(crate) events: Vec<PendingEvent>,
    /// When the next event becomes due that is not due yet.
    pub(crate) next_due_at: Option<Timestamp>,
}

/// All pending events.
#[derive(Debug, Default)]
pub(super) struct Events {
    outboxes: BTreeMap<WebhookId, Outbox>,
    pub(super) sums: Sums,
    count: usize,
}

impl Events {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn outbox(&self, webhook: WebhookId) -> Option<&Outbox> {
        self.outboxes.get(&webhook)
    }

    pub(super) fn get(&self, webhook: WebhookId, sequence: u64) -> Option<&Event> {
        self.outboxes.get(&webhook)?.events.get(&sequence)
    }

    /// A pending event as others know it.
    #[cfg(feature = "cassandra")]
    pub(super) fn pending(&self, secret: &HashKey, webhook: WebhookId, sequence: u64) -> Option<PendingEvent> {
        self.get(webhook, sequence).map(|event| pending(secret, webhook, sequence, event))
    }

    /// Adds an event that is not pending yet.
    pub(super) fn add(&mut self, webhook: WebhookId, registrant: Option<Client>, sequence: u64, event: Event) {
        self.sums.add(registrant, u64::from(event.place.content));
        self.count += 1;
        let outbox = self.outboxes.entry(webhook).or_insert_with(|| Outbox {
            registrant,
            events: BTreeMap::new(),
            octets: 0,
            fresh: BTreeSet::new(),
            retries: BTreeSet::new(),
        });
        outbox.enter(sequence, event);
    }

    /// Changes a pending event that stays one. Returns it as it was.
    pub(super) fn change(
        &mut self,
        webhook: WebhookId,
        sequence: u64,
        change: impl FnOnce(&mut Event),
    ) -> Option<Event> {
        let outbox = self.outboxes.get_mut(&webhook)?;
        let before = outbox.leave(sequence)?;
        let mut event = before;
        change(&mut event);
        outbox.enter(sequence, event);
        Some(before)
    }

    /// Ends a pending event. `None` if it is not pending.
    pub(super) fn end(&mut self, webhook: WebhookId, sequence: u64) -> Option<Event> {
        let outbox = self.outboxes.get_mut(&webhook)?;
        let event = outbox.leave(sequence)?;
        let registrant = outbox.registrant;
        if outbox.events.is_empty() {
            self.outboxes.remove(&webhook);
        }
        self.sums.subtract(registrant, u64::from(event.place.content));
        self.count -= 1;
        Some(event)
    }

    /// The webhooks with pending events, each with the time of its next attempt, as `Outbox::pending_webhooks` says.
    pub(super) fn pending_webhooks(&self) -> Vec<(WebhookId, Option<Timestamp>)> {
        self.outboxes.iter().map(|(webhook, outbox)| (*webhook, outbox.next_due_at())).collect()
    }

    /// What is due of a webhook.
    pub(super) fn due(&self, secret: &HashKey, webhook: WebhookId, query: &DueQuery) -> Due {
        let mut due = Due { events: Vec::new(), next_due_at: None };
        let Some(outbox) = self.outboxes.get(&webhook) else { return due };
        let is_wanted = |sequence: &u64| !query.without.contains(sequence);
        let overdue = outbox.retries.range(..=(query.due_by, u64::MAX));
        // No retry is scheduled so far ahead, so the clock was set back.
        let far_ahead = outbox.retries.range((query.due_after.max(query.due_by), u64::MAX)..);
        let mut retries = overdue.chain(far_ahead).map(|(_, sequence)| *sequence).filter(is_wanted).peekable();
        let mut fresh = outbox.fresh.iter().copied().filter(is_wanted).peekable();
        let due_at = |sequence: &u64| outbox.events[sequence].due_at;
        while due.events.len() < query.limit {
            // The event that has been due for longer comes first, so that neither kind starves the other.
            let next = match (retries.peek(), fresh.peek()) {
                (None, None) => break,
                (Some(retry), Some(first)) if due_at(retry) < due_at(first) => {
                    &mut retries as &mut dyn Iterator<Item = u64>
                }
                (Some(_), None) => &mut retries,
                (_, Some(_)) => &mut fresh,
            };
            due.events
                .extend(next.next().map(|sequence| pending(secret, webhook, sequence, &outbox.events[&sequence])));
        }
        let later = outbox.retries.range((query.due_by, u64::MAX)..).next();
        due.next_due_at = later.map(|(due_at, _)| *due_at).filter(|due_at| *due_at <= query.due_after);
        due
    }

    /// The pending events behind one, in the order of webhooks and Emails.
    pub(super) fn after(
        &self,
        secret: &HashKey,
        after: Option<(WebhookId, u64)>,
    ) -> impl Iterator<Item = PendingEvent> {
        let (first, sequence) = after.unwrap_or((WebhookId::from_octets([0; 16]), 0));
        let outboxes = self.outboxes.range(first..);
        outboxes.flat_map(move |(webhook, outbox)| {
            let from = if *webhook == first { sequence + 1 } else { 0 };
            outbox.events.range(from..).map(move |(sequence, event)| pending(secret, *webhook, *sequence, event))
        })
    }
}

fn pending(secret: &HashKey, webhook: WebhookId, sequence: u64, event: &Event) -> PendingEvent {
    PendingEvent {
        id: event_id(secret, webhook, event.email),
        webhook,
        email: Listed {
            id: event.email,
            sequence,
            received_at: event.received_at,
            expires_at: event.expires_at,
            size_octets: u64::from(event.place.content),
            place: event.place.opaque(),
        },
        attempts: event.attempts,
        due_at: event.due_at,
    }
}
