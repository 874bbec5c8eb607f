//! A service with a private inbox, and strangers who ask for it.
//! Mechanism: it changes with what a request can bear.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use serde_json::{Value, json};

use super::tries::{Named, Try};
use super::{MAIL, MARKS, PRIVATE, Place, RECIPIENT, TestServer, UNKNOWN, get, lease};
use crate::support::answer::Answer;
use crate::support::caller::{Caller, Reply};
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
    /// The client that asks, and its number.
    caller: RefCell<Option<(u32, Caller)>>,
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
        let target = format!("/api/mail/stream?to={PRIVATE}");
        let holder = format!("authorization: Bearer {key}\r\n");
        let begin = Caller::at(Ipv4Addr::LOCALHOST, api.http()).ask("GET", &target, &holder, None).await;
        let position = begin.text().split("id: ").nth(1).expect("an id").trim().to_owned();
        let lease = api.store().lease(&mailbox(PRIVATE)).await.expect("a look").expect("a lease").id.to_string();
        let other = |text: &str| text[..text.len() - 8].to_owned() + "00c0ffee";
        let private = Named::new(PRIVATE, &lease, &mails, &webhook, &position);
        let others: Vec<String> = mails.iter().map(|id| other(id)).collect();
        let unknown_position = format!("0badc0de-{}", position.split_once('-').expect("a position").1);
        let unknown = Named::new(UNKNOWN, &other(&lease), &others, &other(&webhook), &unknown_position);
        let own = [key.clone(), lease, webhook, "\u{1f}".into(), "\\u001f".into()];
        let secrets =
            MARKS.map(str::to_owned).into_iter().chain(own).chain(mails).map(|it| it.to_lowercase()).collect();
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
            caller: RefCell::default(),
            faults: RefCell::default(),
        }
    }

    /// What a stranger is told, and the client that asked.
    pub(super) async fn ask(&self, it: &Try, credential: Credential) -> (Caller, Reply) {
        let number = self.requests.get() / OF_CLIENT;
        self.requests.set(self.requests.get() + 1);
        let [.., high, low] = number.to_be_bytes();
        let here = if self.place.is_near { [127, 1 + high, low, 1] } else { [127, 0, 0, 1] };
        let kept = self.caller.take().filter(|(of, _)| *of == number);
        let mut caller = kept.map_or_else(|| Caller::at(here, self.api.http()), |(_, caller)| caller);
        let from = if self.place.is_near { String::new() } else { format!("x-forwarded-for: 10.{high}.{low}.1\r\n") };
        let last = it.last_event_id.as_ref().map_or(String::new(), |id| format!("last-event-id: {id}\r\n"));
        let fields = [self.authorization(credential), from, last].concat();
        let reply = caller.ask(it.method, &it.target, &fields, it.body.as_ref()).await;
        (caller, reply)
    }

    fn authorization(&self, credential: Credential) -> String {
        let basic = |pair: String| format!("Basic {}", STANDARD.encode(pair));
        let key = &self.key;
        let value = match credential {
            Credential::Nothing => return String::new(),
            Credential::WrongKey => format!("Bearer {}xx", &key[..key.len() - 2]),
            Credential::OtherKey => format!("Bearer {}", self.other_key),
            Credential::Malformed => format!("Bearer tmk_ {key}"),
            Credential::NoScheme => key.clone(),
            Credential::BasicPassword => basic(format!("ann:{key}")),
            Credential::BasicUser => basic(format!("{key}:")),
            Credential::Twice => format!("Bearer {key}\r\nauthorization: Bearer {key}"),
        };
        format!("authorization: {value}\r\n")
    }

    /// What a stranger gets, as one text with its head.
    async fn answer(&self, it: &Try, credential: Credential) -> (u16, Vec<String>, String) {
        let number = self.requests.get() / OF_CLIENT;
        let (caller, reply) = self.ask(it, credential).await;
        self.caller.replace(Some((number, caller)));
        let names: BTreeSet<&str> = reply.fields().map(|(name, _)| name).collect();
        let (head, body) = (&reply.head, reply.text());
        let text = format!("{head}{body}").to_lowercase();
        // The mark of a private mailbox's name is quoted where it was sent.
        let is_said = |secret: &str| it.says(secret) || secret.ends_with("1f") && (it.says("%1f") || it.says("{1f}"));
        for secret in self.secrets.iter().filter(|it| has(&text, it) && !is_said(it)) {
            self.fault(format!("{credential:?} sees {secret} with {it:?}: {head} {body}"));
        }
        (reply.status, names.into_iter().map(str::to_owned).collect(), body.to_owned())
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
        let is_same = body == other || shape(&body) == shape(&other);
        if !is_same || (status, names) != (other_status, other_names) {
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
