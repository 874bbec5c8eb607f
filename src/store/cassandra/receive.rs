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

use bytes::Bytes;
use futures_util::future::{try_join, try_join_all};
use scylla::value::MaybeUnset;
use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use super::Shared;
use super::log::{Fact, Received};
use super::message::MessageId;
use crate::model::{Delivery, EmailId, Envelope, Timestamp};
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

/// A message that is put into a new store, with its sequence and the Emails that are left of it.
pub(super) struct PutMessage {
    pub(super) envelope: Envelope,
    pub(super) raw: Bytes,
    pub(super) received_at: Timestamp,
    pub(super) expires_at: Timestamp,
    /// The microsecond of the first recipient's sequence. Each further one has the next.
    pub(super) micros: i64,
    pub(super) live: Vec<EmailId>,
    /// Whether events need the message when its Emails are deleted.
    pub(super) keeps_message: bool,
}

/// A message on its way.
struct Incoming<'a> {
    envelope: &'a Envelope,
    mailboxes: Vec<[u8; 16]>,
    fact: Received,
    /// The time of what has no sequence, in microseconds.
    received_micros: i64,
    ttl: i32,
    /// Of what events need.
    message_ttl: i32,
    keeps_message: bool,
}

/// The place of a message in the order of its mailboxes.
struct Numbered {
    /// The microsecond of the first Email's sequence. Each further Email has the next.
    base: i64,
    /// Whether the message had it before this call.
    is_known: bool,
    /// Which of its Emails were not deleted meanwhile.
    live: Vec<bool>,
}

impl<'a> Incoming<'a> {
    fn new(
        shared: &Shared,
        envelope: &'a Envelope,
        octets: usize,
        (received_at, expires_at): (Timestamp, Timestamp),
    ) -> Self {
        let life = expires_at.millis().saturating_sub(received_at.millis()).max(0) / 1000 + 1 + OUTLIVES_SECONDS;
        let first = envelope.recipients.first().map_or(EmailId::from_octets([0; 16]), |to| to.id);
        Self {
            envelope,
            mailboxes: envelope.recipients.iter().map(|to| mailbox_hash(&shared.secret, &to.mailbox)).collect(),
            fact: Received {
                message: MessageId::of(first),
                octets: u32::try_from(octets).unwrap_or(u32::MAX),
                at: received_at,
                expires_at,
                emails: Vec::new(),
                events: Vec::new(),
            },
            received_micros: received_at.millis().saturating_mul(1000),
            ttl: to_ttl(life),
            message_ttl: to_ttl(life),
            keeps_message: false,
        }
    }

    fn is_shared(&self) -> bool {
        self.keeps_message || self.envelope.recipients.len() > 1 || !self.fact.events.is_empty()
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
        let Delivery { envelope, raw, received_at, expires_at } = &delivery;
        let times = (*received_at, *expires_at);
        let mut incoming = Incoming::new(self, envelope, raw.len(), times);
        let evicted = self.picture.evicted(&incoming.mailboxes, *received_at)?;
        self.check_wait(called, *received_at)?;
        let begun = self.boot();
        let webhooks = self.announce(&mut incoming).await?;
        let written = self.write_message(envelope, raw, incoming.message_ttl, incoming.received_micros);
        let (numbered, ()) = try_join(self.number(&incoming), written).await?;
        self.check_time(Some(begun))?;
        let numbered = numbered.ok_or_else(|| StoreError::Failed("all Emails of the message were deleted".into()))?;
        self.commit(&mut incoming, numbered, Some(begun)).await.map_err(|error| unconfirmed(&error))?;
        self.counters.committed(self.boot().saturating_sub(begun));
        self.note_mail(&webhooks, *received_at).await;
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
    fn check_time(&self, begun: Option<Duration>) -> Result<(), StoreError> {
        let is_in_time = |begun| self.boot().saturating_sub(begun) < SETTLES_WITHIN;
        if begun.is_none_or(is_in_time) { Ok(()) } else { Err(StoreError::Failed("the cluster is too slow".into())) }
    }

    /// Announces a message in the mailboxes of its recipients, and finds their webhooks, which get events.
    async fn announce(&self, incoming: &mut Incoming<'_>) -> Result<Vec<crate::model::WebhookId>, StoreError> {
        let (message, micros) = (incoming.fact.message, incoming.received_micros);
        let announced = incoming.mailboxes.iter().zip(&incoming.envelope.recipients).map(|(mailbox, to)| async move {
            let id = to.id.octets();
            let values = (&mailbox[..], &id[..], message.octets(), ANNOUNCED_SECONDS, micros);
            self.session.run(&self.statements.announce, values).await
        });
        let webhooks = incoming.mailboxes.iter().map(|mailbox| self.webhook_ids_of(mailbox));
        let (_, webhooks) = try_join(try_join_all(announced), try_join_all(webhooks)).await?;
        if self.begins_events() {
            let of_emails = (0..).zip(&webhooks);
            incoming.fact.events =
                of_emails.flat_map(|(email, webhooks)| webhooks.iter().map(move |webhook| (email, *webhook))).collect();
        }
        if !incoming.fact.events.is_empty() {
            incoming.message_ttl = to_ttl(i64::from(incoming.ttl).saturating_add_unsigned(self.grace.as_secs()));
        }
        Ok(webhooks.concat())
    }

    /// Numbers a message above all in its mailboxes, or as it was numbered before. `None` if all its Emails were deleted.
    async fn number(&self, incoming: &Incoming<'_>) -> Result<Option<Numbered>, StoreError> {
        type Numbers = (Option<i64>, Option<i64>, Option<Vec<u8>>);
        let numbers = incoming.mailboxes.iter().zip(&incoming.envelope.recipients).map(|(mailbox, to)| async move {
            let id = to.id.octets();
            self.session.first::<Numbers>(&self.statements.number_select, (&mailbox[..], &id[..])).await
        });
        let numbers = try_join_all(numbers).await?;
        // Without its announcement an Email was deleted: a deletion is later than that.
        let live: Vec<bool> = numbers.iter().map(|row| matches!(row, Some((.., Some(_))))).collect();
        if live.iter().all(|is_live| !is_live) {
            return Ok(None);
        }
        let known = (0_i64..).zip(&numbers).find_map(|(nth, row)| {
            let (_, sequence, _) = row.as_ref()?;
            Some(micros_of(sequence.as_ref()?.cast_unsigned()) - nth)
        });
        let last = numbers.iter().flatten().filter_map(|(last, ..)| *last).max().unwrap_or(0);
        let from = incoming.received_micros.max(micros_of(last.cast_unsigned())) + 1;
        let base = known.unwrap_or_else(|| self.next_micros(from, numbers.len()));
        Ok(Some(Numbered { base, is_known: known.is_some(), live }))
    }

    /// The first of `count` microseconds that this node has not given yet, from `least` on.
    fn next_micros(&self, least: i64, count: usize) -> i64 {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let first = |last: i64| least.max(last.saturating_add(1));
        let order = Ordering::Relaxed;
        first(self.numbered.update(order, order, |last| first(last).saturating_add(count - 1)))
    }

    /// Makes a message visible, and writes it into the log.
    async fn commit(
        &self,
        incoming: &mut Incoming<'_>,
        Numbered { base, is_known, live }: Numbered,
        begun: Option<Duration>,
    ) -> Result<(), StoreError> {
        let picture = &self.picture;
        let emails = (base..).zip(&incoming.mailboxes).zip(&incoming.envelope.recipients);
        incoming.fact.emails = emails
            .map(|((micros, mailbox), to)| {
                (to.id, sequence(micros, self.node.bits()), *mailbox, picture.domain_of(to.mailbox.domain()))
            })
            .collect();
        let is_live = |nth: &u16| live.get(usize::from(*nth)) == Some(&true);
        incoming.fact.events.retain(|(email, _)| is_live(email));
        let rows =
            try_join(self.write_rows(incoming, &live, false), self.write_events(&incoming.fact, incoming.message_ttl));
        rows.await?;
        if incoming.is_shared() {
            self.check_time(begun)?;
            self.show_message(incoming.fact.message, incoming.message_ttl, base).await?;
        }
        let gone = incoming.fact.emails.iter().zip(&live).filter(|(_, is_live)| !**is_live);
        let gone: Vec<EmailId> = gone.map(|((id, ..), _)| *id).collect();
        let life = incoming.message_ttl;
        let mut fact = incoming.fact.clone();
        if is_known {
            // They may have ended meanwhile. If they have not, their rows say so.
            fact.events.clear();
        }
        let received = self.append(Fact::Received(fact), life);
        if incoming.is_shared() {
            try_join(received, self.write_rows(incoming, &live, true)).await?;
        } else {
            received.await?;
        }
        if !gone.is_empty() {
            self.append(Fact::Deleted(gone), life).await?;
        }
        self.check_time(begun)
    }

    /// Writes the rows of a message's Emails, or says in them that the message is shown.
    async fn write_rows(&self, incoming: &Incoming<'_>, live: &[bool], settled: bool) -> Result<(), StoreError> {
        let Incoming { fact, ttl, .. } = incoming;
        let shared = incoming.is_shared();
        let rows = fact.emails.iter().zip(live).filter(|(_, is_live)| **is_live);
        let writes = rows.map(|((id, number, mailbox, _), _)| async move {
            let (id, micros, number) = (id.octets(), micros_of(*number), number.cast_signed());
            if settled {
                let values = (*ttl, micros, &mailbox[..], &id[..]);
                return self.session.run(&self.statements.email_settle, values).await;
            }
            let (message, octets) = (fact.message.octets(), i64::from(fact.octets));
            let (received_at, expires_at) = (fact.at.millis(), fact.expires_at.millis());
            // A value that is set later at the same time must not have another one before it.
            let settled = if shared { MaybeUnset::Unset } else { MaybeUnset::Set(true) };
            let times = (received_at, expires_at);
            let values = (
                &mailbox[..],
                &id[..],
                number,
                number,
                message,
                times.0,
                times.1,
                octets,
                shared,
                settled,
                *ttl,
                micros,
            );
            self.session.run(&self.statements.email_insert, values).await
        });
        try_join_all(writes).await.map(drop)
    }

    /// Puts a message into a new store, which nobody reads yet. It may be there already.
    pub(super) async fn put(&self, message: &PutMessage) -> Result<(), StoreError> {
        let PutMessage { envelope, raw, received_at, expires_at, micros, live, keeps_message } = message;
        let mut incoming = Incoming::new(self, envelope, raw.len(), (*received_at, *expires_at));
        incoming.message_ttl = to_ttl(i64::from(incoming.ttl).saturating_add_unsigned(self.grace.as_secs()));
        incoming.keeps_message = *keeps_message;
        let live: Vec<bool> = envelope.recipients.iter().map(|to| live.contains(&to.id)).collect();
        let _admission = self.admission(envelope.recipients.len()).await?;
        self.write_message(envelope, raw, incoming.message_ttl, incoming.received_micros).await?;
        // A new store has no reader whom a late message could deceive.
        self.commit(&mut incoming, Numbered { base: *micros, is_known: false, live }, None).await
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
