//! The process is killed again and again while its receiver fails and hangs: every event still arrives.
//! Promise: it outlives the code below it.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use rand::RngExt;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{SECRET, verify};
use crate::support::http;
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::{comes_true, until};

/// Each mailbox has its own webhook, port of the receiver, and sender.
const MAILBOXES: usize = 4;
/// One webhook has at most 1,000 pending events, so mail comes no faster than events are delivered.
const PENDING_MAX: usize = 800;
/// Attempts in flight of all webhooks: 4 of each.
const IN_FLIGHT: usize = 4 * MAILBOXES;
const FLAGS: [&str; 8] = [
    "--webhook-allow",
    "127.0.0.0/8",
    "--webhook-schedule",
    "50ms,100ms,200ms",
    "--webhook-timeout",
    "500ms",
    "--webhook-per-address-per-minute",
    "1000000",
];

/// What a receiver has seen.
#[derive(Default)]
struct Seen {
    /// By Email: the event's id, and how often it was answered with 200.
    events: HashMap<String, (String, usize)>,
    /// How many events were answered with 200 at least once.
    delivered: watch::Sender<usize>,
    attempts: usize,
    /// From now on some attempts fail.
    fails: bool,
    broken: Vec<String>,
}

type Shared = Arc<Mutex<Seen>>;

/// Once the receiver fails, it answers 15 % of the requests with 500, and 10 % never. After twelve failures in a row the next
/// attempt waits for 51 s, so they must not be likely.
async fn receive(State(seen): State<Shared>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let chance: f64 = rand::random();
    let fails = seen.lock().expect("seen").fails;
    let is_answered_well = !fails || chance >= 0.25;
    seen.lock().expect("seen").record(&headers, &body, is_answered_well);
    if fails && chance < 0.1 {
        std::future::pending::<()>().await;
    }
    if is_answered_well { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR }
}

impl Seen {
    fn record(&mut self, headers: &HeaderMap, body: &[u8], is_answered_well: bool) {
        let id = headers.get("webhook-id").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        if !verify::verify(SECRET, headers, body) {
            self.broken.push(format!("the signatures of {id} are wrong"));
        }
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let email = body["email"]["id"].as_str().unwrap_or_default().to_owned();
        self.attempts += 1;
        let (known, answered) = self.events.entry(email).or_insert_with(|| (id.clone(), 0));
        if *known != id {
            self.broken.push(format!("an event was {known} and is {id}"));
        }
        let newly = usize::from(is_answered_well && *answered == 0);
        self.delivered.send_modify(|delivered| *delivered += newly);
        *answered += usize::from(is_answered_well);
    }
}

/// The receiver's URL for each webhook.
async fn start_receiver() -> (Vec<String>, Shared) {
    let seen = Shared::default();
    let mut urls = Vec::new();
    for _ in 0..MAILBOXES {
        let app = axum::Router::new().route("/hook", post(receive)).with_state(Arc::clone(&seen));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        urls.push(format!("http://{}/hook", listener.local_addr().expect("address")));
        tokio::spawn(async move { axum::serve(listener, app).await });
    }
    (urls, seen)
}

fn recipient(mailbox: usize) -> String {
    format!("ann{mailbox}@example.test")
}

/// Sends mail until `enough` are acknowledged in all, or the server is gone.
async fn send(server: SocketAddr, mailbox: usize, acknowledged: Arc<Mutex<usize>>, enough: usize, seen: Shared) {
    let Some(mut peer) = SmtpPeer::try_connect(server).await else { return };
    let mut is_served =
        peer.reply().await.starts_with("220") && peer.try_exchange("EHLO c.test\r\n").await.starts_with("250");
    let mut delivered = seen.lock().expect("seen").delivered.subscribe();
    let are_few_pending =
        |delivered: &usize| acknowledged.lock().expect("count").saturating_sub(*delivered) <= PENDING_MAX;
    while is_served && *acknowledged.lock().expect("count") < enough {
        delivered.wait_for(&are_few_pending).await.expect("the receiver runs");
        let envelope = format!("MAIL FROM:<a@sender.test>\r\nRCPT TO:<{}>\r\nDATA\r\n", recipient(mailbox));
        peer.try_exchange(envelope).await;
        peer.reply().await;
        is_served = peer.reply().await.starts_with("354")
            && peer.try_exchange("Subject: s\r\n\r\ntext\r\n.\r\n").await.starts_with("250");
        *acknowledged.lock().expect("count") += usize::from(is_served);
    }
}

/// Has each webhook deliver an event, because an unproven webhook has few pending events.
async fn prove(daemon: &Program, seen: &Shared) {
    for mailbox in 0..MAILBOXES {
        let sent = *seen.lock().expect("seen").delivered.borrow() + 1;
        let acknowledged = Arc::new(Mutex::new(sent - 1));
        send(daemon.smtp, mailbox, acknowledged, sent, Arc::clone(seen)).await;
        let path = format!("/api/webhooks?recipient={}", recipient(mailbox));
        let is_proven = async || !http::get(daemon.http, &path).await.1[0]["lastDeliveryAt"].is_null();
        until("the webhook is proven", is_proven).await;
    }
    seen.lock().expect("seen").fails = true;
}

/// The ids of all mails in a lane's mailbox.
async fn ids(server: SocketAddr, mailbox: usize) -> HashSet<String> {
    let mut ids = HashSet::new();
    for page in 1.. {
        let path = format!("/api/mail/messages?to={}&limit=100&page={page}", recipient(mailbox));
        let (_, answer) = http::get(server, &path).await;
        let emails = answer["emails"].as_array().expect("emails");
        ids.extend(emails.iter().map(|email| email["id"].as_str().expect("id").to_owned()));
        if emails.is_empty() {
            break;
        }
    }
    ids
}

async fn every_event_arrives(events: usize, kills: usize) {
    let (urls, seen) = start_receiver().await;
    let dir = tempfile::tempdir().expect("directory");
    let secret = dir.path().join("secret");
    std::fs::write(&secret, SECRET).expect("write");
    let data = dir.path().join("data");
    let mut daemon = Program::serve(&data, &FLAGS);
    for (mailbox, url) in urls.iter().enumerate() {
        let secret = secret.to_str().expect("path");
        let added = daemon.tempmail(&["webhook", "add", &recipient(mailbox), url, "--secret-file", secret]);
        assert_eq!(added.code, Some(0), "{}", added.stderr);
    }
    prove(&daemon, &seen).await;
    let acknowledged = Arc::new(Mutex::new(MAILBOXES));
    let start_senders = |server| -> JoinSet<()> {
        (0..MAILBOXES)
            .map(|mailbox| send(server, mailbox, Arc::clone(&acknowledged), events, Arc::clone(&seen)))
            .collect()
    };
    let mut senders = start_senders(daemon.smtp);
    let delivered = || *seen.lock().expect("seen").delivered.borrow();
    for kill in 1..=kills {
        // A random point within its share of the run.
        let enough = (events * kill / (kills + 1)).saturating_sub(rand::rng().random_range(0..events / (2 * kills)));
        until(format_args!("{enough} events are delivered"), async || delivered() >= enough).await;
        daemon.kill();
        // A sender may wait for deliveries, which do not happen now.
        senders.shutdown().await;
        daemon = Program::serve(&data, &FLAGS);
        senders = start_senders(daemon.smtp);
    }
    senders.join_all().await;
    let mut stored = HashSet::new();
    for mailbox in 0..MAILBOXES {
        stored.extend(ids(daemon.http, mailbox).await);
    }
    assert!(stored.len() >= *acknowledged.lock().expect("count"));
    let is_delivered =
        |id: &String| seen.lock().expect("seen").events.get(id).is_some_and(|(_, answered)| *answered > 0);
    let are_delivered = async || stored.iter().all(is_delivered);
    // A webhook may wait for a minute after a run of failures.
    if !comes_true(are_delivered).await {
        until("every event is delivered", are_delivered).await;
    }
    let seen = seen.lock().expect("seen");
    assert_eq!(seen.broken, [] as [String; 0]);
    let duplicates: usize = seen.events.values().map(|(_, answered)| answered.saturating_sub(1)).sum();
    println!("{} events, {} attempts, {kills} kills, {duplicates} sent again", stored.len(), seen.attempts);
    assert!(duplicates <= stored.len() / 100 + IN_FLIGHT * kills, "{duplicates} duplicates");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_event_arrives_although_the_process_is_killed() {
    every_event_arrives(250, 3).await;
}

/// `cargo test --release --test it ten_thousand -- --ignored --nocapture`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; run it on demand"]
async fn every_one_of_ten_thousand_events_arrives_although_the_process_is_killed_twenty_times() {
    every_event_arrives(10_000, 20).await;
}
