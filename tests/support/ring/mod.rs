//! Real nodes of Apache Cassandra, each a process of its own on an address of the loopback network.
//!
//! The jars come from `tests/cassandra/install.sh`. Without them, or without Java 17, a test fails. No node outlives the process of the tests, however that one ends.

mod cql;
mod directory;
mod guarded;
mod installed;
mod node;
mod ports;
mod settings;
mod tests;

use std::fmt::Write;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use directory::Directory;
use installed::Installed;
use node::Node;
use settings::{Handoff, Place};

/// How long nodes may take until they are ready: far longer than on an idle machine, where it is seconds.
const LIMIT: Duration = Duration::from_mins(3);
/// How long a test sleeps between two looks at a node.
const PAUSE: Duration = Duration::from_millis(20);
/// How many lines of each node's log a failure shows.
const LINES_SHOWN: usize = 40;
/// What names the tables that a node has.
const SCHEMA: &str = "SELECT schema_version FROM system.local WHERE key = 'local'";

/// Nodes that make one cluster, with the data centre `datacenter1`. They are counted from 0, as its contact points are.
/// All methods block the thread.
pub(crate) struct Ring {
    nodes: Vec<Mutex<Node>>,
    contact_points: Vec<SocketAddr>,
    storage_port: u16,
    /// The ports for `nodetool`.
    management: Vec<u16>,
    installed: Installed,
    keyspaces: AtomicU32,
    // Removed last, when the nodes have ended.
    directory: Directory,
}

impl Ring {
    /// The one node that all tests of the process share, started at the first call. Each test takes a keyspace of its own
    /// there.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Ring> = OnceLock::new();
        SHARED.get_or_init(|| Self::of(1, settings::HEAP_OF_ONE, Handoff::On))
    }

    /// Three nodes of a cluster of their own, which see each other. They are stopped when this is dropped.
    pub(crate) fn of_three() -> Self {
        Self::of(3, settings::HEAP_OF_EACH, Handoff::On)
    }

    /// The same, but no node keeps writes for one that is down. What such a node missed, only reads at a quorum find.
    #[cfg_attr(not(feature = "cassandra"), expect(dead_code, reason = "only tests with a driver need it"))]
    pub(crate) fn of_three_without_handoff() -> Self {
        Self::of(3, settings::HEAP_OF_EACH, Handoff::Off)
    }

    fn of(count: u8, heap: &'static str, handoff: Handoff) -> Self {
        let installed = installed::find();
        let directory = Directory::new();
        let ports = ports::free(&settings::addresses(count));
        let places = Place::of_ring(count, ports);
        let contact_points = places.iter().map(Place::native).collect();
        let management = places.iter().map(|place| place.management).collect();
        let nodes = places.into_iter().map(|place| {
            let dir = directory.path().join(place.address.to_string());
            Mutex::new(Node::start_new(place, heap, handoff, dir, &installed))
        });
        let nodes = nodes.collect();
        let ring = Self {
            nodes,
            contact_points,
            storage_port: ports.storage,
            management,
            installed,
            keyspaces: AtomicU32::new(0),
            directory,
        };
        ring.wait_until_complete();
        ring
    }

    /// Where each node takes connections of clients.
    pub(crate) fn contact_points(&self) -> Vec<SocketAddr> {
        self.contact_points.clone()
    }

    /// The name of a keyspace that no other test of the process gets: lower-case letters and digits. The test creates it.
    pub(crate) fn fresh_keyspace(&self) -> String {
        format!("keyspace{}", self.keyspaces.fetch_add(1, Ordering::Relaxed))
    }

    /// Runs a statement at a node, on its own data where it can. Returns the first value of the result as the protocol
    /// encodes it.
    #[cfg_attr(not(feature = "cassandra"), expect(dead_code, reason = "only tests with a driver need it"))]
    pub(crate) fn query(&self, node: usize, statement: &str) -> Result<Option<Vec<u8>>, String> {
        cql::value(self.contact_points[node], statement, cql::ONE)
    }

    /// Runs `nodetool` for a node, which must succeed.
    #[cfg_attr(not(feature = "cassandra"), expect(dead_code, reason = "only tests with a driver need it"))]
    pub(crate) fn nodetool(&self, node: usize, args: &[&str]) {
        let arguments = settings::nodetool(self.management[node], &self.directory.path(), &self.installed.jars);
        let output = Command::new(&self.installed.java).args(arguments).args(args).output().expect("java");
        let said =
            || [output.stdout.clone(), output.stderr.clone()].map(|said| String::from_utf8_lossy(&said).into_owned());
        assert!(output.status.success(), "nodetool {args:?}: {}", said().concat());
    }

    /// Ends the node as a crash would (SIGKILL). Its files stay.
    pub(crate) fn kill(&self, node: usize) {
        self.node(node).kill();
    }

    /// Stops the node's process where it is (SIGSTOP): its sockets stay open, and nothing answers.
    pub(crate) fn pause(&self, node: usize) {
        self.node(node).pause();
    }

    /// Lets a paused node go on (SIGCONT).
    pub(crate) fn resume(&self, node: usize) {
        self.node(node).resume();
    }

    /// Starts a killed node again over its files, and waits until it takes connections of clients.
    pub(crate) fn start(&self, node: usize) {
        self.node(node).start();
        self.wait_for_clients(node);
    }

    /// Waits until the node answers clients.
    pub(crate) fn wait_for_clients(&self, node: usize) {
        let address = self.contact_points[node];
        self.wait(&format!("{address} takes connections of clients"), || cql::is_supported(address));
    }

    /// Waits until every node knows every other as it is since its last start, can reach it, and has the same tables. All
    /// must run. A row that is written sooner after its table is made may be lost, although a node has acknowledged it.
    pub(crate) fn wait_until_complete(&self) {
        for &node in &self.contact_points {
            self.wait(&format!("{node} sees all nodes"), || self.sees_all(node));
        }
    }

    fn sees_all(&self, node: SocketAddr) -> Result<(), String> {
        for &other in self.contact_points.iter().filter(|&&other| other != node) {
            let (address, port) = (other.ip(), self.storage_port);
            let peer =
                format!("SELECT native_port FROM system.peers_v2 WHERE peer = '{address}' AND peer_port = {port}");
            if cql::value(node, &peer, cql::ONE)? != Some(i32::from(other.port()).to_be_bytes().to_vec()) {
                return Err(format!("it does not know {other}"));
            }
            // Each start of a node has a number of its own. For a moment, those that learn it take the node for down.
            let generation = format!(
                "SELECT generation FROM system_views.gossip_info WHERE address = '{address}' AND port = {port}"
            );
            for (query, what) in [(generation.as_str(), "last start"), (SCHEMA, "tables")] {
                if cql::value(node, query, cql::ONE)? != cql::value(other, query, cql::ONE)? {
                    return Err(format!("it has not seen the {what} of {other}"));
                }
            }
        }
        // The table has three replicas where there are three nodes, and a read at this level asks every one.
        let all = u16::try_from(self.contact_points.len()).expect("a few");
        cql::value(node, "SELECT keyspace_name FROM system_distributed.view_build_status LIMIT 1", all).map(drop)
    }

    /// The ends of the logs of all nodes.
    pub(crate) fn logs(&self) -> String {
        (0..self.nodes.len()).fold(String::new(), |mut logs, node| {
            let log = self.node(node).log(LINES_SHOWN);
            write!(logs, "the end of the log of {}:\n{log}\n", self.contact_points[node]).expect("a string");
            logs
        })
    }

    fn node(&self, node: usize) -> MutexGuard<'_, Node> {
        self.nodes[node].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, what: &str, mut look: impl FnMut() -> Result<(), String>) {
        let begun = Instant::now();
        while let Err(error) = look() {
            let ended = (0..self.nodes.len()).find(|&node| self.node(node).has_ended());
            assert!(ended.is_none(), "node {ended:?} has ended, waiting until {what}\n{}", self.logs());
            assert!(begun.elapsed() < LIMIT, "waited in vain until {what}: {error}\n{}", self.logs());
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", self.logs());
        }
    }
}
