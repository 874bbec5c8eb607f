//! Rounds of verification: deactivation, return, storms.
//! Promise: it outlives the code below it.

use std::time::Duration;

use futures_util::future::join;
use serde_json::json;

use super::{OTHER_HOST, OUR_HOST, Setup, outcome, shown};
use crate::support::until::until;

#[tokio::test]
async fn a_domain_that_points_elsewhere_is_deactivated_and_returns_when_it_points_here() {
    let setup = Setup::new().await;
    setup.register_many(2).await;
    setup.point_elsewhere("d0.test");
    assert_eq!(setup.round().await, "checked 2, deactivated 1");
    assert_eq!(setup.served("d0.test").await, "deactivated");
    assert_eq!(setup.active().await, json!(["d1.test"]));
    let stored = setup.record("d0.test").await;
    assert_eq!(stored["status"], "deactivated");
    assert_eq!(stored["lastCheckResult"], "The MX record of d0.test points at mx.other.test, not at mx.tempmail.test");

    assert_eq!(setup.round().await, "checked 2");
    setup.point_here("d0.test");
    assert_eq!(setup.round().await, "checked 2, reactivated 1");
    assert_eq!(setup.served("d0.test").await, "active");
}

#[tokio::test]
async fn registering_brings_a_deactivated_domain_back_at_once() {
    let setup = Setup::new().await;
    setup.register_many(1).await;
    setup.point_elsewhere("d0.test");
    assert_eq!(setup.round().await, "checked 1, deactivated 1");
    setup.point_here("d0.test");
    let again = setup.register("d0.test").await;
    assert_eq!((outcome(&again), &again.1["status"]), ("known", &json!("active")));
    assert_eq!(setup.served("d0.test").await, "active");
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
    assert_eq!(setup.round().await, "checked 4, deactivated 4");
}

#[tokio::test]
async fn no_answer_never_deactivates_however_often() {
    let setup = Setup::new().await;
    let domains = setup.register_many(2).await;
    setup.zone.servfail(&domains[0]);
    setup.zone.refuse(&domains[1]);
    for _ in 0..4 {
        assert_eq!(setup.round().await, "checked 2, failed 2");
    }
    assert_eq!(setup.active().await.as_array().map(Vec::len), Some(2));
    let stored = setup.record(&domains[0]).await;
    assert_eq!(stored["lastCheckResult"], "No answer: the name server failed (SERVFAIL)");
    for domain in &domains {
        setup.zone.recover(domain);
    }
    assert_eq!(setup.round().await, "checked 2");
}

/// It says once that the mail goes elsewhere, or that there is no record.
#[tokio::test]
async fn an_answer_that_is_not_given_again_deactivates_nothing() {
    for once in [&[(10, OTHER_HOST)][..], &[]] {
        let setup = Setup::new().await;
        setup.register_many(1).await;
        setup.zone.set_mx_once("d0.test", once);
        assert_eq!(setup.round().await, "checked 1");
        assert_eq!(setup.served("d0.test").await, "active");
        assert_eq!(setup.zone.mx_questions("d0.test"), 3, "registration, and twice in the round");
        let result = &setup.record("d0.test").await["lastCheckResult"];
        assert_eq!(result, "The MX record of d0.test points at mx.tempmail.test");
    }
}

#[tokio::test]
async fn a_storm_deactivates_in_the_third_round_in_a_row() {
    let setup = Setup::new().await;
    let domains = setup.register_many(6).await;
    setup.all_point_elsewhere(&domains[..5]);
    let held_back = "checked 6, heldBack 5";
    assert_eq!(setup.round().await, held_back);
    assert_eq!(setup.round().await, held_back);
    assert_eq!(setup.active().await.as_array().map(Vec::len), Some(6));
    assert_eq!(setup.round().await, "checked 6, deactivated 5");
    assert_eq!(setup.active().await, json!(["d5.test"]));
}

#[tokio::test]
async fn a_storm_that_passes_leaves_no_trace() {
    let setup = Setup::new().await;
    let domains = setup.register_many(6).await;
    for _ in 0..2 {
        for _ in 0..2 {
            setup.all_point_elsewhere(&domains);
            assert_eq!(setup.round().await, "checked 6, heldBack 6");
        }
        setup.all_point_here(&domains);
        assert_eq!(setup.round().await, "checked 6");
    }
    assert_eq!(setup.active().await.as_array().map(Vec::len), Some(6));
}

#[tokio::test]
async fn force_takes_a_storm_for_the_truth() {
    let setup = Setup::new().await;
    let domains = setup.register_many(6).await;
    setup.all_point_elsewhere(&domains);
    assert_eq!(setup.round().await, "checked 6, heldBack 6");
    assert_eq!(shown(&setup.verify("?force=true").await), "checked 6, deactivated 6");
}

#[tokio::test]
async fn our_own_host_vanishing_from_the_dns_is_a_storm() {
    let setup = Setup::new().await;
    for number in 0..6 {
        let (domain, host) = (format!("d{number}.test"), format!("mail.d{number}.test"));
        setup.zone.set_mx(&domain, &[(10, &host)]);
        setup.zone.set_addresses(&host, &["192.0.2.25"]);
        assert_eq!(outcome(&setup.register(&domain).await), "created");
    }
    setup.zone.remove(OUR_HOST);
    assert_eq!(setup.round().await, "checked 6, heldBack 6");
    setup.zone.servfail(OUR_HOST);
    assert_eq!(setup.round().await, "checked 6, failed 6");
}

#[tokio::test]
async fn one_domain_can_be_verified_alone() {
    let setup = Setup::with("domain = ['fixed.test']").await;
    let domains = setup.register_many(6).await;
    setup.all_point_elsewhere(&domains);
    assert_eq!(outcome(&setup.pin(json!({ "domain": "pinned.test" })).await), "created");
    for (domain, expected) in [
        ("d3.test", "checked 1, deactivated 1"),
        ("pinned.test", ""),
        ("fixed.test", "conflict"),
        ("other.test", "not_found"),
    ] {
        assert_eq!(shown(&setup.verify(&format!("?domain={domain}")).await), expected, "{domain}");
    }
    assert_eq!(setup.active().await.as_array().map(Vec::len), Some(7));
}

/// Two domains are registered, and a round finds `d0.test` elsewhere. Its first or its second pass waits for `slow.test`.
async fn round_that_waits(setup: &Setup, is_second_pass: bool) -> String {
    setup.register_many(1).await;
    setup.point_here("slow.test");
    assert_eq!(outcome(&setup.register("slow.test").await), "created");
    setup.point_elsewhere("d0.test");
    if is_second_pass {
        setup.zone.set_mx_once("slow.test", &[(10, OTHER_HOST)]);
    }
    setup.zone.silence("slow.test");
    setup.round().await
}

async fn asked_for(setup: &Setup, times: usize) {
    until("questions for d0.test", async || setup.zone.mx_questions("d0.test") >= times).await;
}

#[tokio::test]
async fn a_domain_that_is_pinned_during_a_round_stays_active() {
    let setup = Setup::new().await;
    let pin = async {
        asked_for(&setup, 2).await;
        assert_eq!(outcome(&setup.pin(json!({ "domain": "d0.test" })).await), "known");
    };
    let (round, ()) = join(round_that_waits(&setup, false), pin).await;
    assert_eq!(round, "checked 2, failed 1");
    assert_eq!(setup.served("d0.test").await, "active");
}

#[tokio::test]
async fn a_domain_that_returns_during_a_round_stays_active() {
    let setup = Setup::new().await;
    let submit_again = async {
        asked_for(&setup, 3).await;
        setup.point_here("d0.test");
        assert_eq!(outcome(&setup.register("d0.test").await), "known");
    };
    let (round, ()) = join(round_that_waits(&setup, true), submit_again).await;
    assert_eq!(round, "checked 2, failed 1");
    assert_eq!(setup.served("d0.test").await, "active");
}

#[tokio::test]
async fn a_check_is_dated() {
    let setup = Setup::new().await;
    setup.register_many(1).await;
    let before = setup.record("d0.test").await;
    setup.server.clock.advance(Duration::from_hours(1));
    assert_eq!(setup.round().await, "checked 1");
    let after = setup.record("d0.test").await;
    assert_eq!(after["addedAt"], before["addedAt"]);
    assert_eq!([&before["lastCheckedAt"], &after["lastCheckedAt"]], ["2023-11-14 22:13:20", "2023-11-14 23:13:20"]);
}
