//! Receiving mail, over real sockets.

mod budget;
mod extensions;
mod limits;
mod policy;
mod proxied;
mod sessions;
mod smuggling;
mod stopping;
mod storing;
mod tls;

use std::net::{Ipv4Addr, SocketAddr};

use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpSocket;
use tokio_rustls::TlsConnector;

use crate::support::answer::Answer;
use crate::support::certificates::Pair;
use crate::support::exposition::Exposition;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;
use crate::support::until::until;

/// A mailbox of the domain that a first start serves.
const TO: &str = "bob@example.test";

/// A counter with one label.
type Counter = (&'static str, &'static str);
const ENDED: Counter = ("tempmail_smtp_sessions_ended_total", "reason");
const REFUSED: Counter = ("tempmail_smtp_refusals_total", "limit");
const REPLIES: Counter = ("tempmail_smtp_replies_total", "class");

/// A received mail, as the administrator reads it.
#[derive(Debug)]
struct Mail {
    json: Value,
    /// The fields that the service has put before the message.
    trace: String,
    /// The message as it came, escaped.
    raw: String,
}

/// The mail of an inbox, oldest first.
async fn inbox(server: &TestServer, to: &str) -> Vec<Mail> {
    let (_, mut mails) = newest(server, to, 100).await;
    for mail in &mut mails {
        mail.json = server.admin_get(&path(&mail.json)).await;
    }
    mails
}

/// How many mails an inbox has, and the newest of them, oldest first, with no more than their ids as JSON.
async fn newest(server: &TestServer, to: &str, count: usize) -> (Value, Vec<Mail>) {
    let list = format!("/api/mail/messages?to={to}&limit={}&fields=id", count.max(1));
    let page = server.admin_get(&list).await;
    let mut mails = Vec::new();
    for json in page["emails"].as_array().expect("a list").iter().take(count) {
        let raw = Answer::to(server.admin("GET", &format!("{}/raw", path(json)))).await;
        let octets = raw.body.escape_ascii().to_string();
        // The date is the end of the field Received.
        let date = octets.find(r";\r\n\t").expect("a date") + r";\r\n\t".len();
        let (trace, raw) = octets.split_at(date + octets[date..].find(r"\r\n").expect("its end") + r"\r\n".len());
        mails.push(Mail { json: json.clone(), trace: trace.to_owned(), raw: raw.to_owned() });
    }
    mails.reverse();
    (page["total"].clone(), mails)
}

fn path(mail: &Value) -> String {
    format!("/api/mail/messages/{}", mail["id"].as_str().expect("an id"))
}

/// How many messages the service has, each counted once for all its recipients.
async fn messages(server: &TestServer) -> usize {
    usize::try_from(server.stats().await.messages).expect("a small number")
}

/// A service with a new certificate for STARTTLS and SMTPS, a client that trusts it, and the directory of its files. Its
/// clock ticks.
async fn secured(settings: &str) -> (TestServer, TlsConnector, TempDir) {
    let (dir, pair) = (tempfile::tempdir().expect("directory"), Pair::fresh());
    let files = pair.write(dir.path());
    let (certificate, key) = (files.certificate.display(), files.key.display());
    let tls = format!("tls-cert = '{certificate}'\ntls-key = '{key}'\nsmtps-listen = '127.0.0.1:0'\n{settings}");
    (TestServer::ticking(&tls).await, pair.connector(), dir)
}

async fn metrics(server: &TestServer) -> Exposition {
    let body = Answer::to(server.admin("GET", "/metrics")).await.body;
    Exposition::parse(str::from_utf8(&body).expect("text"))
}

async fn count(server: &TestServer, (name, label): Counter, value: &str) -> u64 {
    metrics(server).await.value(name, &[(label, value)])
}

/// Waits until a counter has this value. A session is counted a moment after its last reply.
async fn until_counted(server: &TestServer, counter: Counter, label: &str, value: u64) {
    until(format!("{} {label} is {value}", counter.0), async || count(server, counter, label).await == value).await;
}

/// Waits until a metric without labels has this value.
async fn until_metric(server: &TestServer, name: &str, value: u64) {
    until(format!("{name} is {value}"), async || metrics(server).await.value(name, &[]) == value).await;
}

/// A service without exempt networks.
async fn bounded(settings: &str) -> TestServer {
    TestServer::with(&format!("limit-exempt = 'none'\n{settings}")).await
}

/// Lets all sessions use up what their clients have sent. They run on the thread of the test, and what is sent over loopback
/// is there at once.
async fn settled() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

/// Connects from an address of loopback.
async fn from(client: Ipv4Addr, server: SocketAddr) -> SmtpPeer {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from((client, 0))).expect("bind");
    SmtpPeer::over(socket.connect(server).await.expect("connect"))
}
