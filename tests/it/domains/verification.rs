//! Rounds of verification: deactivation, return, storms.

use std::time::Duration;

use tempmail::domains::{DomainError, Round, Served};
use tempmail::model::DomainStatus;

use super::{OTHER_HOST, OUR_HOST, Setup, name, new};
use crate::support::until::until;

async fn round(setup: &Setup) -> Round {
    setup.registry.verify(None, false).await.expect("a round")
}

#[tokio::test]
async fn a_domain_that_points_elsewhere_is_deactivated_and_returns_when_it_points_here() {
    let setup = Setup::new().await;
    setup.register_many(2).await;
    setup.point_elsewhere("d0.test");
    assert_eq!(round(&setup).await, Round { checked: 2, deactivated: 1, ..Round::default() });
    assert_eq!(setup.served("d0.test"), Served::Deactivated);
    assert_eq!(setup.registry.table().active(), [name("d1.test")]);
    let stored = setup.store.record("d0.test").await.expect("kept");
    assert_eq!(stored.status, DomainStatus::Deactivated);
    assert_eq!(
        stored.last_check_result.as_deref(),
        Some("The MX record of d0.test points at mx.other.test, not at mx.tempmail.test")
    );

    assert_eq!(round(&setup).await, Round { checked: 2, ..Round::default() });
    setup.point_here("d0.test");
    assert_eq!(round(&setup).await, Round { checked: 2, reactivated: 1, ..Round::default() });
    assert_eq!(setup.served("d0.test"), Served::Active);
}

#[tokio::test]
async fn registering_brings_a_deactivated_domain_back_at_once() {
    let setup = Setup::new().await;
    setup.register_many(1).await;
    setup.point_elsewhere("d0.test");
    round(&setup).await;
    setup.point_here("d0.test");
    let again = setup.register("d0.test").await.expect("registered");
    assert!(!again.created);
    assert_eq!(again.entry.status, DomainStatus::Active);
    assert_eq!(setup.served("d0.test"), Served::Active);
}

#[tokio::test]
async fn every_clear_answer_deactivates() {
    let setup = Setup::new().await;
    let domains = setup.register_many(4).await;
    setup.zone.set_mx(&domains[0], &[(0, ".")]);
    setup.zone.remove(&domains[1]);
    setup.zone.set_empty(&domains[2]);
    // Its own address is ours, but without an MX record that is no consent.
    setup.zone.set_addresses(&domains[2], &["192.0.2.25"]);
    setup.zone.set_mx(&domains[3], &[(10, OUR_HOST), (5, OTHER_HOST)]);
    assert_eq!(round(&setup).await.deactivated, 4);
}

#[tokio::test]
async fn no_answer_never_deactivates_however_often() {
    let setup = Setup::new().await;
    let domains = setup.register_many(2).await;
    setup.zone.servfail(&domains[0]);
    setup.zone.refuse(&domains[1]);
    for _ in 0..4 {
        assert_eq!(round(&setup).await, Round { checked: 2, failed: 2, ..Round::default() });
    }
    assert_eq!(setup.registry.table().active().len(), 2);
    let stored = setup.store.record(&domains[0]).await.expect("kept");
    assert_eq!(stored.last_check_result.as_deref(), Some("No answer: the name server failed (SERVFAIL)"));
    for domain in &domains {
        setup.zone.recover(domain);
    }
    assert_eq!(round(&setup).await, Round { checked: 2, ..Round::default() });
}

#[tokio::test]
async fn an_answer_that_is_not_given_again_deactivates_nothing() {
    let setup = Setup::new().await;
    let domains = setup.register_many(1).await;
    setup.zone.set_mx_once(&domains[0], &[(10, OTHER_HOST)]);
    assert_eq!(round(&setup).await, Round { checked: 1, ..Round::default() });
    assert_eq!(setup.served(&domains[0]), Served::Active);
    assert_eq!(setup.zone.mx_questions(&domains[0]), 3, "registration, and twice in the round");
    let stored = setup.store.record(&domains[0]).await.expect("kept");
    assert_eq!(stored.last_check_result.as_deref(), Some("The MX record of d0.test points at mx.tempmail.test"));
}

#[tokio::test]
async fn an_mx_record_that_is_missing_once_deactivates_nothing() {
    let setup = Setup::new().await;
    let domains = setup.register_many(1).await;
    setup.zone.set_mx_once(&domains[0], &[]);
    assert_eq!(round(&setup).await, Round { checked: 1, ..Round::default() });
    assert_eq!(setup.served(&domains[0]), Served::Active);
    assert_eq!(setup.zone.mx_questions(&domains[0]), 3, "registration, and twice in the round");
}

#[tokio::test]
async fn a_storm_deactivates_in_the_third_round_in_a_row() {
    let setup = Setup::new().await;
    let domains = setup.register_many(6).await;
    setup.all_point_elsewhere(&domains[..5]);
    let held_back = Round { checked: 6, held_back: 5, ..Round::default() };
    assert_eq!(round(&setup).await, held_back);
    assert_eq!(round(&setup).await, held_back);
    assert_eq!(setup.registry.table().active().len(), 6);
    assert_eq!(round(&setup).await, Round { checked: 6, deactivated: 5, ..Round::default() });
    assert_eq!(setup.registry.table().active(), [name("d5.test")]);
}

#[tokio::test]
async fn a_storm_that_passes_leaves_no_trace() {
    let setup = Setup::new().await;
    let domains = setup.register_many(6).await;
    for _ in 0..2 {
        for _ in 0..2 {
            setup.all_point_elsewhere(&domains);
            assert_eq!(round(&setup).await.held_back, 6);
        }
        setup.all_point_here(&domains);
        assert_eq!(round(&setup).await, Round { checked: 6, ..Round::default() });
    }
    assert_eq!(setup.registry.table().active().len(), 6);
}

#[tokio::test]
async fn force_takes_a_storm_for_the_truth() {
    let setup = Setup::new().await;
    let domains = setup.register_many(6).await;
    setup.all_point_elsewhere(&domains);
    assert_eq!(round(&setup).await.held_back, 6);
    let forced = setup.registry.verify(None, true).await.expect("a round");
    assert_eq!(forced, Round { checked: 6, deactivated: 6, ..Round::default() });
}

#[tokio::test]
async fn our_own_host_vanishing_from_the_dns_is_a_storm() {
    let setup = Setup::new().await;
    for number in 0..6 {
        let (domain, host) = (format!("d{number}.test"), format!("mail.d{number}.test"));
        setup.zone.set_mx(&domain, &[(10, &host)]);
        setup.zone.set_addresses(&host, &["192.0.2.25"]);
        setup.register(&domain).await.expect("registered");
    }
    setup.zone.remove(OUR_HOST);
    assert_eq!(round(&setup).await, Round { checked: 6, held_back: 6, ..Round::default() });
    setup.zone.servfail(OUR_HOST);
    assert_eq!(round(&setup).await, Round { checked: 6, failed: 6, ..Round::default() });
}

#[tokio::test]
async fn one_domain_can_be_verified_alone() {
    let setup = Setup::with(|config| config.domains.fixed = vec!["fixed.test".parse().expect("pattern")]).await;
    let domains = setup.register_many(6).await;
    setup.all_point_elsewhere(&domains);
    setup.registry.pin(new("pinned.test")).await.expect("pinned");
    let verify = async |domain: &str| setup.registry.verify(Some(&name(domain)), false).await;
    assert_eq!(verify("d3.test").await, Ok(Round { checked: 1, deactivated: 1, ..Round::default() }));
    assert_eq!(setup.registry.table().active().len(), 7);
    assert_eq!(verify("pinned.test").await, Ok(Round::default()));
    assert_eq!(verify("fixed.test").await, Err(DomainError::Fixed));
    assert_eq!(verify("other.test").await, Err(DomainError::NotRegistered));
}

/// Two domains are registered, and a round finds `d0.test` elsewhere. Its first or its second pass waits for `slow.test`.
async fn round_that_waits(setup: &Setup, is_second_pass: bool) -> Round {
    setup.register_many(1).await;
    setup.point_here("slow.test");
    setup.register("slow.test").await.expect("registered");
    setup.point_elsewhere("d0.test");
    if is_second_pass {
        setup.zone.set_mx_once("slow.test", &[(10, OTHER_HOST)]);
    }
    setup.zone.silence("slow.test");
    round(setup).await
}

async fn asked_for(setup: &Setup, times: usize) {
    until("questions for d0.test", async || setup.zone.mx_questions("d0.test") >= times).await;
}

#[tokio::test]
async fn a_domain_that_is_pinned_during_a_round_stays_active() {
    let setup = Setup::new().await;
    let pin = async {
        asked_for(&setup, 2).await;
        setup.registry.pin(new("d0.test")).await.expect("pinned");
    };
    let (round, ()) = futures_util::future::join(round_that_waits(&setup, false), pin).await;
    assert_eq!((round.deactivated, round.failed), (0, 1));
    assert_eq!(setup.served("d0.test"), Served::Active);
}

#[tokio::test]
async fn a_domain_that_returns_during_a_round_stays_active() {
    let setup = Setup::new().await;
    let submit_again = async {
        asked_for(&setup, 3).await;
        setup.point_here("d0.test");
        setup.register("d0.test").await.expect("registered");
    };
    let (round, ()) = futures_util::future::join(round_that_waits(&setup, true), submit_again).await;
    assert_eq!((round.deactivated, round.failed), (0, 1));
    assert_eq!(setup.served("d0.test"), Served::Active);
}

#[tokio::test]
async fn a_check_is_dated() {
    let setup = Setup::new().await;
    setup.register_many(1).await;
    let before = setup.store.record("d0.test").await.expect("kept");
    setup.clock.advance(Duration::from_hours(1));
    round(&setup).await;
    let after = setup.store.record("d0.test").await.expect("kept");
    assert_eq!(after.added_at, before.added_at);
    let checked_at = (before.last_checked_at.expect("checked"), after.last_checked_at.expect("checked"));
    assert_eq!(checked_at.1.since(checked_at.0), Duration::from_hours(1));
}
