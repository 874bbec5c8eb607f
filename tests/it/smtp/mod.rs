//! Receiving mail, over real sockets.

mod budget;
mod differential;
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
    newest(server, to, usize::MAX).await
}

/// The newest mails of an inbox, oldest first. There are no more than a page has.
async fn newest(server: &TestServer, to: &str, count: usize) -> Vec<Mail> {
    let page = server.admin_get(&format!("/api/mail/messages?to={to}&fields=id")).await;
    let mut mails = Vec::new();
    for email in page["emails"].as_array().expect("a list").iter().take(count) {
        let path = format!("/api/mail/messages/{}", email["id"].as_str().expect("an id"));
        let octets = Answer::to(server.admin("GET", &format!("{path}/raw"))).await.body.escape_ascii().to_string();
        // The date is the end of the field Received.
        let date = octets.find(r";\r\n\t").expect("a date") + r";\r\n\t".len();
        let (trace, raw) = octets.split_at(date + octets[date..].find(r"\r\n").expect("its end") + r"\r\n".len());
        mails.push(Mail { json: server.admin_get(&path).await, trace: trace.to_owned(), raw: raw.to_owned() });
    }
    mails.reverse();
    mails
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
