//! The HTTP interface: as a service without a socket, and its connections.

mod admin;
mod all_mail;
mod attachments;
mod browsers;
mod closed;
mod compat;
mod compression;
mod delete;
mod domains;
mod events;
mod fairness;
mod filters;
mod heads;
mod health;
mod http2;
mod https;
mod message;
mod messages;
mod metrics;
mod openapi;
mod problems;
mod proxied;
mod rate_limits;
mod server;
mod slow_readers;
mod submission;
mod view;
mod wait;
mod waiting;
mod webhooks;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::Value;
use tempfile::TempDir;
use tempmail::clock::Clock;
use tempmail::config::{Config, Revision};
use tempmail::http::{AnswerMemory, Api, ETags, Peer, Principal, RenderedEmails, WaitingPlaces, WebhookTest, router};
use tempmail::model::{
    Address, AttemptRecord, Delivery, EmailId, Envelope, Protocol, Subaddressing, Timestamp, WebhookRecord,
};
use tempmail::reader::Reader;
use tempmail::store::{EmbeddedStore, Store};
use tempmail::tokens::Tokens;
use tempmail::webhook::{Guard, GuardSettings, TestError};
use tower::ServiceExt;

use crate::support::clock::SetClock;
use crate::support::faulty_store::FaultyStore;
use crate::support::fixed_domains::FixedDomains;

/// 2023-11-14 22:13:20 UTC.
const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// The interface over a store in memory and a double of the domains.
struct TestApi {
    store: Arc<FaultyStore>,
    /// The interface with these limits of the outbox.
    outbox: Arc<EmbeddedStore>,
    domains: Arc<FixedDomains>,
    clock: Arc<SetClock>,
    tokens: Arc<Tokens>,
    router: Router,
    /// The directory of the tokens.
    _dir: TempDir,
}

/// A response with its whole body.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The code of a problem, after a check of all its members.
    fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let body: Value = serde_json::from_slice(&self.body).expect("JSON");
        assert_eq!(body["status"], self.status.as_u16());
        assert_eq!(body["type"], "about:blank");
        assert_eq!(body["title"], self.status.canonical_reason().expect("phrase"));
        assert!(!body["detail"].as_str().expect("detail").is_empty());
        body["code"].as_str().expect("code").to_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }
}

/// A tester for interfaces whose webhooks are not tested.
struct NoTest;

#[async_trait]
impl WebhookTest for NoTest {
    async fn test(&self, _: &WebhookRecord) -> Result<AttemptRecord, TestError> {
        unreachable!("no test of a webhook was expected")
    }
}

impl TestApi {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(configure: impl FnOnce(&mut Config)) -> Self {
        Self::with_test(configure, Arc::new(NoTest))
    }

    fn with_test(configure: impl FnOnce(&mut Config), webhook_test: Arc<dyn WebhookTest>) -> Self {
        let mut config = Config::of_revision(Revision::Two, "/nowhere".into());
        configure(&mut config);
        let store = Arc::new(FaultyStore::taking(config.mail.message_octets_max));
        let outbox = store.embedded();
        let guard = Guard::new(GuardSettings { allow: config.webhooks.allow.clone(), ..GuardSettings::default() });
        let domains = Arc::new(FixedDomains::default());
        let clock = Arc::new(SetClock::at(NOW));
        let dir = tempfile::tempdir().expect("directory");
        let tokens = Tokens::open(dir.path(), None).expect("tokens");
        let router = router(Api {
            store: Arc::clone(&store) as Arc<dyn Store>,
            outbox: outbox.clone(),
            guard: Arc::new(guard),
            webhook_test,
            registry: domains.clone(),
            tokens: Arc::clone(&tokens),
            reader: Reader::start(1).expect("a thread"),
            memory: AnswerMemory::new(config.mail.message_octets_max),
            waiting: WaitingPlaces::new(&config),
            config: Arc::new(config),
            rendered: RenderedEmails::default(),
            etags: ETags::default(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            status: None,
            metrics: Vec::new(),
        });
        Self { store, outbox, domains, clock, tokens, router, _dir: dir }
    }

    /// Receives a mail, and returns the ids of its Emails.
    async fn receive(&self, recipients: &[&str], raw: &str) -> Vec<EmailId> {
        let now = self.clock.now();
        let addresses: Vec<Address> = recipients.iter().map(|text| text.parse().expect(text)).collect();
        let envelope = Envelope::new(
            IpAddr::from([192, 0, 2, 1]),
            "client.test".into(),
            Protocol::ESMTP,
            "bounces@sender.test".into(),
            &addresses,
            Subaddressing::Keep,
            now,
        );
        let ids = envelope.recipients.iter().map(|recipient| recipient.id).collect();
        let expires_at = now.plus(Duration::from_hours(2));
        let delivery = Delivery { envelope, raw: Bytes::from(raw.to_owned()), received_at: now, expires_at };
        self.store.receive(delivery).await.expect("store");
        ids
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let (head, body) = self.router.clone().oneshot(request).await.expect("infallible").into_parts();
        let body = body.collect().await.expect("body").to_bytes();
        Answer { status: head.status, headers: head.headers, body }
    }

    /// A request as a local process makes it: over TCP, to a loopback host.
    async fn call(&self, method: &str, target: &str) -> Answer {
        self.send(public(method, target).body(Body::empty()).expect("request")).await
    }

    async fn get_with(&self, target: &str, name: &str, value: &str) -> Answer {
        self.send(public("GET", target).header(name, value).body(Body::empty()).expect("request")).await
    }

    async fn get(&self, target: &str) -> Answer {
        self.call("GET", target).await
    }

    async fn post(&self, target: &str, body: &str) -> Answer {
        let request = public("POST", target).header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(body.to_owned())).expect("request")).await
    }

    /// A request as the local socket passes it on.
    async fn administrator(&self, method: &str, target: &str, body: &str) -> Answer {
        let request = Request::builder().method(method).uri(target).extension(Principal::Administrator);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(body.to_owned())).expect("request")).await
    }
}

fn public(method: &str, target: &str) -> axum::http::request::Builder {
    let peer = Peer(SocketAddr::from(([127, 0, 0, 1], 50_000)));
    Request::builder().method(method).uri(target).header(header::HOST, "127.0.0.1:8080").extension(peer)
}
