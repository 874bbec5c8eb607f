//! Hints between nodes over real sockets. What the hints say is the store's own matter.
//! Mechanism: it goes with the push of hints between nodes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tempmail::clock::SystemClock;
use tempmail::config::{Config, Revision};
use tempmail::http::{self, HttpLimits, HttpListener};
use tempmail::peers::{receiver, sender};
use tempmail::store::{PeerHints, Peers};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::support::until::until;

/// A node without a store.
struct Node {
    token: &'static str,
    to_send: tokio::sync::Mutex<mpsc::Receiver<PeerHints>>,
    taken: Mutex<Vec<Bytes>>,
}

impl Node {
    fn new(token: &'static str) -> (Arc<Self>, mpsc::Sender<PeerHints>) {
        let (sender, to_send) = mpsc::channel(100);
        (Arc::new(Self { token, to_send: to_send.into(), taken: Mutex::default() }), sender)
    }

    fn taken(&self) -> Vec<Bytes> {
        self.taken.lock().expect("no panic").clone()
    }
}

#[async_trait]
impl Peers for Node {
    fn token(&self) -> String {
        self.token.to_owned()
    }

    fn set_address(&self, _: String) {}

    async fn next(&self) -> PeerHints {
        match self.to_send.lock().await.recv().await {
            Some(hints) => hints,
            None => std::future::pending().await,
        }
    }

    fn take(&self, octets: &[u8]) -> bool {
        self.taken.lock().expect("no panic").push(Bytes::copy_from_slice(octets));
        octets != b"unreadable"
    }
}

/// Takes hints at the address, port 0 for any. Returns where.
async fn listen(node: &Arc<Node>, address: &str, stop: &CancellationToken) -> String {
    let listener = TcpListener::bind(address).await.expect("bind");
    let address = listener.local_addr().expect("an address").to_string();
    let limits = HttpLimits::from_config(&Config::of_revision(Revision::Two, "unused".into()));
    let router = receiver::router(Arc::clone(node) as Arc<dyn Peers>);
    let listeners = vec![HttpListener::Tcp(listener)];
    tokio::spawn(http::serve_public(listeners, router, limits, Arc::new(SystemClock), stop.clone()));
    address
}

/// Sends one of the hints again and again, until it has arrived: a hint that finds no connection is lost.
async fn send_until_taken(outgoing: &mpsc::Sender<PeerHints>, addresses: &[String], text: &'static str, at: &Node) {
    let hints = || PeerHints { addresses: addresses.to_vec(), octets: Bytes::from_static(text.as_bytes()) };
    outgoing.send(hints()).await.expect("the sender runs");
    until("the hints have arrived", async || {
        let _ = outgoing.try_send(hints());
        at.taken().contains(&Bytes::from_static(text.as_bytes()))
    })
    .await;
}

#[tokio::test]
async fn hints_reach_each_node_and_one_that_is_gone_delays_no_other() {
    let stop = CancellationToken::new();
    let (from, outgoing) = Node::new("secret");
    let ((one, _), (two, _)) = (Node::new("secret"), Node::new("secret"));
    let stop_one = CancellationToken::new();
    let addresses = [listen(&one, "127.0.0.1:0", &stop_one).await, listen(&two, "127.0.0.1:0", &stop).await];
    tokio::spawn(sender::run(from, stop.clone()));
    send_until_taken(&outgoing, &addresses, "first", &one).await;
    send_until_taken(&outgoing, &addresses, "first", &two).await;
    stop_one.cancel();
    send_until_taken(&outgoing, &addresses, "second", &two).await;
    assert!(!one.taken().contains(&Bytes::from_static(b"third")));
    // It comes back at its address.
    let (again, _) = Node::new("secret");
    until("the address is free", async || std::net::TcpListener::bind(&addresses[0]).is_ok()).await;
    listen(&again, &addresses[0], &stop).await;
    send_until_taken(&outgoing, &addresses, "third", &again).await;
    stop.cancel();
}

#[tokio::test]
async fn a_stranger_gives_no_hints() {
    let stop = CancellationToken::new();
    let (node, _) = Node::new("secret");
    let address = listen(&node, "127.0.0.1:0", &stop).await;
    let client = reqwest::Client::builder().timeout(Duration::from_secs(20)).build().expect("a client");
    let send = async |token: Option<&str>, body: Vec<u8>| {
        let request = client.post(format!("http://{address}/peers/hints")).body(body);
        let request = token.iter().fold(request, |request, token| request.header("authorization", *token));
        request.send().await.expect("an answer").status().as_u16()
    };
    for token in [None, Some("Bearer other"), Some("secret"), Some("Bearer secre")] {
        assert_eq!(send(token, b"hints".to_vec()).await, 401, "{token:?}");
    }
    assert_eq!(send(Some("Bearer secret"), vec![0; (1 << 20) + 1]).await, 413);
    assert!(node.taken().is_empty());
    assert_eq!(send(Some("Bearer secret"), b"hints".to_vec()).await, 204);
    assert_eq!(send(Some("Bearer secret"), b"unreadable".to_vec()).await, 400);
    stop.cancel();
}
