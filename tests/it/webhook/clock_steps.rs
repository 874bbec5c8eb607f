//! A clock that is put back: nobody waits for a time that was set by the clock before.

use std::sync::Arc;
use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::model::{Timestamp, Verdict, WebhookLimits};
use tempmail::store::{EmbeddedStore, Outbox, Store};
use tempmail::webhook::{CallerSettings, dispatcher};
use tokio_util::sync::CancellationToken;

use super::ends::{IN_FLIGHT, NOW, Stepped, delivery_of, store, watched};
use crate::store::outbox::webhook;
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

/// More than the schedule's longest wait, and less.
const LONG: Duration = Duration::from_hours(3);
const STEP: Duration = Duration::from_mins(30);

fn before(at: Timestamp, by: Duration) -> Timestamp {
    Timestamp::from_millis(at.millis() - i64::try_from(by.as_millis()).expect("a short time"))
}

#[tokio::test]
async fn an_event_that_was_never_attempted_is_due_though_it_was_received_by_a_clock_that_was_ahead() {
    let stepped = Stepped::to(before(NOW, STEP), SetClock::ticking_from(NOW), 200).await;
    assert_eq!(stepped.verdicts(1).await, [Verdict::Delivered]);
}

/// A dispatcher whose first request is answered in some way, before the clock is put back.
struct Answered {
    store: Arc<EmbeddedStore>,
    sink: WebhookSink,
    clock: Arc<SetClock>,
    _dir: tempfile::TempDir,
}

impl Answered {
    async fn with(first: Behaviour, step: Duration) -> Self {
        let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
        let (store, id) = store(dir.path(), &sink).await;
        sink.script("/", Behaviour::InTurn(vec![first, Behaviour::status(200)]));
        store.receive(delivery(&["a@example.test"], "mail", NOW)).await.expect("receive");
        let clock = Arc::new(SetClock::ticking_from(NOW));
        let guard = watched(&*clock);
        let sender = delivery_of(&store, Arc::clone(&clock) as Arc<dyn Clock>, CallerSettings::default().timeout);
        tokio::spawn(dispatcher::run(sender, IN_FLIGHT, guard, CancellationToken::new()));
        sink.wait_for(1).await;
        while store.attempts(id, 1, clock.now()).await.is_ok_and(|log| log.is_empty()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        clock.step_to(before(NOW, step));
        clock.advance(Duration::from_secs(6));
        store.outbox_hint().notify_one();
        Self { store, sink, clock, _dir: dir }
    }

    fn requests(&self, path: &str) -> usize {
        self.sink.requests().iter().filter(|request| request.path == path).count()
    }
}

#[tokio::test]
async fn a_retry_that_would_wait_for_longer_than_any_is_due() {
    let answered = Answered::with(Behaviour::status(500), LONG).await;
    assert_eq!(answered.sink.wait_for(2).await.len(), 2);
}

#[tokio::test]
async fn a_receiver_that_asked_for_a_rest_has_it() {
    let answered = Answered::with(Behaviour::with_header(429, "retry-after", "3600"), STEP).await;
    let other = webhook("b@example.test", &answered.sink.url("/other"));
    let limits = WebhookLimits { per_recipient: 1, total: 2, ..WebhookLimits::UNBOUNDED };
    answered.store.register_webhook(other, limits).await.expect("register");
    answered.sink.script("/other", Behaviour::status(200));
    // Each is told after a look at all that waits.
    for told in 1..=5 {
        answered.clock.advance(Duration::from_secs(6));
        let now = answered.clock.now();
        answered.store.receive(delivery(&["b@example.test"], "mail", now)).await.expect("receive");
        while answered.requests("/other") < told {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    assert_eq!(answered.requests("/"), 1);
}
