//! Registering, pinning, listing, removing.
//! Promise: it outlives the code below it.

use std::io::ErrorKind;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{CLIENT, Setup, complete, outcome, zone};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::test_server::TestServer;

const NEIGHBOUR: &str = "192.0.2.2";

#[tokio::test]
async fn a_domain_that_points_here_is_registered_and_served() {
    let setup = Setup::new().await;
    setup.point_here("shop.test");
    let wish = json!({ "domain": "Shop.TEST.", "owner": "Ann", "email": "ann@example.test" });
    let now = "2023-11-14 22:13:20";
    let entry = json!({
        "domain": "shop.test",
        "status": "active",
        "addedAt": now,
        "lastCheckedAt": now,
        "lastCheckResult": "The MX record of shop.test points at mx.tempmail.test",
    });
    assert_eq!(setup.register_as(CLIENT, &wish).await, (201, entry.clone()));
    assert_eq!(setup.served("shop.test").await, "active");
    assert_eq!(setup.server.get("/api/domains").await.json(), json!([entry]));
    SmtpPeer::greeted(setup.server.smtp()).await.deliver("ann@shop.test", "hi").await;
    let setup = setup.restarted("").await;
    assert_eq!(setup.active().await, json!(["shop.test"]));
    let kept = setup.record("shop.test").await;
    assert_eq!([&kept["owner"], &kept["email"], &kept["registeredBy"]], ["Ann", "ann@example.test", CLIENT]);
}

#[tokio::test]
async fn a_domain_that_points_elsewhere_is_not_registered_and_the_record_to_create_is_named() {
    let setup = Setup::new().await;
    setup.point_elsewhere("shop.test");
    let refused = setup.register("shop.test").await;
    assert_eq!((refused.0, outcome(&refused)), (422, "mx_mismatch"));
    let detail = refused.1["detail"].as_str().expect("a detail");
    assert!(detail.contains("mx.other.test"), "{detail}");
    assert!(detail.ends_with("shop.test. IN MX 10 mx.tempmail.test."), "{detail}");
    assert_eq!(setup.served("shop.test").await, "unknown");
    assert_eq!(setup.record("shop.test").await, Value::Null);
}

#[tokio::test]
async fn a_web_site_at_our_address_is_not_registered_without_an_mx_record() {
    let setup = Setup::new().await;
    setup.zone.set_addresses("web.test", &["192.0.2.25"]);
    let refused = setup.register("web.test").await;
    assert_eq!(outcome(&refused), "mx_mismatch");
    let detail = "web.test has no MX record. Create the record: web.test. IN MX 10 mx.tempmail.test.";
    assert_eq!(refused.1["detail"], detail);
    assert_eq!(setup.record("web.test").await, Value::Null);
}

#[tokio::test]
async fn a_resolver_that_fails_says_nothing_about_the_domain() {
    let setup = Setup::new().await;
    setup.zone.servfail("shop.test");
    let refused = setup.register("shop.test").await;
    assert_eq!((refused.0, outcome(&refused)), (503, "dns_unavailable"));
    assert_eq!(setup.served("shop.test").await, "unknown");
}

#[tokio::test]
async fn without_an_mx_host_nothing_is_checked() {
    let setup = Setup::with("mx-host = []").await;
    for refused in [setup.register("shop.test").await, setup.check("shop.test").await, setup.verify("").await] {
        assert_eq!((refused.0, outcome(&refused)), (503, "mx_host_unset"));
    }
    assert_eq!(outcome(&setup.pin(json!({ "domain": "shop.test" })).await), "created");
}

#[tokio::test]
async fn registering_again_checks_again_and_keeps_the_owner() {
    let setup = Setup::new().await;
    setup.point_here("shop.test");
    let first = json!({ "domain": "shop.test", "owner": "Ann" });
    assert_eq!(outcome(&setup.register_as(CLIENT, &first).await), "created");
    setup.server.clock.advance(Duration::from_mins(1));
    let stranger = json!({ "domain": "shop.test", "owner": "Eve", "email": "eve@evil.test" });
    let again = setup.register_as(NEIGHBOUR, &stranger).await;
    assert_eq!(outcome(&again), "known");
    assert_eq!([&again.1["addedAt"], &again.1["lastCheckedAt"]], ["2023-11-14 22:13:20", "2023-11-14 22:14:20"]);
    let kept = setup.record("shop.test").await;
    assert_eq!([&kept["owner"], &kept["email"], &kept["registeredBy"]], [&json!("Ann"), &Value::Null, &json!(CLIENT)]);
    assert_eq!(setup.zone.mx_questions("shop.test"), 2);
}

#[tokio::test]
async fn registering_again_never_deactivates() {
    let setup = Setup::new().await;
    setup.register_many(1).await;
    setup.point_elsewhere("d0.test");
    assert_eq!(outcome(&setup.register("d0.test").await), "mx_mismatch");
    assert_eq!(setup.served("d0.test").await, "active");
}

#[tokio::test]
async fn a_fixed_domain_is_answered_unchecked_and_not_stored() {
    let setup = Setup::with("domain = ['fixed.test', '*.dev.test']").await;
    for domain in ["fixed.test", "any.dev.test"] {
        assert_eq!(outcome(&setup.register(domain).await), "known", "{domain}");
        let pinned = setup.pin(json!({ "domain": domain })).await;
        assert_eq!((outcome(&pinned), &pinned.1["fixed"]), ("known", &json!(true)), "{domain}");
        assert_eq!(outcome(&setup.remove(domain).await), "conflict", "{domain}");
        assert_eq!(setup.zone.mx_questions(domain), 0);
        SmtpPeer::greeted(setup.server.smtp()).await.deliver(&format!("ann@{domain}"), "hi").await;
    }
    let list = setup.server.get("/api/domains").await.json();
    let listed: Vec<_> = list.as_array().expect("a list").iter().map(|entry| &entry["domain"]).collect();
    assert_eq!(listed, ["*.dev.test", "fixed.test"]);
    assert_eq!(setup.active().await, json!(["fixed.test"]));
    let setup = setup.restarted("").await;
    assert_eq!(setup.active().await, json!([]), "nothing was stored");
}

#[tokio::test]
async fn a_pinned_domain_is_active_without_dns() {
    let setup = Setup::new().await;
    let pinned = setup.pin(json!({ "domain": "shop.test", "owner": "Ann" })).await;
    assert_eq!((outcome(&pinned), &pinned.1["pinned"]), ("created", &json!(true)));
    assert_eq!(pinned.1["lastCheckedAt"], Value::Null);
    assert_eq!(outcome(&setup.register("shop.test").await), "known");
    assert_eq!(super::shown(&setup.verify("?force=true").await), "");
    assert_eq!(setup.served("shop.test").await, "active");
    let again = setup.pin(json!({ "domain": "shop.test", "email": "ann@example.test" })).await;
    assert_eq!(outcome(&again), "known");
    assert_eq!([&again.1["owner"], &again.1["email"]], ["Ann", "ann@example.test"]);
    assert_eq!(setup.zone.mx_questions("shop.test"), 0);
}

#[tokio::test]
async fn no_more_domains_are_registered_than_permitted() {
    let setup = Setup::with("max-domains = 2").await;
    setup.register_many(2).await;
    setup.point_here("third.test");
    let refused = setup.register("third.test").await;
    assert_eq!((refused.0, outcome(&refused)), (422, "limit_reached"));
    assert_eq!(setup.zone.mx_questions("third.test"), 0);
    assert_eq!(outcome(&setup.pin(json!({ "domain": "third.test" })).await), "limit_reached");
    assert_eq!(outcome(&setup.register("d0.test").await), "known");
    assert_eq!(setup.remove("d0.test").await.1["deleted"], 1);
    assert_eq!(outcome(&setup.register("third.test").await), "created");
}

#[tokio::test]
async fn a_client_has_a_number_of_domains_and_the_administrator_any() {
    const LIMIT: &str = "max-domains-per-client = 2";
    let setup = Setup::with(LIMIT).await;
    setup.register_many(2).await;
    for domain in ["third.test", "fourth.test", "a0.test", "a1.test", "a2.test"] {
        setup.point_here(domain);
    }
    let refused = setup.register("third.test").await;
    assert_eq!((refused.0, outcome(&refused)), (422, "limit_reached"));
    assert_eq!(setup.zone.mx_questions("third.test"), 0);
    assert_eq!(outcome(&setup.register("d0.test").await), "known");
    assert_eq!(outcome(&setup.register_as(NEIGHBOUR, &json!({ "domain": "third.test" })).await), "created");
    assert_eq!(setup.record("third.test").await["registeredBy"], NEIGHBOUR);
    for number in 0..3 {
        let wish = json!({ "domain": format!("a{number}.test") });
        assert_eq!(setup.server.admin_post("/api/admin/domains", &wish).await.0, 201, "{wish}");
    }
    // A deactivated domain keeps its place.
    setup.point_elsewhere("d0.test");
    assert_eq!(setup.round().await, "checked 6, deactivated 1");
    assert_eq!(outcome(&setup.register("fourth.test").await), "limit_reached");
    // After a restart the limit is the same.
    let setup = setup.restarted(LIMIT).await;
    assert_eq!(outcome(&setup.register("fourth.test").await), "limit_reached");
    // What the administrator pins is the administrator's.
    assert_eq!(outcome(&setup.pin(json!({ "domain": "d1.test" })).await), "known");
    assert_eq!(outcome(&setup.register("fourth.test").await), "created");
    assert_eq!(setup.record("d1.test").await["registeredBy"], Value::Null);
}

#[tokio::test]
async fn registrations_at_the_same_time_stay_within_the_limit_of_a_client() {
    let setup = Setup::with("max-domains-per-client = 2").await;
    let domains: Vec<String> = (0..8).map(|number| format!("d{number}.test")).collect();
    setup.all_point_here(&domains);
    let replies = join_all(domains.iter().map(|domain| setup.register(domain))).await;
    assert_eq!(replies.iter().filter(|reply| outcome(reply) == "created").count(), 2, "{replies:?}");
    assert_eq!(setup.active().await.as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_removed_domain_is_not_served() {
    let setup = Setup::new().await;
    setup.register_many(1).await;
    assert_eq!(setup.remove("d0.test").await.1["deleted"], 1);
    assert_eq!(setup.remove("d0.test").await.1["deleted"], 0);
    assert_eq!(setup.served("d0.test").await, "unknown");
    let setup = setup.restarted("").await;
    assert_eq!(setup.served("d0.test").await, "unknown");
}

#[tokio::test]
async fn domains_outlive_a_restart_in_their_state() {
    let setup = Setup::new().await;
    setup.register_many(2).await;
    setup.point_elsewhere("d1.test");
    assert_eq!(setup.round().await, "checked 2, deactivated 1");
    let setup = setup.restarted("").await;
    assert_eq!(setup.served("d0.test").await, "active");
    assert_eq!(setup.served("d1.test").await, "deactivated");
}

#[tokio::test]
async fn a_domain_is_served_only_when_the_store_has_it() {
    const REGISTRY: &str = "registry.redb";
    for is_outcome_known in [true, false] {
        let (disk, zone) = (TestDisk::default(), zone().await);
        let server = TestServer::on(disk.clone(), &complete("", &zone)).await;
        let setup = Setup { zone, server };
        setup.point_here("shop.test");
        let kind = if is_outcome_known { Kind::Write } else { Kind::Sync };
        let error = if is_outcome_known { ErrorKind::StorageFull } else { ErrorKind::Other };
        let mut has_failed = false;
        let failing = disk.fail(move |call| {
            // A disk that goes on failing lets nobody know the outcome.
            let fails = call.is(kind, REGISTRY) && !(is_outcome_known && std::mem::replace(&mut has_failed, true));
            fails.then_some(error)
        });
        let refused = setup.register("shop.test").await;
        let why = if is_outcome_known { (507, "storage_full") } else { (503, "store_unavailable") };
        assert_eq!((refused.0, outcome(&refused)), why);
        assert_eq!(setup.served("shop.test").await, "unknown");
        assert!(failing.failed() > 0);
        // The store may have the domain in the end, and then it is served.
        let disk = disk.kill();
        drop(failing);
        let next = TestServer::on(disk, &complete("", &setup.zone)).await;
        let kept = next.get("/api/domains/active").await.json();
        assert!(kept == json!([]) || (!is_outcome_known && kept == json!(["shop.test"])), "{kept}");
    }
}

#[tokio::test]
async fn a_registration_whose_caller_goes_away_is_whole_or_not_at_all() {
    let setup = Setup::new().await;
    for number in 0..50_u32 {
        let domain = format!("d{number}.test");
        setup.point_here(&domain);
        let patience = Duration::from_micros(u64::from(number) * 200);
        let wish = json!({ "domain": domain });
        // Each is another client, because one has only so many checks in a minute.
        let _ = tokio::time::timeout(patience, setup.register_as(&format!("198.51.100.{number}"), &wish)).await;
    }
    // A registration that is complete by now came after every change that was in progress.
    setup.point_here("last.test");
    assert_eq!(outcome(&setup.register("last.test").await), "created");
    let served = setup.active().await;
    let setup = setup.restarted("").await;
    assert_eq!(setup.active().await, served);
}
