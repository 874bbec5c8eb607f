//! Registering, pinning, listing, removing.

use futures_util::future::join_all;
use tempmail::dns::Failure;
use tempmail::domains::{DomainError, DomainTable, NewDomain, Served};
use tempmail::model::DomainStatus;
use tempmail::store::StoreError;

use super::{Setup, client, name, new};

#[tokio::test]
async fn a_domain_that_points_here_is_registered_and_served() {
    let setup = Setup::new().await;
    setup.point_here("shop.test");
    let table: DomainTable = setup.registry.table();
    let wish =
        NewDomain { owner: Some("Ann".to_owned()), email: Some("ann@example.test".to_owned()), ..new("Shop.TEST.") };
    let registered = setup.registry.register(wish, client(1)).await.expect("registered");
    assert!(registered.created);
    assert_eq!(registered.entry.domain, "shop.test");
    assert_eq!(registered.entry.status, DomainStatus::Active);
    assert!(registered.entry.added_at.is_some());
    assert_eq!(registered.entry.last_checked_at, registered.entry.added_at);
    assert_eq!(
        registered.entry.last_check_result.as_deref(),
        Some("The MX record of shop.test points at mx.tempmail.test")
    );
    assert_eq!(table.served(&name("shop.test")), Served::Active);
    assert_eq!(table.active(), [name("shop.test")]);
    assert_eq!(setup.registry.list().await.expect("list"), [registered.entry]);
    let stored = setup.store.record("shop.test").await.expect("kept");
    assert_eq!((stored.owner.as_deref(), stored.email.as_deref()), (Some("Ann"), Some("ann@example.test")));
}

#[tokio::test]
async fn a_domain_that_points_elsewhere_is_not_registered_and_the_record_to_create_is_named() {
    let setup = Setup::new().await;
    setup.point_elsewhere("shop.test");
    let Err(DomainError::MxMismatch(report)) = setup.register("shop.test").await else { panic!("a mismatch") };
    assert!(report.message.contains("mx.other.test"), "{}", report.message);
    assert!(report.message.ends_with("shop.test. IN MX 10 mx.tempmail.test."), "{}", report.message);
    assert_eq!(setup.served("shop.test"), Served::Unknown);
    assert_eq!(setup.store.record("shop.test").await, None);
}

#[tokio::test]
async fn a_web_site_at_our_address_is_not_registered_without_an_mx_record() {
    let setup = Setup::new().await;
    setup.zone.set_addresses("web.test", &["192.0.2.25"]);
    let Err(DomainError::MxMismatch(report)) = setup.register("web.test").await else { panic!("a mismatch") };
    assert_eq!(report.message, "web.test has no MX record. Create the record: web.test. IN MX 10 mx.tempmail.test.");
    assert_eq!(setup.store.record("web.test").await, None);
}

#[tokio::test]
async fn a_resolver_that_fails_says_nothing_about_the_domain() {
    let setup = Setup::new().await;
    setup.zone.servfail("shop.test");
    assert_eq!(setup.register("shop.test").await, Err(DomainError::Dns(Failure::ServerFailed)));
    assert_eq!(setup.served("shop.test"), Served::Unknown);
}

#[tokio::test]
async fn without_an_mx_host_nothing_is_checked() {
    let setup = Setup::with(|config| config.domains.mx_hosts.clear()).await;
    assert_eq!(setup.register("shop.test").await, Err(DomainError::MxHostUnset));
    assert_eq!(setup.registry.check(&name("shop.test"), None).await, Err(DomainError::MxHostUnset));
    assert_eq!(setup.registry.verify(None, false).await, Err(DomainError::MxHostUnset));
    assert!(setup.registry.pin(new("shop.test")).await.expect("pinned").created);
}

#[tokio::test]
async fn registering_again_checks_again_and_keeps_the_owner() {
    let setup = Setup::new().await;
    setup.point_here("shop.test");
    let first = NewDomain { owner: Some("Ann".to_owned()), ..new("shop.test") };
    setup.registry.register(first, client(1)).await.expect("registered");
    setup.clock.advance(std::time::Duration::from_mins(1));
    let stranger =
        NewDomain { owner: Some("Eve".to_owned()), email: Some("eve@evil.test".to_owned()), ..new("shop.test") };
    let again = setup.registry.register(stranger, client(2)).await.expect("registered");
    assert!(!again.created);
    assert!(again.entry.last_checked_at > again.entry.added_at);
    let stored = setup.store.record("shop.test").await.expect("kept");
    assert_eq!((stored.owner.as_deref(), stored.email), (Some("Ann"), None));
    assert_eq!(setup.zone.mx_questions("shop.test"), 2);
}

#[tokio::test]
async fn registering_again_never_deactivates() {
    let setup = Setup::new().await;
    setup.point_here("shop.test");
    setup.register("shop.test").await.expect("registered");
    setup.point_elsewhere("shop.test");
    assert!(matches!(setup.register("shop.test").await, Err(DomainError::MxMismatch(_))));
    assert_eq!(setup.served("shop.test"), Served::Active);
}

#[tokio::test]
async fn a_fixed_domain_is_answered_unchecked_and_not_stored() {
    let setup = Setup::with(|config| {
        config.domains.fixed = ["fixed.test", "*.dev.test"].map(|text| text.parse().expect(text)).to_vec();
    })
    .await;
    for domain in ["fixed.test", "any.dev.test"] {
        let answer = setup.register(domain).await.expect(domain);
        assert!(!answer.created && answer.entry.fixed, "{domain}");
        let pinned = setup.registry.pin(new(domain)).await.expect(domain);
        assert!(!pinned.created && pinned.entry.fixed, "{domain}");
        assert_eq!(setup.registry.remove(&name(domain)).await, Err(DomainError::Fixed), "{domain}");
        assert_eq!(setup.zone.mx_questions(domain), 0);
        assert_eq!(setup.store.record(domain).await, None);
        assert_eq!(setup.served(domain), Served::Active);
    }
    let listed: Vec<_> = setup.registry.list().await.expect("list").into_iter().map(|entry| entry.domain).collect();
    assert_eq!(listed, ["*.dev.test", "fixed.test"]);
    assert_eq!(setup.registry.table().active(), [name("fixed.test")]);
}

#[tokio::test]
async fn a_pinned_domain_is_active_without_dns() {
    let setup = Setup::new().await;
    let wish = NewDomain { owner: Some("Ann".to_owned()), ..new("shop.test") };
    let pinned = setup.registry.pin(wish).await.expect("pinned");
    assert!(pinned.created && pinned.entry.pinned);
    assert_eq!(pinned.entry.last_checked_at, None);
    assert!(!setup.register("shop.test").await.expect("answered").created);
    assert_eq!(setup.registry.verify(None, true).await.expect("round").checked, 0);
    assert_eq!(setup.served("shop.test"), Served::Active);
    let email = NewDomain { email: Some("ann@example.test".to_owned()), ..new("shop.test") };
    let again = setup.registry.pin(email).await.expect("pinned");
    assert!(!again.created);
    assert_eq!((again.entry.owner.as_deref(), again.entry.email.as_deref()), (Some("Ann"), Some("ann@example.test")));
    assert_eq!(setup.zone.mx_questions("shop.test"), 0);
}

#[tokio::test]
async fn no_more_domains_are_registered_than_permitted() {
    let setup = Setup::with(|config| config.domains.registered_max = 2).await;
    setup.register_many(2).await;
    setup.point_here("third.test");
    assert_eq!(setup.register("third.test").await, Err(DomainError::TooMany));
    assert_eq!(setup.zone.mx_questions("third.test"), 0);
    assert_eq!(setup.registry.pin(new("third.test")).await, Err(DomainError::TooMany));
    assert!(!setup.register("d0.test").await.expect("registered before").created);
    assert_eq!(setup.registry.remove(&name("d0.test")).await, Ok(true));
    assert!(setup.register("third.test").await.expect("room again").created);
}

#[tokio::test]
async fn a_client_has_a_number_of_domains_and_the_administrator_any() {
    let setup = Setup::with(|config| config.domains.registered_per_client_max = 2).await;
    let register = async |domain: &str, client| {
        setup.point_here(domain);
        setup.registry.register(new(domain), client).await
    };
    setup.register_many(2).await;
    assert_eq!(register("third.test", client(1)).await, Err(DomainError::TooManyOfClient(2)));
    assert_eq!(setup.zone.mx_questions("third.test"), 0);
    assert!(!register("d0.test", client(1)).await.expect("registered before").created);
    assert_eq!(register("third.test", client(2)).await.expect("another client").entry.registrant, client(2));
    for number in 0..3 {
        assert!(register(&format!("a{number}.test"), None).await.expect("the administrator").created);
    }
    // A deactivated domain keeps its place.
    setup.point_elsewhere("d0.test");
    setup.registry.verify(None, false).await.expect("round");
    assert_eq!(register("fourth.test", client(1)).await, Err(DomainError::TooManyOfClient(2)));
    // After a restart the limit is the same.
    let restarted = setup.restarted(|config| config.domains.registered_per_client_max = 2).await;
    assert_eq!(restarted.register(new("fourth.test"), client(1)).await, Err(DomainError::TooManyOfClient(2)));
    // What the administrator pins is the administrator's.
    setup.registry.pin(new("d1.test")).await.expect("pinned");
    assert!(register("fourth.test", client(1)).await.expect("room again").created);
    assert_eq!(setup.store.record("d1.test").await.expect("kept").registrant, None);
}

#[tokio::test]
async fn registrations_at_the_same_time_stay_within_the_limit_of_a_client() {
    let setup = Setup::with(|config| config.domains.registered_per_client_max = 2).await;
    let domains: Vec<String> = (0..8).map(|number| format!("d{number}.test")).collect();
    setup.all_point_here(&domains);
    let created = join_all(domains.iter().map(|domain| setup.register(domain))).await;
    assert_eq!(created.iter().filter(|result| result.is_ok()).count(), 2, "{created:?}");
}

#[tokio::test]
async fn a_removed_domain_is_not_served() {
    let setup = Setup::new().await;
    setup.point_here("shop.test");
    setup.register("shop.test").await.expect("registered");
    assert_eq!(setup.registry.remove(&name("shop.test")).await, Ok(true));
    assert_eq!(setup.registry.remove(&name("shop.test")).await, Ok(false));
    assert_eq!(setup.served("shop.test"), Served::Unknown);
    assert_eq!(setup.registry.list().await, Ok(Vec::new()));
}

#[tokio::test]
async fn domains_outlive_a_restart_in_their_state() {
    let setup = Setup::new().await;
    setup.register_many(2).await;
    setup.point_elsewhere("d1.test");
    setup.registry.verify(None, false).await.expect("round");
    let restarted = setup.restarted(|_| ()).await;
    assert_eq!(restarted.table().served(&name("d0.test")), Served::Active);
    assert_eq!(restarted.table().served(&name("d1.test")), Served::Deactivated);
}

#[tokio::test]
async fn a_domain_is_served_only_when_the_store_has_it() {
    let setup = Setup::new().await;
    setup.point_here("shop.test");
    setup.store.fail_changes(Some(StoreError::Full));
    assert_eq!(setup.register("shop.test").await, Err(DomainError::Store(StoreError::Full)));
    assert_eq!(setup.served("shop.test"), Served::Unknown);
    // The store may have the domain in the end, and then it is served.
    setup.store.fail_changes(Some(StoreError::OutcomeUnknown));
    assert_eq!(setup.register("shop.test").await, Err(DomainError::Store(StoreError::OutcomeUnknown)));
    assert_eq!(setup.served("shop.test"), Served::Active);
}

#[tokio::test]
async fn a_registration_whose_caller_goes_away_is_whole_or_not_at_all() {
    let setup = Setup::new().await;
    for number in 0..50_u32 {
        let domain = format!("d{number}.test");
        setup.point_here(&domain);
        let patience = std::time::Duration::from_micros(u64::from(number) * 40);
        let _ = tokio::time::timeout(patience, setup.register(&domain)).await;
    }
    // A registration that is complete by now came after every change that was in progress.
    setup.point_here("last.test");
    setup.register("last.test").await.expect("registered");
    for number in 0..50_u32 {
        let domain = format!("d{number}.test");
        let is_kept = setup.store.record(&domain).await.is_some();
        assert_eq!(setup.served(&domain) == Served::Active, is_kept, "{domain}");
    }
}
