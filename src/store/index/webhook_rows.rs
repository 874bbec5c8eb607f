//! Rows of webhooks. While a group is applied, each row is read once and written once, however many changes use it.

use std::collections::BTreeMap;
use std::time::Duration;

use redb::{ReadableTable, WriteTransaction};
use serde::{Deserialize, Serialize};

use super::IndexError;
use super::lazy_table::LazyTable;
use super::tables::WEBHOOKS;
use crate::model::{AttemptRecord, Timestamp, WebhookId, WebhookRecord, WebhookStatus};

/// A webhook is disabled after this time with nothing but failures.
pub(super) const FAILING_MAX: Duration = Duration::from_hours(5 * 24);
/// The most of the time between two failures that counts as failing. The longest wait between two attempts is a day and a
/// fifth, so in a longer time there was no attempt, or the clock was wrong.
const IDLE_MAX: Duration = Duration::from_hours(48);
/// The longest time by which an attempt is recorded after a later one.
const RECORDED_LATE_MAX: Duration = Duration::from_mins(1);

/// A webhook with the counts of its pending events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WebhookRow {
    pub(super) record: WebhookRecord,
    /// Pending events.
    pub(super) events: u32,
    /// Octets of their messages.
    pub(super) octets: u64,
    /// Records in the delivery log.
    pub(super) attempts: u32,
    /// When the last failed attempt was made.
    pub(super) failed_at: Option<Timestamp>,
    /// The latest time before which the receiver has asked for no request.
    pub(super) backs_off_until: Option<Timestamp>,
}

impl WebhookRow {
    /// Records the backoff that the receiver asked for at a failed attempt, before the failure itself is recorded.
    ///
    /// Of several attempts at a time the latest time counts.
    pub(super) fn record_backoff(&mut self, attempt: &AttemptRecord) {
        let ended_at = attempt.at.plus(Duration::from_millis(attempt.duration_millis));
        self.backs_off_until = self.backs_off_until(ended_at).max(attempt.backs_off_until);
    }

    /// Until when the webhook gets no request, as of `now`.
    ///
    /// If `now` is well before the last failure, the clock was set back, and a time by the old clock does not count.
    pub(super) fn backs_off_until(&self, now: Timestamp) -> Option<Timestamp> {
        let is_set_back = self.failed_at.is_some_and(|failed_at| failed_at > now.plus(RECORDED_LATE_MAX));
        self.backs_off_until.filter(|until| *until > now && !is_set_back)
    }

    /// Records a failed attempt. Returns for how long all attempts have failed.
    pub(super) fn failing_for(&mut self, at: Timestamp) -> Duration {
        let idle = self.failed_at.map_or(Duration::ZERO, |last| at.since(last)).saturating_sub(IDLE_MAX);
        let since = self.record.failing_since.map_or(at, |since| since.plus(idle)).min(at);
        (self.record.failing_since, self.failed_at) = (Some(since), Some(at));
        at.since(since)
    }
}

/// The table of webhooks, open for writing, with the rows that the group has used.
pub(super) struct WebhookRows<'t> {
    table: LazyTable<'t, &'static [u8; 16], &'static [u8]>,
    used: BTreeMap<WebhookId, Used>,
}

struct Used {
    /// `None` if there is no such webhook.
    row: Option<WebhookRow>,
    /// Whether the row must be written.
    is_changed: bool,
}

impl<'t> WebhookRows<'t> {
    /// The table, which is opened when it is used.
    pub(super) fn new(transaction: &'t WriteTransaction) -> Self {
        Self { table: LazyTable::new(transaction, WEBHOOKS), used: BTreeMap::new() }
    }

    pub(super) fn get(&mut self, id: WebhookId) -> Result<Option<&WebhookRow>, IndexError> {
        if !self.used.contains_key(&id) {
            let row = self.table.get()?.get(&id.octets())?.map(|row| postcard::from_bytes(row.value()));
            let row = row.transpose().map_err(|_| IndexError::Corrupt("a webhook cannot be decoded"))?;
            self.used.insert(id, Used { row, is_changed: false });
        }
        Ok(self.used.get(&id).and_then(|used| used.row.as_ref()))
    }

    /// Records new mail for a webhook. Returns whether the webhook is active.
    pub(super) fn record_mail(&mut self, id: WebhookId, at: Timestamp) -> Result<bool, IndexError> {
        self.get(id)?;
        let Some(Used { row: Some(row), is_changed }) = self.used.get_mut(&id) else { return Ok(false) };
        row.record.last_mail_at = row.record.last_mail_at.max(at);
        *is_changed = true;
        Ok(row.record.status == WebhookStatus::Active)
    }

    /// Takes a row, to be changed and put back. Until then the webhook does not exist.
    pub(super) fn take(&mut self, id: WebhookId) -> Result<Option<WebhookRow>, IndexError> {
        self.get(id)?;
        Ok(self.used.get_mut(&id).and_then(|used| used.row.take()))
    }

    pub(super) fn put(&mut self, row: WebhookRow) {
        self.used.insert(row.record.id, Used { row: Some(row), is_changed: true });
    }

    pub(super) fn remove(&mut self, id: WebhookId) -> Result<(), IndexError> {
        self.table.get_mut()?.remove(&id.octets())?;
        self.used.insert(id, Used { row: None, is_changed: false });
        Ok(())
    }

    /// Writes the changed rows.
    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        for row in
            std::mem::take(&mut self.used).into_values().filter(|used| used.is_changed).filter_map(|used| used.row)
        {
            let value = postcard::to_stdvec(&row).map_err(|_| IndexError::Corrupt("a webhook cannot be encoded"))?;
            self.table.get_mut()?.insert(&row.record.id.octets(), &value[..])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Address, EventId, Subaddressing, Verdict};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(1000 * second)
    }

    fn row() -> WebhookRow {
        let record = WebhookRecord {
            id: WebhookId::from_octets([1; 16]),
            recipient: "a@example.test".into(),
            mailbox: "a@example.test".parse::<Address>().expect("address").mailbox(Subaddressing::Keep),
            url: "https://a.example/".into(),
            origin: "https://a.example".into(),
            registrant: None,
            secret: None,
            status: WebhookStatus::Active,
            created_at: at(0),
            last_mail_at: at(0),
            last_delivery_at: None,
            failures: 0,
            failing_since: None,
            dropped: 0,
        };
        WebhookRow { record, events: 0, octets: 0, attempts: 0, failed_at: None, backs_off_until: None }
    }

    /// Records failures that began at these times and took a second, each with the end of the backoff asked for.
    fn after(failures: &[(i64, Option<i64>)]) -> WebhookRow {
        let mut row = row();
        for (began, backs_off_until) in failures {
            row.record_backoff(&AttemptRecord {
                webhook: row.record.id,
                event: EventId::from_octets([2; 16]),
                email: None,
                sequence: 0,
                number: 1,
                at: at(*began),
                duration_millis: 1000,
                status: Some(503),
                error: None,
                response: String::new(),
                verdict: Verdict::GivenUp,
                disables: None,
                backs_off_until: backs_off_until.map(at),
            });
            row.failing_for(at(*began));
        }
        row
    }

    #[test]
    fn a_webhook_backs_off_until_the_latest_time_that_was_asked_for() {
        for (failures, now, backs_off_until) in [
            (&[(10, None)][..], 11, None),
            (&[(10, Some(70))], 11, Some(70)),
            (&[(10, Some(70))], 69, Some(70)),
            (&[(10, Some(70))], 70, None),
            // At the same time:
            (&[(10, Some(70)), (10, Some(20))], 11, Some(70)),
            (&[(10, Some(20)), (10, Some(70))], 11, Some(70)),
            (&[(11, Some(70)), (10, None)], 12, Some(70)),
            // Recorded before an attempt that had ended before:
            (&[(15, Some(70)), (10, None)], 16, Some(70)),
            // Later:
            (&[(10, Some(70)), (80, Some(90))], 81, Some(90)),
            (&[(10, Some(70)), (80, None)], 81, None),
        ] {
            assert_eq!(after(failures).backs_off_until(at(now)), backs_off_until.map(at), "{failures:?} at {now}");
        }
    }

    #[test]
    fn a_pause_by_a_clock_that_was_set_back_since_does_not_count() {
        let backs_off_until = |failures, now| after(failures).backs_off_until(at(now));
        assert_eq!(backs_off_until(&[(1000, Some(1060))], 500), None);
        assert_eq!(
            backs_off_until(&[(1000, Some(1060)), (500, Some(510))], 502),
            Some(at(510)),
            "the clock is right again"
        );
        assert_eq!(backs_off_until(&[(1000, Some(1060)), (500, None)], 502), None);
    }
}
