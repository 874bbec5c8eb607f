//! Without a service that answers there are no values, at once and without a word.
//! Promise: it outlives the code below it.

use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;

use crate::support::completions::{Machine, complete};
use crate::support::front::{Answer, Front};

/// No values come. What the program knows by itself still comes. Each answer comes within the minute that a command may take
/// here: other commands wait 150 s, and for ever for a pipe or for a place in the queue of a daemon.
fn nothing(home: &Path, env: &[(&str, &str)], flags: &str) {
    for line in ["inbox ", "read ", "domain rm ", "webhook rm ", "inbox ann@"] {
        assert_eq!(complete(home, env, &format!("tempmail {flags} {line}")).stdout, "", "{flags} {line}");
    }
    assert!(complete(home, env, &format!("tempmail {flags} inbox --mailb")).stdout.starts_with("--mailboxes\t"));
    assert!(complete(home, env, &format!("tempmail {flags} dom")).stdout.starts_with("domain\t"));
}

fn of_directory(path: &Path) -> Vec<(String, u64, std::time::SystemTime)> {
    let entry = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.expect("entry");
        let metadata = entry.metadata().expect("metadata");
        (entry.file_name().to_string_lossy().into_owned(), metadata.len(), metadata.modified().expect("a time"))
    };
    let mut entries: Vec<_> = std::fs::read_dir(path).expect("directory").map(entry).collect();
    entries.sort();
    entries
}

#[test]
fn without_a_daemon_nothing_is_opened_and_nothing_made() {
    let machine = Machine::start();
    let Machine { daemon, data_dir, home } = machine;
    let path = data_dir.path().to_str().expect("path").to_owned();
    daemon.stop();
    let before = of_directory(data_dir.path());
    nothing(home.path(), &[("TEMPMAIL_DATA_DIR", &path)], "");
    assert_eq!(of_directory(data_dir.path()), before, "the store was touched");
    let missing = home.path().join("missing");
    nothing(home.path(), &[], &format!("--data-dir {}", missing.display()));
    nothing(home.path(), &[], "");
    assert_eq!(of_directory(home.path()), [], "something was made");
}

#[test]
fn a_stopped_daemon_is_not_waited_for() {
    let machine = Machine::start();
    machine.daemon.signal(Signal::STOP);
    nothing(machine.home.path(), &[("TEMPMAIL_DATA_DIR", machine.data_dir.path().to_str().expect("path"))], "");
    nothing(machine.home.path(), &[("TEMPMAIL_SERVER", &format!("http://{}", machine.daemon.http))], "");
    machine.daemon.signal(Signal::CONT);
    machine.daemon.stop();
}

#[test]
fn a_daemon_with_a_full_queue_is_not_waited_for() {
    let (home, data_dir) = (tempfile::tempdir().expect("directory"), tempfile::tempdir().expect("directory"));
    let path = data_dir.path().join("tempmail.sock");
    let listener = UnixListener::bind(&path).expect("socket");
    rustix::net::listen(&listener, 0).expect("listen");
    let _queued = UnixStream::connect(&path).expect("a place in the queue");
    nothing(home.path(), &[("TEMPMAIL_DATA_DIR", data_dir.path().to_str().expect("path"))], "");
}

#[test]
fn a_server_that_is_silent_wrong_or_absent_says_nothing() {
    let home = tempfile::tempdir().expect("directory");
    let silent = TcpListener::bind("127.0.0.1:0").expect("bind");
    let silent = format!("http://{}", silent.local_addr().expect("address"));
    let front = Front::alone();
    for path in ["mail/messages", "admin/messages", "domains", "admin/domains", "webhooks", "admin/webhooks"] {
        front.answers(&format!("GET /redirecting/api/{path}"), Answer::redirect("https://elsewhere.test/"));
    }
    let wrong = format!("{}/redirecting", front.url());
    let token = [("TEMPMAIL_TOKEN", "secret")];
    for server in [silent.as_str(), wrong.as_str(), "http://127.0.0.1:9", "http://no.such.host.invalid", "no-url"] {
        nothing(home.path(), &token, &format!("--server {server}"));
    }
}

#[test]
fn files_that_cannot_be_read_say_nothing() {
    let home = tempfile::tempdir().expect("directory");
    let pipe = home.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    let pipe = pipe.display();
    nothing(home.path(), &[], &format!("--server http://127.0.0.1:9 --token-file {pipe}"));
    nothing(home.path(), &[], &format!("--config {pipe}"));
    nothing(home.path(), &[], "--config /does/not/exist");
    nothing(home.path(), &[], "--server http://a.test --data-dir /tmp");
}
