//! When records of leases are due: a row of `due` for each, under its hour.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::future::ready;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};

use super::{RECORDS_AT_ONCE, Stored, locked};
use crate::model::{LeaseRecord, Timestamp};
use crate::store::StoreError;
use crate::store::cassandra::Shared;
use crate::store::names::named_hash;

const HOURS: &str = "hours";
/// How long after its end an hour is looked at once more and then forgotten: longer than any change is on its way.
const SETTLED_AFTER: Duration = Duration::from_mins(10);
/// How long, in seconds, the row of an earlier due time of a living lease still leads to it, for who reads all rows meanwhile.
const LEADS_ON_SECONDS: i32 = 3600;
/// The most hours that are read at once.
const HOURS_AT_ONCE: usize = 8;

/// The hour of a time, since 1970. Such texts have the order of their times.
fn hour_of(at: Timestamp) -> String {
    format!("{:08}", at.millis().max(0) / 3_600_000)
}

fn due_kind(hour: &str) -> String {
    format!("due:{hour}")
}

/// What comes before the mailbox in a row of `due`: such texts have the order of their times.
fn due_prefix(at: Timestamp) -> String {
    format!("{:016x}:", at.millis().max(0))
}

/// The mailbox in a row of `due`.
fn mailbox_in(due_key: &str) -> &str {
    due_key.splitn(3, ':').nth(2).unwrap_or_default()
}

/// The kinds and the keys of the rows that lead to a record when it is due.
pub(super) fn leading_to(stored: &Stored) -> impl Iterator<Item = (String, String)> {
    let (hour, key) = stored.due_row();
    [(due_kind(&hour), key), (HOURS.to_owned(), hour)].into_iter()
}

impl Stored {
    /// The hour, and the key of its row in it, that lead to it when it is due.
    fn due_row(&self) -> (String, String) {
        let Self { lease, change } = self;
        let key = format!("{}{change:016x}:{}", due_prefix(lease.due_at()), lease.mailbox.as_str());
        (hour_of(lease.due_at()), key)
    }
}

impl Shared {
    /// As [`Leases::due_leases`](crate::store::Leases::due_leases), for the node that leads.
    pub(super) async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<LeaseRecord>, StoreError> {
        let mut due = Vec::new();
        let mut hours = self.keys(HOURS, "").await?;
        while let Some(hour) = hours.try_next().await?.filter(|hour| *hour <= hour_of(now) && due.len() < limit) {
            due.extend(self.due_in(hour, now, limit - due.len()).await?);
        }
        Ok(due)
    }

    /// Forgets that the time of a record was looked at: that may have been before it was its time.
    pub(super) fn forget_look(&self, changed: &Stored) {
        let (hour, key) = changed.due_row();
        locked(&self.leases.looked).retain(|(of, _), looked| *of != hour || *looked < key);
    }

    /// Removes the row that led to a record which is not there any more, or lets it end by itself. What is left goes with its
    /// hour.
    pub(super) async fn due_no_more(&self, stored: &Stored, is_living: bool) {
        let Self { session, statements, .. } = self;
        let (hour, key) = stored.due_row();
        let kind = due_kind(&hour);
        let outcome = if is_living {
            session.run(&statements.registry_put, (kind, key, "".as_bytes(), LEADS_ON_SECONDS)).await
        } else {
            session.run(&statements.registry_remove, (kind, key)).await
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "a row that leads to no lease was not removed");
        }
    }

    /// The keys of a kind's rows after one, in their order.
    async fn keys(
        &self,
        kind: &str,
        after: &str,
    ) -> Result<BoxStream<'static, Result<String, StoreError>>, StoreError> {
        let rows = self.session.rows::<(String,)>(&self.statements.registry_after, (kind, after)).await?;
        Ok(rows.map_ok(|(key,)| key).boxed())
    }

    /// The records of an hour that are due at `now`, about `limit`. An hour without any that has long passed is forgotten.
    async fn due_in(&self, hour: String, now: Timestamp, limit: usize) -> Result<Vec<LeaseRecord>, StoreError> {
        // A change that was on its way at an earlier look may have made a row true that was not.
        let is_last = hour < hour_of(now.before(SETTLED_AFTER));
        let (kind, look) = (due_kind(&hour), (hour, is_last));
        let mut looked = locked(&self.leases.looked).get(&look).cloned().unwrap_or_default();
        let (mut due, end) = (Vec::new(), due_prefix(now.plus(Duration::from_millis(1))));
        let keys = self.keys(&kind, &looked).await?.try_take_while(|key| ready(Ok(*key < end)));
        let leases = keys.map_ok(|key| async move { Ok((self.stored(mailbox_in(&key)).await?, key)) });
        let mut leases = leases.try_buffered(RECORDS_AT_ONCE);
        while let Some((found, key)) = leases.try_next().await? {
            due.extend(found.filter(|stored| stored.due_row().1 == key).map(|stored| stored.lease));
            if due.is_empty() {
                looked = key;
            }
            if due.len() >= limit {
                break;
            }
        }
        drop(leases);
        if is_last && due.is_empty() {
            self.session.run(&self.statements.registry_forget, (kind,)).await?;
            self.session.run(&self.statements.registry_remove, (HOURS, &look.0)).await?;
            locked(&self.leases.looked).retain(|(hour, _), _| *hour != look.0);
        } else {
            locked(&self.leases.looked).insert(look, looked);
        }
        Ok(due)
    }

    /// The mailboxes that have a record, each once, and some that have none any more: these are among those with `true`.
    pub(super) async fn leased(&self) -> Result<BoxStream<'_, Result<(String, bool), StoreError>>, StoreError> {
        let hours =
            self.keys(HOURS, "").await?.map_ok(move |hour| async move { self.keys(&due_kind(&hour), "").await });
        let keys = hours.try_buffered(HOURS_AT_ONCE).try_flatten();
        let (mut seen, now) = (HashSet::new(), due_prefix(self.now()));
        let first = move |key: String| {
            let mailbox = mailbox_in(&key).to_owned();
            let is_new = seen.insert(named_hash(&self.secret, "lease", &mailbox));
            ready(Ok(is_new.then_some((mailbox, key < now))))
        };
        Ok(keys.try_filter_map(first).boxed())
    }
}
