//! `/metrics` of a daemon: it shows the daemon's work, and the cause if no mail is accepted.
//! Promise: it outlives the code below it.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::exposition::Exposition;
use crate::support::http;
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::steady::while_steady;
use crate::support::test_disk::rules::Failing;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::test_server::TestServer;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "hello@example.test";
const RCPT: &str = "RCPT TO:<hello@example.test>";
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
    let names = async |settings| {
        let server = TestServer::with(settings).await;
        // The first scrape can't count itself.
        Exposition::of(server.http()).await;
        let exposition = Exposition::of(server.http()).await;
        server.stop().await;
        exposition.families.into_keys().collect::<Vec<_>>()
    };
    let (mut expected, found) = (names("").await, names("revision = 1").await);
    let all = expected.len();
    expected.retain(|name| !name.contains("webhook"));
    assert_eq!((found, all - expected.len()), (expected, 4));
}

#[tokio::test]
async fn mail_and_refusals_are_counted() {
    let server = TestServer::with("max-message-size = '2KB'\nmax-messages-per-mailbox = 2").await;
    let before = Exposition::of(server.http()).await;
    assert_eq!(before.value("tempmail_build_info", &[("version", env!("CARGO_PKG_VERSION")), ("revision", "2")]), 1);
    assert_eq!(before.value("tempmail_limit", &[("of", "domains")]), 10_000);
    assert_eq!(before.value("tempmail_smtp_connections", &[]), 0);

    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    assert_eq!(Exposition::of(server.http()).await.value("tempmail_smtp_connections", &[]), 1);
    for number in 0..3 {
        peer.deliver(TO, &format!("Subject: {number}\r\n\r\ntext\r\n")).await;
        server.clock.advance(Duration::from_mins(1));
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
    })
    .await;
    assert!(after.follows(&before));
    for (name, labels, value) in [
        ("tempmail_smtp_messages_total", &[][..], 3),
        ("tempmail_smtp_received_bytes_total", &[], 3 * 22),
        ("tempmail_smtp_replies_total", &[("class", "3yz")], 3),
        ("tempmail_smtp_replies_total", &[("class", "5yz")], 2),
        ("tempmail_smtp_refusals_total", &[("limit", "messageSize")], 1),
        ("tempmail_store_emails", &[], 1),
        ("tempmail_store_emails_removed_total", &[("reason", "madeWay")], 1),
        ("tempmail_store_emails_removed_total", &[("reason", "deleted")], 1),
        ("tempmail_store_emails_removed_total", &[("reason", "expired")], 0),
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
    assert!(stored.registry_octets > 0 && stored.registry_octets < stored.disk_octets, "{stored:?}");
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
    let server = TestServer::ticking("webhook-allow = ['127.0.0.0/8']\noutbox-events = 1").await;
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
    for (name, value) in [("tempmail_webhook_events_given_up_total", 1), ("tempmail_webhook_events_dropped_total", 0)] {
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

/// The daemon's name of a fault, its reply to senders, and what breaks the disk.
type Fault = (&'static str, &'static str, fn(&TestDisk) -> Option<Failing>);

#[tokio::test]
async fn readiness_status_and_metrics_tell_the_same_cause_while_the_disk_fails() {
    let faults: [Fault; 3] = [
        ("storage_full", "452 4.3.1", |disk| {
            disk.room(0);
            None
        }),
        ("storage_full", "452 4.3.1", |disk| {
            Some(disk.fail(|call| (call.kind == Kind::FreeOctets).then_some(ErrorKind::StorageFull)))
        }),
        ("store_unavailable", "451 4.3.0", |disk| {
            Some(disk.fail(|call| (call.kind != Kind::FreeOctets).then_some(ErrorKind::Other)))
        }),
    ];
    for (wanted, refusal, break_disk) in faults {
        let disk = TestDisk::default();
        disk.room(64 << 20);
        let server = TestServer::on(disk.clone(), "").await;
        let mut early = SmtpPeer::greeted(server.smtp()).await;
        early.deliver(TO, "Subject: kept\r\n\r\ntext").await;
        assert_eq!(cause_over_sockets(&server).await, (None, None, None));

        early.begin_data(TO).await;
        let failing = break_disk(&disk);
        // Some faults are found only by a message that meets them.
        early.send("Subject: lost or kept\r\n\r\n.\r\n").await;
        early.reply().await;
        Exposition::until(server.http(), "the metrics tell it", |exposition| cause(exposition) == Some(wanted)).await;
        let (mut peer, mut reply) = (SmtpPeer::greeted(server.smtp()).await, String::new());
        // A store that could not write tries again with a message now and then.
        for says in ["EHLO client.test", "MAIL FROM:<ann@sender.test>", RCPT, "DATA", "lost\r\n."] {
            reply = peer.try_exchange(format!("{says}\r\n")).await;
            if reply.starts_with('4') {
                break;
            }
        }
        assert!(reply.starts_with(refusal), "{reply}");
        let wanted = Some(wanted.to_owned());
        assert_eq!(cause_over_sockets(&server).await, (wanted.clone(), wanted.clone(), wanted));
        let exposition = Exposition::of(server.http()).await;
        assert!(exposition.value("tempmail_smtp_replies_total", &[("class", "4yz")]) >= 1);

        drop(failing);
        disk.more_room(64 << 20);
        Exposition::until(server.http(), "mail is accepted again", |exposition| cause(exposition).is_none()).await;
        server.send(TO, "again", "text").await;
        assert_eq!(cause_over_sockets(&server).await, (None, None, None));
        server.stop().await;
    }
}

#[tokio::test]
async fn readiness_status_and_metrics_tell_the_same_cause_at_the_end() {
    let server = TestServer::start().await;
    server.store().close().await.expect("close");
    let stopping = Some("stopping".to_owned());
    assert_eq!(cause_over_sockets(&server).await, (stopping.clone(), stopping.clone(), stopping));
    server.stop().await;
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

/// Labels are words of the program, however many addresses, domains, paths and clients there were.
#[tokio::test]
async fn nothing_from_outside_becomes_a_label() {
    let server = TestServer::with("domain = ['example.test', '*.wild.test']").await;
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
    assert_eq!(last.samples(), first.samples() + 1);
    let unknown = [("route", "none"), ("class", "4xx")];
    assert_eq!(last.value("tempmail_http_requests_total", &unknown), 3 * 21);
    assert!(last.follows(&first));
    server.stop().await;
}

#[tokio::test]
async fn a_panic_is_counted() {
    let server = TestServer::start().await;
    let (panics, before) = (server.panics.clone(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| {
        panics.record(info);
        before(info);
    }));
    let name = "tempmail_panics_total";
    std::thread::spawn(|| panic!("on purpose")).join().expect_err("a panic");
    Exposition::until(server.http(), "the panic is counted", |it| it.value(name, &[]) > 0).await;
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
