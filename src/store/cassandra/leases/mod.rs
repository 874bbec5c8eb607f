//! Leases of addresses, in the table of what people typed in.
//!
//! ```text
//! lease:<mailbox>   the record; one conditional write of it decides
//! key:<key>         the leases that a key holds, by their ids
//! network:<network> those of the clients of a network
//! due:<hour>        when records are due        hours   the hours that have any: see `due`
//! open:<mailbox>    until when a mailbox is open; the row lives longer than that
//! ```
//!
//! What leads to a record is written before it, and removed after it. So a node that dies in between leaves a row that leads
//! to nothing, but no lease that nobody finds. Whoever follows a row compares it with the record.
//!
//! Each change of a record has a number of its own, at random, which its row of `due` has, too. So two nodes that make the
//! same change at one moment both know who made it, and no row that is removed leads to a later record.
//!
//! A change is committed by a quorum of the local data centre before it returns. So a plain read by a quorum shows every
//! change that has returned, and costs no turn of Paxos.

mod due;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::{ready, try_join_all};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};

use super::picture::Counted;
use super::receive::to_ttl;
use super::webhooks::{parse, to_text};
use super::{CassandraStore, Shared};
use crate::model::{Client, DomainName, LEASE_REST, LeaseRecord, Mailbox, Share, Timestamp};
use crate::store::names::mailbox_hash;
use crate::store::{Leases, StoreError};

/// How much longer than it may be needed a row lives that leads to a record, so that clocks may differ.
const LEADS_LONGER: Duration = Duration::from_hours(24);
/// How long the row of an open mailbox lives, in seconds: longer than a mailbox is opened for.
const OPEN_SECONDS: i32 = 25 * 3600;
/// The most records that are read at once.
const RECORDS_AT_ONCE: usize = 32;

/// What this node knows of leases without asking.
#[derive(Debug, Default)]
pub(super) struct LeaseState {
    /// How far the times of an hour were looked at, by the hour and whether it was the last look.
    looked: Mutex<HashMap<(String, bool), String>>,
    /// The mailboxes that this node opened, by their hashes.
    open: Mutex<HashMap<[u8; 16], Timestamp>>,
    counted: Counted<u64>,
}

fn locked<T>(lock: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kind of a record's row, by the text of its mailbox.
fn record_kind(mailbox: &str) -> String {
    format!("lease:{mailbox}")
}

fn key_kind(key: &[u8; 32]) -> String {
    key.iter().fold("key:".to_owned(), |kind, octet| format!("{kind}{octet:02x}"))
}

fn network_kind(client: Client) -> String {
    format!("network:{}", client.network())
}

/// Whether a lease counts for its key and its client.
fn has_holder(lease: &LeaseRecord) -> bool {
    lease.ended_at.is_none()
}

/// The kinds of the rows that lead from its holder to a lease.
fn holder_kinds(lease: &LeaseRecord) -> impl Iterator<Item = String> {
    std::iter::once(key_kind(&lease.key)).chain(lease.client.map(network_kind))
}

/// A record as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    #[serde(flatten)]
    lease: LeaseRecord,
    /// The number of the change that made it so.
    change: u64,
}

impl Stored {
    /// The record after a change that is to be made.
    fn new(lease: LeaseRecord) -> Self {
        Self { lease, change: rand::random() }
    }
}

impl Shared {
    async fn stored(&self, mailbox: &str) -> Result<Option<Stored>, StoreError> {
        let row =
            self.session.first::<(Vec<u8>,)>(&self.statements.registry_select, (record_kind(mailbox), "")).await?;
        row.map(|(record,)| parse(&record)).transpose()
    }

    async fn stored_lease(&self, mailbox: &str) -> Result<Option<LeaseRecord>, StoreError> {
        Ok(self.stored(mailbox).await?.map(|stored| stored.lease))
    }

    /// The records to which the rows of a kind lead, by the id of the lease.
    async fn leases_in(&self, kind: String) -> Result<Vec<LeaseRecord>, StoreError> {
        let rows = self.session.rows::<(String, Vec<u8>)>(&self.statements.registry_scan, (kind,)).await?;
        let leases = rows.map_ok(|(id, mailbox)| async move {
            let lease = self.stored_lease(&String::from_utf8_lossy(&mailbox)).await?;
            Ok(lease.filter(|lease| lease.id.to_string() == id))
        });
        let leases: Vec<Option<LeaseRecord>> = leases.try_buffered(RECORDS_AT_ONCE).try_collect().await?;
        Ok(leases.into_iter().flatten().collect())
    }

    /// Writes what leads to a record that is about to replace another one.
    async fn lead_to(&self, before: Option<&LeaseRecord>, stored: &Stored) -> Result<(), StoreError> {
        let after = &stored.lease;
        let before = before.filter(|before| before.id == after.id);
        let mailbox = after.mailbox.as_str();
        let mut rows: Vec<(String, String, &str, i32)> = Vec::new();
        if has_holder(after) && before.is_none_or(|before| before.expires_at < after.expires_at) {
            // The row is written at its beginning or later.
            let life = after.expires_at.since(after.created_at) + LEASE_REST + LEADS_LONGER;
            let ttl = to_ttl(i64::try_from(life.as_secs()).unwrap_or(i64::MAX));
            rows.extend(holder_kinds(after).map(|kind| (kind, after.id.to_string(), mailbox, ttl)));
        }
        rows.extend(due::leading_to(stored).map(|(kind, key)| (kind, key, "", 0)));
        let writes = rows.into_iter().map(|(kind, key, value, ttl)| async move {
            self.session.run(&self.statements.registry_put, (kind, key, value.as_bytes(), ttl)).await
        });
        try_join_all(writes).await.map(drop)
    }

    /// Removes what leads from its holder to a lease. What is left ends by itself.
    async fn lead_no_more(&self, lease: &LeaseRecord) {
        let id = lease.id.to_string();
        let removals = holder_kinds(lease).map(|kind| self.session.run(&self.statements.registry_remove, (kind, &id)));
        if let Err(error) = try_join_all(removals).await {
            tracing::debug!(%error, "rows that lead to a lease which has ended were not removed");
        }
    }

    /// As [`Leases::replace_lease`].
    pub(super) async fn replace_lease(
        &self,
        before: Option<&LeaseRecord>,
        after: Option<&LeaseRecord>,
    ) -> Result<bool, StoreError> {
        let Some(mailbox) = after.or(before).map(|lease| lease.mailbox.as_str()) else { return Ok(true) };
        let kind = record_kind(mailbox);
        let row = (&*kind, "");
        let mut stored = None;
        if let Some(before) = before {
            let found = self.session.first::<(Vec<u8>,)>(&self.statements.registry_select, row).await?;
            let Some((octets,)) = found else { return Ok(false) };
            let there: Stored = parse(&octets)?;
            if there.lease != *before {
                return Ok(false);
            }
            stored = Some((octets, there));
        }
        let changed = after.cloned().map(Stored::new);
        if let Some(changed) = &changed {
            self.lead_to(before, changed).await?;
        }
        let (octets, there) = stored.unzip();
        let text = changed.as_ref().map(to_text).transpose()?.map(String::into_bytes);
        let replaced = match self.swap(row, octets, text).await {
            Err(error) => {
                // A new lease did not win if another one is there. Otherwise nobody knows.
                let new = after.map(|after| after.id).filter(|id| before.is_none_or(|before| before.id != *id));
                let there = self.settled(row.0, row.1).await.ok().flatten();
                let there = there.map(|there| parse::<LeaseRecord>(&there)).transpose()?;
                if new.is_none() || there.is_none_or(|there| Some(there.id) == new) {
                    return Err(error);
                }
                false
            }
            Ok(replaced) => replaced,
        };
        if let Some(changed) = &changed {
            self.forget_look(changed);
        }
        if let Some(gone) = if replaced { &there } else { &changed } {
            let is_living = replaced && after.is_some_and(|after| after.is_living(self.now()));
            self.due_no_more(gone, is_living).await;
        }
        let (gone, there) = if replaced { (before, after) } else { (after, before) };
        let is_held = |lease: &LeaseRecord| there.is_some_and(|there| there.id == lease.id && has_holder(there));
        if let Some(gone) = gone.filter(|gone| has_holder(gone) && !is_held(gone)) {
            self.lead_no_more(gone).await;
        }
        Ok(replaced)
    }

    /// All records.
    pub(super) async fn all_leases(&self) -> Result<BoxStream<'_, Result<LeaseRecord, StoreError>>, StoreError> {
        let leases = self.leased().await?.map_ok(move |(mailbox, _)| async move { self.stored_lease(&mailbox).await });
        Ok(leases.try_buffered(RECORDS_AT_ONCE).try_filter_map(|lease| ready(Ok(lease))).boxed())
    }

    /// How many records there are.
    pub(super) async fn number_of_leases(&self) -> Result<u64, StoreError> {
        self.leases.counted.of(self.count_leases()).await
    }

    async fn count_leases(&self) -> Result<u64, StoreError> {
        let found = self
            .leased()
            .await?
            .map_ok(|(mailbox, is_past)| async move { Ok(!is_past || self.stored_lease(&mailbox).await?.is_some()) });
        found.try_buffered(RECORDS_AT_ONCE).try_fold(0, |count, found| ready(Ok(count + u64::from(found)))).await
    }
}

#[async_trait]
impl Leases for CassandraStore {
    async fn lease(&self, mailbox: &Mailbox) -> Result<Option<LeaseRecord>, StoreError> {
        self.shared.stored_lease(mailbox.as_str()).await
    }

    async fn leases_of(&self, key: &[u8; 32]) -> Result<Vec<LeaseRecord>, StoreError> {
        let mut leases = self.shared.leases_in(key_kind(key)).await?;
        leases.sort_by_key(|lease| lease.created_at);
        Ok(leases)
    }

    async fn replace_lease(
        &self,
        before: Option<&LeaseRecord>,
        after: Option<&LeaseRecord>,
    ) -> Result<bool, StoreError> {
        self.shared.check_open()?;
        self.shared.replace_lease(before, after).await
    }

    async fn due_leases(&self, now: Timestamp, limit: usize) -> Result<Vec<LeaseRecord>, StoreError> {
        if self.shared.may_lead() { self.shared.due(now, limit).await } else { Ok(Vec::new()) }
    }

    async fn end_leases(&self, domain: &DomainName, now: Timestamp, is_dry_run: bool) -> Result<u64, StoreError> {
        let shared = &self.shared;
        let (mut ended, mut leased) = (0, shared.leased().await?);
        while let Some((mailbox, _)) = leased.try_next().await? {
            if mailbox.rsplit_once('@').is_none_or(|(_, of)| of != domain.as_str()) {
                continue;
            }
            while let Some(before) = shared.stored_lease(&mailbox).await?.filter(|lease| lease.is_living(now)) {
                let after = LeaseRecord { expires_at: now, ..before.clone() };
                if is_dry_run || self.replace_lease(Some(&before), Some(&after)).await? {
                    ended += 1;
                    break;
                }
            }
        }
        Ok(ended)
    }

    async fn lease_counts(&self, client: Option<Client>) -> Result<Share, StoreError> {
        let shared = &self.shared;
        let mut of_network = Vec::new();
        if let Some(client) = client {
            of_network = shared.leases_in(network_kind(client)).await?;
            of_network.retain(has_holder);
        }
        let of_client = of_network.iter().filter(|lease| lease.client == client).count() as u64;
        let all = shared.number_of_leases().await?;
        Ok(Share { client: of_client, network: of_network.len() as u64, all })
    }

    /// The limit is for those that this node opens.
    async fn open_mailbox(&self, mailbox: &Mailbox, until: Timestamp, limit: u64) -> Result<bool, StoreError> {
        let shared = &self.shared;
        let hash = mailbox_hash(&shared.secret, mailbox);
        {
            let open = locked(&shared.leases.open);
            if !open.contains_key(&hash) && open.len() as u64 >= limit {
                return Ok(false);
            }
        }
        let row = (format!("open:{}", mailbox.as_str()), "", &until.millis().to_be_bytes()[..], OPEN_SECONDS);
        shared.session.run(&shared.statements.registry_put, row).await?;
        locked(&shared.leases.open).insert(hash, until);
        Ok(true)
    }

    async fn is_mailbox_open(&self, mailbox: &Mailbox, now: Timestamp) -> Result<bool, StoreError> {
        let shared = &self.shared;
        let hash = mailbox_hash(&shared.secret, mailbox);
        if locked(&shared.leases.open).get(&hash).is_some_and(|until| *until > now) {
            return Ok(true);
        }
        let row = (format!("open:{}", mailbox.as_str()), "");
        let row = shared.session.first::<(Vec<u8>,)>(&shared.statements.registry_select, row).await?;
        let until = row.and_then(|(until,)| Some(i64::from_be_bytes(until.try_into().ok()?)));
        Ok(until.is_some_and(|until| until > now.millis()))
    }

    /// The rows of the others end by themselves.
    async fn close_mailboxes(&self, now: Timestamp) -> Result<(), StoreError> {
        locked(&self.shared.leases.open).retain(|_, until| *until > now);
        Ok(())
    }
}
