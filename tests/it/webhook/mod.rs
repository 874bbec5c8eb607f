//! Webhooks against a real receiver, as their users and the administrator meet them.

mod attacks;
mod attempt;
mod dispatch;
mod ends;
mod guard;
mod isolation;
mod killed;
mod not_sent;
mod retry_after;
mod settings;

use axum::http::HeaderMap;
use serde_json::{Value, json};

use crate::support::files::file;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;
use crate::support::until::{until, until_some};
use crate::support::webhook_sink::{Behaviour, Request, WebhookSink};

#[allow(clippy::disallowed_methods, reason = "the guide's example, which stands for a receiver, has no clock of ours")]
#[path = "../../examples/verify.rs"]
mod verify;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// Webhooks may go to loopback, where receivers have no limits.
const LOCAL: &str = "webhook-allow = ['127.0.0.0/8']\n";
/// The same, and receivers have the limits of those at public addresses.
const LIMITED: &str = "webhook-allow = ['127.0.0.0/8']\nwebhook-limits-allowed = true\n";
/// The same with quick retries of short attempts.
const QUICK: &str = "webhook-allow = ['127.0.0.0/8']\nwebhook-limits-allowed = true\nwebhook-schedule = ['20ms']\nwebhook-timeout = '300ms'\n";

/// A receiver whose `/hook` behaves like this.
async fn receiver(behaviour: Behaviour) -> WebhookSink {
    let sink = WebhookSink::start().await;
    sink.script("/hook", behaviour);
    sink
}

/// How many requests came to a path.
fn requests_to(sink: &WebhookSink, path: &str) -> usize {
    sink.requests().iter().filter(|request| request.path == path).count()
}

/// Whether both signatures of a request are right, and were made within minutes.
fn is_genuine(request: &Request) -> bool {
    let fields = request.headers.iter();
    let fields = fields.map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")));
    verify::verify(SECRET, &fields.collect::<HeaderMap>(), &request.body)
}

/// Registers a webhook as the administrator; its id.
async fn register(server: &TestServer, recipient: &str, url: &str) -> String {
    register_with(server, recipient, url, "").await
}

async fn register_with(server: &TestServer, recipient: &str, url: &str, secret: &str) -> String {
    let body = json!({ "recipient": recipient, "url": url, "secret": secret });
    let (status, answer) = server.admin_post("/api/webhooks", &body).await;
    assert_eq!((status, &answer["status"]), (201, &json!("ok")), "{answer}");
    answer["id"].as_str().expect("id").to_owned()
}

/// The webhooks of `recipient`.
async fn webhooks_of(server: &TestServer, recipient: &str) -> Vec<Value> {
    let listed = server.admin_get(&format!("/api/webhooks?recipient={recipient}")).await;
    listed.as_array().expect("a list").clone()
}

/// Waits until the first webhook of `recipient` is as `is_so` says.
async fn wait_until(server: &TestServer, recipient: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let webhook = async || webhooks_of(server, recipient).await.into_iter().next().filter(&is_so);
    until_some(format_args!("the webhook of {recipient} is as it should be"), webhook).await
}

/// The log of a webhook, the newest line first, once it has so many lines. The guide knows each error in it.
async fn lines(server: &TestServer, id: &str, count: usize) -> Vec<Value> {
    let log = async || {
        let log = server.admin_get(&format!("/api/admin/webhooks/{id}/deliveries")).await;
        log.as_array().filter(|log| log.len() >= count).cloned()
    };
    let log = until_some(format_args!("{count} lines in the log"), log).await;
    let guide = file("man/guide/webhooks.md");
    for word in log.iter().filter_map(|line| line["error"].as_str()) {
        assert!(guide.contains(&format!("\n- `{word}`: ")), "the webhooks guide does not name {word}");
    }
    log
}

/// The line of the log about the first attempt at a URL, for a mail to an address that nothing else uses.
async fn first_attempt(server: &TestServer, url: &str) -> Value {
    let recipient = format!("a{}@example.test", rand::random::<u64>());
    let id = register(server, &recipient, url).await;
    server.send(&recipient, "Hello", "text").await;
    lines(server, &id, 1).await.remove(0)
}

/// Sends a sample event now: the status of the answer, and the line of the log.
async fn test(server: &TestServer, id: &str) -> (u16, Value) {
    server.admin_post(&format!("/api/admin/webhooks/{id}/test"), &json!({})).await
}

/// Delivers so many small mails over one connection.
async fn send_many(server: &TestServer, recipient: &str, count: usize) {
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    for number in 0..count {
        peer.deliver(recipient, &format!("Subject: mail {number}\r\n\r\ntext")).await;
    }
}

/// Has each webhook of `recipient` deliver an event, because an unproven webhook has few pending events.
async fn prove(server: &TestServer, recipient: &str) {
    server.send(recipient, "proof", "text").await;
    let is_proven = |webhook: &Value| !webhook["lastDeliveryAt"].is_null();
    let are_proven = async || webhooks_of(server, recipient).await.iter().all(is_proven);
    until(format_args!("the webhooks of {recipient} are proven"), are_proven).await;
}

/// Has another webhook of the receiver get some events, one after another: meanwhile the service looks what else is due.
async fn look_what_is_due(server: &TestServer, sink: &WebhookSink) {
    sink.script("/other", Behaviour::status(200));
    let body = json!({ "recipient": "other@example.test", "url": sink.url("/other") });
    assert!(server.admin_post("/api/webhooks", &body).await.0 < 300);
    for _ in 0..3 {
        let count = requests_to(sink, "/other");
        server.send("other@example.test", "Hello", "text").await;
        until("the event of another webhook", async || requests_to(sink, "/other") > count).await;
    }
}
