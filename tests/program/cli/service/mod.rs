//! A service in memory that answers as the interface requires, on a TCP port and on a socket in a data directory. Each of its
//! answers is compared with the description of the interface.

mod wait;
pub(super) mod webhooks;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use axum::Router;
use axum::extract::{MatchedPath, Path as UrlPath, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::support::command::{outcome, tempmail};
use crate::support::document::Document;

/// The contents of the service, and the requests that it got.
#[derive(Default)]
pub(super) struct Contents {
    /// The Emails, the newest first, as `GET /api/mail/messages/{id}` returns them.
    pub(super) emails: Vec<Value>,
    pub(super) domains: Vec<Value>,
    /// Method, path and query of every request.
    pub(super) requests: Vec<String>,
    /// Every `Authorization` that was sent.
    pub(super) tokens: Vec<String>,
    pub(super) smtp_listen: Vec<String>,
    /// The webhooks as the administrator sees them.
    pub(super) webhooks: Vec<Value>,
    /// The secrets that webhooks were registered with.
    pub(super) secrets: Vec<Value>,
    /// The log of every webhook; the first is what a test gives.
    pub(super) deliveries: Vec<Value>,
    /// The bodies of replays.
    pub(super) replays: Vec<Value>,
    /// The service is one of revision 1.
    pub(super) has_no_webhooks: bool,
    /// Requests for mail get the response of a proxy whose service is down.
    pub(super) is_failing: bool,
    /// Whether the service has a host name for MX records.
    pub(super) has_mx_host: bool,
    /// What is wrong with its own answers.
    faults: Vec<String>,
}

static DOCUMENT: LazyLock<Document> = LazyLock::new(Document::written);

type Shared = Arc<Mutex<Contents>>;

/// A running service, which ends when this is dropped.
pub(super) struct Service {
    contents: Shared,
    /// Where it listens over TCP.
    pub(super) address: SocketAddr,
    data_dir: TempDir,
    _stop: oneshot::Sender<()>,
}

impl Service {
    pub(super) fn start() -> Self {
        let contents: Shared = Arc::default();
        contents.lock().expect("lock").has_mx_host = true;
        let data_dir = tempfile::tempdir().expect("directory");
        let (stop, stopped) = oneshot::channel();
        let (ready, address) = std::sync::mpsc::channel();
        let (state, socket) = (Arc::clone(&contents), data_dir.path().join("tempmail.sock"));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
            runtime.block_on(async move {
                let tcp = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bind");
                let unix = tokio::net::UnixListener::bind(socket).expect("socket");
                ready.send(tcp.local_addr().expect("address")).expect("test waits");
                tokio::select! {
                    _ = async { axum::serve(tcp, router(&state, false)).await } => {}
                    _ = async { axum::serve(unix, router(&state, true)).await } => {}
                    _ = stopped => {}
                }
            });
        });
        Self { contents, address: address.recv().expect("address"), data_dir, _stop: stop }
    }

    pub(super) fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().expect("lock")
    }

    pub(super) fn shared(&self) -> Shared {
        Arc::clone(&self.contents)
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn data_dir(&self) -> &Path {
        self.data_dir.path()
    }

    /// Runs the binary with `--server` and `args`.
    pub(super) fn run(&self, args: &[&str]) -> super::Outcome {
        outcome(&mut self.command(args))
    }

    /// A command with `--server` and `args`.
    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = tempmail(self.data_dir());
        command.arg("--server").arg(self.url()).args(args);
        command
    }

    /// Runs the binary as the administrator on this machine, with `--data-dir` and `args`.
    pub(super) fn run_local(&self, args: &[&str]) -> super::Outcome {
        outcome(tempmail(self.data_dir()).arg("--data-dir").arg(self.data_dir()).args(args))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.contents().faults, [""; 0], "the interface does not answer so");
        }
    }
}

/// An Email as the service returns it.
pub(super) fn email(id: u8, to: &str, subject: &str) -> Value {
    json!({
        "id": id_of(id), "recipient": to, "from": "ann@sender.test", "subject": subject, "message": "<p>Hello</p>",
        "receivedAt": "2023-11-14 22:13:20", "bodyText": "", "headers": [{"name": "From", "value": "Ann <ann@sender.test>"}],
        "attachments": [], "size": 100, "expiresAt": "2023-11-15 00:13:20", "codes": [], "links": [],
        "header": {"from": [], "to": [], "cc": [], "replyTo": [], "messageId": null, "date": null},
        "envelope": {"reversePath": "ann@sender.test", "client": "127.0.0.1", "helo": "client.test", "protocol": "ESMTP"},
    })
}

/// The id that ends with `id`.
pub(super) fn id_of(id: u8) -> String {
    format!("0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a{id:02x}")
}

pub(super) fn domain(name: &str, status: &str) -> Value {
    json!({"domain": name, "status": status, "addedAt": "2023-11-14 22:13:20", "lastCheckedAt": null, "lastCheckResult": null})
}

/// An object with the members that only the administrator sees.
fn for_administrator(object: &Value, members: &[&str]) -> Value {
    let mut shown = object.as_object().expect("object").clone();
    for member in members {
        shown.entry(*member).or_insert(Value::Null);
    }
    shown.into()
}

/// A domain as the administrator sees it.
fn administered(domain: &Value) -> Value {
    for_administrator(domain, &["owner", "email", "pinned", "fixed", "registeredBy"])
}

fn problem(status: u16, code: &str, detail: &str) -> Response {
    problem_with(status, code, detail, &json!({}))
}

fn problem_with(status: u16, code: &str, detail: &str, members: &Value) -> Response {
    let mut body = json!({"type": "about:blank", "title": "", "status": status, "detail": detail, "code": code});
    for (name, value) in members.as_object().expect("object") {
        body[name] = value.clone();
    }
    let status = StatusCode::from_u16(status).expect("status");
    let headers = [(header::CONTENT_TYPE, "application/problem+json"), (header::RETRY_AFTER, "60")];
    (status, headers, body.to_string()).into_response()
}

fn router(state: &Shared, is_administrator: bool) -> Router {
    let admin = Router::new()
        .route("/domains", get(all_domains).post(add_domain).delete(remove_domain))
        .route("/domains/verify", post(verify))
        .route("/status", get(status))
        .merge(webhooks::admin_routes());
    let record = Arc::clone(state);
    Router::new()
        .route("/api/mail/messages", get(messages))
        .route("/api/mail/messages/{id}", get(message))
        .route("/api/mail/messages/{id}/raw", get(raw))
        .route("/api/mail/messages/{id}/attachments/{index}", get(attachment))
        .route("/api/mail/wait", get(wait::wait))
        .route("/api/mail/delete", delete(delete_mail))
        .route("/api/domains", get(domains).post(add_domain))
        .route("/api/domains/active", get(active))
        .route("/api/domains/check-dns", get(check_dns))
        .merge(webhooks::routes())
        .route("/readyz", get(|| async { axum::Json(json!({"status": "ready"})) }))
        .route(
            "/redirecting/{*rest}",
            get(|| async { (StatusCode::FOUND, [(header::LOCATION, "https://elsewhere.test/")]) }),
        )
        .nest("/api/admin", admin)
        .layer(axum::middleware::from_fn(move |request: Request, next: axum::middleware::Next| {
            let record = Arc::clone(&record);
            async move {
                let is_admin_path = request.uri().path().starts_with("/api/admin");
                let token = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
                let is_permitted = !is_admin_path || is_administrator || token == Some("Bearer secret");
                {
                    let mut contents = record.lock().expect("lock");
                    contents.requests.push(format!("{} {}", request.method(), request.uri()));
                    contents.tokens.extend(token.map(str::to_owned));
                }
                let method = request.method().to_string();
                let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
                let answer = if is_permitted {
                    next.run(request).await
                } else {
                    problem(401, "token_required", "the administrator's alone")
                };
                compared(&record, &method, &path.unwrap_or_default(), answer).await
            }
        }))
        .with_state(Arc::clone(state))
}

/// Keeps what is wrong with an answer of JSON by the description of the interface.
async fn compared(contents: &Shared, method: &str, path: &str, answer: Response) -> Response {
    let is_json = |value: &HeaderValue| value.as_bytes().ends_with(b"json");
    if !answer.headers().get(header::CONTENT_TYPE).is_some_and(is_json) {
        return answer;
    }
    let (head, body) = answer.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    let fault = DOCUMENT.fault(method, path, head.status.as_u16(), &body);
    let mut contents = contents.lock().expect("lock");
    // The description is that of revision 2.
    if !contents.has_no_webhooks {
        contents.faults.extend(fault);
    }
    Response::from_parts(head, body.into())
}

type Parameters = Query<HashMap<String, String>>;

async fn messages(State(contents): State<Shared>, Query(query): Parameters) -> Response {
    let to = query.get("to").cloned().unwrap_or_default();
    if to.starts_with("noise@") {
        return "<html>It works!</html>".into_response();
    }
    if to.starts_with("busy@") {
        return problem(429, "rate_limited", "too many requests");
    }
    if contents.lock().expect("lock").is_failing {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    let number = |name: &str, default: usize| query.get(name).map_or(default, |text| text.parse().expect("number"));
    let (page, limit) = (number("page", 1), number("limit", 20).min(100));
    let contents = contents.lock().expect("lock");
    let all: Vec<&Value> = contents.emails.iter().filter(|email| email["recipient"] == to.as_str()).collect();
    let six = ["id", "recipient", "from", "subject", "message", "receivedAt"];
    let emails: Vec<Value> = all
        .iter()
        .skip((page - 1) * limit)
        .take(limit)
        .map(|email| six.iter().map(|field| ((*field).to_owned(), email[*field].clone())).collect())
        .collect();
    let pages = all.len().div_ceil(limit);
    axum::Json(json!({"emails": emails, "total": all.len(), "page": page, "limit": limit, "pages": pages}))
        .into_response()
}

async fn message(State(contents): State<Shared>, UrlPath(id): UrlPath<String>) -> Response {
    let contents = contents.lock().expect("lock");
    match contents.emails.iter().find(|email| email["id"] == id.as_str()) {
        Some(email) => axum::Json(email).into_response(),
        None => problem(404, "not_found", "there is no such message"),
    }
}

async fn attachment(UrlPath((_, index)): UrlPath<(String, u64)>) -> Response {
    match index {
        0 => ([(header::CONTENT_TYPE, "application/pdf")], b"%PDF\0\xff".to_vec()).into_response(),
        _ => problem(404, "not_found", "the message has no attachment with this index"),
    }
}

async fn raw(State(_): State<Shared>, UrlPath(_): UrlPath<String>) -> Response {
    ([(header::CONTENT_TYPE, "message/rfc822")], b"Return-Path: <>\r\nSubject: \x1b\xff\r\n\r\nx\r\n".to_vec())
        .into_response()
}

async fn delete_mail(State(contents): State<Shared>, Query(query): Query<Vec<(String, String)>>) -> Response {
    let mut contents = contents.lock().expect("lock");
    let before = contents.emails.len();
    let (mut missing, mut gone) = (Vec::new(), Vec::new());
    for (name, value) in &query {
        let field = if name == "to" { "recipient" } else { "id" };
        let left = contents.emails.len();
        contents.emails.retain(|email| email[field] != value.as_str());
        if left > contents.emails.len() {
            gone.push(value);
        } else if !gone.contains(&value) {
            missing.push(value);
        }
    }
    let deleted = before - contents.emails.len();
    let is_batch = query.len() > 1 && !missing.is_empty();
    axum::Json(if is_batch { json!({"deleted": deleted, "missing": missing}) } else { json!({"deleted": deleted}) })
        .into_response()
}

async fn domains(State(contents): State<Shared>) -> Response {
    axum::Json(&contents.lock().expect("lock").domains).into_response()
}

async fn all_domains(State(contents): State<Shared>) -> Response {
    let domains = &contents.lock().expect("lock").domains;
    axum::Json(domains.iter().map(administered).collect::<Vec<_>>()).into_response()
}

async fn active(State(contents): State<Shared>) -> Response {
    let contents = contents.lock().expect("lock");
    let names: Vec<&Value> =
        contents.domains.iter().filter(|d| d["status"] == "active").map(|d| &d["domain"]).collect();
    axum::Json(names).into_response()
}

async fn add_domain(State(contents): State<Shared>, path: MatchedPath, headers: HeaderMap, body: String) -> Response {
    assert_eq!(headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes), Some(&b"application/json"[..]));
    let body: Value = serde_json::from_str(&body).expect("JSON");
    let name = body["domain"].as_str().expect("domain");
    let mut contents = contents.lock().expect("lock");
    if body["skipDnsCheck"] != true {
        if !contents.has_mx_host {
            return problem(503, "mx_host_unset", "no mx-host is configured");
        }
        if name.starts_with("elsewhere") {
            let [ours, theirs] = records(name);
            let members = json!({"expected": [ours], "found": [theirs]});
            return problem_with(422, "mx_mismatch", "the MX record points elsewhere", &members);
        }
    }
    let is_known = contents.domains.iter().any(|domain| domain["domain"] == name);
    if !is_known {
        contents.domains.push(domain(name, "active"));
    }
    let status = if is_known { StatusCode::OK } else { StatusCode::CREATED };
    let added = domain(name, "active");
    let is_administrator = path.as_str().starts_with("/api/admin");
    (status, axum::Json(if is_administrator { administered(&added) } else { added })).into_response()
}

/// The record that a domain needs, and one that points elsewhere.
fn records(name: &str) -> [String; 2] {
    ["10 mx.tempmail.example.", "5 mail.other.example."].map(|data| format!("{name}. IN MX {data}"))
}

async fn check_dns(Query(query): Parameters) -> Response {
    let name = query.get("domain").cloned().unwrap_or_default();
    let ok = !name.starts_with("elsewhere");
    let [ours, theirs] = records(&name);
    let found = if ok { ours.clone() } else { theirs };
    let message = if ok { "the MX record points here" } else { "the MX record points elsewhere" };
    axum::Json(json!({"ok": ok, "message": message, "domain": name, "expected": [ours], "found": [found]}))
        .into_response()
}

async fn remove_domain(State(contents): State<Shared>, Query(query): Parameters) -> Response {
    let name = query.get("domain").cloned().unwrap_or_default();
    if name == "fixed.test" {
        let members = json!({"setting": "domain"});
        return problem_with(409, "conflict", "fixed.test is fixed by the administrator", &members);
    }
    let mut contents = contents.lock().expect("lock");
    let before = contents.domains.len();
    contents.domains.retain(|domain| domain["domain"] != name.as_str());
    axum::Json(json!({"deleted": before - contents.domains.len()})).into_response()
}

async fn verify(Query(query): Parameters) -> Response {
    let is_forced = query.get("force").is_some_and(|value| value == "true");
    axum::Json(json!({"checked": 10, "deactivated": if is_forced { 9 } else { 0 }, "reactivated": 0, "failed": 0, "heldBack": if is_forced { 0 } else { 9 }}))
        .into_response()
}

async fn status(State(contents): State<Shared>) -> Response {
    let smtp_listen = contents.lock().expect("lock").smtp_listen.clone();
    axum::Json(json!({
        "version": "0.1.0", "revision": 2, "startedAt": "2023-11-14 22:13:20", "smtpListen": smtp_listen,
        "smtpsListen": [], "lmtpListen": [], "httpsListen": [], "metricsListen": [], "tls": null, "panics": 0,
        "acceptsMail": true, "smtp": null,
        "httpListen": ["127.0.0.1:8080"], "dataDir": "/data", "hostname": "localhost", "mxHosts": [],
        "retentionSeconds": 7200, "maxMessageOctets": 307_200, "domains": {"active": 1, "deactivated": 0},
        "store": {
            "messages": 3, "emails": 3, "mailboxes": 1, "webhooks": 0, "events": 0, "segments": 1, "liveOctets": 300,
            "diskOctets": 300, "registryOctets": 0, "heldOctets": 0,
        },
    }))
    .into_response()
}
