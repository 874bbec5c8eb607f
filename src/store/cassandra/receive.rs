//! The way of a message into the cluster.
//!
//! ```text
//! announce    a row without a sequence in each recipient's mailbox, for 15 s
//! number      above the highest sequence of each mailbox; meanwhile the octets are written, which nobody sees
//! rows        with their sequences; one Email without events is visible now
//! show        one cell, if there are several Emails or events
//! log         so that every node knows; then 250
//! ```
//!
//! A reader that finds an announcement waits for it up to [`SETTLES_WITHIN`]. So a message that takes longer gets no 250.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::{try_join, try_join_all};
use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use super::Shared;
use super::log::{Fact, Received};
use super::message::MessageId;
use crate::model::{Delivery, EmailId, Timestamp, WebhookId};
use crate::store::StoreError;
use crate::store::names::mailbox_hash;

/// The longest time from the announcement of a message to its 250, and the longest wait of a reader for it.
pub(super) const SETTLES_WITHIN: Duration = Duration::from_secs(5);
/// How long an announcement lives, in seconds. Clocks of servers may differ by 3 s.
const ANNOUNCED_SECONDS: i32 = 15;
/// The most recipients of messages that are written at once. The other messages wait for their admission, so that those that
/// are admitted are written in time.
pub(super) const RECIPIENTS_MAX: u32 = 32;
/// How long a message waits for its admission.
const ADMITTED_WITHIN: Duration = Duration::from_secs(10);
/// How much longer it may take until it is announced.
const WAITS_MORE: Duration = Duration::from_secs(2);
/// How long a row outlives its mail, so that clocks may differ.
pub(super) const OUTLIVES_SECONDS: i64 = 60;
/// The longest time to live that the cluster takes: 20 years.
const TTL_MAX_SECONDS: i64 = 630_720_000;
/// The bits of a node in a sequence.
pub(super) const NODE_BITS: u32 = 12;

/// The sequence of a microsecond and a node.
pub(super) fn sequence(micros: i64, bits: u16) -> u64 {
    (micros.max(0).cast_unsigned() << NODE_BITS) | u64::from(bits)
}

/// The microsecond of a sequence.
pub(super) fn micros_of(sequence: u64) -> i64 {
    (sequence >> NODE_BITS).cast_signed()
}

/// A message on its way.
struct Incoming<'a> {
    delivery: &'a Delivery,
    fact: Received,
    ttl: i32,
    /// Of what events need.
    message_ttl: i32,
    /// Whether several Emails or events need the message. Then it is visible once it is shown.
    is_shared: bool,
    /// Which of its Emails were not deleted meanwhile.
    live: Vec<bool>,
    /// Whether it had its numbers before this call.
    is_known: bool,
}

impl<'a> Incoming<'a> {
    fn new(shared: &Shared, delivery: &'a Delivery) -> Self {
        let Delivery { envelope, raw, received_at, expires_at } = delivery;
        let life = expires_at.millis().saturating_sub(received_at.millis()).max(0) / 1000 + 1 + OUTLIVES_SECONDS;
        let first = envelope.recipients.first().map_or(EmailId::from_octets([0; 16]), |to| to.id);
        let emails = envelope.recipients.iter().map(|to| {
            let domain = shared.picture.mail().domain_of(to.mailbox.domain());
            (to.id, 0, mailbox_hash(&shared.secret, &to.mailbox), domain)
        });
        Self {
            delivery,
            fact: Received {
                message: MessageId::of(first),
                octets: u32::try_from(raw.len()).unwrap_or(u32::MAX),
                at: *received_at,
                expires_at: *expires_at,
                emails: emails.collect(),
                events: Vec::new(),
            },
            ttl: to_ttl(life),
            message_ttl: to_ttl(life),
            is_shared: envelope.recipients.len() > 1,
            live: vec![true; envelope.recipients.len()],
            is_known: false,
        }
    }

    /// The time of what has no sequence, in microseconds.
    fn received_micros(&self) -> i64 {
        self.fact.at.millis().saturating_mul(1000)
    }

    /// Events need the message for so long after its Emails.
    fn outlive(&mut self, grace: Duration) {
        self.message_ttl = to_ttl(i64::from(self.ttl).saturating_add_unsigned(grace.as_secs()));
        self.is_shared = true;
    }

    /// Gives its Emails their sequences, from a microsecond on: each has the next one.
    fn number_from(&mut self, base: i64, bits: u16) {
        for ((_, number, ..), micros) in self.fact.emails.iter_mut().zip(base..) {
            *number = sequence(micros, bits);
        }
    }
}

impl Shared {
    pub(super) async fn receive(&self, delivery: Delivery) -> Result<(), StoreError> {
        let called = self.boot();
        self.check_open()?;
        let limit = self.options.message_octets_max;
        if delivery.raw.len() as u64 > limit {
            return Err(StoreError::TooLarge { limit });
        }
        if delivery.envelope.recipients.is_empty() {
            return Ok(());
        }
        let _admission = self.admission(delivery.envelope.recipients.len()).await?;
        self.check_open()?;
        self.catch_up().await?;
        self.picture.check_room()?;
        let received_at = delivery.received_at;
        let mut incoming = Incoming::new(self, &delivery);
        let evicted = self.picture.evicted(&incoming.fact.emails, received_at)?;
        self.check_wait(called, received_at)?;
        let begun = self.boot();
        let webhooks = self.announce(&mut incoming).await?;
        let written = self.write_message(&delivery, incoming.message_ttl, incoming.received_micros());
        try_join(self.number(&mut incoming), written).await?;
        self.check_time(begun)?;
        self.commit(&incoming, begun).await.map_err(|error| unconfirmed(&error))?;
        self.counters.committed(self.boot().saturating_sub(begun));
        self.note_mail(&webhooks, received_at).await;
        self.make_way(evicted).await;
        Ok(())
    }

    /// Waits until a message with so many recipients may be written.
    async fn admission(&self, recipients: usize) -> Result<SemaphorePermit<'_>, StoreError> {
        let recipients = u32::try_from(recipients).unwrap_or(u32::MAX).min(RECIPIENTS_MAX);
        match timeout(ADMITTED_WITHIN, self.receiving.acquire_many(recipients)).await {
            Ok(Ok(admission)) => Ok(admission),
            Ok(Err(_)) => Err(StoreError::Stopping),
            Err(_) => Err(StoreError::Failed(format!(
                "more mail comes than the cluster takes; it waited {ADMITTED_WITHIN:?}"
            ))),
        }
    }

    /// Refuses a message that waited for too long before its announcement: readers look for those of the last half minute, and
    /// its id has the time of its receipt.
    fn check_wait(&self, called: Duration, received_at: Timestamp) -> Result<(), StoreError> {
        let waited = self.boot().saturating_sub(called);
        let is_old = self.is_running() && self.now().since(received_at) > ADMITTED_WITHIN + SETTLES_WITHIN;
        if is_old || waited > ADMITTED_WITHIN + WAITS_MORE {
            return Err(StoreError::Failed("the message waited for too long".into()));
        }
        Ok(())
    }

    /// Refuses to go on with a message that took too long: a reader may have passed over it.
    fn check_time(&self, begun: Duration) -> Result<(), StoreError> {
        let is_in_time = self.boot().saturating_sub(begun) < SETTLES_WITHIN;
        if is_in_time { Ok(()) } else { Err(StoreError::Failed("the cluster is too slow".into())) }
    }

    /// Announces a message in the mailboxes of its recipients, and finds their webhooks, which get events. Returns those for
    /// which it is the first mail of this minute.
    async fn announce(&self, incoming: &mut Incoming<'_>) -> Result<Vec<WebhookId>, StoreError> {
        let (message, micros) = (incoming.fact.message, incoming.received_micros());
        let announced = incoming.fact.emails.iter().map(|(id, _, mailbox, _)| async move {
            let id = id.octets();
            let values = (&mailbox[..], &id[..], message.octets(), ANNOUNCED_SECONDS, micros);
            self.session.run(&self.statements.announce, values).await
        });
        let webhooks = incoming.fact.emails.iter().map(|(_, _, mailbox, _)| self.webhook_ids_of(mailbox));
        let (_, webhooks) = try_join(try_join_all(announced), try_join_all(webhooks)).await?;
        if self.begins_events() {
            let of_emails = (0..).zip(&webhooks);
            incoming.fact.events =
                of_emails.flat_map(|(email, webhooks)| webhooks.iter().map(move |webhook| (email, *webhook))).collect();
        }
        if !incoming.fact.events.is_empty() {
            incoming.outlive(self.grace);
        }
        let of_recipients = incoming.delivery.envelope.recipients.iter().zip(webhooks);
        let of_first = of_recipients.filter(|(to, _)| !self.picture.has_mail_of_minute(&to.mailbox, incoming.fact.at));
        Ok(of_first.flat_map(|(_, webhooks)| webhooks).collect())
    }

    /// Numbers a message above all in its mailboxes, or as it was numbered before.
    async fn number(&self, incoming: &mut Incoming<'_>) -> Result<(), StoreError> {
        type Numbers = (Option<i64>, Option<i64>, Option<Vec<u8>>);
        let numbers = incoming.fact.emails.iter().map(|(id, _, mailbox, _)| async move {
            let id = id.octets();
            self.session.first::<Numbers>(&self.statements.number_select, (&mailbox[..], &id[..])).await
        });
        let numbers = try_join_all(numbers).await?;
        // Without its announcement an Email was deleted: a deletion is later than that.
        let live: Vec<bool> = numbers.iter().map(|row| matches!(row, Some((.., Some(_))))).collect();
        if !live.contains(&true) {
            return Err(StoreError::Failed("all Emails of the message were deleted".into()));
        }
        incoming.fact.events.retain(|(email, _)| live[usize::from(*email)]);
        incoming.live = live;
        let known = (0_i64..).zip(&numbers).find_map(|(nth, row)| {
            let (_, sequence, _) = row.as_ref()?;
            Some(micros_of(sequence.as_ref()?.cast_unsigned()) - nth)
        });
        incoming.is_known = known.is_some();
        let last = numbers.iter().flatten().filter_map(|(last, ..)| *last).max().unwrap_or(0);
        let from = incoming.received_micros().max(micros_of(last.cast_unsigned())) + 1;
        incoming.number_from(known.unwrap_or_else(|| self.next_micros(from, numbers.len())), self.node.bits());
        Ok(())
    }

    /// The first of `count` microseconds that this node has not given yet, from `least` on.
    fn next_micros(&self, least: i64, count: usize) -> i64 {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let first = |last: i64| least.max(last.saturating_add(1));
        let order = Ordering::Relaxed;
        first(self.numbered.update(order, order, |last| first(last).saturating_add(count - 1)))
    }

    /// Makes a numbered message visible, and writes it into the log.
    async fn commit(&self, incoming: &Incoming<'_>, begun: Duration) -> Result<(), StoreError> {
        let Incoming { fact, message_ttl, is_shared, live, is_known, .. } = incoming;
        try_join(self.write_rows(incoming), self.write_events(fact)).await?;
        if *is_shared {
            self.check_time(begun)?;
            let base = fact.emails.first().map_or(0, |(_, number, ..)| micros_of(*number));
            self.show_message(fact.message, *message_ttl, base).await?;
        }
        let mut told = fact.clone();
        if *is_known {
            // They may have ended meanwhile. If they have not, their rows say so.
            told.events.clear();
        }
        let by_leases = incoming.delivery.envelope.has_own_life();
        let told = if by_leases { Fact::ReceivedByLeases(told) } else { Fact::Received(told) };
        self.append(told, *message_ttl).await?;
        let gone = fact.emails.iter().zip(live).filter(|(_, is_live)| !**is_live);
        let gone: Vec<EmailId> = gone.map(|((id, ..), _)| *id).collect();
        if !gone.is_empty() {
            self.append(Fact::Deleted(gone), *message_ttl).await?;
        }
        self.check_time(begun)
    }

    /// Writes the rows of a message's Emails.
    async fn write_rows(&self, incoming: &Incoming<'_>) -> Result<(), StoreError> {
        let Incoming { fact, ttl, is_shared, live, .. } = incoming;
        let rows = fact.emails.iter().zip(live).filter(|(_, is_live)| **is_live);
        let writes = rows.map(|((id, number, mailbox, _), _)| async move {
            let (id, micros, number) = (id.octets(), micros_of(*number), number.cast_signed());
            let (message, octets) = (fact.message.octets(), i64::from(fact.octets));
            let (at, ends) = (fact.at.millis(), fact.expires_at.millis());
            let key = (&mailbox[..], &id[..]);
            let values = (key.0, key.1, number, number, message, at, ends, octets, is_shared, ttl, micros);
            self.session.run(&self.statements.email_insert, values).await
        });
        try_join_all(writes).await.map(drop)
    }

    /// Puts what is left of a message into a new store, which nobody reads yet, from a microsecond on. It may be there already.
    pub(super) async fn put(&self, delivery: &Delivery, live: &[EmailId], base: i64) -> Result<(), StoreError> {
        let mut incoming = Incoming::new(self, delivery);
        // Its events come later.
        incoming.outlive(self.grace);
        incoming.live = delivery.envelope.recipients.iter().map(|to| live.contains(&to.id)).collect();
        incoming.number_from(base, self.node.bits());
        let _admission = self.admission(incoming.live.len()).await?;
        self.write_message(delivery, incoming.message_ttl, incoming.received_micros()).await?;
        // A new store has no reader whom a late message could deceive.
        self.commit(&incoming, Duration::MAX).await
    }
}

/// A time to live within the cluster's bounds.
pub(super) fn to_ttl(seconds: i64) -> i32 {
    i32::try_from(seconds.clamp(1, TTL_MAX_SECONDS)).unwrap_or(i32::MAX)
}

/// The error of a write after which somebody may see the message.
fn unconfirmed(error: &StoreError) -> StoreError {
    tracing::warn!(%error, "the cluster did not say in time whether a message was stored");
    StoreError::Unconfirmed
}
