//! A daemon ends when the writer of its store has ended, because it could store no more mail.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::Value;
use tempmail::config::{Config, Revision};
use tempmail::daemon::{Daemon, DaemonError, Inherited, Listeners, assemble};
use tempmail::error::{Error, Exit};
use tempmail::model::Timestamp;
use tempmail::panics::Panics;
use tempmail::store::{EmbeddedStore, StoreError, StoreOptions};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::support::clock::SetClock;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::recording_disk::RecordingDisk;
use crate::support::smtp_peer::SmtpPeer;

const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_daemon_whose_writer_has_ended_stops_with_an_error() {
    let mut config = Config::of_revision(Revision::Two, "/nonexistent".into());
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    (config.smtp.listen, config.http.listen) = (vec![any_port], vec![any_port.into()]);
    config.store.segment_octets = 1 << 20;
    let disk = FaultyDisk::on(RecordingDisk::default());
    let options = StoreOptions::from_config(&config);
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &options).expect("open"));
    let clock = Arc::new(SetClock::at(START));
    // This is the same interface without the daemon's sockets, which close when it stops.
    let interface = assemble(config.clone(), store.clone(), clock.clone(), None).await.expect("assemble");
    let listeners = Listeners::bind(&config, Inherited::default()).expect("free ports");
    let smtp = listeners.smtp_addresses()[0];
    let daemon =
        Daemon::new(config, store, listeners, None, Vec::new(), clock, Panics::default()).await.expect("daemon");
    let running = tokio::spawn(daemon.run(CancellationToken::new()));

    let mut peer = SmtpPeer::greeted(smtp).await;
    peer.deliver("hello@example.test", "Subject: kept\r\n\r\n").await;
    disk.fail(|operation, name| {
        assert!(operation != Operation::Write || !name.starts_with("journal-"), "injected");
        None
    });
    peer.begin_data("hello@example.test").await;
    peer.send("Subject: lost\r\n\r\n.\r\n").await;
    peer.expect_closed().await;

    let ended = tokio::time::timeout(PATIENCE, running).await.expect("an end in time").expect("no panic");
    let error = ended.expect_err("an end that is a failure");
    assert!(matches!(error, DaemonError::Store(StoreError::WriterEnded)), "{error}");
    assert_eq!(Error::from(error).exit(), Exit::Failure);

    let request = Request::get("/readyz").body(Body::empty()).expect("request");
    let answer = interface.router.oneshot(request).await.expect("infallible");
    assert_eq!(answer.status(), 503);
    let body: Value =
        serde_json::from_slice(&answer.into_body().collect().await.expect("body").to_bytes()).expect("JSON");
    assert_eq!(body["cause"], "writer_ended");
}
