//! A replay uses only free room in the outbox, and drops no event.
//! Promise: it outlives the code below it.

use std::sync::Arc;
use std::time::Duration;

use tempmail::model::{AttemptRecord, PendingEvent, Timestamp, Verdict, WebhookId, WebhookStatus};
use tempmail::store::{ATTEMPTS_PER_RECORD, OutboxLimits, Replay, Replayed, Storage, StoreError};

use super::outbox::{attempt, pending, register};
use super::outbox_bounds::receive;
use super::outbox_conformance::{Open, within};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "a@example.test";

/// A replay's outcome: so many events are pending again, and so many found no room.
#[allow(clippy::unnecessary_wraps, reason = "it stands beside what a store answers")]
pub fn came_to(replayed: usize, no_room: usize) -> Result<Replayed, StoreError> {
    Ok(Replayed { replayed, no_room })
}

/// The lengths of pending events, in the order of its mail.
async fn waiting(store: &dyn Storage, webhook: WebhookId) -> Vec<u64> {
    let mut events = pending(store, webhook).await;
    events.sort_by_key(|event| event.email.sequence);
    events.iter().map(|event| event.email.size_octets).collect()
}

/// Ends the oldest event.
async fn deliver_oldest(store: &dyn Storage, webhook: WebhookId) {
    let oldest = pending(store, webhook).await.into_iter().min_by_key(|event| event.email.sequence).expect("an event");
    store.record_attempt(attempt(&oldest, Verdict::Delivered)).await.expect("note");
}

async fn dropped(store: &dyn Storage, webhook: WebhookId) -> u64 {
    store.webhook(webhook).await.expect("read").expect("the webhook").dropped
}

/// Five mails of 1 to 5 octets to a webhook that may have three events.
async fn full(open: Open) -> (Arc<dyn Storage>, WebhookId) {
    let store = open(within(OutboxLimits { events_per_webhook: 3, ..OutboxLimits::default() })).await;
    let id = register(&*store, TO, "https://a.example/").await;
    for octets in 1..=5 {
        receive(&*store, TO, octets).await;
    }
    assert_eq!(waiting(&*store, id).await, [3, 4, 5]);
    (store, id)
}

pub async fn a_replay_into_a_full_outbox_drops_nothing_and_says_so(open: Open) {
    let (store, id) = full(open).await;
    let log = store.attempts(id, 100, NOW).await.expect("log");
    for which in [Replay::Failed, Replay::Since(NOW)] {
        assert_eq!(store.replay(id, which, NOW).await, came_to(0, 2));
    }
    assert_eq!(store.replay(id, Replay::Event(log[0].event), NOW).await, came_to(0, 1));
    assert_eq!((waiting(&*store, id).await, dropped(&*store, id).await), (vec![3, 4, 5], 2));
    assert_eq!(store.attempts(id, 100, NOW).await, Ok(log));
}

pub async fn a_replay_takes_the_oldest_mail_first_and_another_one_the_rest(open: Open) {
    let (store, id) = full(open).await;
    deliver_oldest(&*store, id).await;
    assert_eq!(store.replay(id, Replay::Failed, NOW).await, came_to(1, 1));
    assert_eq!(waiting(&*store, id).await, [1, 4, 5]);
    deliver_oldest(&*store, id).await;
    assert_eq!(store.replay(id, Replay::Failed, NOW).await, came_to(1, 0));
    assert_eq!((waiting(&*store, id).await, dropped(&*store, id).await), (vec![2, 4, 5], 2));
}

/// Gives up the events, the last one first, so that the log has them in the reverse order of their mail.
async fn give_up(store: &dyn Storage, events: &[PendingEvent]) {
    for event in events.iter().rev() {
        store.record_attempt(attempt(event, Verdict::GivenUp)).await.expect("note");
    }
}

pub async fn the_octets_of_a_webhook_and_of_all_bound_a_replay(open: Open) {
    let one = OutboxLimits { octets_per_webhook: 1000, ..OutboxLimits::default() };
    let all = OutboxLimits { octets: 1500, ..OutboxLimits::default() };
    for limits in [one, all] {
        let store = open(within(limits)).await;
        let id = register(&*store, TO, "https://a.example/").await;
        let other = register(&*store, "b@example.test", "https://b.example/").await;
        for octets in [300, 400, 90, 10] {
            receive(&*store, TO, octets).await;
        }
        give_up(&*store, &pending(&*store, id).await).await;
        receive(&*store, TO, 500).await;
        receive(&*store, "b@example.test", 400).await;
        // The second does not fit behind the first, and is skipped.
        assert_eq!(store.replay(id, Replay::Failed, NOW).await, came_to(3, 1), "{limits:?}");
        assert_eq!((waiting(&*store, id).await, dropped(&*store, id).await), (vec![300, 90, 10, 500], 0), "{limits:?}");
        assert_eq!((waiting(&*store, other).await, dropped(&*store, other).await), (vec![400], 0), "{limits:?}");
    }
}

pub async fn a_replay_that_finds_no_room_leaves_a_webhook_disabled(open: Open) {
    let store = open(within(OutboxLimits { octets: 100, ..OutboxLimits::default() })).await;
    let id = register(&*store, TO, "https://a.example/").await;
    receive(&*store, TO, 60).await;
    let event = pending(&*store, id).await.remove(0);
    let gone =
        AttemptRecord { disables: Some("410 Gone".into()), status: Some(410), ..attempt(&event, Verdict::GivenUp) };
    store.record_attempt(gone).await.expect("note");
    let other = register(&*store, "b@example.test", "https://b.example/").await;
    receive(&*store, "b@example.test", 60).await;
    let status = async || store.webhook(id).await.expect("read").expect("webhook").status;
    assert_eq!(store.replay(id, Replay::Failed, NOW).await, came_to(0, 1));
    assert_eq!(status().await, WebhookStatus::Disabled("410 Gone".into()));
    // Events without room do not keep their messages alive either.
    assert_eq!(store.expire(NOW.plus(Duration::from_hours(2)), 100).await.expect("expire").removed, 2);
    assert_eq!(store.stats().await.expect("stats").live_octets, 60);
    assert_eq!(waiting(&*store, other).await, [60]);
}

pub async fn a_replay_takes_what_the_log_shows(open: Open) {
    let store = open(within(OutboxLimits::default())).await;
    let id = register(&*store, TO, "https://a.example/").await;
    for _ in 0..110 {
        receive(&*store, TO, 5).await;
    }
    // The log drops whole pages, so it has more records than it shows.
    for events in pending(&*store, id).await.chunks(ATTEMPTS_PER_RECORD) {
        let attempts = events.iter().map(|event| attempt(event, Verdict::Delivered)).collect();
        store.record_attempts(attempts).await.expect("note");
    }
    let shown = store.attempts(id, 1000, NOW).await.expect("log").len();
    assert_eq!((shown, store.replay(id, Replay::Since(NOW), NOW).await), (100, came_to(100, 0)));
}
