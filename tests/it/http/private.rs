//! Strangers and a private inbox: whatever they ask for, in whatever way, they get what an address without mail gets.
//! Promise: it outlives the code below it.
//!
//! The tries are made of the router's paths and of `/openapi.json`, so a new route or parameter is among them. Each is made
//! twice: about the private inbox, and about things that do not exist.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::TestServer;
use super::openapi::paths;
use crate::support::answer::Answer;
use crate::support::document::Document;
use crate::support::http;
use crate::support::log::Log;
use crate::support::mail::mailbox;

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

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// The parameters of paths that are not described.
const UNDESCRIBED: [&str; 3] = ["query", "start", "ids"];
/// How many requests come from one client, before its limits are used up.
const OF_CLIENT: u32 = 30;

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

/// What a stranger presents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Credential {
    Nothing,
    WrongKey,
    OtherKey,
    Malformed,
    NoScheme,
    BasicPassword,
    BasicUser,
    Twice,
}

const CREDENTIALS: [Credential; 8] = [
    Credential::Nothing,
    Credential::OtherKey,
    Credential::BasicPassword,
    Credential::NoScheme,
    Credential::BasicUser,
    Credential::WrongKey,
    Credential::Malformed,
    Credential::Twice,
];

/// The names of the things that strangers ask for: those of the private inbox, or of things that do not exist.
struct Named {
    /// The address first, and an id of a mail at [`Named::ID`].
    values: Vec<String>,
}

impl Named {
    const ID: usize = 7;

    fn new(address: &str, lease: &str, mails: &[String], webhook: &str, position: &str) -> Self {
        let (local_part, domain) = address.split_once('@').expect("an address");
        let tagged = format!("{local_part}%1F{lease}");
        let mut values = vec![
            address.to_owned(),
            format!("{}@Example.Test.", local_part.to_uppercase()),
            format!("%22{local_part}%22@{domain}"),
            format!("{local_part}+tag@{domain}"),
            format!("%22{tagged}%22@{domain}"),
            format!("{tagged}@{domain}"),
            lease.to_owned(),
        ];
        assert_eq!(values.len(), Self::ID);
        values.extend(mails.iter().cloned());
        values.extend([webhook.to_owned(), position.to_owned()]);
        // The same for both.
        values.extend(["wombat", "1", "ffffffff", ""].map(str::to_owned));
        Self { values }
    }

    /// What a required parameter is where another one is tried.
    fn usual(&self, name: &str) -> Option<&str> {
        match name {
            "to" | "recipient" | "address" => Some(&self.values[0]),
            "id" | "event" | "IDs" => Some(&self.values[Self::ID]),
            "domain" => Some("example.test"),
            "timeout" => Some("0"),
            "url" => Some("https://hooks.example/x"),
            _ => None,
        }
    }
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
struct Try {
    method: &'static str,
    target: String,
    body: Option<Value>,
    last_event_id: Option<String>,
    /// Whether everything in it is as usual.
    is_usual: bool,
}

/// Every request that is tried: each method of each path with each value in each place, the others being as usual.
fn tries(paths: &BTreeSet<String>, document: &Document, named: &Named) -> Vec<Try> {
    let mut tries = Vec::new();
    for path in paths {
        let is_described = document.0["paths"].get(path).is_some();
        for method in METHODS {
            let operation = &document.0["paths"][path][method.replace("HEAD", "GET").to_lowercase()];
            let (query, members) = places(document, operation, is_described);
            let described = document.methods(path).contains(&method.replace("HEAD", "GET"));
            for (at, target) in targets(path, named, described || !is_described).into_iter().enumerate() {
                let plain = Try { method, target, body: None, last_event_id: None, is_usual: true };
                let usual = |name: &String| Some((name.clone(), named.usual(name)?.to_owned()));
                let (query_usual, body_usual): (Vec<_>, Vec<_>) =
                    (query.iter().filter_map(usual).collect(), members.iter().filter_map(usual).collect());
                // The first mail is behind the other spellings of the address.
                let is_usual = (described || !is_described) && [0, 2 * Named::ID].contains(&at);
                let plain = Try { is_usual: false, ..plain };
                tries.extend([plain.clone(), Try { is_usual, ..plain.with(&query_usual, &body_usual) }]);
                // Another value in the path and one in the query are not tried together.
                let is_varied = is_usual && method != "HEAD" && (is_described || ["GET", "DELETE"].contains(&method));
                for value in named.values.iter().filter(|_| is_varied) {
                    for name in query.iter().filter(|name| *name != "timeout") {
                        // Alone, and beside what is usual.
                        let alone = query_usual.iter().filter(|(other, _)| other == "timeout");
                        let beside = query_usual.iter().filter(|(other, _)| other != name && !excludes(name, other));
                        for others in [alone.cloned().collect::<Vec<_>>(), beside.cloned().collect()] {
                            tries.push(plain.with(&and(others, name, value), &body_usual));
                        }
                    }
                    for name in &members {
                        let others = body_usual.iter().filter(|(other, _)| other != name && !excludes(name, other));
                        tries.push(plain.with(&query_usual, &and(others.cloned().collect(), name, value)));
                    }
                    if path == "/api/mail/stream" && method == "GET" {
                        let plain = plain.with(&query_usual, &[]);
                        tries.push(Try { last_event_id: Some(value.clone()), ..plain });
                    }
                }
            }
        }
    }
    tries
}

fn and(mut others: Vec<(String, String)>, name: &str, value: &str) -> Vec<(String, String)> {
    others.push((name.to_owned(), value.to_owned()));
    others
}

/// Whether a request can't have both.
fn excludes(one: &str, other: &str) -> bool {
    [("id", "to"), ("localPart", "address"), ("domain", "address"), ("since", "event"), ("failed", "event")]
        .iter()
        .any(|pair| *pair == (one, other) || *pair == (other, one))
}

/// The names of the parameters of an operation in the query, and in the body.
fn places(document: &Document, operation: &Value, is_described: bool) -> (Vec<String>, Vec<String>) {
    if !is_described {
        return (UNDESCRIBED.map(str::to_owned).into(), vec!["IDs".to_owned()]);
    }
    let resolved = |value: &Value| match value["$ref"].as_str() {
        Some(path) => document.0.pointer(path.trim_start_matches('#')).expect("a reference").clone(),
        None => value.clone(),
    };
    let parameters = operation["parameters"].as_array().into_iter().flatten().map(resolved);
    let query = parameters.filter(|it| it["in"] == "query").map(|it| it["name"].as_str().expect("a name").to_owned());
    let schema = resolved(&operation["requestBody"]["content"]["application/json"]["schema"]);
    let parts: Vec<Value> =
        schema["allOf"].as_array().into_iter().flatten().map(resolved).chain([schema.clone()]).collect();
    let members = parts.iter().filter_map(|part| part["properties"].as_object()).flat_map(|it| it.keys().cloned());
    (query.collect(), members.collect())
}

/// A path with each value in the place of each name.
fn targets(path: &str, named: &Named, is_there: bool) -> Vec<String> {
    if !path.contains('{') {
        return vec![path.to_owned()];
    }
    let values = if is_there { &named.values[..] } else { &named.values[Named::ID..=Named::ID] };
    let filled = |value: &String| {
        ["0", "1"].map(|index| {
            let path = path.replace("{id}", value).replace("{index}", index).replace("{part}", index);
            let extension = if index == "0" { "html" } else { "txt" };
            path.replace("{file}", &format!("{value}.{extension}")).replace("{version}", value)
        })
    };
    values.iter().filter(|value| !value.is_empty()).flat_map(filled).collect()
}

impl Try {
    fn with(&self, query: &[(String, String)], body: &[(String, String)]) -> Self {
        let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let target =
            if query.is_empty() { self.target.clone() } else { format!("{}?{}", self.target, query.join("&")) };
        let member = |(name, value): &(String, String)| {
            let value = value.replace("%22", "\"").replace("%1F", "\u{1f}");
            let number = value.parse::<u64>().ok().filter(|_| name.ends_with("Seconds") || name == "messages");
            let value = number.map_or_else(|| json!(value), Value::from);
            (name.clone(), if name == "IDs" { json!([value]) } else { value })
        };
        let body = (!body.is_empty()).then(|| Value::Object(body.iter().map(member).collect()));
        Self { target, body, ..self.clone() }
    }

    /// Whether the request itself says a text.
    fn says(&self, text: &str) -> bool {
        format!("{self:?}").to_lowercase().contains(&text.to_lowercase())
    }
}

/// A service with a private inbox that has mail, and what there is to know about it.
struct Walk {
    api: TestServer,
    place: Place,
    key: String,
    other_key: String,
    /// Nothing of this may be in anything that a stranger gets.
    secrets: Vec<String>,
    private: Named,
    unknown: Named,
    requests: Cell<u32>,
    client: RefCell<Client>,
    faults: RefCell<Vec<String>>,
}

impl Walk {
    async fn begin(place: Place) -> Self {
        let api = TestServer::with(&format!("access-log = 'full'\n{}", place.settings)).await;
        let (key, other_key) = (lease(&api, PRIVATE).await, lease(&api, "bob@example.test").await);
        for _ in 0..2 {
            api.deliver(RECIPIENT, MAIL).await;
        }
        let hook = json!({ "recipient": PRIVATE, "url": "https://hooks.example/dunnart" });
        let hook = Answer::to(api.request("POST", "/api/webhooks").bearer_auth(&key).json(&hook)).await.json();
        let webhook = hook["id"].as_str().expect("an id").to_owned();
        let list = get(&api, &key, &format!("/api/mail/messages?to={PRIVATE}")).await.json();
        let mails = list["emails"].as_array().expect("mails").iter().map(|mail| mail["id"].as_str().expect("an id"));
        let mails: Vec<String> = mails.map(str::to_owned).collect();
        assert_eq!(mails.len(), 2);
        let stream = api.request("GET", &format!("/api/mail/stream?to={PRIVATE}")).bearer_auth(&key);
        let begin = first_of(&mut stream.send().await.expect("a stream")).await;
        let position = begin.split("id: ").nth(1).expect("an id").trim().to_owned();
        let lease = api.store().lease(&mailbox(PRIVATE)).await.expect("a look").expect("a lease").id.to_string();
        let other = |text: &str| text[..text.len() - 8].to_owned() + "00c0ffee";
        let private = Named::new(PRIVATE, &lease, &mails, &webhook, &position);
        let others: Vec<String> = mails.iter().map(|id| other(id)).collect();
        let unknown_position = format!("0badc0de-{}", position.split_once('-').expect("a position").1);
        let unknown = Named::new(UNKNOWN, &other(&lease), &others, &other(&webhook), &unknown_position);
        let own = [key.clone(), lease, webhook, "\u{1f}".into(), "\\u001f".into()];
        let secrets = MARKS.map(str::to_owned).into_iter().chain(own).chain(mails).collect();
        let client = http::client().into();
        Self {
            api,
            place,
            key,
            other_key,
            secrets,
            private,
            unknown,
            requests: 0.into(),
            client,
            faults: RefCell::default(),
        }
    }

    /// A request of a stranger.
    fn request(&self, it: &Try, credential: Credential) -> RequestBuilder {
        let number = self.requests.get();
        self.requests.set(number + 1);
        let [.., high, low] = (number / OF_CLIENT).to_be_bytes();
        if self.place.is_near && number.is_multiple_of(OF_CLIENT) {
            let here = IpAddr::from(Ipv4Addr::new(127, 1 + high, low, 1));
            *self.client.borrow_mut() = http::client_builder().local_address(here).build().expect("a client");
        }
        let method = it.method.parse().expect("a method");
        let request = self.client.borrow().request(method, format!("http://{}{}", self.api.http(), it.target));
        let request = match &it.body {
            Some(body) => request.json(body),
            None => request,
        };
        let request = match &it.last_event_id {
            Some(id) => request.header("last-event-id", id),
            None => request,
        };
        let request =
            if self.place.is_near { request } else { request.header("x-forwarded-for", format!("10.{high}.{low}.1")) };
        let basic = |pair: String| format!("Basic {}", STANDARD.encode(pair));
        let key = &self.key;
        match credential {
            Credential::Nothing => request,
            Credential::WrongKey => request.bearer_auth(format!("{}xx", &key[..key.len() - 2])),
            Credential::OtherKey => request.bearer_auth(&self.other_key),
            Credential::Malformed => request.bearer_auth(format!("tmk_ {key}")),
            Credential::NoScheme => request.header("authorization", key),
            Credential::BasicPassword => request.header("authorization", basic(format!("ann:{key}"))),
            Credential::BasicUser => request.header("authorization", basic(format!("{key}:"))),
            Credential::Twice => request.bearer_auth(key).header("authorization", format!("Bearer {key}")),
        }
    }

    /// What a stranger gets, as one text with its head.
    async fn answer(&self, it: &Try, credential: Credential) -> (u16, Vec<String>, String) {
        let mut response = self.request(it, credential).send().await.expect("an answer");
        let names: BTreeSet<String> = response.headers().keys().map(ToString::to_string).collect();
        let head = format!("{:?}", response.headers());
        let status = response.status().as_u16();
        let is_stream = response.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream");
        let body = if is_stream { first_of(&mut response).await } else { response.text().await.expect("a body") };
        let text = format!("{head}{body}").to_lowercase();
        // The mark of a private mailbox's name is quoted where it was sent.
        let is_said = |secret: &str| it.says(secret) || secret.ends_with("1f") && (it.says("%1f") || it.says("{1f}"));
        for secret in self.secrets.iter().filter(|it| text.contains(&it.to_lowercase()) && !is_said(it)) {
            self.fault(format!("{credential:?} sees {secret} with {it:?}: {head} {body}"));
        }
        (status, names.into_iter().collect(), body)
    }

    /// A stranger gets the same for both.
    async fn compare(&self, it: &Try, of_unknown: &Try, credential: Credential) {
        let (status, names, body) = self.answer(it, credential).await;
        // Whoever may choose an address learns which ones are taken.
        if it == of_unknown || it.method == "POST" && it.target == "/api/addresses" && self.place.is_near {
            return;
        }
        let (other_status, other_names, other) = self.answer(of_unknown, credential).await;
        if (status, names, shape(&body)) != (other_status, other_names, shape(&other)) {
            self.fault(format!(
                "{credential:?} gets {status} {body} with {it:?}, and otherwise {other_status} {other}"
            ));
        }
    }

    fn fault(&self, fault: String) {
        self.faults.borrow_mut().push(fault);
    }
}

/// Leases an address. Returns its key.
async fn lease(api: &TestServer, address: &str) -> String {
    let (status, lease) = api.admin_post("/api/addresses", &json!({ "address": address })).await;
    assert_eq!(status, 201, "{lease}");
    lease["key"].as_str().expect("a key").to_owned()
}

async fn get(api: &TestServer, key: &str, target: &str) -> Answer {
    Answer::to(api.request("GET", target).bearer_auth(key)).await
}

/// What a stream says at first.
async fn first_of(response: &mut Response) -> String {
    // An answer to HEAD has none.
    let first = response.chunk().await.expect("a piece").unwrap_or_default();
    String::from_utf8(first.into()).expect("UTF-8") + &rest_of(response, Duration::from_millis(2)).await
}

/// What a stream says within a time.
async fn rest_of(response: &mut Response, time: Duration) -> String {
    let mut text = String::new();
    while let Ok(Ok(Some(piece))) = timeout(time, response.chunk()).await {
        text += str::from_utf8(&piece).expect("UTF-8");
    }
    text
}

/// A body without what differs from request to request: texts other than codes, and numbers of anything but Emails.
fn shape(body: &str) -> Value {
    fn of(name: &str, value: &Value) -> Value {
        match value {
            Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), of(name, value))).collect(),
            Value::Array(items) => items.iter().map(|item| of("", item)).collect(),
            Value::String(_) if !["code", "title"].contains(&name) => "text".into(),
            Value::Number(_) if !["status", "total", "pages", "deleted", "scanned", "count"].contains(&name) => {
                0.into()
            }
            other => other.clone(),
        }
    }
    let Ok(json) = serde_json::from_str::<Value>(body) else {
        // Positions and names differ.
        let words = body.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 3);
        let words =
            words.filter(|word| word.chars().all(char::is_alphabetic) && !word.chars().all(|c| c.is_ascii_hexdigit()));
        return words.filter(|word| !["html", "text"].contains(word)).map(Value::from).collect();
    };
    of("", &json)
}

async fn walk(place: Place) {
    let log = Log::of_this_thread();
    let walk = Walk::begin(place).await;
    let document = Document::of(walk.api.http()).await;
    let all: BTreeSet<String> = paths(place.settings).await.into_iter().chain(document.paths()).collect();
    let tries = [&walk.private, &walk.unknown].map(|named| tries(&all, &document, named));
    let [private, unknown] = tries;
    assert!(private.len() == unknown.len() && private.len() > 1_500, "{}", private.len());
    let mut made = BTreeSet::new();
    for (number, (it, of_unknown)) in private.iter().zip(&unknown).enumerate() {
        if !made.insert(format!("{it:?}")) {
            continue;
        }
        if it.is_usual {
            for credential in CREDENTIALS {
                walk.compare(it, of_unknown, credential).await;
            }
        } else {
            walk.compare(it, of_unknown, CREDENTIALS[number % CREDENTIALS.len()]).await;
        }
    }
    let faults = walk.faults.take();
    assert!(faults.is_empty(), "{} faults: {:#?}", faults.len(), &faults[..faults.len().min(5)]);
    eprintln!("{place:?}: {} tries, {} requests", private.len(), walk.requests.get());

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

    let lines = log.lines();
    assert!(lines.contains("http request"), "{lines}");
    for secret in &walk.secrets {
        assert!(!lines.to_lowercase().contains(&secret.to_lowercase()), "{secret} is in the log");
    }
    assert!(!lines.contains("@example.test"), "an address is in the log: {lines}");
}

#[tokio::test]
async fn strangers_elsewhere_see_nothing_of_a_private_inbox() {
    walk(PLACES[0]).await;
}

#[tokio::test]
async fn strangers_on_the_machine_see_nothing_of_a_private_inbox() {
    walk(PLACES[1]).await;
}

#[tokio::test]
async fn strangers_to_whom_all_public_mail_is_open_see_nothing_of_a_private_inbox() {
    walk(PLACES[2]).await;
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
                let mut stream = walk.request(it, *credential).send().await.expect("a stream");
                assert_eq!(stream.status(), 200, "{credential:?} of {it:?}");
                first_of(&mut stream).await;
                streams.push(stream);
            }
        }
        let wait = walk.request(&to(target("wait?timeout=1&")), Credential::OtherKey).send();
        let happens = async {
            walk.api.deliver(RECIPIENT, MAIL).await;
            let id = &walk.private.values[Named::ID];
            let deleted = walk.api.request("DELETE", &format!("/api/mail/delete?id={id}")).bearer_auth(&walk.key);
            assert_eq!(Answer::to(deleted).await.json()["deleted"], 1);
        };
        let (wait, ()) = tokio::join!(wait, happens);
        assert_eq!(wait.expect("an answer").status(), 204);
        for stream in &mut streams {
            assert_eq!(rest_of(stream, Duration::from_millis(100)).await, "", "an event");
        }
    }
}
