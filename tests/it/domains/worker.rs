//! The periodic worker, with a clock that the test moves.

use std::sync::Arc;
use std::time::Duration;

use tempmail::domains::{Registry, Served, verifier};
use tokio_util::sync::CancellationToken;

use super::Setup;
use crate::support::until::until;

/// The period is short, because a round spreads its queries over a part of it, in real time.
const PERIOD: Duration = Duration::from_secs(1);

/// Moves the clock until a condition holds.
async fn in_time(what: &str, setup: &Setup, mut condition: impl AsyncFnMut() -> bool) {
    until(what, async || {
        setup.clock.advance(PERIOD / 100);
        condition().await
    })
    .await;
}

struct Worker {
    shutdown: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Worker {
    fn start(registry: &Arc<Registry>) -> Self {
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(verifier::run(registry.clone(), shutdown.clone()));
        Self { shutdown, task }
    }

    async fn stop(self) {
        self.shutdown.cancel();
        tokio::time::timeout(Duration::from_secs(5), self.task).await.expect("it ends").expect("without a panic");
    }
}

#[tokio::test]
async fn every_period_each_domain_is_asked_for() {
    let setup = Setup::with(|config| config.domains.verify_every = PERIOD).await;
    setup.register_many(2).await;
    let worker = Worker::start(&setup.registry);
    setup.point_elsewhere("d0.test");
    in_time("deactivated after a period", &setup, async || setup.served("d0.test") == Served::Deactivated).await;
    assert_eq!(setup.served("d1.test"), Served::Active);
    setup.point_here("d0.test");
    in_time("active after another", &setup, async || setup.served("d0.test") == Served::Active).await;
    worker.stop().await;
}

#[tokio::test]
async fn a_restart_asks_for_nothing_before_its_time() {
    let setup = Setup::new().await;
    setup.register_many(1).await;
    setup.clock.advance(2 * PERIOD);
    let period = 4 * PERIOD;
    let restarted = setup.restarted(|config| config.domains.verify_every = period).await;
    let worker = Worker::start(&restarted);
    let stored = async || setup.store.record("d0.test").await.expect("kept");
    in_time("asked for again", &setup, async || stored().await.last_checked_at > Some(stored().await.added_at)).await;
    assert!(stored().await.last_checked_at >= Some(stored().await.added_at.plus(period)));
    worker.stop().await;
}

#[tokio::test]
async fn an_overdue_round_comes_soon_after_the_start() {
    let setup = Setup::new().await;
    setup.register_many(1).await;
    setup.clock.advance(Duration::from_hours(100));
    let restarted = setup.restarted(|config| config.domains.verify_every = PERIOD).await;
    let worker = Worker::start(&restarted);
    in_time("asked for again", &setup, async || setup.zone.mx_questions("d0.test") == 2).await;
    worker.stop().await;
}

#[tokio::test]
async fn a_domain_that_stays_deactivated_for_30_days_is_removed() {
    let setup = Setup::with(|config| config.domains.verify_every = PERIOD).await;
    setup.register_many(6).await;
    setup.point_elsewhere("d0.test");
    setup.point_elsewhere("d1.test");
    setup.registry.verify(None, false).await.expect("round");
    let days = |days: u64| Duration::from_hours(24 * days);
    setup.clock.advance(days(15));
    // Its place begins anew with the next deactivation.
    setup.point_here("d1.test");
    setup.registry.verify(None, false).await.expect("round");
    setup.point_elsewhere("d1.test");
    setup.registry.verify(None, false).await.expect("round");

    let restarted = setup.restarted(|config| config.domains.verify_every = PERIOD).await;
    let worker = Worker::start(&restarted);
    let served = |domain: &str| restarted.table().served(&domain.parse().expect("name"));
    setup.clock.advance(days(15).saturating_sub(PERIOD));
    in_time("removed after 30 days", &setup, async || served("d0.test") == Served::Unknown).await;
    assert_eq!(setup.store.record("d0.test").await, None);
    assert_eq!(served("d1.test"), Served::Deactivated);
    assert_eq!(served("d2.test"), Served::Active);
    setup.clock.advance(days(15));
    in_time("removed after 30 days", &setup, async || served("d1.test") == Served::Unknown).await;
    worker.stop().await;
}

#[tokio::test]
async fn without_an_mx_host_the_worker_waits_to_be_stopped() {
    let setup = Setup::with(|config| {
        config.domains.mx_hosts.clear();
        config.domains.verify_every = Duration::from_millis(1);
    })
    .await;
    let worker = Worker::start(&setup.registry);
    setup.clock.advance(PERIOD);
    tokio::task::yield_now().await;
    assert!(!worker.task.is_finished());
    worker.stop().await;
}
