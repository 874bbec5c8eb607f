//! `/metrics` of a daemon: it shows the daemon's work, and the cause if no mail is accepted.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tempmail::config::{Config, Revision};
use tempmail::daemon::assemble;
use tempmail::http::Principal;
use tempmail::model::{Caps, Timestamp, WhenFull};
use tempmail::store::{EmbeddedStore, Storage, Store, StoreOptions};
use tower::ServiceExt;

use crate::support::clock::SetClock;
use crate::support::exposition::Exposition;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::http;
use crate::support::mail::delivery;
use crate::support::program::Program;
use crate::support::quota_disk::QuotaDisk;
use crate::support::recording_disk::RecordingDisk;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::steady::while_steady;
use crate::support::test_server::TestServer;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "hello@example.test";
const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const CAUSES: [&str; 4] = ["storage_full", "store_unavailable", "writer_ended", "stopping"];

/// The cause in the metrics, of which there is at most one. `None` while mail is accepted.
fn cause(exposition: &Exposition) -> Option<&'static str> {
    let is_present = |cause: &&str| exposition.value("tempmail_store_trouble", &[("cause", cause)]) > 0;
    let present: Vec<&str> = CAUSES.into_iter().filter(is_present).collect();
    assert!(present.len() <= 1, "{present:?}");
    let accepts_mail = exposition.value("tempmail_store_accepts_mail", &[]);
    // For a moment mail may be accepted while a read has failed, which is a cause as well.
    assert!(accepts_mail > 0 || !present.is_empty(), "mail is refused without a cause");
    present.first().copied()
}

#[tokio::test]
async fn revision_1_has_all_but_those_of_webhooks() {
    let names = async |revision| {
        let server = TestServer::of_revision(revision, |_| {}).await;
        // The first scrape can't count itself.
        Exposition::of(server.http()).await;
        let exposition = Exposition::of(server.http()).await;
        server.stop().await;
        exposition.families.into_keys().collect::<Vec<_>>()
    };
    let (mut expected, found) = (names(Revision::Two).await, names(Revision::One).await);
    let all = expected.len();
    expected.retain(|name| !name.contains("webhook"));
    assert_eq!((found, all - expected.len()), (expected, 6));
}

#[tokio::test]
async fn mail_and_refusals_are_counted() {
    let server = TestServer::with_config(|config| {
        config.mail.message_octets_max = 2_000;
        config.mail.caps = Caps { emails_per_mailbox: 2, when_full: WhenFull::DropOldest, ..Caps::default() };
    })
    .await;
    let before = Exposition::of(server.http()).await;
    assert_eq!(before.value("tempmail_build_info", &[("version", env!("CARGO_PKG_VERSION")), ("revision", "2")]), 1);
    assert_eq!(before.value("tempmail_start_time_seconds", &[]), 1_700_000_000);
    assert_eq!(before.value("tempmail_smtp_connections", &[]), 0);

    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    assert_eq!(Exposition::of(server.http()).await.value("tempmail_smtp_connections", &[]), 1);
    for number in 0..3 {
        peer.deliver(TO, &format!("Subject: {number}\r\n\r\ntext\r\n")).await;
    }
    peer.command("MAIL FROM:<ann@sender.test>", "250").await;
    peer.command("RCPT TO:<nobody@elsewhere.test>", "550 5.1.2").await;
    peer.command("RSET", "250").await;
    peer.command("MAIL FROM:<ann@sender.test> SIZE=5000", "552").await;
    peer.command("QUIT", "221").await;
    let (status, _) = http::get(server.http(), "/api/mail/messages?to=nobody").await;
    assert_eq!(status, 400);
    let inbox = http::inbox(server.http(), TO).await;
    let id = inbox["emails"][0]["id"].as_str().expect("an id").to_owned();
    let url = format!("http://{}/api/mail/delete?id={id}", server.http());
    assert_eq!(http::client().delete(url).send().await.expect("an answer").status(), 200);

    let ended = [("reason", "quit")];
    let after = Exposition::until(server.http(), "the session has ended", |exposition| {
        exposition.value("tempmail_smtp_sessions_ended_total", &ended) > 0
            && exposition.value("tempmail_smtp_connections", &[]) == 0
            && exposition.value("tempmail_store_queued_changes", &[]) == 0
    })
    .await;
    assert!(after.follows(&before));
    for (name, labels, value) in [
        ("tempmail_smtp_sessions_total", &[][..], 1),
        ("tempmail_smtp_messages_total", &[], 3),
        ("tempmail_smtp_recipients_total", &[], 3),
        ("tempmail_smtp_received_bytes_total", &[], 3 * 22),
        ("tempmail_smtp_replies_total", &[("class", "3yz")], 3),
        ("tempmail_smtp_replies_total", &[("class", "5yz")], 2),
        ("tempmail_smtp_refusals_total", &[("limit", "messageSize")], 1),
        ("tempmail_store_emails", &[], 1),
        ("tempmail_store_messages", &[], 1),
        ("tempmail_store_emails_removed_total", &[("reason", "madeWay")], 1),
        ("tempmail_store_emails_removed_total", &[("reason", "deleted")], 1),
        ("tempmail_store_emails_removed_total", &[("reason", "expired")], 0),
        ("tempmail_store_queued_changes", &[], 0),
        ("tempmail_store_index_reopened_total", &[], 0),
        ("tempmail_domains", &[("status", "active")], 1),
        ("tempmail_http_requests_total", &[("route", "/api/mail/messages"), ("class", "4xx")], 1),
        ("tempmail_http_requests_total", &[("route", "/api/mail/messages"), ("class", "2xx")], 1),
        ("tempmail_http_requests_total", &[("route", "/api/mail/delete"), ("class", "2xx")], 1),
        ("tempmail_http_requests_in_flight", &[], 1),
    ] {
        assert_eq!(after.value(name, labels), value, "{name} {labels:?}");
    }
    assert!(after.value("tempmail_store_commit_seconds_count", &[]) >= 4, "three messages and a deletion");
    let shown = async || Exposition::of(server.http()).await.value("tempmail_store_disk_bytes", &[]);
    let (stored, shown) = while_steady(|| server.stats(), shown).await;
    assert_eq!(shown, stored.disk_octets);
    assert!(stored.index_octets > 0 && stored.index_octets < stored.disk_octets, "{stored:?}");
    assert_eq!(cause(&after), None);

    server.in_time(|stats| stats.emails == 0).await;
    let expired = Exposition::of(server.http()).await;
    assert_eq!(expired.value("tempmail_store_emails_removed_total", &[("reason", "expired")]), 1);
    assert!(expired.follows(&after));
    server.stop().await;
}

#[tokio::test]
async fn what_webhooks_come_to_is_counted() {
    let sink = WebhookSink::start().await;
    for (path, status) in [("/good", 200), ("/bad", 500), ("/gone", 410)] {
        sink.script(path, Behaviour::status(status));
    }
    let server = TestServer::ticking_config(|config| {
        config.webhooks.allow = vec!["127.0.0.0/8".parse().expect("network")];
        config.webhooks.outbox_events_max = 1;
    })
    .await;
    for path in ["/good", "/bad", "/gone"] {
        let body = json!({ "recipient": format!("{}@example.test", &path[1..]), "url": sink.url(path) });
        let url = format!("http://{}/api/webhooks", server.http());
        assert_eq!(http::client().post(url).json(&body).send().await.expect("an answer").status(), 201);
    }
    // The outbox has room for one event, so each must have ended before the next one comes.
    for (to, ended) in [("good", 1), ("gone", 2)] {
        server.send(&format!("{to}@example.test"), "event", "").await;
        Exposition::until(server.http(), "the event has ended", |exposition| {
            let value = |name, labels| exposition.value(name, labels);
            value("tempmail_webhook_attempts_total", &[("result", "delivered")])
                + value("tempmail_webhook_events_given_up_total", &[])
                == ended
                && value("tempmail_webhook_events_waiting", &[]) == 0
        })
        .await;
    }
    server.send("bad@example.test", "event", "").await;
    let shown = Exposition::until(server.http(), "all metrics are as expected", |exposition| {
        exposition.value("tempmail_webhook_attempts_total", &[("result", "delivered")]) == 1
            && exposition.value("tempmail_webhook_attempts_total", &[("result", "http_status")]) >= 2
            && exposition.value("tempmail_webhook_events_waiting", &[]) == 1
    })
    .await;
    for (name, value) in [
        ("tempmail_webhooks", 3),
        ("tempmail_webhooks_disabled_total", 1),
        ("tempmail_webhook_events_given_up_total", 1),
        ("tempmail_webhook_events_dropped_total", 0),
    ] {
        assert_eq!(shown.value(name, &[]), value, "{name}");
    }
    // The outbox has room for one event, so the older one is dropped.
    server.send("bad@example.test", "another", "").await;
    let dropped = Exposition::of(server.http()).await;
    assert_eq!(dropped.value("tempmail_webhook_events_dropped_total", &[]), 1);
    assert_eq!(dropped.value("tempmail_webhook_events_waiting", &[]), 1);
    assert!(dropped.follows(&shown));
    server.stop().await;
}

/// The daemon's name of a fault, its reply to senders, and the operations of the disk that fail.
type Fault = (&'static str, &'static str, fn(&FaultyDisk, &QuotaDisk));

#[tokio::test]
async fn readiness_status_and_metrics_tell_the_same_cause_while_the_disk_fails() {
    let faults: [Fault; 3] = [
        ("storage_full", "452 4.3.1", |_, quota| quota.fill()),
        ("storage_full", "452 4.3.1", |disk, _| {
            disk.fail(|operation, _| (operation == Operation::FreeOctets).then_some(ErrorKind::StorageFull));
        }),
        ("store_unavailable", "451 4.3.0", |disk, _| {
            disk.fail(|operation, _| (operation != Operation::FreeOctets).then_some(ErrorKind::Other));
        }),
    ];
    for (wanted, refusal, break_disk) in faults {
        let quota = QuotaDisk::with_room_for(64 << 20);
        let disk = FaultyDisk::on(quota.clone());
        let server = TestServer::on_config(disk.clone(), |config| config.store.segment_octets = 1 << 20).await;
        server.send(TO, "kept", "text").await;
        assert_eq!(cause_over_sockets(&server).await, (None, None, None));

        break_disk(&disk, &quota);
        // Some faults are found only by a request that meets them.
        let _ = server.store().receive(delivery(&[TO], "lost or kept", START)).await;
        Exposition::until(server.http(), "the metrics tell it", |exposition| cause(exposition) == Some(wanted)).await;
        let mut peer = SmtpPeer::greeted(server.smtp()).await;
        peer.command("EHLO client.test", "250").await;
        peer.command("MAIL FROM:<ann@sender.test>", refusal).await;
        let wanted = Some(wanted.to_owned());
        assert_eq!(cause_over_sockets(&server).await, (wanted.clone(), wanted.clone(), wanted));
        let exposition = Exposition::of(server.http()).await;
        assert!(exposition.value("tempmail_smtp_replies_total", &[("class", "4yz")]) >= 1);

        disk.heal();
        quota.give_room(64 << 20);
        Exposition::until(server.http(), "mail is accepted again", |exposition| cause(exposition).is_none()).await;
        server.send(TO, "again", "text").await;
        assert_eq!(cause_over_sockets(&server).await, (None, None, None));
        server.stop().await;
    }
}

/// The cause in `/readyz`, in `tempmail status` and in `/metrics`.
async fn cause_over_sockets(server: &TestServer) -> (Option<String>, Option<String>, Option<String>) {
    let (status, readiness) = http::get(server.http(), "/readyz").await;
    assert_eq!(status, if readiness["cause"].is_null() { 200 } else { 503 }, "{readiness}");
    let shown = server.tempmail(&["status", "--json"]).await;
    let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(shown["acceptsMail"], shown["cause"].is_null(), "{shown}");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let metric = cause(&Exposition::of(server.http()).await).map(str::to_owned);
    (text(&readiness["cause"]), text(&shown["cause"]), metric)
}

/// Some causes close the daemon's sockets, so this asks the router itself.
#[tokio::test]
async fn readiness_status_and_metrics_tell_the_same_cause_at_the_end() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let (store, router) = interface(&disk).await;
    assert_eq!(cause_by(&router).await, [None, None, None]);
    store.close().await.expect("close");
    assert_eq!(cause_by(&router).await, ["stopping"; 3].map(|cause| Some(cause.to_owned())));

    let disk = FaultyDisk::on(RecordingDisk::default());
    let (store, router) = interface(&disk).await;
    disk.fail(|operation, name| {
        assert!(operation != Operation::Write || !name.starts_with("journal-"), "injected");
        None
    });
    store.receive(delivery(&[TO], "text", START)).await.expect_err("the writer has ended");
    // A request that waited for the writer fails while the writer ends.
    store.ended().await;
    assert_eq!(cause_by(&router).await, ["writer_ended"; 3].map(|cause| Some(cause.to_owned())));
}

async fn interface(disk: &FaultyDisk) -> (Arc<EmbeddedStore>, Router) {
    let mut config = Config::of_revision(Revision::Two, "/nonexistent".into());
    config.store.segment_octets = 1 << 20;
    let options = StoreOptions::from_config(&config);
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &options).expect("open"));
    let clock = Arc::new(SetClock::at(START));
    let assembled = assemble(config, store.clone(), clock, None).await.expect("assemble");
    (store, assembled.router)
}

async fn cause_by(router: &Router) -> [Option<String>; 3] {
    let ask = async |path: &str| {
        let request = Request::get(path).extension(Principal::Administrator).body(Body::empty()).expect("request");
        let answer = router.clone().oneshot(request).await.expect("infallible");
        let body = answer.into_body().collect().await.expect("body").to_bytes();
        String::from_utf8(body.to_vec()).expect("UTF-8")
    };
    let of_json = |text: String| {
        let value: Value = serde_json::from_str(&text).expect("JSON");
        value["cause"].as_str().map(str::to_owned)
    };
    let metric = cause(&Exposition::parse(&ask("/metrics").await)).map(str::to_owned);
    [of_json(ask("/readyz").await), of_json(ask("/api/admin/status").await), metric]
}

/// Labels are words of the program, however many addresses, domains, paths and clients there were.
#[tokio::test]
async fn nothing_from_outside_becomes_a_label() {
    let server =
        TestServer::with_config(|config| config.domains.fixed.push("*.wild.test".parse().expect("pattern"))).await;
    let visit = async |word: &str| {
        server.send(&format!("{word}@{word}.wild.test"), word, word).await;
        let mut peer = SmtpPeer::greeted(server.smtp()).await;
        peer.command(&format!("EHLO {word}.test"), "250").await;
        peer.command(&format!("MAIL FROM:<{word}@sender.test>"), "250").await;
        peer.command(&format!("RCPT TO:<{word}@{word}.unknown>"), "550").await;
        peer.command("QUIT", "221").await;
        for path in [
            format!("/api/mail/messages?to={word}@{word}.wild.test"),
            format!("/api/mail/messages/{word}"),
            format!("/api/mail/messages/{word}/raw"),
            format!("/api/admin/{word}"),
            format!("/{word}"),
            format!("/{word}/{word}"),
        ] {
            http::get(server.http(), &path).await;
        }
    };
    visit("findable").await;
    let url = format!("http://{}/metrics", server.http());
    let text = http::client().get(&url).send().await.expect("an answer").text().await.expect("text");
    let first = Exposition::parse(&text);
    for word in ["findable", "wild.test", "sender.test", "127.0.0.1"] {
        assert!(!text.contains(word), "{word} is in\n{text}");
    }
    for number in 0..20 {
        visit(&format!("findable{number}")).await;
    }
    let last = Exposition::of(server.http()).await;
    // The first scrape could not count itself.
    assert_eq!(last.samples(), first.samples() + 4);
    let unknown = [("route", "none"), ("class", "4xx")];
    assert_eq!(last.value("tempmail_http_requests_total", &unknown), 3 * 21);
    assert!(last.follows(&first));
    server.stop().await;
}

#[tokio::test]
async fn a_panic_is_counted_by_its_module() {
    let server = TestServer::start().await;
    let (panics, before) = (server.panics.clone(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| {
        panics.record(info);
        before(info);
    }));
    let name = "tempmail_panics_total";
    std::thread::spawn(|| panic!("on purpose")).join().expect_err("a panic");
    Exposition::until(server.http(), "the panic is counted", |it| it.value(name, &[("module", "elsewhere")]) > 0).await;
    server.stop().await;
}

#[tokio::test]
async fn metrics_on_an_address_of_their_own_are_nowhere_else() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &["--metrics-listen", "127.0.0.1:0"]);
    let shown: Value = serde_json::from_str(&daemon.tempmail(&["status", "--json"]).stdout).expect("JSON");
    let own: SocketAddr = shown["metricsListen"][0].as_str().and_then(|text| text.parse().ok()).expect("an address");
    let statuses = async |at, path| http::get(at, path).await.0;
    for (path, on_own, elsewhere) in
        [("/metrics", 200, 404), ("/healthz", 200, 200), ("/readyz", 200, 200), ("/api/domains", 404, 200)]
    {
        assert_eq!((statuses(own, path).await, statuses(daemon.http, path).await), (on_own, elsewhere), "{path}");
    }
    daemon.stop();
}
