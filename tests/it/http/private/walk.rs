//! A service with a private inbox, and strangers who ask for it.
//! Mechanism: it changes with what a request can bear.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::tries::{Named, Try};
use super::{MAIL, MARKS, PRIVATE, Place, RECIPIENT, TestServer, UNKNOWN, get, lease};
use crate::support::answer::Answer;
use crate::support::http;
use crate::support::mail::mailbox;

/// How many requests come from one client, before its limits are used up.
const OF_CLIENT: u32 = 30;

/// What a stranger presents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Credential {
    Nothing,
    WrongKey,
    OtherKey,
    Malformed,
    NoScheme,
    BasicPassword,
    BasicUser,
    Twice,
}

pub(super) const CREDENTIALS: [Credential; 8] = [
    Credential::Nothing,
    Credential::OtherKey,
    Credential::BasicPassword,
    Credential::NoScheme,
    Credential::BasicUser,
    Credential::WrongKey,
    Credential::Malformed,
    Credential::Twice,
];

/// A service with a private inbox that has mail, and what there is to know about it.
pub(super) struct Walk {
    pub(super) api: TestServer,
    place: Place,
    pub(super) key: String,
    other_key: String,
    /// Nothing of this may be in anything that a stranger gets. All is in lower case.
    pub(super) secrets: Vec<String>,
    pub(super) private: Named,
    pub(super) unknown: Named,
    requests: Cell<u32>,
    /// How many of them were about the private inbox.
    pub(super) tries: Cell<usize>,
    client: RefCell<Client>,
    pub(super) faults: RefCell<Vec<String>>,
}

impl Walk {
    pub(super) async fn begin(place: Place) -> Self {
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
        let secrets =
            MARKS.map(str::to_owned).into_iter().chain(own).chain(mails).map(|it| it.to_lowercase()).collect();
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
            tries: 0.into(),
            client,
            faults: RefCell::default(),
        }
    }

    /// A request of a stranger.
    pub(super) fn request(&self, it: &Try, credential: Credential) -> RequestBuilder {
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
        let lines =
            response.headers().iter().map(|(name, value)| format!("{name}: {}\n", value.as_bytes().escape_ascii()));
        let head: String = lines.collect();
        let status = response.status().as_u16();
        let is_stream = response.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream");
        let body = if is_stream { first_of(&mut response).await } else { response.text().await.expect("a body") };
        let text = format!("{head}{body}").to_lowercase();
        // The mark of a private mailbox's name is quoted where it was sent.
        let is_said = |secret: &str| it.says(secret) || secret.ends_with("1f") && (it.says("%1f") || it.says("{1f}"));
        for secret in self.secrets.iter().filter(|it| has(&text, it) && !is_said(it)) {
            self.fault(format!("{credential:?} sees {secret} with {it:?}: {head} {body}"));
        }
        (status, names.into_iter().collect(), body)
    }

    /// A stranger gets the same for both.
    pub(super) async fn compare(&self, it: &Try, of_unknown: &Try, credential: Credential) {
        self.tries.set(self.tries.get() + 1);
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

/// Whether a text has another. Without optimisation, the standard library takes long for this.
pub(super) fn has(text: &str, wanted: &str) -> bool {
    memmem::find(text.as_bytes(), wanted.as_bytes()).is_some()
}

/// What a stream says at first.
pub(super) async fn first_of(response: &mut Response) -> String {
    // An answer to HEAD has none.
    let first = response.chunk().await.expect("a piece").unwrap_or_default();
    String::from_utf8(first.into()).expect("UTF-8") + &rest_of(response, Duration::from_millis(2)).await
}

/// What a stream says within a time.
pub(super) async fn rest_of(response: &mut Response, time: Duration) -> String {
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
