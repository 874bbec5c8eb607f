//! The rows of webhooks. While a group is applied each is read once and written once, however many changes touch it.

use std::collections::BTreeMap;
use std::time::Duration;

use redb::{ReadableTable, Table, WriteTransaction};
use serde::{Deserialize, Serialize};

use super::IndexError;
use super::tables::WEBHOOKS;
use crate::model::{AttemptRecord, Timestamp, WebhookId, WebhookRecord, WebhookStatus};

/// A webhook that has had nothing but failures for so long is disabled.
pub(super) const FAILING_MAX: Duration = Duration::from_hours(5 * 24);
/// Of the time between two failures no more counts: nobody called, or the clock was wrong. The longest wait between two
/// attempts is a day and a fifth.
const IDLE_MAX: Duration = Duration::from_hours(48);
/// So much later than another an attempt is noted at most that was over before.
const RECORDED_LATE_MAX: Duration = Duration::from_mins(1);

/// A webhook, and how much waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WebhookRow {
    pub(super) record: WebhookRecord,
    /// Events in the outbox.
    pub(super) events: u32,
    /// Octets of their messages.
    pub(super) octets: u64,
    /// Lines of the log.
    pub(super) attempts: u32,
    /// When the last attempt was made that failed.
    pub(super) failed_at: Option<Timestamp>,
    /// The latest time that its receiver asked for before which it is sent nothing.
    pub(super) rests_until: Option<Timestamp>,
}

impl WebhookRow {
    /// Notes until when the receiver asked for a rest at an attempt that failed, if it did, before the failure is noted. Of
    /// several attempts at a time the latest such time counts.
    pub(super) fn note_rest(&mut self, attempt: &AttemptRecord) {
        let ended_at = attempt.at.plus(Duration::from_millis(attempt.duration_millis));
        self.rests_until = self.rests_at(ended_at).max(attempt.rests_until);
    }

    /// Until when it is sent nothing, as of `now`. Where that is well before the last failure the clock was put back since,
    /// and nobody waits for a time that was set by the clock before.
    pub(super) fn rests_at(&self, now: Timestamp) -> Option<Timestamp> {
        let is_set_back = self.failed_at.is_some_and(|failed_at| failed_at > now.plus(RECORDED_LATE_MAX));
        self.rests_until.filter(|until| *until > now && !is_set_back)
    }

    /// Notes an attempt that failed; for how long all have by then.
    pub(super) fn failing_for(&mut self, at: Timestamp) -> Duration {
        let idle = self.failed_at.map_or(Duration::ZERO, |last| at.since(last)).saturating_sub(IDLE_MAX);
        let since = self.record.failing_since.map_or(at, |since| since.plus(idle)).min(at);
        (self.record.failing_since, self.failed_at) = (Some(since), Some(at));
        at.since(since)
    }
}

/// The table of webhooks, open for writing, and what the group has seen of it.
pub(super) struct WebhookRows<'t> {
    table: Table<'t, &'static [u8; 16], &'static [u8]>,
    seen: BTreeMap<WebhookId, Seen>,
}

struct Seen {
    /// `None` if there is none.
    row: Option<WebhookRow>,
    /// The table does not hold it yet.
    is_new: bool,
}

impl<'t> WebhookRows<'t> {
    /// Opens the table, making it if it is missing.
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self { table: transaction.open_table(WEBHOOKS)?, seen: BTreeMap::new() })
    }

    pub(super) fn get(&mut self, id: WebhookId) -> Result<Option<&WebhookRow>, IndexError> {
        if !self.seen.contains_key(&id) {
            let row = self.table.get(&id.octets())?.map(|row| postcard::from_bytes(row.value()));
            let row = row.transpose().map_err(|_| IndexError::Corrupt("a webhook does not read"))?;
            self.seen.insert(id, Seen { row, is_new: false });
        }
        Ok(self.seen.get(&id).and_then(|seen| seen.row.as_ref()))
    }

    /// Notes that mail has come for a webhook; whether it is to be told.
    pub(super) fn record_mail(&mut self, id: WebhookId, at: Timestamp) -> Result<bool, IndexError> {
        self.get(id)?;
        let Some(Seen { row: Some(row), is_new }) = self.seen.get_mut(&id) else { return Ok(false) };
        row.record.last_mail_at = row.record.last_mail_at.max(at);
        *is_new = true;
        Ok(row.record.status == WebhookStatus::Active)
    }

    /// Takes a row out, to be changed and put back: until then there is none.
    pub(super) fn take(&mut self, id: WebhookId) -> Result<Option<WebhookRow>, IndexError> {
        self.get(id)?;
        Ok(self.seen.get_mut(&id).and_then(|seen| seen.row.take()))
    }

    pub(super) fn put(&mut self, row: WebhookRow) {
        self.seen.insert(row.record.id, Seen { row: Some(row), is_new: true });
    }

    pub(super) fn remove(&mut self, id: WebhookId) -> Result<(), IndexError> {
        self.table.remove(&id.octets())?;
        self.seen.insert(id, Seen { row: None, is_new: false });
        Ok(())
    }

    /// Writes what was put.
    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        for row in std::mem::take(&mut self.seen).into_values().filter(|seen| seen.is_new).filter_map(|seen| seen.row) {
            let value = postcard::to_stdvec(&row).map_err(|_| IndexError::Corrupt("a webhook can't be written"))?;
            self.table.insert(&row.record.id.octets(), &value[..])?;
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
        WebhookRow { record, events: 0, octets: 0, attempts: 0, failed_at: None, rests_until: None }
    }

    /// Notes failures that began then and took a second, each with the time that its receiver asked for.
    fn after(failures: &[(i64, Option<i64>)]) -> WebhookRow {
        let mut row = row();
        for (began, rests_until) in failures {
            row.note_rest(&AttemptRecord {
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
                rests_until: rests_until.map(at),
            });
            row.failing_for(at(*began));
        }
        row
    }

    #[test]
    fn a_webhook_rests_until_the_latest_time_that_was_asked_for() {
        for (failures, now, rests_until) in [
            (&[(10, None)][..], 11, None),
            (&[(10, Some(70))], 11, Some(70)),
            (&[(10, Some(70))], 69, Some(70)),
            (&[(10, Some(70))], 70, None),
            // At the same time.
            (&[(10, Some(70)), (10, Some(20))], 11, Some(70)),
            (&[(10, Some(20)), (10, Some(70))], 11, Some(70)),
            (&[(11, Some(70)), (10, None)], 12, Some(70)),
            // Noted before one that was over before.
            (&[(15, Some(70)), (10, None)], 16, Some(70)),
            // Later.
            (&[(10, Some(70)), (80, Some(90))], 81, Some(90)),
            (&[(10, Some(70)), (80, None)], 81, None),
        ] {
            assert_eq!(after(failures).rests_at(at(now)), rests_until.map(at), "{failures:?} at {now}");
        }
    }

    #[test]
    fn nobody_rests_by_a_clock_that_was_put_back_since() {
        let rests_at = |failures, now| after(failures).rests_at(at(now));
        assert_eq!(rests_at(&[(1000, Some(1060))], 500), None);
        assert_eq!(rests_at(&[(1000, Some(1060)), (500, Some(510))], 502), Some(at(510)), "the clock is right again");
        assert_eq!(rests_at(&[(1000, Some(1060)), (500, None)], 502), None);
    }
}
