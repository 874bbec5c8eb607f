//! Limits, eviction, and what a registration changes.

use super::*;
use crate::store::mail::{Receiver, Webhooks};
use crate::store::receiver_health::ReceiverHealth;

fn limits(per_recipient: u32, per_registrant: u32, total: u32, unproven_before: i64) -> WebhookLimits {
    WebhookLimits { per_recipient, per_registrant, total, unproven_before: at(unproven_before) }
}

#[test]
fn the_same_webhook_is_registered_once_and_becomes_active_again() {
    let registry = EmbeddedRegistry::in_memory(SECRET).expect("registry");
    let all = limits(1, 1, 1, 0);
    registry.register_webhook(webhook(1, "x@a.example"), all).expect("new");
    registry.record(&[attempt(1, 1, 40), disabling(1)], &[true, true]).expect("record");
    let mut same = WebhookRecord { url: webhook(1, "x@a.example").url, ..webhook(2, "x@a.example") };
    same.last_mail_at = at(70);
    let (registration, evicted) = registry.register_webhook(same, all).expect("same");
    let expected = WebhookRecord { last_mail_at: at(70), ..webhook(1, "x@a.example") };
    assert_eq!((registration, evicted), (WebhookRegistration::Same(Box::new(expected.clone())), None));
    assert_eq!(registry.webhook(id(1)), Some(expected));
}

#[test]
fn the_limits_of_webhooks_hold_and_the_oldest_unproven_one_makes_way() {
    let registry = EmbeddedRegistry::in_memory(SECRET).expect("registry");
    let register = |record: WebhookRecord, limits| registry.register_webhook(record, limits).expect("answer");
    let proven = WebhookRecord { last_delivery_at: Some(at(1)), ..webhook(1, "a@a.example") };
    let of_administrator = WebhookRecord { registrant: None, ..webhook(2, "b@a.example") };
    for record in [proven, of_administrator, webhook(4, "c@a.example"), webhook(3, "c@a.example")] {
        assert_eq!(register(record, limits(9, 9, 9, 0)), (WebhookRegistration::New, None));
    }
    let next = webhook(5, "c@a.example");
    assert_eq!(register(next.clone(), limits(2, 9, 9, 9)), (WebhookRegistration::FullForRecipient, None));
    assert_eq!(register(next.clone(), limits(3, 3, 9, 9)), (WebhookRegistration::FullForRegistrant, None));
    let unlimited = WebhookRecord { registrant: None, ..next.clone() };
    assert_eq!(register(next.clone(), limits(3, 4, 4, 3)), (WebhookRegistration::Full, None));
    assert_eq!(register(unlimited, limits(3, 3, 4, 4)), (WebhookRegistration::New, Some(id(3))));
    assert_eq!(registry.webhooks(&next.mailbox).iter().map(|webhook| webhook.id).collect::<Vec<_>>(), [id(4), id(5)]);
    assert_eq!(registry.webhook_count(), 4);
}

#[test]
fn a_domain_that_is_registered_again_has_no_webhooks_of_before() {
    let dir = tempfile::tempdir().expect("directory");
    let registry = open(dir.path());
    registry.register_webhook(webhook(1, "x@a.example"), WebhookLimits::UNBOUNDED).expect("of before");
    registry.register_webhook(webhook(2, "x@b.example"), WebhookLimits::UNBOUNDED).expect("of another domain");
    registry.record(&[attempt(1, 1, 50)], &[true]).expect("record");
    assert_eq!(registry.register_domain(domain("c.example"), 0).expect("full"), (Registration::Full, vec![]));
    let won = registry.register_domain(domain("a.example"), 1).expect("won");
    assert_eq!(won, (Registration::Won, vec![id(1)]));
    assert_eq!(registry.register_domain(domain("c.example"), 1).expect("full"), (Registration::Full, vec![]));
    registry.flush().expect("flush");
    drop(registry);
    let registry = open(dir.path());
    assert_eq!(registry.webhooks(&mailbox("x@a.example")), []);
    assert!(registry.attempts(id(1), 10, at(60)).expect("log").is_empty());
    assert_eq!(registry.webhook_count(), 1);
}

#[test]
fn only_active_webhooks_get_events_in_the_order_of_their_registration() {
    let registry = EmbeddedRegistry::in_memory(SECRET).expect("registry");
    for (number, created_at) in [(1, 30), (2, 10), (3, 20)] {
        let record = WebhookRecord { created_at: at(created_at), ..webhook(number, "x@a.example") };
        registry.register_webhook(record, WebhookLimits::UNBOUNDED).expect("new");
    }
    registry.record(&[disabling(3)], &[true]).expect("record");
    let receivers = Webhooks::of(&registry, &mailbox("x@a.example"));
    assert_eq!(receivers.iter().map(|receiver| receiver.id).collect::<Vec<_>>(), [id(2), id(1)]);
    assert_eq!(receivers[0], Receiver { id: id(2), registrant: Some(client(1)), is_proven: false });
    assert!(Webhooks::get(&registry, id(3)).is_some(), "also the disabled one");
    assert_eq!(Webhooks::get(&registry, id(2)), Some(receivers[0]));
}

#[test]
fn ten_thousand_webhooks_and_domains_are_kept() {
    let dir = tempfile::tempdir().expect("directory");
    let registry = open(dir.path());
    let mut writer = registry.writer().expect("writer");
    let mut rows = Vec::new();
    for number in 0..10_000 {
        let name = format!("d{number}.example");
        rows.push(Row::put(Table::Domains, name.as_bytes(), &domain(&name)).expect("row"));
        let record = webhook(number, &format!("x@d{}.example", number % 100));
        rows.push(memory::WebhookRow { record, health: ReceiverHealth::default() }.row().expect("row"));
    }
    registry.change(&mut writer, &rows).expect("write");
    drop(writer);
    registry.record_mail(&mailbox("x@d7.example"), at(77_777));
    registry.flush().expect("flush");
    assert_eq!(copied(dir.path()), contents(&registry));
    let of_domain = WebhookFilter { domain: Some("d7.example".parse::<DomainName>().expect("domain")), origin: None };
    let (mut after, mut listed) = (None, 0);
    loop {
        let page = registry.all_webhooks(&of_domain, after, 33);
        listed += page.webhooks.len();
        assert!(page.webhooks.iter().all(|webhook| webhook.last_mail_at == at(77_777)));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((listed, registry.domain_count()), (100, 10_000));
    let answer =
        registry.register_webhook(webhook(10_000, "y@d1.example"), limits(9, 99_999, 10_000, 1)).expect("answer");
    assert_eq!(answer, (WebhookRegistration::New, Some(id(0))));
    assert_eq!(registry.delete_webhooks(&|webhook| webhook.id < id(2_600)).expect("delete").len(), 2_599);
    assert_eq!(copied(dir.path()), contents(&registry));
}
