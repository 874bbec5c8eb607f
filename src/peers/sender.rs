//! Passes this node's hints to the other nodes, each over one connection that stays open.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::PATH;
use crate::store::{PeerHints, Peers};

/// The longest time for a connection and one request. Afterwards the hints of that time are on their way through the store.
const TIMEOUT: Duration = Duration::from_millis(500);
/// The most hints that wait for one node. Further ones are not sent.
const WAITING_MAX: usize = 64;

/// Sends hints until `shutdown`.
pub async fn run(peers: Arc<dyn Peers>, shutdown: CancellationToken) {
    let mut nodes: HashMap<String, mpsc::Sender<Bytes>> = HashMap::new();
    let send = async {
        loop {
            let PeerHints { addresses, octets } = peers.next().await;
            nodes.retain(|address, _| addresses.contains(address));
            for address in addresses {
                let node = nodes.entry(address.clone()).or_insert_with(|| start(address, peers.token()));
                // A node that is slow or gone gets them through the store.
                let _ = node.try_send(octets.clone());
            }
        }
    };
    shutdown.run_until_cancelled(send).await;
}

/// Starts the task that sends to one node. It ends when its sender is dropped.
fn start(address: String, token: String) -> mpsc::Sender<Bytes> {
    let (sender, mut waiting) = mpsc::channel::<Bytes>(WAITING_MAX);
    tokio::spawn(async move {
        let mut connection = None;
        while let Some(octets) = waiting.recv().await {
            match timeout(TIMEOUT, send(&mut connection, &address, &token, octets)).await {
                Ok(Ok(StatusCode::NO_CONTENT)) => {}
                Ok(Ok(status)) => tracing::warn!(peer = address, %status, "another node refused hints"),
                Ok(Err(error)) => {
                    tracing::debug!(peer = address, error, "hints were not sent");
                    connection = None;
                }
                Err(_) => connection = None,
            }
        }
    });
    sender
}

async fn send(
    connection: &mut Option<SendRequest<Full<Bytes>>>,
    address: &str,
    token: &str,
    octets: Bytes,
) -> Result<StatusCode, String> {
    let failed = |error: &dyn std::error::Error| error.to_string();
    let mut open = if let Some(open) = connection.take().filter(|open| !open.is_closed()) {
        open
    } else {
        let stream = TcpStream::connect(address).await.map_err(|error| failed(&error))?;
        stream.set_nodelay(true).map_err(|error| failed(&error))?;
        let (open, driven) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
        tokio::spawn(driven);
        open
    };
    let request = Request::builder()
        .method(Method::POST)
        .uri(PATH)
        .header(header::HOST, address)
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .body(Full::new(octets))
        .map_err(|error| failed(&error))?;
    open.ready().await.map_err(|error| failed(&error))?;
    let response = open.send_request(request).await.map_err(|error| failed(&error))?;
    let status = response.status();
    response.into_body().collect().await.map_err(|error| failed(&error))?;
    *connection = Some(open);
    Ok(status)
}
