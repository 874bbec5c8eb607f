//! What the daemon sends to a service manager, on a real datagram socket.
//! Promise: it outlives the code below it.

use std::collections::BTreeMap;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tempmail::daemon::Supervisor;
use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, Store};
use tokio_util::sync::CancellationToken;

use crate::suites::options;
use crate::support::http;
use crate::support::mail::delivery;
use crate::support::program::Program;
use crate::support::test_disk::{Kind, TestDisk};

/// How long a test waits for an expected event.
const PATIENCE: Duration = Duration::from_secs(20);

/// The manager's socket.
struct Manager(UnixDatagram);

impl Manager {
    fn at(path: &Path) -> Self {
        Self(UnixDatagram::bind(path).expect("bind"))
    }

    fn notified_within(&self, patience: Duration) -> Option<String> {
        self.0.set_read_timeout(Some(patience)).expect("a time");
        let mut buffer = [0; 100];
        let octets = self.0.recv(&mut buffer).ok()?;
        Some(String::from_utf8_lossy(&buffer[..octets]).into_owned())
    }

    fn notified(&self) -> String {
        self.notified_within(PATIENCE).expect("a message in time")
    }
}

fn env(socket: &str, watchdog_micros: u64) -> BTreeMap<String, String> {
    let pairs = [("NOTIFY_SOCKET", socket.to_owned()), ("WATCHDOG_USEC", watchdog_micros.to_string())];
    pairs.map(|(name, value)| (name.to_owned(), value)).into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_binary_says_when_it_is_ready_that_it_lives_and_when_it_stops() {
    let dir = tempfile::tempdir().expect("directory");
    let socket = dir.path().join("notify");
    let manager = Manager::at(&socket);
    let set = |command: &mut Command| {
        command.env("NOTIFY_SOCKET", &socket).env("WATCHDOG_USEC", "100000");
    };
    let daemon = Program::serve_with(&dir.path().join("data"), &[], set);
    assert_eq!(manager.notified(), "READY=1");
    assert_eq!(http::get(daemon.http, "/readyz").await.0, 200);
    for _ in 0..5 {
        assert_eq!(manager.notified(), "WATCHDOG=1");
    }
    daemon.signal(Signal::TERM);
    while manager.notified() != "STOPPING=1" {}
    assert_eq!(daemon.ended(), Some(0));
    assert_eq!(manager.notified_within(Duration::from_millis(1)), None);
}

#[test]
fn a_manager_that_does_not_ask_is_not_notified() {
    let asked = |env: &BTreeMap<String, String>| Supervisor::from_env(env, 7).map(|found| found.is_some());
    assert!(!asked(&BTreeMap::new()).expect("nothing to do"));
    assert!(!asked(&env("", 1)).expect("nothing to do"));
    assert!(asked(&env("/nowhere/notify", 1)).is_err());
}

#[tokio::test]
async fn an_abstract_socket_is_notified_and_the_watchdog_of_another_process_is_not() {
    let name = format!("tempmail-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let manager = Manager(UnixDatagram::bind_addr(&address).expect("bind"));
    let mut env = env(&format!("@{name}"), 1_000);
    env.insert("WATCHDOG_PID".into(), "8".into());
    let supervisor = Supervisor::from_env(&env, 7).expect("reached").expect("one");
    let store = EmbeddedStore::open_on(Arc::new(TestDisk::default()), &options()).expect("open");
    let shutdown = CancellationToken::new();
    shutdown.cancel();
    supervisor.run(Arc::new(store), shutdown).await;
    assert_eq!((manager.notified().as_str(), manager.notified().as_str()), ("READY=1", "STOPPING=1"));
}

/// A sync that does not return stops the writer, and nothing else in the process shows it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_hangs_gives_no_signs_of_life() {
    let dir = tempfile::tempdir().expect("directory");
    let socket = dir.path().join("notify");
    let manager = Manager::at(&socket);
    let disk = TestDisk::default();
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open"));
    let supervisor = Supervisor::from_env(&env(socket.to_str().expect("UTF-8"), 40_000), 7);
    let supervisor = supervisor.expect("reached").expect("one");
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(supervisor.run(store.clone(), shutdown.clone()));
    assert_eq!((manager.notified().as_str(), manager.notified().as_str()), ("READY=1", "WATCHDOG=1"));

    let held = disk.hold(|call| call.kind == Kind::Sync);
    let receiving = {
        let store = store.clone();
        let mail = delivery(&["ann@example.test"], "x", Timestamp::from_millis(1_700_000_000_000));
        tokio::spawn(async move { store.receive(mail).await })
    };
    // At most the messages that were on their way, and then ten periods of silence.
    let mut signs = 0;
    while signs <= 2 && manager.notified_within(Duration::from_millis(200)).is_some() {
        signs += 1;
    }
    let is_blocked = !receiving.is_finished();
    // This comes before any assertion, because the store waits for its writer when it is dropped.
    drop(held);
    assert!(is_blocked && signs <= 2, "{signs} signs of a writer that is held: {is_blocked}");
    receiving.await.expect("no panic").expect("kept");
    assert_eq!(manager.notified(), "WATCHDOG=1");
    shutdown.cancel();
    running.await.expect("no panic");
}
