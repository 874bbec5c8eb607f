use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use axum::Router;

use super::*;
use crate::client::LocalRouter;

/// Finds the lock taken `locked` times, then opens.
struct Opener {
    locked: usize,
    asked: AtomicUsize,
}

impl Opener {
    fn locked(locked: usize) -> Self {
        Self { locked, asked: AtomicUsize::new(0) }
    }
}

#[async_trait]
impl OpenRouter for Opener {
    async fn open(&self, data_dir: &Path, _sources: &Sources) -> Result<LocalRouter, OpenRouterError> {
        if self.asked.fetch_add(1, Ordering::Relaxed) < self.locked {
            return Err(OpenRouterError::Locked);
        }
        let shown = data_dir.display().to_string();
        Ok(LocalRouter { router: Router::new(), shown, close: Box::new(|| Box::pin(async {})) })
    }
}

fn local(data_dir: &Path) -> Destination {
    Destination::Local(Sources { data_dir: Some(data_dir.to_owned()), ..Sources::default() })
}

#[tokio::test]
async fn a_socket_that_answers_wins_over_the_store() {
    let dir = tempfile::tempdir().expect("directory");
    let _listener = UnixListener::bind(dir.path().join("tempmail.sock")).expect("socket");
    let opener = Opener::locked(0);
    let transport = choose(&local(dir.path()), &opener, LOCK_TIMEOUT).await.expect("transport");
    assert!(matches!(transport, Transport::Unix(_)));
    assert_eq!(opener.asked.load(Ordering::Relaxed), 0);
}

#[test]
fn a_daemon_with_a_full_queue_is_found_without_waiting() {
    let dir = tempfile::tempdir().expect("directory");
    let path = dir.path().join("tempmail.sock");
    let listener = UnixListener::bind(&path).expect("socket");
    // The shortest queue. A daemon that is stopped accepts nothing from it.
    rustix::net::listen(&listener, 0).expect("listen");
    let _queued = UnixStream::connect(&path).expect("a place in the queue");
    let (send, found) = std::sync::mpsc::channel();
    let target = local(dir.path());
    std::thread::spawn(move || send.send(running(&target)));
    // A connection that waits would wait for ever, because nobody accepts one.
    let found = found.recv_timeout(LOCK_TIMEOUT).expect("an answer at once");
    assert!(matches!(found, Ok(Some(Transport::Unix(_)))));
}

#[tokio::test]
async fn a_stale_socket_is_passed_over() {
    let dir = tempfile::tempdir().expect("directory");
    drop(UnixListener::bind(dir.path().join("tempmail.sock")).expect("socket"));
    let transport = choose(&local(dir.path()), &Opener::locked(0), LOCK_TIMEOUT).await.expect("transport");
    assert!(matches!(transport, Transport::InProcess(_)));
}

#[tokio::test]
async fn a_lock_that_is_released_in_time_is_waited_for() {
    let dir = tempfile::tempdir().expect("directory");
    let transport = choose(&local(dir.path()), &Opener::locked(3), LOCK_TIMEOUT).await.expect("transport");
    assert!(matches!(transport, Transport::InProcess(_)));
}

#[tokio::test]
async fn a_daemon_that_starts_meanwhile_is_found() {
    struct Starting(PathBuf, std::sync::Mutex<Option<UnixListener>>);
    #[async_trait]
    impl OpenRouter for Starting {
        async fn open(&self, _: &Path, _: &Sources) -> Result<LocalRouter, OpenRouterError> {
            let listener = UnixListener::bind(&self.0).expect("socket");
            *self.1.lock().expect("lock") = Some(listener);
            Err(OpenRouterError::Locked)
        }
    }
    let dir = tempfile::tempdir().expect("directory");
    let opener = Starting(dir.path().join("tempmail.sock"), std::sync::Mutex::default());
    let transport = choose(&local(dir.path()), &opener, LOCK_TIMEOUT).await.expect("transport");
    assert!(matches!(transport, Transport::Unix(_)));
}

#[tokio::test]
async fn a_lock_that_is_never_released_is_given_up_on() {
    let dir = tempfile::tempdir().expect("directory");
    let opener = Opener::locked(usize::MAX);
    let error = choose(&local(dir.path()), &opener, 3 * PAUSE).await.expect_err("locked");
    assert_eq!(error.exit(), Exit::Unavailable);
    assert!(opener.asked.load(Ordering::Relaxed) > 1);
}

#[tokio::test]
async fn a_missing_data_directory_is_not_created() {
    let dir = tempfile::tempdir().expect("directory");
    let missing = dir.path().join("data");
    let error = choose(&local(&missing), &Opener::locked(0), LOCK_TIMEOUT).await.expect_err("missing");
    assert_eq!(error.exit(), Exit::Unavailable);
    assert!(error.to_string().contains("does not exist"));
    assert!(!missing.exists());
}

#[tokio::test]
async fn a_data_directory_of_another_user_is_refused() {
    // Whoever runs the test, one of the two belongs to somebody else; /proc/1 is root's.
    let dir = tempfile::tempdir().expect("directory");
    let foreign = if rustix::process::geteuid().is_root() {
        rustix::fs::chown(dir.path(), Some(rustix::fs::Uid::from_raw(65_534)), None).expect("chown");
        dir.path()
    } else {
        Path::new("/proc/1")
    };
    let error = choose(&local(foreign), &Opener::locked(0), LOCK_TIMEOUT).await.expect_err("foreign");
    assert_eq!(error.exit(), Exit::NotAllowed);
}

#[tokio::test]
async fn a_named_server_is_asked_whatever_is_here() {
    let server = "http://127.0.0.1:9".parse().expect("url");
    let transport =
        choose(&Destination::Server(server, None), &Opener::locked(0), LOCK_TIMEOUT).await.expect("transport");
    assert!(matches!(transport, Transport::Http(_)));
}

#[test]
fn a_path_too_long_for_a_socket_gets_a_name_in_the_runtime_directory() {
    let run = Path::new("/run/user/1000");
    assert_eq!(socket_path(Path::new("/data"), Some(run)), Some(PathBuf::from("/data/tempmail.sock")));
    let long = PathBuf::from(format!("/{}", "d".repeat(100)));
    let named = socket_path(&long, Some(run)).expect("named place");
    assert!(named.starts_with(run));
    assert_eq!(socket_path(&long, Some(run)), Some(named.clone()));
    assert_ne!(socket_path(&long.join("x"), Some(run)), Some(named));
    assert_eq!(socket_path(&long, None), None);
}
