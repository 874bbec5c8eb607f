//! Sample events: a test never waits, and few are in flight at once.

use std::time::Duration;

use futures_util::future::join_all;
use tempmail::clock::Clock;
use tempmail::model::Verdict;
use tempmail::store::Outbox;
use tempmail::webhook::{TestError, Tester};

use super::running::Running;
use crate::support::webhook_sink::Behaviour;

#[tokio::test]
async fn at_most_four_tests_are_in_flight() {
    let running = Running::new().await.with_timeout(Duration::from_secs(1));
    let (store, sink) = (&running.store, &running.sink);
    let id = running.register("a@example.test", "/", Behaviour::status(200)).await;
    let record = store.webhook(id).await.expect("read").expect("the webhook");
    let tester = Tester::new(running.sender());
    assert_eq!(tester.test(&record).await.expect("a test").verdict, Verdict::Delivered);
    sink.script("/", Behaviour::Hang);
    let tests = join_all((0..6).map(|_| tester.test(&record))).await;
    let (made, refused): (Vec<_>, Vec<_>) = tests.into_iter().partition(Result::is_ok);
    assert_eq!((made.len(), refused.len(), sink.connections()), (4, 2, 4));
    assert!(
        made.iter().flatten().all(|line| line.verdict == Verdict::GivenUp && line.error.as_deref() == Some("timeout"))
    );
    assert!(refused.iter().all(|test| matches!(test, Err(TestError::Full))));
    // The slots are free again.
    sink.script("/", Behaviour::status(200));
    assert_eq!(tester.test(&record).await.expect("a test").verdict, Verdict::Delivered);
    assert_eq!(store.attempts(id, 100, running.clock.now()).await.expect("log").len(), 6);
}
