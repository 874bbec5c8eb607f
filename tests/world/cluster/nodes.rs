//! The nodes of the service: daemons in processes of their own, over one keyspace.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::Client;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::block_in_place;

use crate::support::http;
use crate::support::program::Program;
use crate::support::reserved::Reserved;

/// The domain of all mail.
pub(super) const DOMAIN: &str = "example.test";
const FLAGS: [&str; 8] = [
    "--domain",
    DOMAIN,
    "--rate-limit",
    "off",
    "--webhook-allow",
    "127.0.0.0/8",
    "--webhook-per-address-per-minute",
    "1000000",
];
/// How many lines of a log a failure shows.
const LINES_SHOWN: usize = 20;
/// How long a request over HTTP may take: longer than the slowest one of the cluster.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where a running node listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) smtp: SocketAddr,
    pub(super) http: SocketAddr,
}

/// Nodes that are counted from 0. The methods that start and end them block the thread.
pub(super) struct Nodes {
    store: String,
    all: Vec<Node>,
    client: Client,
}

/// A node keeps its data directory and its address for SMTP over restarts.
struct Node {
    dir: TempDir,
    smtp: Reserved,
    place: watch::Sender<Option<Place>>,
    process: Mutex<Option<Program>>,
}

impl Nodes {
    /// Starts so many over the store with that name, one after the other.
    pub(super) fn start(store: &str, count: usize) -> Self {
        let client = http::client_builder().timeout(PATIENCE).build().expect("a client");
        let nodes = Self { store: store.to_owned(), all: (0..count).map(|_| Node::new()).collect(), client };
        (0..count).for_each(|node| nodes.restart(node));
        nodes
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// The nodes that run.
    pub(super) fn living(&self) -> Vec<usize> {
        (0..self.count()).filter(|node| self.place(*node).is_some()).collect()
    }

    /// Where a node listens; `None` while it is down.
    pub(super) fn place(&self, node: usize) -> Option<Place> {
        *self.all[node].place.borrow()
    }

    /// Where a node listens, as soon as it runs.
    pub(super) async fn running(&self, node: usize) -> Place {
        let mut place = self.all[node].place.subscribe();
        let place = place.wait_for(Option::is_some).await.expect("the nodes");
        place.expect("a place")
    }

    /// Starts a node that is down, and waits until it is ready.
    pub(super) fn restart(&self, node: usize) {
        let Node { dir, smtp, place, .. } = &self.all[node];
        let args = [&["--store", &self.store], &FLAGS[..]].concat();
        let binary = block_in_place(|| Program::serve_at(smtp.address, dir.path(), &args));
        place.send_replace(Some(Place { smtp: smtp.address, http: binary.http }));
        *self.process(node) = Some(binary);
    }

    /// Ends a node as a crash does (SIGKILL).
    pub(super) fn kill(&self, node: usize) {
        block_in_place(|| self.end(node).kill());
    }

    /// Waits for the end of a node that was told to stop.
    pub(super) fn wait_for_end(&self, node: usize) {
        assert_eq!(block_in_place(|| self.end(node).ended()), Some(0));
    }

    fn end(&self, node: usize) -> Program {
        self.all[node].place.send_replace(None);
        self.process(node).take().expect("it runs")
    }

    /// Sends a signal to a node.
    pub(super) fn signal(&self, node: usize, signal: Signal) {
        self.process(node).as_ref().expect("it runs").signal(signal);
    }

    /// The lines that a node has logged since its last start.
    pub(super) fn log(&self, node: usize) -> Vec<Value> {
        let log = self.process(node).as_ref().map(Program::log).unwrap_or_default();
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The last lines of that log which are not only information.
    pub(super) fn warnings(&self, node: usize) -> Vec<Value> {
        let mut lines = self.log(node);
        lines.retain(|line| line["level"] != "INFO");
        lines.split_off(lines.len().saturating_sub(LINES_SHOWN))
    }

    /// Asks a node that runs. Returns the status and the body; the error of a node that went away.
    pub(super) async fn get(&self, node: usize, path: &str) -> Result<(u16, Vec<u8>), String> {
        self.get_with(node, path, None).await
    }

    /// The same with a key or a token.
    pub(super) async fn get_with(&self, node: usize, path: &str, key: Option<&str>) -> Result<(u16, Vec<u8>), String> {
        let request = |http| {
            let request = self.client.get(format!("http://{http}{path}"));
            if let Some(key) = key { request.bearer_auth(key) } else { request }
        };
        self.ask(node, request).await
    }

    /// The same with `POST`.
    pub(super) async fn post(&self, node: usize, path: &str, body: &Value) -> Result<(u16, Vec<u8>), String> {
        self.ask(node, |http| self.client.post(format!("http://{http}{path}")).json(body)).await
    }

    /// The same by a client at this address of loopback.
    pub(super) async fn post_from(
        &self,
        from: Ipv4Addr,
        node: usize,
        path: &str,
        body: &Value,
    ) -> Result<(u16, Vec<u8>), String> {
        let client = http::client_builder().timeout(PATIENCE).local_address(IpAddr::from(from)).build();
        let client = client.expect("a client");
        self.ask(node, |http| client.post(format!("http://{http}{path}")).json(body)).await
    }

    /// The same with `DELETE`.
    pub(super) async fn delete(&self, node: usize, path: &str) -> Result<(u16, Vec<u8>), String> {
        self.ask(node, |http| self.client.delete(format!("http://{http}{path}"))).await
    }

    async fn ask(
        &self,
        node: usize,
        request: impl FnOnce(SocketAddr) -> reqwest::RequestBuilder,
    ) -> Result<(u16, Vec<u8>), String> {
        let place = self.place(node).ok_or("it is down")?;
        let answer = request(place.http).send().await.map_err(|error| error.to_string())?;
        let status = answer.status().as_u16();
        Ok((status, answer.bytes().await.map_err(|error| error.to_string())?.to_vec()))
    }

    fn process(&self, node: usize) -> MutexGuard<'_, Option<Program>> {
        self.all[node].process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Node {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("directory");
        Self { dir, smtp: Reserved::new(), place: watch::Sender::new(None), process: Mutex::default() }
    }
}
