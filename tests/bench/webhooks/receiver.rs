//! Receivers on ports of their own, and plain POSTs to them.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::{Result, rate};

/// What a receiver does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Answer,
    Hold,
    Endless,
}

/// An HTTP server that takes every POST.
pub(crate) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    mode: watch::Sender<Mode>,
    answered: AtomicUsize,
    arrived: watch::Sender<usize>,
    body: Mutex<Bytes>,
}

async fn receive(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let mut mode = shared.mode.subscribe();
    let current = mode.wait_for(|mode| *mode != Mode::Hold).await.map(|mode| *mode);
    if matches!(current, Ok(Mode::Endless)) {
        let endless = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 1024])));
        return Response::new(Body::from_stream(endless));
    }
    *shared.body.lock().expect("body") = body;
    let answered = shared.answered.fetch_add(1, Ordering::Relaxed) + 1;
    shared.arrived.send_replace(answered);
    Response::default()
}

impl Receiver {
    pub(crate) async fn start_many(count: usize) -> Result<Vec<Self>> {
        let mut receivers = Vec::with_capacity(count);
        for _ in 0..count {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let shared = Arc::new(Shared {
                mode: watch::Sender::new(Mode::Answer),
                answered: AtomicUsize::new(0),
                arrived: watch::Sender::new(0),
                body: Mutex::default(),
            });
            receivers.push(Self { address: listener.local_addr()?, shared: Arc::clone(&shared) });
            let app = axum::Router::new().route("/hook", post(receive)).with_state(shared);
            tokio::spawn(async move { axum::serve(listener, app).await });
        }
        Ok(receivers)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub(crate) fn hold(&self) {
        self.shared.mode.send_replace(Mode::Hold);
    }

    pub(crate) fn let_go(&self) {
        self.shared.mode.send_replace(Mode::Answer);
    }

    pub(crate) fn answer_without_end(&self) {
        self.shared.mode.send_replace(Mode::Endless);
    }

    pub(crate) fn answered(&self) -> usize {
        self.shared.answered.load(Ordering::Relaxed)
    }

    pub(crate) fn last_body(&self) -> Bytes {
        self.shared.body.lock().expect("body").clone()
    }

    /// Waits until more than `count` requests were answered.
    pub(crate) async fn wait_beyond(&self, count: usize) {
        // The sender lives as long as this does.
        let _ = self.shared.arrived.subscribe().wait_for(|answered| *answered > count).await;
    }
}

/// POSTs `body` `count` times over `at_once` kept connections, in turn to each receiver; how many per second.
pub(crate) async fn plain_posts(receivers: &[Receiver], body: &Bytes, count: usize, at_once: usize) -> Result<f64> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    let begun = Instant::now();
    let mut running = tokio::task::JoinSet::new();
    for worker in 0..at_once {
        let (client, body, url) = (client.clone(), body.clone(), receivers[worker % receivers.len()].url());
        let share = count / at_once;
        running.spawn(async move {
            for _ in 0..share {
                client.post(&url).body(body.clone()).send().await?.bytes().await?;
            }
            Ok::<_, reqwest::Error>(())
        });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(rate(count / at_once * at_once, begun.elapsed()))
}
