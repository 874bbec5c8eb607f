//! Strangers and a private inbox: whatever they ask for, in whatever way, they get what an address without mail gets.
//! Promise: it outlives the code below it.
//!
//! The tries are made of the router's paths and of `/openapi.json`, so a new route or parameter is among them. Each is made
//! twice: about the private inbox, and about things that do not exist.

mod tries;
mod walk;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use super::TestServer;
use super::openapi::paths;
use crate::support::answer::Answer;
use crate::support::document::Document;
use crate::support::log::Log;
use tries::{Named, Try, tries};
use walk::{CREDENTIALS, Credential, Walk, has};

const PRIVATE: &str = "ann@example.test";
const UNKNOWN: &str = "eve@example.test";

/// What the mail has in its parts, and the holder's webhook in its URL. No stranger may see any of it.
const MARKS: [&str; 10] =
    ["quokka", "wombat", "numbat", "qzkv-7319", "bandicoot", "potoroo", "bilbies", "dibbler", "kowari", "dunnart"];
/// As the mail names it.
const RECIPIENT: &str = "ann+kowari@example.test";
const MAIL: &str = "From: \"Quokka\" <quokka@sender.test>\r\nSubject: wombat\r\nMIME-Version: 1.0\r\n\
    Message-ID: <dibbler@sender.test>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
    --b\r\nContent-Type: text/html\r\n\r\n<p>numbat: your code is QZKV-7319</p>\
    <a href=\"https://sender.test/verify?t=bandicoot\">Verify</a>\r\n\
    --b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=\"potoroo.txt\"\r\n\r\nbilbies\r\n--b--\r\n";

/// Where the strangers are, and the settings of the service.
#[derive(Clone, Copy, Debug)]
struct Place {
    settings: &'static str,
    /// Whether they are on the machine of the service.
    is_near: bool,
}

const PLACES: [Place; 3] = [
    Place { settings: "trusted-proxies = ['127.0.0.0/8']", is_near: false },
    Place { settings: "compat-api = 'mailpit'", is_near: true },
    Place { settings: "dev = true", is_near: true },
];

/// Leases an address. Returns its key.
async fn lease(api: &TestServer, address: &str) -> String {
    let (status, lease) = api.admin_post("/api/addresses", &json!({ "address": address })).await;
    assert_eq!(status, 201, "{lease}");
    lease["key"].as_str().expect("a key").to_owned()
}

async fn get(api: &TestServer, key: &str, target: &str) -> Answer {
    Answer::to(api.request("GET", target).bearer_auth(key)).await
}

/// Lets strangers make the tries of one of the [`PLACES`]. Returns how many requests of theirs were about the private inbox.
async fn walk(turn: usize, place: Place) -> usize {
    let log = Log::of_this_thread();
    let walk = Walk::begin(place).await;
    let document = Document::of(walk.api.http()).await;
    let all: BTreeSet<String> = paths(place.settings).await.into_iter().chain(document.paths()).collect();
    let tries = [&walk.private, &walk.unknown].map(|named| tries(&all, &document, named));
    let [private, unknown] = tries;
    assert_eq!(private.len(), unknown.len());
    let mut made = BTreeSet::new();
    let mut unusual = 0_usize;
    for (it, of_unknown) in private.iter().zip(&unknown) {
        if !made.insert(format!("{it:?}")) {
            continue;
        }
        if it.is_usual {
            for credential in CREDENTIALS {
                walk.compare(it, of_unknown, credential).await;
            }
            continue;
        }
        // Each place has one half of the unusual ones, by what has no period, so that each kind is in both halves.
        unusual += 1;
        if (unusual.count_ones() as usize + turn).is_multiple_of(2) {
            walk.compare(it, of_unknown, CREDENTIALS[unusual % CREDENTIALS.len()]).await;
        }
    }
    let faults = walk.faults.take();
    assert!(faults.is_empty(), "{} faults: {:#?}", faults.len(), &faults[..faults.len().min(5)]);

    // All of it is still there, and its holder sees each part.
    let api = &walk.api;
    let list = get(api, &walk.key, &format!("/api/mail/messages?to={PRIVATE}")).await.json();
    assert_eq!(list["total"], 2, "{list}");
    let id = &walk.private.values[Named::ID];
    let parts = ["", "/raw", "/html", "/text", "/attachments/0"];
    let mut seen = list.to_string();
    for part in parts {
        seen += get(api, &walk.key, &format!("/api/mail/messages/{id}{part}")).await.text();
    }
    let hooks = get(api, &walk.key, &format!("/api/webhooks?recipient={PRIVATE}")).await.json();
    assert_eq!(hooks.as_array().map(Vec::len), Some(1), "{hooks}");
    for mark in MARKS.iter().filter(|mark| **mark != "dunnart") {
        assert!(seen.to_lowercase().contains(mark), "{mark}");
    }
    let of_administrator = api.admin_get(&format!("/api/mail/messages?to={PRIVATE}")).await;
    assert_eq!(of_administrator["emails"], list["emails"]);

    let lines = log.lines().to_lowercase();
    assert!(has(&lines, "http request"), "{lines}");
    for secret in &walk.secrets {
        assert!(!has(&lines, secret), "{secret} is in the log");
    }
    assert!(!has(&lines, "@example.test"), "an address is in the log: {lines}");
    walk.tries.get()
}

/// They are elsewhere, on the machine, and where all public mail is open to them.
#[tokio::test]
async fn in_ten_thousand_tries_strangers_see_nothing_of_a_private_inbox() {
    let mut tries = 0;
    for (turn, place) in PLACES.into_iter().enumerate() {
        tries += walk(turn, place).await;
    }
    eprintln!("{tries} requests were about the private inbox");
    assert!(tries >= 10_000, "only {tries} requests were about the private inbox");
}

/// What happens in the inbox while strangers watch.
#[tokio::test]
async fn strangers_who_watch_a_private_inbox_learn_of_nothing() {
    for place in PLACES {
        let walk = Walk::begin(place).await;
        let target = |path: &str| format!("/api/mail/{path}to={PRIVATE}");
        let to = |target: String| Try { method: "GET", target, body: None, last_event_id: None, is_usual: true };
        let mut targets = vec![to(target("stream?")), to(target("stream?lastEventId=0-0&"))];
        if place.settings.starts_with("dev") {
            targets.push(to("/api/mail/stream".to_owned()));
        }
        let mut streams = Vec::new();
        for credential in &CREDENTIALS[..3] {
            for it in &targets {
                let (stream, begin) = walk.ask(it, *credential).await;
                assert_eq!(begin.status, 200, "{credential:?} of {it:?}");
                streams.push(stream);
            }
        }
        let waiting = to(target("wait?timeout=1&"));
        let wait = walk.ask(&waiting, Credential::OtherKey);
        let happens = async {
            walk.api.deliver(RECIPIENT, MAIL).await;
            let id = &walk.private.values[Named::ID];
            let deleted = walk.api.request("DELETE", &format!("/api/mail/delete?id={id}")).bearer_auth(&walk.key);
            assert_eq!(Answer::to(deleted).await.json()["deleted"], 1);
        };
        let ((_, wait), ()) = tokio::join!(wait, happens);
        assert_eq!(wait.status, 204);
        for stream in &mut streams {
            assert_eq!(String::from_utf8_lossy(&stream.rest(Duration::from_millis(100)).await), "", "an event");
        }
    }
}
