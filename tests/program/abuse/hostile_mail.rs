//! Mail that is made to kill its reader, read in every way there is from the real binary.
//! Promise: it outlives the code below it.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::http;
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const MB: usize = 1 << 20;
/// The size of each mail: that of the largest message, or less in a build without optimization.
static OCTETS: LazyLock<usize> = LazyLock::new(|| if is_optimized() { 10 * MB - 200 } else { MB / 2 });
/// How long a read may take. In a build without optimization, and beside other tests, this says little.
static READ: LazyLock<Duration> = LazyLock::new(|| Duration::from_secs(if is_optimized() { 2 } else { 30 }));
/// The most memory of the daemon, which decodes, shows and escapes each mail of 10 MB.
const MEMORY_MB: u64 = 600;
/// The threads of the daemon that read mail for HTTP, as in `daemon/assembly.rs`.
const READERS: usize = 3;

/// Whether the daemon is one of a release: `cargo test --release --test it hostile_mail`.
fn is_optimized() -> bool {
    let folder = Path::new(env!("CARGO_BIN_EXE_tempmail")).parent().and_then(Path::file_name);
    folder.is_some_and(|name| name != "debug")
}

/// `octets` of `unit`, again and again.
fn filled(start: &str, unit: &str, octets: usize) -> String {
    format!("{start}{}", unit.repeat((octets - start.len()) / unit.len()))
}

/// Each mail with its name. The subject comes first, so that it can be shown whatever follows.
fn mails() -> Vec<(&'static str, String)> {
    let octets = *OCTETS;
    let mut nested = String::new();
    for depth in 0..200_000 {
        let _ = write!(nested, "Content-Type:multipart/mixed;boundary={depth}\r\n\r\n--{depth}\r\n");
    }
    nested.truncate(octets);
    let mixed = "Content-Type: multipart/mixed; boundary=b\r\n\r\n";
    let mut charsets = mixed.to_owned();
    for number in 0..20_000 {
        let _ = write!(
            charsets,
            "--b\r\nContent-Type: text/plain; charset=no-such-{number}\r\n\r\n\u{80}=?no-{number}?q?x?=\r\n"
        );
    }
    vec![
        ("nested-multiparts", nested),
        ("nested-messages", filled("", "Content-Type: message/rfc822\r\n\r\n", octets)),
        ("a-million-parts", filled(mixed, "--b\r\n\r\n", octets.min(mixed.len() + 7 * 1_000_000))),
        ("parameters", filled("Content-Type: text/html", "; a*1=b", octets.min(MB)) + "\r\n\r\n<p>"),
        ("addresses", filled("To: ", "g:a@b.example;,\r\n ", octets)),
        ("senders", filled("From: ", "(((\"<a@b.example>,", octets)),
        ("header-without-end", filled("", "A: b\r\n", octets)),
        ("one-endless-field", filled("X-A: ", "=?utf-8?q?=41?= ", octets)),
        ("no-base64", filled("Content-Transfer-Encoding: base64\r\n\r\n", "=$\u{fc}A\r\n", octets)),
        ("no-quoted-printable", filled("Content-Transfer-Encoding: quoted-printable\r\n\r\n", "=X=\r\n=4", octets)),
        ("charsets", charsets),
        ("encoded-words", filled("To: ", "=?no-such?b?YQ?= ", octets)),
        ("boundaries", filled(mixed, "--b\r\n", octets)),
        ("almost-boundaries", filled(mixed, "--bb\r\n--b-\r\n", octets)),
        ("nested-html", filled("Content-Type: text/html\r\n\r\n", "<div><table><tr><td>", octets)),
        ("entities", filled("Content-Type: text/html\r\n\r\n", "&lt;&#x110000;&", octets)),
    ]
}

fn to(name: &str) -> String {
    format!("{name}@example.test")
}

fn daemon(dir: &std::path::Path) -> Program {
    let args = [
        "--max-message-size",
        "10MB",
        "--segment-size",
        "20MB",
        "--webhook-allow",
        "127.0.0.0/8",
        "--webhook-timeout",
        "2m",
    ];
    Program::serve(dir, &args)
}

async fn deliver(daemon: &Program, name: &str, mail: &str) {
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    peer.deliver(&to(name), &format!("Subject: {name}\r\n{mail}")).await;
}

/// The answer of HTTP, which must come in time.
async fn timely(what: &str, name: &str, read: impl Future<Output = Value>) -> Value {
    tokio::time::timeout(*READ, read).await.unwrap_or_else(|_| panic!("{name}: {what} takes too long"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_is_listed_shown_sent_on_and_served_as_it_came() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(dir.path());
    let sink = WebhookSink::start().await;
    for (number, (name, mail)) in mails().into_iter().enumerate() {
        sink.script(&format!("/{name}"), Behaviour::status(200));
        let hook = json!({"recipient": to(name), "url": sink.url(&format!("/{name}"))});
        let url = format!("http://{}/api/webhooks", daemon.http);
        let registered = http::client().post(url).json(&hook).send().await.expect("an answer");
        assert!(registered.status().is_success(), "{registered:?}");
        deliver(&daemon, name, &mail).await;

        let page = timely("list", name, http::inbox(daemon.http, &to(name))).await;
        assert_eq!((&page["total"], &page["emails"][0]["subject"]), (&1.into(), &name.into()));
        let id = page["emails"][0]["id"].as_str().expect("id").to_owned();
        let show = async {
            let (status, shown) = http::get(daemon.http, &format!("/api/mail/messages/{id}")).await;
            assert_eq!(status, 200, "{name}");
            shown
        };
        assert_eq!(timely("show", name, show).await["subject"], name);
        let raw = http::raw(daemon.http, &id).await.expect("its octets");
        assert!(raw.ends_with(format!("Subject: {name}\r\n{mail}\r\n").as_bytes()), "{name}: the octets are others");
        let delivered = async {
            let requests = sink.wait_for(number + 1).await;
            let request = requests.last().expect("one");
            assert_eq!(request.path, format!("/{name}"));
            serde_json::from_slice(&request.body).expect("JSON")
        };
        let event: Value = timely("webhook", name, delivered).await;
        assert!(event.to_string().contains(name), "{name}");
    }
    let peak_mb = daemon.memory_kb("VmHWM:") >> 10;
    assert!(peak_mb < MEMORY_MB, "{peak_mb} MB");
    daemon.stop();
}

/// Readers queue for the threads that parse. Senders do not need these threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mail_is_taken_while_readers_wait_for_hostile_mail() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(dir.path());
    let mails = mails();
    let (_, mail) = mails.iter().find(|(name, _)| *name == "nested-html").expect("one");
    // Each is read once, since what was read is kept for the next reader.
    let names: Vec<String> = (0..5 * READERS).map(|number| format!("nested-{number}")).collect();
    for name in &names {
        deliver(&daemon, name, mail).await;
    }
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    let read = Arc::<AtomicUsize>::default();
    let readers: Vec<_> = names
        .into_iter()
        .map(|name| {
            let (server, read) = (daemon.http, Arc::clone(&read));
            tokio::spawn(async move {
                let path = format!("/api/mail/messages?to={}&fields=preview", to(&name));
                assert_eq!(http::get(server, &path).await.1["total"], 1);
                read.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    // Other reads wait for the threads that parse, or for memory.
    until("a read", async || read.load(Ordering::Relaxed) > 0).await;
    peer.deliver("ann@example.test", "Subject: small\r\n\r\n").await;
    // Behind the reads that wait it would come with the last.
    let were_read = read.load(Ordering::Relaxed);
    assert!(were_read < readers.len() - READERS, "{were_read} were read before a small mail was taken");
    for reader in readers {
        reader.await.expect("a good answer");
    }
    daemon.stop();
}
