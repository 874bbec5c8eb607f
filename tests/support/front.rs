//! A front of a service: it notes each request, and answers it as a test says, or else as the service behind it does. It is on a
//! port, and on the socket of a data directory of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{oneshot, watch};

use super::document::Document;
use super::http;

/// The fields of a request or an answer that go through.
const FIELDS: [HeaderName; 5] =
    [header::AUTHORIZATION, header::CONTENT_TYPE, header::LOCATION, header::RETRY_AFTER, header::ACCEPT];

/// An answer that a test has written.
#[derive(Clone)]
pub(crate) struct Answer {
    status: u16,
    /// Its content type, or the place that a redirect names.
    field: (HeaderName, String),
    body: Vec<u8>,
}

impl Answer {
    /// JSON.
    pub(crate) fn json(body: &Value) -> Self {
        Self::of("application/json", body.to_string())
    }

    /// A success with a body of this type.
    pub(crate) fn of(kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, field: (header::CONTENT_TYPE, kind.to_owned()), body: body.into() }
    }

    /// A problem, after which a client is to wait for a minute.
    pub(crate) fn problem(status: u16, code: &str) -> Self {
        let body = json!({"type": "about:blank", "title": "", "status": status, "detail": "no", "code": code});
        Self { status, ..Self::of("application/problem+json", body.to_string()) }
    }

    /// A redirect.
    pub(crate) fn redirect(location: &str) -> Self {
        Self { status: 302, field: (header::LOCATION, location.to_owned()), body: Vec::new() }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = StatusCode::from_u16(self.status).expect("a status");
        let (name, value) = self.field;
        response.headers_mut().insert(name, value.parse().expect("a value"));
        if self.status >= 400 {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
        }
        response
    }
}

/// What the front answers by itself, and what it was asked.
#[derive(Default)]
pub(crate) struct Contents {
    /// By method and path.
    answers: Vec<(String, Vec<Answer>)>,
    /// Method, path and query of each request.
    pub(crate) requests: Vec<String>,
    /// Every `Authorization` that was sent.
    pub(crate) tokens: Vec<String>,
    /// The bodies of requests that are JSON.
    pub(crate) bodies: Vec<Value>,
}

/// A service behind a front: its port and its socket.
pub(crate) type Behind = (SocketAddr, PathBuf);

/// A front that runs, and ends when this is dropped.
pub(crate) struct Front {
    contents: Arc<Mutex<Contents>>,
    /// Where it listens over TCP.
    pub(crate) address: SocketAddr,
    dir: TempDir,
    is_down: watch::Sender<bool>,
    _stop: oneshot::Sender<()>,
}

impl Front {
    /// A front of nothing: what the test does not say is a path that does not exist.
    pub(crate) fn alone() -> Self {
        Self::start(None)
    }

    /// A front of this service.
    pub(crate) fn of(behind: Behind) -> Self {
        Self::start(Some(behind))
    }

    fn start(behind: Option<Behind>) -> Self {
        let contents: Arc<Mutex<Contents>> = Arc::default();
        let dir = tempfile::tempdir().expect("directory");
        let ((stop, stopped), (is_down, down)) = (oneshot::channel(), watch::channel(false));
        let (ready, address) = std::sync::mpsc::channel();
        let (noted, socket) = (Arc::clone(&contents), dir.path().join("tempmail.sock"));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
            runtime.block_on(async move {
                let tcp = TcpListener::bind("127.0.0.1:0").await.expect("bind");
                let unix = UnixListener::bind(socket).expect("socket");
                ready.send(tcp.local_addr().expect("address")).expect("test waits");
                let router = |behind| {
                    Router::new().fallback(answer).with_state(Asked {
                        noted: noted.clone(),
                        behind,
                        down: down.clone(),
                    })
                };
                let (port, socket) = behind.unzip();
                let port = port.map(|port| (http::client(), format!("http://{port}")));
                let socket = socket.map(|socket| {
                    (http::client_builder().unix_socket(socket).build().expect("a client"), "http://control".to_owned())
                });
                tokio::select! {
                    _ = async { axum::serve(tcp, router(port)).await } => {}
                    _ = async { axum::serve(unix, router(socket)).await } => {}
                    _ = stopped => {}
                }
            });
        });
        Self { contents, address: address.recv().expect("address"), dir, is_down, _stop: stop }
    }

    /// Its address for `--server`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The data directory with its socket.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// What it was asked.
    pub(crate) fn noted(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().expect("lock")
    }

    /// Answers requests such as `GET /api/webhooks` so from now on. A name in braces stands for any part of a path.
    pub(crate) fn answers(&self, operation: &str, answer: Answer) {
        self.answers_in_turn(operation, vec![answer]);
    }

    /// The same with one answer after another; the last one stays. JSON must be as the interface is described.
    pub(crate) fn answers_in_turn(&self, operation: &str, answers: Vec<Answer>) {
        let (method, path) = operation.split_once(' ').expect("a method and a path");
        let document = Document::written();
        for answer in answers.iter().filter(|answer| answer.field.1.ends_with("json")) {
            let documented = document.paths().into_iter().find(|documented| is_at(path, documented)).expect("its path");
            assert_eq!(document.fault(method, &documented, answer.status, &answer.body), None);
        }
        let mut contents = self.noted();
        contents.answers.retain(|(known, _)| known != operation);
        contents.answers.push((operation.to_owned(), answers));
    }

    /// From now on, and for requests that wait, it answers as a proxy does whose service is down; or no more.
    pub(crate) fn set_down(&self, is_down: bool) {
        self.is_down.send_replace(is_down);
    }
}

#[derive(Clone)]
struct Asked {
    noted: Arc<Mutex<Contents>>,
    behind: Option<(reqwest::Client, String)>,
    down: watch::Receiver<bool>,
}

async fn answer(State(Asked { noted, behind, mut down }): State<Asked>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.expect("a body");
    let written = {
        let mut contents = noted.lock().expect("lock");
        contents.requests.push(format!("{} {}", head.method, head.uri));
        contents.bodies.extend(serde_json::from_slice::<Value>(&body));
        let token = head.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        contents.tokens.extend(token.map(str::to_owned));
        let is_asked = |operation: &str| {
            operation
                .split_once(' ')
                .is_some_and(|(method, path)| head.method == method && is_at(head.uri.path(), path))
        };
        let answers = contents.answers.iter_mut().find(|(operation, _)| is_asked(operation));
        answers.map(|(_, turns)| if turns.len() > 1 { turns.remove(0) } else { turns[0].clone() })
    };
    let answered = async {
        match (written, behind) {
            (Some(written), _) => written.into_response(),
            (None, None) => Answer::problem(404, "unknown_path").into_response(),
            (None, Some((client, base))) => {
                let fields = FIELDS.iter().filter_map(|name| Some((name.clone(), head.headers.get(name)?.clone())));
                let request = client.request(head.method, format!("{base}{}", head.uri)).headers(fields.collect());
                passed(request.body(body).send().await.expect("an answer"))
            }
        }
    };
    tokio::select! {
        _ = down.wait_for(|is_down| *is_down) => StatusCode::BAD_GATEWAY.into_response(),
        answer = answered => answer,
    }
}

/// An answer of the service behind the front, as it comes.
fn passed(answer: reqwest::Response) -> Response {
    let (status, fields) = (answer.status(), answer.headers().clone());
    let mut passed = Response::new(Body::from_stream(answer.bytes_stream()));
    *passed.status_mut() = status;
    passed
        .headers_mut()
        .extend(fields.into_iter().filter(|(name, _)| name.as_ref().is_some_and(|name| FIELDS.contains(name))));
    passed
}

/// Whether a path is this one, in which a name in braces stands for any part.
fn is_at(path: &str, pattern: &str) -> bool {
    let (mut given, mut wanted) = (path.split('/'), pattern.split('/'));
    loop {
        match (given.next(), wanted.next()) {
            (None, None) => return true,
            (Some(given), Some(wanted)) if given == wanted || wanted.starts_with('{') => {}
            _ => return false,
        }
    }
}
