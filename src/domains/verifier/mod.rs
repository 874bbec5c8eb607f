//! Verification: checks the MX of every registered domain once a period, and removes domains that stay deactivated.
//!
//! A round checks every domain, and checks a domain that points elsewhere a second time. A domain that points here
//! becomes active at once. A domain that points elsewhere is deactivated at the end of the round, since
//! `storm` must know their number. Fixed and pinned domains are not verified.
//!
//! What is due follows from the records alone, so a restart, a machine that slept and another process that takes over
//! need no rules of their own.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{OptionFuture, join, ready};
use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use rand::seq::SliceRandom;
use serde::Serialize;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{DomainError, Record, Registry};
use crate::dns::{Failure, FoundDetail};
use crate::model::{DomainName, DomainRecord, DomainStatus, Timestamp};

/// How often the verifier looks what is due, if the period is not very short. The first look is a tick after the start,
/// since the network may not be up yet.
const TICK: Duration = Duration::from_mins(1);

/// The most domains that a round checks at once.
const ASKED_AT_ONCE: usize = 8;

/// The time between the starts of two checks of a periodic round, unless there are so many domains that the round would
/// take more than a quarter of the period.
const GAP: Duration = Duration::from_millis(100);

/// How long a periodic round waits before its second check of domains that point elsewhere.
const PAUSE: Duration = Duration::from_secs(30);

/// How long a deactivated domain keeps its place. Until then it is still verified.
const PLACE_KEPT: Duration = Duration::from_hours(30 * 24);

/// The result of one round of verification, in numbers of domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Round {
    /// Domains that were checked.
    pub checked: u64,
    /// Domains that were deactivated, because their MX points elsewhere.
    pub deactivated: u64,
    /// Domains that became active again, because their MX points here again.
    pub reactivated: u64,
    /// Domains without an answer from the DNS, which keep their state.
    pub failed: u64,
    /// Domains that point elsewhere but stay active, because there were too many of them at once.
    pub held_back: u64,
}

/// What came of a check.
enum Checked {
    /// The MX of the active domain points elsewhere.
    Elsewhere(Record),
    /// The deactivated domain is active again.
    Returned,
    NoAnswer,
    Unchanged,
}

/// Verifies and removes domains as they become due, and follows the changes of other processes that share the store,
/// until `shutdown` is cancelled. Without an `mx-host` there are no rounds.
pub async fn run(registry: Arc<Registry>, shutdown: CancellationToken) {
    let ticks = async {
        loop {
            sleep(TICK.min(registry.config.verify_every / 100)).await;
            if let Err(error) = registry.tick().await {
                tracing::error!(%error, "verification ended early, since the store failed; it is retried");
            }
        }
    };
    shutdown.run_until_cancelled(join(ticks, registry.follow())).await;
}

impl Registry {
    /// Runs a round now, over one domain or all, without delays between the checks.
    ///
    /// `force` turns the rule about storms off. [`DomainError::NotRegistered`] and [`DomainError::Fixed`] are about
    /// `which`. A pinned domain is not checked.
    pub async fn verify(self: &Arc<Self>, which: Option<&DomainName>, force: bool) -> Result<Round, DomainError> {
        if self.ours.hosts.is_empty() {
            return Err(DomainError::MxHostUnset);
        }
        let mut asked = self.verified();
        if let Some(one) = which {
            if self.table.is_fixed(one) {
                return Err(DomainError::Fixed);
            }
            self.table.record(one).ok_or(DomainError::NotRegistered)?;
            asked.retain(|record| record.name == *one);
        }
        self.round(&asked, Duration::ZERO, Duration::ZERO, force).await
    }

    /// Does what is due: removes domains whose place has ended, and runs a round if the oldest check is a period old and
    /// this process verifies.
    async fn tick(self: &Arc<Self>) -> Result<(), DomainError> {
        let (now, period) = (self.clock.now(), self.config.verify_every);
        self.remove_lapsed(now).await?;
        let mut asked = self.verified();
        let is_due = asked.iter().any(|record| is_due(record, period, now));
        if is_due && !self.ours.hosts.is_empty() && self.store.leads() {
            asked.shuffle(&mut rand::rng());
            let gap = GAP.min(period / 4 / u32::try_from(asked.len()).unwrap_or(u32::MAX));
            self.round(&asked, gap, PAUSE.min(period / 20), false).await?;
        }
        Ok(())
    }

    async fn remove_lapsed(self: &Arc<Self>, now: Timestamp) -> Result<(), DomainError> {
        for record in self.table.records().into_iter().filter(|record| has_lapsed(record, now)) {
            if self.replace(&record.name, Some(Arc::clone(&record)), None).await? {
                self.streaks.forget(&record.name);
                tracing::info!(domain = %record.name, "the domain was deactivated for 30 days; it is removed");
            }
        }
        Ok(())
    }

    async fn round(
        self: &Arc<Self>,
        asked: &[Record],
        gap: Duration,
        pause: Duration,
        force: bool,
    ) -> Result<Round, DomainError> {
        let mut round = Round { checked: asked.len() as u64, ..Round::default() };
        let mut elsewhere = self.check_each(asked, gap, &mut round).await?;
        if !elsewhere.is_empty() {
            sleep(pause).await;
            elsewhere = self.check_each(&elsewhere, gap, &mut round).await?;
        }
        let active = self.verified().iter().filter(|record| record.status == DomainStatus::Active).count();
        let (deactivate, hold_back) = self.streaks.split(asked, elsewhere, active, force);
        for before in &deactivate {
            let now = self.clock.now();
            if self.update(before, |record| record.deactivate(now)).await?.is_some() {
                tracing::warn!(domain = %before.name, "the MX points elsewhere; the domain is deactivated");
                round.deactivated += 1;
            }
        }
        round.held_back = hold_back.len() as u64;
        if !hold_back.is_empty() {
            let first: Vec<&str> = hold_back.iter().take(20).map(|record| record.name.as_str()).collect();
            tracing::error!(
                found_elsewhere = deactivate.len() + hold_back.len(),
                active,
                domains = first.join(" "),
                "the MX of too many domains points elsewhere at once; they stay active until three rounds in a row have \
                 found them elsewhere, or `tempmail domain verify --force` deactivates them"
            );
        }
        tracing::info!(
            checked = round.checked,
            deactivated = round.deactivated,
            reactivated = round.reactivated,
            failed = round.failed,
            held_back = round.held_back,
            "a round of verification has checked the MX of the registered domains"
        );
        Ok(round)
    }

    /// Checks each of `asked` once, with a `gap` between the starts. Returns the active domains that point elsewhere.
    async fn check_each(
        self: &Arc<Self>,
        asked: &[Record],
        gap: Duration,
        round: &mut Round,
    ) -> Result<Vec<Record>, DomainError> {
        // A sleep of no time takes a millisecond.
        let wait = || OptionFuture::from((!gap.is_zero()).then(|| sleep(gap)));
        let paced = stream::iter(asked.to_vec()).then(|record| wait().map(move |_| record));
        // The domain may have been removed or pinned since the round began.
        let current = |old: Record| ready(self.table.record(&old.name).filter(|record| self.is_verified(record)));
        let checks = paced.filter_map(current).map(|before| self.check_one(before)).buffer_unordered(ASKED_AT_ONCE);
        let (mut checks, mut elsewhere) = (pin!(checks), Vec::new());
        while let Some(checked) = checks.try_next().await? {
            match checked {
                Checked::Elsewhere(record) => elsewhere.push(record),
                Checked::Returned => round.reactivated += 1,
                Checked::NoAnswer => round.failed += 1,
                Checked::Unchanged => {}
            }
        }
        Ok(elsewhere)
    }

    /// Checks a domain and records the result, unless the domain's record has changed since it was `before`: that change is
    /// newer. A deactivated domain that points here becomes active.
    async fn check_one(self: &Arc<Self>, before: Record) -> Result<Checked, DomainError> {
        let (domain, was_active) = (&before.name, before.status == DomainStatus::Active);
        let check = async {
            let result = self.ask(domain, FoundDetail::Ours).await;
            (self.clock.now(), result)
        };
        // A panic must not end the round, and the domain must not be due again at once.
        let checked = AssertUnwindSafe(check).catch_unwind().await;
        let (at, result) = checked.unwrap_or_else(|_| (self.clock.now(), Err(Failure::Panicked)));
        let is_here = result.as_ref().is_ok_and(|report| report.ok);
        let sentence = result.as_ref().map_or_else(|why| format!("No answer: {why}"), |report| report.sentence.clone());
        let after = self.update(&before, |record| {
            record.last_checked_at = Some(at);
            record.last_check_result = Some(sentence);
            if is_here {
                record.activate();
            }
        });
        let Some(after) = after.await? else { return Ok(Checked::Unchanged) };
        if let Err(why) = result {
            tracing::warn!(%domain, %why, "the MX could not be checked; the domain keeps its state");
            return Ok(Checked::NoAnswer);
        }
        if is_here && !was_active {
            tracing::info!(%domain, "the MX points here again; the domain is active");
            return Ok(Checked::Returned);
        }
        Ok(if is_here || !was_active { Checked::Unchanged } else { Checked::Elsewhere(after) })
    }

    fn is_verified(&self, record: &DomainRecord) -> bool {
        !record.pinned && !self.table.is_fixed(&record.name)
    }

    fn verified(&self) -> Vec<Record> {
        self.table.records().into_iter().filter(|record| self.is_verified(record)).collect()
    }
}

/// Whether the last check is a period old. A check that is a period ahead is due as well: the time of day was set back.
fn is_due(record: &DomainRecord, period: Duration, now: Timestamp) -> bool {
    let checked_at = record.last_checked_at.unwrap_or(record.added_at);
    now.since(checked_at).max(checked_at.since(now)) >= period
}

fn has_lapsed(record: &DomainRecord, now: Timestamp) -> bool {
    let deactivated_at = record.deactivated_at.unwrap_or(Timestamp::from_millis(0));
    record.status == DomainStatus::Deactivated && deactivated_at.plus(PLACE_KEPT) <= now
}

#[cfg(test)]
mod tests;
