//! `tempmail webhook listen`, with a receiver on a port of this machine.
//! Promise: it outlives the code below it.

use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use rustix::process::Signal;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{Service, TO, domain};
use crate::support::command::{Running, on_server};
use crate::support::front::Answer;
use crate::support::reserved::Reserved;
use crate::support::test_server::TestServer;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

/// A request that a receiver got.
#[derive(Debug)]
struct Received {
    headers: HeaderMap,
    body: Bytes,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {self:?}")).to_str().expect("text")
    }

    /// It is signed: the body alone with the secret, and with its id and time with the key that Standard Webhooks makes of it.
    fn is_signed_with(&self, secret: &str, key: &str) {
        let digest = |key: &str, text: &[u8]| {
            let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("a key");
            mac.update(text);
            mac.finalize().into_bytes()
        };
        let hex: String =
            digest(secret, &self.body).iter().fold(String::new(), |hex, octet| hex + &format!("{octet:02x}"));
        assert_eq!(self.header("x-webhook-signature"), hex, "{secret}");
        let before = format!("{}.{}.", self.header("webhook-id"), self.header("webhook-timestamp"));
        let standard = STANDARD.encode(digest(key, &[before.as_bytes(), &self.body].concat()));
        assert_eq!(self.header("webhook-signature"), format!("v1,{standard}"), "{secret}");
    }
}

/// Answers the requests with these statuses, one after another, and then with 204.
fn receiver(statuses: Vec<u16>) -> (SocketAddr, Arc<Mutex<Vec<Received>>>) {
    let received: Arc<Mutex<Vec<Received>>> = Arc::default();
    let (requests, mut statuses) = (Arc::clone(&received), statuses.into_iter());
    let statuses = Arc::new(Mutex::new(move || statuses.next().unwrap_or(204)));
    let handler = move |headers: HeaderMap, body: Bytes| {
        requests.lock().expect("lock").push(Received { headers, body });
        let status = (*statuses.lock().expect("lock"))();
        async move { StatusCode::from_u16(status).expect("status") }
    };
    let (ready, address) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bind");
            ready.send(listener.local_addr().expect("address")).expect("test waits");
            axum::serve(listener, Router::new().fallback(handler)).await.expect("serve");
        });
    });
    (address.recv().expect("address"), received)
}

/// Starts `webhook listen`.
fn spawn(server: SocketAddr, forward_to: &str, args: &[&str]) -> Running {
    Running::start(on_server(server, &["webhook", "listen", TO, "--forward-to", forward_to]).args(args))
}

/// Starts it and waits until it has looked at the inbox.
fn start(server: SocketAddr, forward_to: &str, args: &[&str]) -> Running {
    let listening = spawn(server, forward_to, args);
    assert!(listening.hint().contains("Ctrl-C"));
    listening
}

/// Ends it with Ctrl-C. Returns its output that was not read yet.
fn interrupt(listening: Running) -> String {
    listening.signal(Signal::INT);
    let ended = listening.end();
    assert_eq!(ended.code, Some(130));
    ended.stdout
}

/// A mail arrives; its id.
async fn arrive(service: &Service, id: u8) -> String {
    let parts = ["plain\r\n\r\nHello\r\n", "html\r\n\r\n<p>Hello</p>"];
    let parts = parts.map(|part| format!("--x\r\nContent-Type: text/{part}\r\n")).concat();
    let head = "MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=x";
    service.deliver(TO, &format!("Subject: mail {id}\r\n{head}\r\n\r\n{parts}--x--\r\n")).await;
    service.ids(TO).await.swap_remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_arrives_is_sent_once_as_a_webhook_would_send_it() {
    let service = Service::start().await;
    arrive(&service, 1).await;
    arrive(&service, 2).await;
    let (address, received) = receiver(vec![]);
    let secret = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(secret.path(), "s3cret\n").expect("write");
    let secret = secret.path().to_str().expect("path").to_owned();
    let listening = start(service.address, &format!("http://{address}/hook"), &["--secret-file", &secret]);
    let mut arrived = Vec::new();
    for id in 3..20 {
        arrived.push(arrive(&service, id).await);
    }
    for id in &arrived {
        let line = listening.line();
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!((fields[1], fields[2], fields[4]), (id.as_str(), "204", ""), "{line}");
        assert!(fields[0].ends_with('Z') && fields[3].parse::<u64>().is_ok(), "{line}");
    }
    let last = arrive(&service, 20).await;
    assert!(listening.line().contains(&last));
    assert_eq!(interrupt(listening), "");

    let received = received.lock().expect("lock");
    assert_eq!(received.len(), 18);
    let first = &received[0];
    let body: Value = serde_json::from_slice(&first.body).expect("JSON");
    let expected = json!({
        "event": "email.received",
        "email": {
            "id": arrived[0], "recipient": TO, "from": "ann@sender.test", "subject": "mail 3", "message": "<p>Hello</p>",
            "bodyText": "Hello\n", "receivedAt": "2023-11-14 22:13:20",
        },
        "timestamp": "2023-11-14T22:13:20Z",
    });
    assert_eq!(body, expected);
    assert_eq!(first.header("content-type"), "application/json");
    assert_eq!(first.header("user-agent"), "tempmail/1.0");
    for received in received.iter() {
        assert!(received.header("webhook-timestamp").parse::<u64>().is_ok());
        received.is_signed_with("s3cret", "s3cret");
    }
    let mut ids: Vec<&str> = received.iter().map(|received| received.header("webhook-id")).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 18, "each event has its own id");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_fails_or_is_not_there_ends_nothing() {
    let service = Service::start().await;
    let (address, received) = receiver(vec![500, 302]);
    let listening = start(service.address, &format!("http://localhost:{}/", address.port()), &["--json"]);
    for (id, status, error) in
        [(1, json!(500), json!("http_status")), (2, json!(302), json!("http_status")), (3, json!(204), Value::Null)]
    {
        let id = arrive(&service, id).await;
        let line: Value = serde_json::from_str(&listening.line()).expect("JSON");
        assert_eq!((&line["id"], &line["status"], &line["error"]), (&json!(id), &status, &error));
    }
    let received = std::mem::take(&mut *received.lock().expect("lock"));
    assert_eq!(received.len(), 3);
    assert!(received.iter().all(|received| received.headers.get("x-webhook-signature").is_none()));

    let closed = Reserved::new();
    let unreachable = start(service.address, &format!("http://{}/", closed.address), &[]);
    for id in [4, 5] {
        arrive(&service, id).await;
        let line = unreachable.line();
        assert!(line.ends_with("\tconnect"), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_fails_for_a_while_is_asked_again() {
    let service = Service::start().await;
    let (address, received) = receiver(vec![]);
    let listening = start(service.address, &format!("http://{address}/"), &["-o", "id"]);
    service.set_down(true);
    let id = arrive(&service, 1).await;
    assert!(listening.hint().ends_with("trying again"));
    assert!(received.lock().expect("lock").is_empty());
    service.set_down(false);
    assert_eq!(listening.line(), id);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_never_work_is_said_before_anything_is_asked() {
    let service = Service::start().await;
    for (forward_to, why) in [
        ("localhost:3000", "must start with"),
        ("ftp://localhost/", "must start with"),
        ("http://ann@localhost/", "user information"),
        ("http://127.0.0.1:25/", "another port"),
        ("https://localhost:465/", "another port"),
        ("http://receiver.test:587/x", "another port"),
        ("http://[::1]:0/", "port 0 is not accepted"),
    ] {
        let outcome = service.run(&["webhook", "listen", TO, "--forward-to", forward_to]).await;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{forward_to}");
        assert!(outcome.stderr.contains("--forward-to") && outcome.stderr.contains(why), "{}", outcome.stderr);
    }
    assert!(service.noted().requests.is_empty());
    service.set_down(true);
    let outcome = service.run(&["webhook", "listen", TO, "--forward-to", "http://localhost:3000/"]).await;
    assert_eq!(outcome.code, Some(6), "{}", outcome.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_for_mail_that_can_not_come_is_warned_and_gets_what_comes() {
    let service = Service::start().await;
    for (status, hint) in
        [(None, "no mail is received for example.test"), (Some("deactivated"), "example.test is deactivated")]
    {
        let domains: Vec<Value> = status.map(|status| domain("example.test", status)).into_iter().collect();
        service.answers("GET /api/domains", Answer::json(&domains.into()));
        let listening = start(service.address, "http://localhost:9/", &[]);
        let said = listening.hint();
        assert!(said.contains(hint), "{said}");
        let id = arrive(&service, 1).await;
        assert!(listening.line().contains(&id));
    }
    service.answers("GET /api/domains", Answer::json(&json!([domain("example.test", "active")])));
    let listening = start(service.address, "http://localhost:9/", &[]);
    service.set_down(true);
    assert!(listening.hint().ends_with("trying again"), "nothing is said of a domain that is served");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_only_looks_like_base64_is_said_to_be_the_key_and_is_it() {
    let service = Service::start().await;
    let (address, received) = receiver(vec![]);
    let file = tempfile::NamedTempFile::new().expect("file");
    let path = file.path().to_str().expect("path");
    for (id, secret, key) in [(1, "whsec_-_abcdefgh1234", "whsec_-_abcdefgh1234"), (2, "whsec_c2VjcmV0MR", "secret1")] {
        std::fs::write(file.path(), secret).expect("write");
        let forward_to = format!("http://{address}/");
        let listening = spawn(service.address, &forward_to, &["--secret-file", path]);
        assert!(secret != key || listening.hint().contains("the text itself is the key"));
        assert!(listening.hint().contains("Ctrl-C"));
        let id = arrive(&service, id).await;
        assert!(listening.line().contains(&id));
        let received = received.lock().expect("lock").pop().expect("a request");
        received.is_signed_with(secret, key);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn receivers_get_the_same_whether_they_are_registered_or_listening() {
    let sink = WebhookSink::start().await;
    sink.script("/registered", Behaviour::status(200));
    sink.script("/listening", Behaviour::status(200));
    let server = TestServer::ticking("webhook-allow = ['127.0.0.0/8']").await;
    let secret = server.dir().join("secret").display().to_string();
    std::fs::write(&secret, "whsec_c2VjcmV0").expect("write");
    let url = sink.url("/registered");
    let added = server.tempmail(&["webhook", "add", TO, &url, "--secret-file", &secret, "-o", "id"]).await.ok();
    let listening = start(server.http(), &sink.url("/listening"), &["--secret-file", &secret]);

    let mail = "From: bob@example.com\r\nSubject: Gr\u{fc}\u{df}e\r\n\r\n<b>text</b>";
    server.deliver(TO, mail).await;
    let requests = sink.wait_for(2).await;
    let to = |path: &str| requests.iter().find(|request| request.path == path).expect("a request");
    let (registered, listened) = (to("/registered"), to("/listening"));
    assert_eq!(String::from_utf8_lossy(&registered.body), String::from_utf8_lossy(&listened.body));
    // The source's signature covers only the body, so it is equal too.
    for name in ["content-type", "user-agent", "x-webhook-signature"] {
        assert!(registered.header(name).is_some(), "{name}");
        assert_eq!(registered.header(name), listened.header(name), "{name}");
    }
    let names = |headers: &[(String, String)]| headers.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&registered.headers), names(&listened.headers));
    assert!(interrupt(listening).lines().count() <= 1);

    let id = added.stdout.trim();
    let tested = server.tempmail(&["webhook", "test", id]).await;
    assert!(tested.code == Some(0) && tested.stdout.contains("\nstatus\t200\n"), "{tested:?}");
    let log = server.tempmail(&["webhook", "deliveries", id]).await.stdout;
    assert!(log.lines().count() == 2 && log.lines().all(|line| line.contains("\tdelivered\t200\t")), "{log}");
    let removed = server.tempmail(&["webhook", "rm", "--yes", id]).await;
    assert_eq!((removed.code, removed.stdout), (Some(0), format!("{id}\t1\n")));
    assert_eq!(server.tempmail(&["webhook", "test", id]).await.code, Some(3));
    server.stop().await;
}
