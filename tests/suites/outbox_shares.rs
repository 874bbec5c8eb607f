//! Shares of the outbox: small ones for webhooks without a delivery so far, and others by registrant and origin.
//! Mechanism: it goes with the stored shares of the outbox.

use tempmail::model::{Client, Timestamp, Verdict, WebhookId, WebhookRecord};
use tempmail::store::{OutboxLimits, Storage, StoreOptions, WebhookFilter, WebhookLimits, WebhookRegistration};

use super::options;
use super::outbox::{attempt, pending, proven, webhook};
use super::outbox_bounds::receive;
use super::outbox_conformance::Open;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// 700,000 octets of it are for proven webhooks, 100,000 for the others.
const LIMITS: OutboxLimits = OutboxLimits { events_per_webhook: 1_000, octets_per_webhook: 64 << 20, octets: 800_000 };

fn with(outbox: OutboxLimits) -> StoreOptions {
    StoreOptions { outbox, message_octets_max: 2 << 20, segment_octets: 8 << 20, ..options() }
}

async fn add(store: &dyn Storage, record: WebhookRecord) -> WebhookId {
    let id = record.id;
    assert_eq!(store.register_webhook(record, WebhookLimits::UNBOUNDED).await, Ok(WebhookRegistration::New));
    id
}

fn by(registrant: u8) -> Client {
    Client::of([192, 0, 2, registrant].into())
}

async fn dropped(store: &dyn Storage, id: WebhookId) -> u64 {
    store.webhook(id).await.expect("read").expect("the webhook").dropped
}

pub async fn an_unproven_webhook_holds_twenty_events_or_a_megabyte_and_a_single_one_of_any_size(open: Open) {
    let store = open(with(OutboxLimits { octets: 1 << 30, ..LIMITS })).await;
    let id = add(&*store, webhook("a@example.test", "https://a.example/")).await;
    for _ in 0..25 {
        receive(&*store, "a@example.test", 10).await;
    }
    assert_eq!((pending(&*store, id).await.len(), dropped(&*store, id).await), (20, 5));
    receive(&*store, "a@example.test", (1 << 20) - 30).await;
    assert_eq!(pending(&*store, id).await.len(), 4, "its oldest made room");
    let large = add(&*store, webhook("b@example.test", "https://b.example/")).await;
    receive(&*store, "b@example.test", 1_200_000).await;
    assert_eq!(pending(&*store, large).await.len(), 1);
    // After a delivery it may have as many pending events as any other.
    let event = pending(&*store, id).await.remove(0);
    store.record_attempt(attempt(&event, Verdict::Delivered)).await.expect("record");
    for _ in 0..40 {
        receive(&*store, "a@example.test", 10).await;
    }
    assert_eq!(pending(&*store, id).await.len(), 43);
}

pub async fn unproven_webhooks_push_out_no_event_of_a_proven_one_whatever_their_number(open: Open) {
    let store = open(with(LIMITS)).await;
    let honest =
        add(&*store, WebhookRecord { registrant: Some(by(1)), ..proven("h@example.test", "https://h.example/") }).await;
    for _ in 0..6 {
        receive(&*store, "h@example.test", 100_000).await;
    }
    let mut strangers = Vec::new();
    for number in 0..200_u8 {
        let record = webhook(&format!("s{}@example.test", number % 10), &format!("https://s{number}.example/"));
        strangers.push(add(&*store, WebhookRecord { registrant: Some(by(number)), ..record }).await);
    }
    for number in 0..40 {
        receive(&*store, &format!("s{}@example.test", number % 10), 9_000).await;
    }
    receive(&*store, "h@example.test", 90_000).await;
    assert_eq!((pending(&*store, honest).await.len(), dropped(&*store, honest).await), (7, 0));
    let mut pending_events = 0;
    for stranger in strangers {
        pending_events += pending(&*store, stranger).await.len();
    }
    assert_eq!(pending_events, 100_000 / 9_000);
}

pub async fn unproven_webhooks_of_one_registrant_push_out_no_event_of_another_one(open: Open) {
    let store = open(with(LIMITS)).await;
    for number in 0..20_u8 {
        let record = webhook(&format!("s{number}@example.test"), &format!("https://s{number}.example/"));
        add(&*store, WebhookRecord { registrant: Some(by(1)), ..record }).await;
    }
    for number in 0..20 {
        receive(&*store, &format!("s{number}@example.test"), 6_000).await;
    }
    let record = webhook("n@example.test", "https://n.example/");
    let newcomer = add(&*store, WebhookRecord { registrant: Some(by(2)), ..record }).await;
    for number in 0..20 {
        receive(&*store, "n@example.test", 2_000).await;
        receive(&*store, &format!("s{number}@example.test"), 6_000).await;
    }
    assert_eq!((pending(&*store, newcomer).await.len(), dropped(&*store, newcomer).await), (20, 0));
}

pub async fn a_full_outbox_is_shared_by_registrant_and_by_origin_and_not_by_webhook(open: Open) {
    for shares_origin in [false, true] {
        let store = open(with(LIMITS)).await;
        let honest =
            add(&*store, WebhookRecord { registrant: Some(by(1)), ..proven("h@example.test", "https://h.example/") })
                .await;
        let mut greedy = Vec::new();
        for number in 0..40_u8 {
            let host = if shares_origin { "g".to_owned() } else { format!("g{number}") };
            let record = proven("g@example.test", &format!("https://{host}.example/{number}"));
            let registrant = Some(by(if shares_origin { 10 + number } else { 2 }));
            greedy.push(add(&*store, WebhookRecord { registrant, ..record }).await);
        }
        // The honest webhook has more pending events than each other one, and fewer than all others together.
        for _ in 0..2 {
            receive(&*store, "h@example.test", 120_000).await;
        }
        for _ in 0..5 {
            receive(&*store, "g@example.test", 20_000).await;
        }
        receive(&*store, "h@example.test", 60_000).await;
        assert_eq!((pending(&*store, honest).await.len(), dropped(&*store, honest).await), (3, 0), "{shares_origin}");
        let mut pushed_out = 0;
        for webhook in greedy {
            pushed_out += dropped(&*store, webhook).await;
        }
        assert!(pushed_out > 0);
    }
}

pub async fn each_registrant_has_a_limit_and_the_oldest_unproven_webhook_is_evicted(open: Open) {
    let store = open(with(LIMITS)).await;
    let at = |second: i64| Timestamp::from_millis(NOW.millis() + 1000 * second);
    let limits = WebhookLimits { per_registrant: 2, total: 4, unproven_before: at(10), ..WebhookLimits::UNBOUNDED };
    let record = |number: u8, registrant, second| WebhookRecord {
        registrant,
        created_at: at(second),
        ..webhook(&format!("a{number}@example.test"), &format!("https://o{}.example/", number % 2))
    };
    let register = async |record: WebhookRecord| (record.id, store.register_webhook(record, limits).await);
    let (first, answer) = register(WebhookRecord { last_delivery_at: Some(NOW), ..record(1, Some(by(1)), 1) }).await;
    assert_eq!(answer, Ok(WebhookRegistration::New));
    let (oldest, _) = register(record(2, Some(by(1)), 2)).await;
    assert_eq!(register(record(3, Some(by(1)), 3)).await.1, Ok(WebhookRegistration::FullForRegistrant));
    let (administrators, _) = register(record(4, None, 1)).await;
    let (young, _) = register(record(5, Some(by(2)), 20)).await;
    assert_eq!(
        register(record(6, None, 30)).await.1,
        Ok(WebhookRegistration::New),
        "the administrator's have no bound"
    );
    assert_eq!(store.webhook(oldest).await, Ok(None));
    assert_eq!(
        register(record(8, Some(by(3)), 32)).await.1,
        Ok(WebhookRegistration::Full),
        "the rest is proven, young, or the administrator's"
    );
    assert_eq!(store.delete_unproven_webhooks(at(31)).await, Ok(1));
    assert_eq!(store.webhook(young).await, Ok(None));
    for stored in [first, administrators] {
        assert!(store.webhook(stored).await.expect("read").is_some());
    }
    assert_eq!(register(record(7, Some(by(1)), 31)).await.1, Ok(WebhookRegistration::New), "its place is free again");
    let all = store.all_webhooks(WebhookFilter::default(), None, 9).await.expect("a page").webhooks;
    assert_eq!(all.len(), 4);
}

pub async fn all_webhooks_are_listed_in_pages_by_origin_and_domain(open: Open) {
    let store = open(with(LIMITS)).await;
    for number in 0..10 {
        let domain = if number < 4 { "one" } else { "two" };
        add(&*store, webhook(&format!("a{number}@{domain}.test"), &format!("https://o{}.example/", number % 2))).await;
    }
    let listed = async |filter: WebhookFilter| {
        let (mut count, mut after) = (0, None);
        loop {
            let page = store.all_webhooks(filter.clone(), after, 3).await.expect("a page");
            assert!(page.webhooks.len() <= 3);
            count += page.webhooks.len();
            after = page.next;
            if after.is_none() {
                return count;
            }
        }
    };
    let origin = Some("https://o1.example".to_owned());
    let domain = Some("one.test".parse().expect("domain"));
    assert_eq!(listed(WebhookFilter::default()).await, 10);
    assert_eq!(listed(WebhookFilter { origin: origin.clone(), domain: None }).await, 5);
    assert_eq!(listed(WebhookFilter { origin: origin.clone(), domain }).await, 2);
    assert_eq!(store.delete_webhooks_of_origin("https://o1.example".to_owned()).await, Ok(5));
    assert_eq!(listed(WebhookFilter { origin, domain: None }).await, 0);
    assert_eq!(listed(WebhookFilter::default()).await, 5);
}
