//! The periodic worker, with a clock that the test moves.
//! Promise: it outlives the code below it.

use std::time::Duration;

use serde_json::json;

use super::Setup;
use crate::support::until::until;

/// The period is short, because a round spreads its queries over a part of it, in real time.
const PERIOD: Duration = Duration::from_secs(1);
const EVERY_PERIOD: &str = "verify-every = '1s'";

/// Moves the clock until a condition holds.
async fn in_time(what: &str, setup: &Setup, mut condition: impl AsyncFnMut() -> bool) {
    until(what, async || {
        setup.server.clock.advance(PERIOD / 100);
        condition().await
    })
    .await;
}

#[tokio::test]
async fn every_period_each_domain_is_asked_for() {
    let setup = Setup::with(EVERY_PERIOD).await;
    setup.register_many(2).await;
    setup.point_elsewhere("d0.test");
    in_time("deactivated after a period", &setup, async || setup.served("d0.test").await == "deactivated").await;
    assert_eq!(setup.served("d1.test").await, "active");
    setup.point_here("d0.test");
    in_time("active after another", &setup, async || setup.served("d0.test").await == "active").await;
    setup.server.stop().await;
}

#[tokio::test]
async fn a_restart_asks_for_nothing_before_its_time() {
    let setup = Setup::new().await;
    setup.register_many(1).await;
    setup.server.clock.advance(2 * PERIOD);
    let setup = setup.restarted("verify-every = '4s'").await;
    let checked_at = async || setup.record("d0.test").await["lastCheckedAt"].as_str().expect("a time").to_owned();
    let registered_at = "2023-11-14 22:13:20";
    assert_eq!(setup.record("d0.test").await["addedAt"], registered_at);
    in_time("asked for again", &setup, async || checked_at().await.as_str() > registered_at).await;
    assert!(checked_at().await.as_str() >= "2023-11-14 22:13:24");
}

#[tokio::test]
async fn an_overdue_round_comes_soon_after_the_start() {
    let setup = Setup::new().await;
    setup.register_many(1).await;
    setup.server.clock.advance(Duration::from_hours(100));
    let setup = setup.restarted(EVERY_PERIOD).await;
    in_time("asked for again", &setup, async || setup.zone.mx_questions("d0.test") == 2).await;
}

#[tokio::test]
async fn a_domain_that_stays_deactivated_for_30_days_is_removed() {
    let setup = Setup::new().await;
    setup.register_many(6).await;
    setup.point_elsewhere("d0.test");
    setup.point_elsewhere("d1.test");
    assert_eq!(setup.round().await, "checked 6, deactivated 2");
    let days = |days: u64| Duration::from_hours(24 * days);
    setup.server.clock.advance(days(15));
    // Its place begins anew with the next deactivation.
    setup.point_here("d1.test");
    assert_eq!(setup.round().await, "checked 6, reactivated 1");
    setup.point_elsewhere("d1.test");
    assert_eq!(setup.round().await, "checked 6, deactivated 1");

    let setup = setup.restarted(EVERY_PERIOD).await;
    setup.server.clock.advance(days(15).saturating_sub(PERIOD));
    assert_eq!(setup.served("d0.test").await, "deactivated");
    in_time("removed after 30 days", &setup, async || setup.served("d0.test").await == "unknown").await;
    assert_eq!(setup.served("d1.test").await, "deactivated");
    assert_eq!(setup.served("d2.test").await, "active");
    setup.server.clock.advance(days(15));
    in_time("removed after 30 days", &setup, async || setup.served("d1.test").await == "unknown").await;
    let setup = setup.restarted("").await;
    assert_eq!(setup.active().await, json!(["d2.test", "d3.test", "d4.test", "d5.test"]));
    assert_eq!(setup.served("d0.test").await, "unknown");
}

#[tokio::test]
async fn without_an_mx_host_the_worker_waits_to_be_stopped() {
    let setup = Setup::with(&format!("mx-host = []\n{EVERY_PERIOD}")).await;
    for _ in 0..100 {
        setup.server.pass(PERIOD / 100).await;
    }
    assert_eq!(setup.zone.mx_questions("d0.test"), 0);
    setup.server.stop().await;
}
