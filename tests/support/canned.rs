//! A service whose answers a test has written, on the socket of a data directory. Each answer is compared with
//! the description of the interface.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::sync::oneshot;

use super::document::Document;

/// Answers in JSON by method and documented path, such as `GET /api/webhooks`, with their status.
pub(crate) type Answers = Vec<(&'static str, u16, Value)>;

/// A running service, which ends when this is dropped.
pub(crate) struct Canned {
    dir: TempDir,
    _stop: oneshot::Sender<()>,
}

impl Canned {
    /// Starts it. Whatever has no answer is a path that does not exist.
    pub(crate) fn start(answers: Answers) -> Self {
        let document = Document::written();
        for (operation, status, body) in &answers {
            let (method, path) = operation.split_once(' ').expect("a method and a path");
            assert_eq!(document.fault(method, path, *status, body.to_string().as_bytes()), None);
        }
        let dir = tempfile::tempdir().expect("directory");
        let (stop, stopped) = oneshot::channel();
        let socket = std::os::unix::net::UnixListener::bind(dir.path().join("tempmail.sock")).expect("socket");
        socket.set_nonblocking(true).expect("socket");
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
            runtime.block_on(async move {
                let socket = UnixListener::from_std(socket).expect("socket");
                let router = Router::new().fallback(answer).with_state(Arc::new(answers));
                tokio::select! {
                    _ = async { axum::serve(socket, router).await } => {}
                    _ = stopped => {}
                }
            });
        });
        Self { dir, _stop: stop }
    }

    /// The data directory with its socket.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }
}

async fn answer(State(answers): State<Arc<Answers>>, request: Request) -> Response {
    let (method, path) = (request.method().as_str(), request.uri().path());
    let found = answers.iter().find(|(operation, ..)| {
        operation.split_once(' ').is_some_and(|(of, documented)| of == method && is_at(path, documented))
    });
    let unknown = json!({
        "type": "about:blank", "title": "", "status": 404, "detail": "this path does not exist", "code": "unknown_path",
    });
    let (status, body) = found.map_or((404, unknown), |(_, status, body)| (*status, body.clone()));
    let kind = if status < 400 { "application/json" } else { "application/problem+json" };
    let status = StatusCode::from_u16(status).expect("a status");
    (status, [(header::CONTENT_TYPE, kind)], body.to_string()).into_response()
}

/// Whether a path is one that the description writes with names in braces.
fn is_at(path: &str, documented: &str) -> bool {
    let (mut given, mut wanted) = (path.split('/'), documented.split('/'));
    loop {
        match (given.next(), wanted.next()) {
            (None, None) => return true,
            (Some(given), Some(wanted)) if given == wanted || wanted.starts_with('{') => {}
            _ => return false,
        }
    }
}
