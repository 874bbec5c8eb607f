//! The check of a store in a cluster. It writes nothing, and nodes may run meanwhile.
//!
//! Each Email has three rows and a message in parts. The check walks every table and looks for what belongs to each row.
//! Rows that were written lately may be incomplete, and rows that expire vanish one by one, so neither counts. What seems to
//! be missing is looked for again a second later, since somebody may have deleted the mail in between.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::time::sleep;
use uuid::Uuid;

use super::email::parse_envelope;
use super::mailbox::WrittenRow;
use super::message::parts;
use super::ranges::TokenRange;
use super::rows::{EXPIRY_SHARDS, EmailRow, ExpiryPartition};
use super::state::ClusterState;
use super::{CassandraOptions, CassandraStore};
use crate::model::{EmailId, Timestamp};
use crate::store::check::{CheckReport, Finding, FindingKind};
use crate::store::{OpenError, StoreError, StoreOptions};

/// Rows that were written within this time may be incomplete.
const YOUNG: Duration = Duration::from_mins(1);
/// What seems to be missing is looked for again after this time.
const SECOND_LOOK_AFTER: Duration = Duration::from_secs(1);
/// Rows that are held at once, and rows that are looked at at once.
const ROWS_HELD: usize = 256;
const ROWS_AT_ONCE: usize = 16;

/// A table with rows of Emails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    Email,
    ById,
    ByExpiry,
}

impl CassandraStore {
    /// Checks the store in a keyspace. `progress` gets what is done, and all that is to be done, as parts of the whole.
    ///
    /// An error means that the check could not read everything.
    pub async fn check(
        options: &CassandraOptions,
        store: &StoreOptions,
        now: Timestamp,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<CheckReport, OpenError> {
        let store = Self::connect(options, store).await?;
        let failed = |error: StoreError| OpenError::Cluster { reason: error.to_string() };
        let slots: HashSet<i64> = store.state.slots_of_mail().await.map_err(failed)?.into_iter().collect();
        let check = Check { state: &store.state, now, slots, report: CheckReport::default(), named: HashSet::new() };
        check.run(progress).await.map_err(failed)
    }
}

struct Check<'s> {
    state: &'s ClusterState,
    now: Timestamp,
    slots: HashSet<i64>,
    report: CheckReport,
    /// What was found. A range of rows may be read twice.
    named: HashSet<String>,
}

impl Check<'_> {
    async fn run(mut self, progress: &mut (dyn FnMut(u64, u64) + Send)) -> Result<CheckReport, StoreError> {
        let (mut done, ranges) = (0, TokenRange::all());
        let (slots, each) = (self.slots.len() as u64, ranges.len() as u64);
        let all = slots + 4 * each;
        let mut step = || {
            done += 1;
            progress(done, all);
        };
        for slot in self.slots.clone() {
            for shard in 0..EXPIRY_SHARDS {
                let rows = self.state.cluster.rows(&self.state.statements.by_expiry_written, (slot, shard)).await?;
                self.rows(Table::ByExpiry, rows).await?;
            }
            step();
        }
        for range in &ranges {
            self.report.emails += self.range(Table::Email, *range).await?;
            step();
        }
        for range in &ranges {
            self.range(Table::ById, *range).await?;
            step();
        }
        for range in &ranges {
            self.parts(*range).await?;
            step();
        }
        for range in ranges {
            self.intents(range).await?;
            step();
        }
        Ok(self.report)
    }

    fn found(&mut self, finding: Finding) {
        if self.named.len() < super::super::check::FINDINGS_MAX {
            if self.named.insert(finding.detail.clone()) {
                self.report.found(finding);
            }
        } else if !self.named.contains(&finding.detail) {
            self.report.found(finding);
        }
    }

    /// Checks the rows of a range. A range that the cluster cannot read at once is read in halves.
    async fn range(&mut self, table: Table, range: TokenRange) -> Result<u64, StoreError> {
        let (mut left, mut checked) = (vec![range], 0);
        let statement = match table {
            Table::Email => &self.state.statements.email_scan,
            Table::ById | Table::ByExpiry => &self.state.statements.by_id_scan,
        };
        while let Some(range) = left.pop() {
            let read = async {
                let rows = self.state.cluster.rows(statement, (range.after, range.through)).await?;
                self.rows(table, rows).await
            };
            match read.await {
                Ok(rows) => checked += rows,
                Err(error) => left.extend(range.halves().ok_or(error)?),
            }
        }
        Ok(checked)
    }

    /// Checks rows as they come. Returns how many of them are of readable mail.
    async fn rows(
        &mut self,
        table: Table,
        rows: stream::BoxStream<'static, Result<WrittenRow, StoreError>>,
    ) -> Result<u64, StoreError> {
        let (now, young) = (self.now.millis(), self.now.before(YOUNG).millis());
        let mut checked = 0;
        let mut held = rows.try_chunks(ROWS_HELD);
        while let Some(rows) = held.next().await {
            let rows = rows.map_err(|error| error.1)?;
            let mut rows: Vec<EmailRow> = rows
                .iter()
                .filter(|row| row.written_at / 1000 <= young)
                .map(WrittenRow::email)
                .filter(|row| row.expires_at > now)
                .collect();
            checked += rows.len() as u64;
            let suspects = self.examine(table, std::mem::take(&mut rows)).await?;
            if suspects.is_empty() {
                continue;
            }
            sleep(SECOND_LOOK_AFTER).await;
            let suspects = suspects.into_iter().map(|(row, _)| row).collect();
            for (row, finding) in self.examine(table, suspects).await? {
                if self.is_there(table, &row).await? {
                    self.found(finding);
                }
            }
        }
        Ok(checked)
    }

    async fn examine(&self, table: Table, rows: Vec<EmailRow>) -> Result<Vec<(EmailRow, Finding)>, StoreError> {
        let examined = stream::iter(rows).map(async |row| {
            let finding = self.finding(table, &row).await?;
            Ok::<_, StoreError>(finding.map(|finding| (row, finding)))
        });
        let examined: Vec<Option<_>> = examined.buffer_unordered(ROWS_AT_ONCE).try_collect().await?;
        Ok(examined.into_iter().flatten().collect())
    }

    /// What is wrong about a row.
    async fn finding(&self, table: Table, row: &EmailRow) -> Result<Option<Finding>, StoreError> {
        let rows = |what: &str| Ok(Some(Finding::of(FindingKind::Rows, format!("Email {} {what}", row.id))));
        if table != Table::Email {
            return match (self.is_there(Table::Email, row).await?, table) {
                (true, _) => Ok(None),
                (false, Table::ById) => rows("is found by its id, but its mailbox does not list it"),
                (false, _) => rows("is in the order of expiry, but its mailbox does not list it"),
            };
        }
        if !self.is_there(Table::ById, row).await? {
            return rows("is listed by its mailbox, but not found by its id");
        }
        if !self.is_there(Table::ByExpiry, row).await? {
            return rows("is listed by its mailbox, but not in the order of expiry");
        }
        if !self.slots.contains(&ExpiryPartition::of(row).slot) {
            // The list of slots was read before.
            let slots = self.state.slots_of_mail().await?;
            if !slots.contains(&ExpiryPartition::of(row).slot) {
                return rows("expires in a slot that the list of slots lacks");
            }
        }
        self.message_finding(row).await
    }

    /// What is missing of an Email's message.
    async fn message_finding(&self, row: &EmailRow) -> Result<Option<Finding>, StoreError> {
        let missing = |what: String| {
            let detail = format!("Email {} cannot be read: {what} of message {} is missing", row.id, row.message);
            Ok(Some(Finding::of(FindingKind::Email, detail)))
        };
        if self.envelope(row.message).await?.is_none() {
            return missing("part 0".into());
        }
        for part in 1..parts(row.octets.cast_unsigned()) {
            let found = self.state.cluster.first::<(Uuid,)>(&self.state.statements.raw_find, (row.message, part));
            if found.await?.is_none() {
                return missing(format!("part {part}"));
            }
        }
        Ok(None)
    }

    async fn envelope(&self, message: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        let found = self.state.cluster.first::<(Option<Vec<u8>>,)>(&self.state.statements.raw_envelope, (message,));
        Ok(found.await?.and_then(|(envelope,)| envelope))
    }

    async fn is_there(&self, table: Table, row: &EmailRow) -> Result<bool, StoreError> {
        match table {
            Table::Email => self.state.is_listed(&row.mailbox, row.sequence, row.id).await,
            Table::ById => {
                let found = self.state.find_any(EmailId::from_octets(row.id.into_bytes())).await?;
                Ok(found.is_some_and(|found| found.sequence == row.sequence))
            }
            Table::ByExpiry => {
                let ExpiryPartition { slot, shard } = ExpiryPartition::of(row);
                let values = (slot, shard, row.expires_at, row.sequence, row.id);
                let found = self.state.cluster.first::<(Uuid,)>(&self.state.statements.by_expiry_find, values);
                Ok(found.await?.is_some())
            }
        }
    }

    /// Counts the parts of messages in a range, and those to which no Email leads.
    async fn parts(&mut self, range: TokenRange) -> Result<(), StoreError> {
        let mut left = vec![range];
        while let Some(range) = left.pop() {
            match self.parts_in(range).await {
                Ok((parts, unused)) => {
                    self.report.records += parts;
                    self.report.unused += unused;
                }
                Err(error) => left.extend(range.halves().ok_or(error)?),
            }
        }
        Ok(())
    }

    async fn parts_in(&self, range: TokenRange) -> Result<(u64, u64), StoreError> {
        let statement = &self.state.statements.raw_scan;
        let found = self.state.cluster.rows::<(Uuid, i32)>(statement, (range.after, range.through)).await?;
        let is_used = found.map(async |part| self.has_email(part?.0).await).buffer_unordered(ROWS_AT_ONCE);
        is_used.try_fold((0, 0), async |(parts, unused), is_used| Ok((parts + 1, unused + u64::from(!is_used)))).await
    }

    /// Whether an Email leads to a message.
    async fn has_email(&self, message: Uuid) -> Result<bool, StoreError> {
        // A message has the id of its first recipient's Email.
        if self.state.find_any(EmailId::from_octets(message.into_bytes())).await?.is_some() {
            return Ok(true);
        }
        let Some(envelope) = self.envelope(message).await? else { return Ok(false) };
        for recipient in parse_envelope(message, &envelope)?.recipients.iter().skip(1) {
            if self.state.find_any(recipient.id).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reports intents that nobody finished.
    async fn intents(&mut self, range: TokenRange) -> Result<(), StoreError> {
        let young = self.now.before(YOUNG).millis();
        let mut left = vec![range];
        while let Some(range) = left.pop() {
            let values = (range.after, range.through);
            let found = self.state.cluster.all::<(Uuid, i64)>(&self.state.statements.intent_scan, values).await;
            let found = match found {
                Ok(found) => found,
                Err(error) => {
                    left.extend(range.halves().ok_or(error)?);
                    continue;
                }
            };
            for (message, written_at) in found.into_iter().filter(|(_, written_at)| written_at / 1000 <= young) {
                let at = Timestamp::from_millis(written_at / 1000).to_rfc3339();
                let detail = format!(
                    "message {message} of {at} is not written whole; a node that runs finishes those of the last hour"
                );
                self.found(Finding::of(FindingKind::Intent, detail));
            }
        }
        Ok(())
    }
}
