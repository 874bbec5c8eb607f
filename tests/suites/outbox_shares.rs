//! Shares of the outbox: nobody's dead receivers cost others their events.
//! Promise: it outlives the code below it.

use tempmail::model::{Client, Timestamp, Verdict, WebhookId, WebhookRecord};
use tempmail::store::{
    OutboxLimits, Replay, Storage, StoreOptions, WebhookFilter, WebhookLimits, WebhookRegistration, WebhookSweep,
};

use super::options;
use super::outbox::{attempt, pending, proven, webhook};
use super::outbox_bounds::{errors, receive};
use super::outbox_conformance::Open;
use super::replays::came_to;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// A client may have 50,000 octets, a network 200,000, and unproven webhooks find room below 600,000.
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

/// A client of a network of its own.
fn stranger(number: u8) -> Client {
    Client::of([198, 18, number, 1].into())
}

/// Proven or unproven webhooks of one mailbox, one of each registrant. A mail for it gives each an event.
async fn add_all(
    store: &dyn Storage,
    to: &str,
    is_proven: bool,
    registrants: impl Iterator<Item = Client>,
) -> Vec<WebhookId> {
    let mut ids = Vec::new();
    for (number, registrant) in registrants.enumerate() {
        let url = format!("https://r{number}.example/");
        let record = if is_proven { proven(to, &url) } else { webhook(to, &url) };
        ids.push(add(store, WebhookRecord { registrant: Some(registrant), ..record }).await);
    }
    ids
}

/// The numbers of pending events.
async fn waiting(store: &dyn Storage, ids: &[WebhookId]) -> Vec<usize> {
    let mut waiting = Vec::new();
    for id in ids {
        waiting.push(pending(store, *id).await.len());
    }
    waiting
}

pub async fn webhooks_of_strangers_in_many_networks_cost_a_proven_one_nothing(open: Open) {
    let store = open(with(LIMITS)).await;
    let honest = add_all(&*store, "h@example.test", true, std::iter::once(by(1))).await;
    receive(&*store, "h@example.test", 10_000).await;
    let mut strangers = Vec::new();
    for mailbox in 0..10_u8 {
        let registrants = (20 * mailbox..20 * (mailbox + 1)).map(stranger);
        strangers.extend(add_all(&*store, &format!("s{mailbox}@example.test"), false, registrants).await);
    }
    for number in 0..20 {
        receive(&*store, &format!("s{}@example.test", number % 10), 9_000).await;
    }
    for _ in 0..4 {
        receive(&*store, "h@example.test", 10_000).await;
    }
    assert_eq!((pending(&*store, honest[0]).await.len(), dropped(&*store, honest[0]).await), (5, 0));
    assert_eq!(waiting(&*store, &strangers).await.iter().sum::<usize>(), (600_000 - 10_000) / 9_000);
}

pub async fn the_webhooks_of_one_registrant_have_a_sixteenth_of_the_outbox(open: Open) {
    for is_proven in [false, true] {
        let store = open(with(LIMITS)).await;
        let greedy = add_all(&*store, "g@example.test", is_proven, std::iter::repeat_n(by(1), 10)).await;
        let neighbour = add_all(&*store, "n@example.test", is_proven, std::iter::once(by(2))).await;
        for _ in 0..2 {
            receive(&*store, "g@example.test", 4_000).await;
        }
        // Ten of the first message and two of the second. The new ones went, and not those that were there.
        let pending_events = waiting(&*store, &greedy).await;
        assert!(pending_events.iter().all(|events| *events >= 1), "{pending_events:?}");
        assert_eq!(pending_events.iter().sum::<usize>(), 50_000 / 4_000);
        for _ in 0..10 {
            receive(&*store, "n@example.test", 5_000).await;
        }
        assert_eq!((waiting(&*store, &neighbour).await, dropped(&*store, neighbour[0]).await), (vec![10], 0));
        // What has ended makes room.
        for id in &greedy {
            for event in pending(&*store, *id).await {
                store.record_attempt(attempt(&event, Verdict::GivenUp)).await.expect("record");
            }
        }
        receive(&*store, "g@example.test", 4_000).await;
        assert_eq!(waiting(&*store, &greedy).await, [1; 10]);
    }
}

pub async fn the_webhooks_of_one_network_have_a_quarter_of_the_outbox(open: Open) {
    let store = open(with(LIMITS)).await;
    let network = add_all(&*store, "g@example.test", true, (1..=8).map(by)).await;
    let other = add_all(&*store, "o@example.test", true, std::iter::once(stranger(1))).await;
    receive(&*store, "g@example.test", 40_000).await;
    receive(&*store, "o@example.test", 40_000).await;
    assert_eq!(waiting(&*store, &network).await.iter().sum::<usize>(), 200_000 / 40_000);
    assert_eq!(waiting(&*store, &other).await, [1]);
}

pub async fn an_event_without_room_is_in_the_log_and_takes_none_away(open: Open) {
    let store = open(with(LIMITS)).await;
    let id = add_all(&*store, "a@example.test", true, std::iter::once(by(1))).await[0];
    for octets in [30_000, 20_001, 50_001, 20_000] {
        receive(&*store, "a@example.test", octets).await;
    }
    let sizes: Vec<u64> = pending(&*store, id).await.iter().map(|event| event.email.size_octets).collect();
    assert_eq!((sizes, dropped(&*store, id).await), (vec![30_000, 20_000], 2));
    assert_eq!(errors(&*store, id).await, [Some("outbox_full".into()), Some("outbox_full".into())]);
    // A replay keeps to the share as well.
    assert_eq!(store.replay(id, Replay::Failed, NOW).await, came_to(0, 2));
}

pub async fn the_administrators_webhooks_have_all_of_the_outbox(open: Open) {
    let store = open(with(LIMITS)).await;
    let first = add(&*store, proven("a@example.test", "https://a.example/")).await;
    for _ in 0..3 {
        receive(&*store, "a@example.test", 250_000).await;
    }
    let stranger = add_all(&*store, "s@example.test", false, std::iter::once(stranger(1))).await;
    receive(&*store, "s@example.test", 10).await;
    assert_eq!(waiting(&*store, &stranger).await, [0], "the last quarter is for proven webhooks");
    receive(&*store, "a@example.test", 50_001).await;
    receive(&*store, "a@example.test", 50_000).await;
    assert_eq!((pending(&*store, first).await.len(), dropped(&*store, first).await), (4, 1));
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
    assert_eq!(store.delete_webhooks(WebhookSweep::UnprovenSince(at(31))).await, Ok(1));
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
    assert_eq!(store.delete_webhooks(WebhookSweep::Origin("https://o1.example".to_owned())).await, Ok(5));
    assert_eq!(listed(WebhookFilter { origin, domain: None }).await, 0);
    assert_eq!(listed(WebhookFilter::default()).await, 5);
}
