//! Verification: checks the MX of every registered domain once a period.
//!
//! A round checks every domain, and checks a domain that points elsewhere a second time. A domain that points here
//! becomes active at once. A domain that points elsewhere is deactivated at the end of the round, since
//! [`round`](super::round) must know their number. Fixed and pinned domains are not verified.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use rand::seq::SliceRandom;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::records::Entry;
use super::registry::Registry;
use super::{DomainError, Round, removal};
use crate::dns::{MxVerdict, report};
use crate::model::{DomainName, DomainRecord, DomainStatus, Timestamp};
use crate::store::StoreError;

/// The most domains that a round checks at once.
const ASKED_AT_ONCE: usize = 8;

/// The average time between the checks of a periodic round.
const GAP: Duration = Duration::from_millis(100);

/// How long a periodic round waits before its second check of domains that point elsewhere.
const PAUSE: Duration = Duration::from_secs(30);

/// How long an overdue round waits after the start, since the network may not be up yet.
const START_DELAY: Duration = Duration::from_secs(30);

/// How soon a round or a removal is retried after an error of the store has ended it.
pub(super) const RETRY_AFTER: Duration = Duration::from_mins(5);

/// How the checks of a round are spread over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pace {
    /// The time from the first check to the last.
    spread: Duration,
    /// The time before the second check.
    pause: Duration,
}

impl Pace {
    /// No delay: only the limit of concurrent checks slows the round down.
    const AT_ONCE: Self = Self { spread: Duration::ZERO, pause: Duration::ZERO };

    /// A pace of about ten domains a second, which ends the round well within the period.
    fn within(period: Duration, domains: usize) -> Self {
        let all = GAP.saturating_mul(u32::try_from(domains).unwrap_or(u32::MAX));
        Self { spread: all.min(period / 4), pause: PAUSE.min(period / 20) }
    }
}

/// A domain that points elsewhere, and the version of its record after that check.
struct Suspect {
    name: DomainName,
    version: u64,
}

#[derive(Default)]
struct Tally {
    reactivated: AtomicU64,
    failed: AtomicU64,
}

impl Registry {
    /// Runs a round now, over one domain or all, without delays between the checks.
    ///
    /// `force` turns the rule about storms off. [`DomainError::NotRegistered`] and [`DomainError::Fixed`] are about
    /// `which`. A pinned domain is not checked.
    pub async fn verify(&self, which: Option<&DomainName>, force: bool) -> Result<Round, DomainError> {
        if self.check.hosts().is_empty() {
            return Err(DomainError::MxHostUnset);
        }
        let mut names = self.verified().await;
        if let Some(one) = which {
            if self.table.is_fixed(one) {
                return Err(DomainError::Fixed);
            }
            if self.records.find(one).await.is_none() {
                return Err(DomainError::NotRegistered);
            }
            names.retain(|name| name == one);
        }
        Ok(self.round(names, Pace::AT_ONCE, force).await?)
    }

    async fn periodic_round(&self) -> Result<Round, StoreError> {
        let mut names = self.verified().await;
        names.shuffle(&mut rand::rng());
        let pace = Pace::within(self.config.domains.verify_every, names.len());
        self.round(names, pace, false).await
    }

    async fn round(&self, asked: Vec<DomainName>, pace: Pace, force: bool) -> Result<Round, StoreError> {
        let tally = Tally::default();
        let suspects = self.ask_each(&asked, pace.spread, &tally).await?;
        let mut confirmed = Vec::new();
        if !suspects.is_empty() {
            tokio::time::sleep(pace.pause).await;
            let suspects: Vec<DomainName> = suspects.into_iter().map(|suspect| suspect.name).collect();
            confirmed = self.ask_each(&suspects, pace.spread, &tally).await?;
        }
        let (deactivated, held_back) = self.settle(&asked, confirmed, force).await?;
        let round = Round {
            checked: asked.len() as u64,
            deactivated,
            reactivated: tally.reactivated.into_inner(),
            failed: tally.failed.into_inner(),
            held_back,
        };
        tracing::info!(
            checked = round.checked,
            deactivated,
            reactivated = round.reactivated,
            failed = round.failed,
            held_back,
            "a round of verification has checked the MX of the registered domains"
        );
        Ok(round)
    }

    /// Checks each of `names` once, at random moments within `spread`. Returns the active domains that point
    /// elsewhere.
    async fn ask_each(
        &self,
        names: &[DomainName],
        spread: Duration,
        tally: &Tally,
    ) -> Result<Vec<Suspect>, StoreError> {
        let start = Instant::now();
        let slot = spread / u32::try_from(names.len().max(1)).unwrap_or(u32::MAX);
        let asked = stream::iter((0u32..).zip(names.to_vec())).map(|(number, name)| async move {
            tokio::time::sleep_until(start + slot * number + slot.mul_f64(rand::random())).await;
            let asked = AssertUnwindSafe(self.ask_and_record(&name, tally)).catch_unwind().await;
            asked.unwrap_or_else(|_| {
                // A panic must not end the round. The next round checks this domain again.
                tracing::error!(domain = %name, "the check of the MX panicked; the domain keeps its state");
                tally.failed.fetch_add(1, Ordering::Relaxed);
                Ok(None)
            })
        });
        let suspects: Vec<Option<Suspect>> = asked.buffer_unordered(ASKED_AT_ONCE).try_collect().await?;
        Ok(suspects.into_iter().flatten().collect())
    }

    /// Checks one domain and records the result. A deactivated domain that points here becomes active.
    async fn ask_and_record(&self, name: &DomainName, tally: &Tally) -> Result<Option<Suspect>, StoreError> {
        // The domain may have been removed or pinned since the round began.
        let before = self.records.find(name).await.filter(|entry| self.is_verified(&entry.record));
        let Some(before) = before else { return Ok(None) };
        let verdict = self.asked(name).await;
        let now = self.clock.now();
        let result = report::sentence(name, self.check.hosts(), &verdict);
        let is_here = matches!(verdict, MxVerdict::PointsHere { .. });
        let entry = self.records.update(name, Some(before.version), move |record| {
            record.last_checked_at = Some(now);
            record.last_check_result = Some(result);
            if is_here {
                record.activate();
            }
        });
        // A change of the record during the check is newer than the check's result.
        let Some(Entry { version, .. }) = entry.await? else { return Ok(None) };
        let was_active = before.record.status == DomainStatus::Active;
        match verdict {
            MxVerdict::PointsHere { .. } if !was_active => {
                tracing::info!(domain = %name, "the MX points here again; the domain is active");
                tally.reactivated.fetch_add(1, Ordering::Relaxed);
            }
            MxVerdict::PointsElsewhere { .. } if was_active => {
                return Ok(Some(Suspect { name: name.clone(), version }));
            }
            MxVerdict::NoAnswer(why) => {
                tracing::warn!(domain = %name, %why, "the MX could not be checked; the domain keeps its state");
                tally.failed.fetch_add(1, Ordering::Relaxed);
            }
            MxVerdict::PointsHere { .. } | MxVerdict::PointsElsewhere { .. } => {}
        }
        Ok(None)
    }

    /// Deactivates the domains that [`Streaks`](super::round::Streaks) permits. Returns how many it deactivated and
    /// held back.
    async fn settle(
        &self,
        asked: &[DomainName],
        confirmed: Vec<Suspect>,
        force: bool,
    ) -> Result<(u64, u64), StoreError> {
        let records = self.records.all().await;
        let active = records.iter().filter(|record| self.is_verified(record) && record.status == DomainStatus::Active);
        let active = active.count();
        let names = confirmed.iter().map(|suspect| suspect.name.clone()).collect();
        let decision = self.streaks(|streaks| streaks.decide(asked, names, active, force));
        if !decision.hold_back.is_empty() {
            let first: Vec<&str> = decision.hold_back.iter().take(20).map(DomainName::as_str).collect();
            tracing::error!(
                found_elsewhere = confirmed.len(),
                active,
                domains = first.join(" "),
                "the MX of too many domains points elsewhere at once; they stay active until three rounds in a row have \
                 found them elsewhere, or `tempmail domain verify --force` deactivates them"
            );
        }
        let mut deactivated = 0;
        let may_go: HashSet<&DomainName> = decision.deactivate.iter().collect();
        for Suspect { name, version } in confirmed.iter().filter(|suspect| may_go.contains(&suspect.name)) {
            // A change of the record since the check is newer than the check's result.
            let now = self.clock.now();
            let deactivate = move |record: &mut DomainRecord| record.deactivate(now);
            if self.records.update(name, Some(*version), deactivate).await?.is_some() {
                tracing::warn!(domain = %name, "the MX points elsewhere; the domain is deactivated");
                deactivated += 1;
            }
        }
        Ok((deactivated, decision.hold_back.len() as u64))
    }

    fn is_verified(&self, record: &DomainRecord) -> bool {
        !record.pinned && !self.table.is_fixed(&record.name)
    }

    async fn first_round_in(&self) -> Duration {
        let records = self.records.all().await;
        let verified = records.iter().filter(|record| self.is_verified(record));
        first_round_in(verified, self.config.domains.verify_every, self.clock.now())
    }

    async fn verified(&self) -> Vec<DomainName> {
        let records = self.records.all().await.into_iter();
        records.filter(|record| self.is_verified(record)).map(|record| record.name).collect()
    }

    /// Waits on the boot clock, which continues while the machine sleeps and ignores changes of the time of day.
    pub(super) async fn wait(&self, duration: Duration) {
        let step_max =
            (self.config.domains.verify_every / 1_000).clamp(Duration::from_millis(10), Duration::from_mins(1));
        let start = self.clock.boot();
        while let Some(left) =
            duration.checked_sub(self.clock.boot().saturating_sub(start)).filter(|left| !left.is_zero())
        {
            tokio::time::sleep(left.min(step_max)).await;
        }
    }
}

/// Runs a round every period, removes domains that stay deactivated, and follows the changes of other processes that share
/// the store, until `shutdown` is cancelled. Without an `mx-host` there are no rounds.
///
/// A restart makes no round early: the first round is due one period after the oldest check.
pub async fn run(registry: Arc<Registry>, shutdown: CancellationToken) {
    let rounds = async {
        let period = registry.config.domains.verify_every;
        let mut due_in = registry.first_round_in().await;
        loop {
            registry.wait(due_in).await;
            if !registry.records.leads() {
                // Another process verifies. If it ends, its last checks say when the next round is due.
                due_in = registry.first_round_in().await;
                continue;
            }
            let start = registry.clock.boot();
            due_in = match registry.periodic_round().await {
                Ok(_) => period.saturating_sub(registry.clock.boot().saturating_sub(start)),
                Err(error) => {
                    tracing::error!(%error, "a round of verification ended early, since the store failed; it is retried");
                    RETRY_AFTER.min(period)
                }
            };
        }
    };
    let others = join(removal::run(&registry), registry.records.follow());
    if registry.check.hosts().is_empty() {
        shutdown.run_until_cancelled(others).await;
    } else {
        shutdown.run_until_cancelled(join(rounds, others)).await;
    }
}

/// How long after `now` the first round is due, which is one period after the oldest check of `verified`. An overdue
/// round waits for [`START_DELAY`]. No round waits longer than a period, even if the clock was set back.
fn first_round_in<'a>(verified: impl Iterator<Item = &'a DomainRecord>, period: Duration, now: Timestamp) -> Duration {
    let oldest = verified.map(|record| record.last_checked_at.unwrap_or(record.added_at)).min();
    let due_at = oldest.unwrap_or(now).plus(period);
    due_at.since(now).min(period).max(START_DELAY.min(period / 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    fn record(checked_at: Option<Timestamp>) -> DomainRecord {
        DomainRecord {
            name: "a.example".parse().expect("name"),
            status: DomainStatus::Active,
            pinned: false,
            owner: None,
            email: None,
            added_at: Timestamp::from_millis(0),
            last_checked_at: checked_at,
            last_check_result: None,
            registrant: None,
            deactivated_at: None,
        }
    }

    #[test]
    fn the_first_round_is_due_a_period_after_the_oldest_check() {
        let at = |hours: u32| Timestamp::from_millis(0).plus(HOUR * hours);
        let due = |checked: &[Option<u32>], now: u32| {
            let records: Vec<_> = checked.iter().map(|hours| record(hours.map(at))).collect();
            first_round_in(records.iter(), 12 * HOUR, at(now))
        };
        assert_eq!(due(&[], 100), 12 * HOUR);
        assert_eq!(due(&[Some(95)], 100), 7 * HOUR);
        assert_eq!(due(&[Some(99), Some(92), Some(95)], 100), 4 * HOUR);
        assert_eq!(due(&[None], 3), 9 * HOUR, "never checked: counted from its registration");
        assert_eq!(due(&[Some(10)], 100), START_DELAY, "overdue");
        assert_eq!(due(&[Some(500)], 100), 12 * HOUR, "the clock went back");
    }

    #[test]
    fn a_thousand_domains_are_not_asked_for_in_one_second() {
        let pace = Pace::within(12 * HOUR, 1_000);
        assert_eq!(pace.spread, Duration::from_secs(100));
        assert_eq!(Pace::within(12 * HOUR, 10_000).spread, Duration::from_secs(1_000));
        assert_eq!(Pace::within(Duration::from_mins(4), 10_000).spread, Duration::from_mins(1));
        assert_eq!(Pace::within(12 * HOUR, 0).spread, Duration::ZERO);
    }
}
