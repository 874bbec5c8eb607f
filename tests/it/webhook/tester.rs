//! Sample events: what is sent on request waits for nothing and has bounds of its own.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tempmail::clock::{Clock, SystemClock};
use tempmail::model::Verdict;
use tempmail::store::Outbox;
use tempmail::webhook::{TestError, Tester};

use super::ends::{delivery_of, store};
use crate::support::webhook_sink::{Behaviour, WebhookSink};

#[tokio::test]
async fn four_tests_are_under_way_at_most() {
    let (dir, sink) = (tempfile::tempdir().expect("directory"), WebhookSink::start().await);
    let (store, id) = store(dir.path(), &sink).await;
    let record = store.webhook(id).await.expect("read").expect("the webhook");
    let tester = Tester::new(delivery_of(&store, Arc::new(SystemClock), Duration::from_secs(1)));
    // An address on probation is called by one at a time.
    assert_eq!(tester.test(&record).await.expect("a test").verdict, Verdict::Delivered);
    sink.script("/", Behaviour::Hang);
    let tests = join_all((0..6).map(|_| tester.test(&record))).await;
    let (made, refused): (Vec<_>, Vec<_>) = tests.into_iter().partition(Result::is_ok);
    assert_eq!((made.len(), refused.len(), sink.connections()), (4, 2, 4));
    assert!(
        made.iter().flatten().all(|line| line.verdict == Verdict::GivenUp && line.error.as_deref() == Some("timeout"))
    );
    assert!(refused.iter().all(|test| matches!(test, Err(TestError::Full))));
    // A place is given back.
    sink.script("/", Behaviour::status(200));
    assert_eq!(tester.test(&record).await.expect("a test").verdict, Verdict::Delivered);
    assert_eq!(store.attempts(id, 100, SystemClock.now()).await.expect("log").len(), 6);
}
