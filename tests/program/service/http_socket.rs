//! HTTP on a Unix socket, for reverse proxies: strangers come through it.
//! Mechanism: it goes with HTTP's Unix socket.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::io::ioctl_fionbio;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::support::program::{Program, refused};

const HOST: &str = "mail.example.test";
const INBOX: &str = "/api/mail/messages?to=hello@example.test";

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The status of the answer to a request with these lines in its head.
async fn status(stream: impl AsyncRead + AsyncWrite, path: &str, lines: &str) -> u16 {
    let mut stream = Box::pin(stream);
    let request = format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{lines}\r\n");
    stream.write_all(request.as_bytes()).await.expect("write");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status")
}

/// The status of the answer to a request that a proxy sends for a client.
async fn status_for(socket: &Path, client: Option<&str>, path: &str) -> u16 {
    let field = client.map(|client| format!("X-Forwarded-For: {client}\r\n")).unwrap_or_default();
    let stream = UnixStream::connect(socket).await.expect("connect");
    status(stream, path, &format!("Host: {HOST}\r\n{field}")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_through_the_socket_is_the_public() {
    let dir = tempfile::tempdir().expect("directory");
    let socket = dir.path().join("http");
    let args = ["--http-listen", text(&socket), "--http-socket-mode", "606", "--rate-limit", "1"];
    let args = [&args[..], &["--compat-api", "mailpit", "--http-allowed-hosts", HOST]].concat();
    let binary = Program::serve(dir.path(), &args);
    assert_eq!(fs::metadata(&socket).expect("a file").permissions().mode() & 0o777, 0o606);
    let ask = async |client, path| status_for(&socket, client, path).await;
    assert_eq!(ask(Some("192.0.2.1"), INBOX).await, 200);
    assert_eq!(ask(Some("192.0.2.1"), INBOX).await, 429, "its own bucket");
    assert_eq!(ask(Some("6.6.6.6, 192.0.2.1"), INBOX).await, 429, "a client does not choose its bucket");
    assert_eq!(ask(Some("192.0.2.2"), INBOX).await, 200, "another bucket");
    assert!(!binary.log().contains("has no field that names its client"));
    assert_eq!(ask(None, INBOX).await, 200);
    assert_eq!(ask(None, INBOX).await, 429, "clients without a name are one");
    assert_eq!(ask(Some("unknown"), INBOX).await, 429, "and so is this one");
    binary.logged("a request over the Unix socket of http-listen has no field that names its client");
    assert_eq!(binary.log().matches("has no field that names its client").count(), 1);
    // A client that is named so is no program of this machine either.
    for (client, path) in [("127.0.0.1", "/api/admin/status"), ("127.0.0.2", "/api/v1/messages")] {
        assert_eq!(ask(Some(client), path).await, 401, "{path}");
    }
    let stream = UnixStream::connect(&socket).await.expect("connect");
    let elsewhere = "Host: evil.test\r\nX-Forwarded-For: 192.0.2.3\r\n";
    assert_eq!(status(stream, INBOX, elsewhere).await, 421);
    let shown: Value = binary.tempmail(&["status", "--json"]).json();
    let listens = shown["httpListen"].as_array().expect("a list");
    assert!(listens.contains(&text(&socket).into()) && listens.len() == 2, "{listens:?}");
    binary.stop();
    assert!(!socket.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_after_a_kill_replaces_the_socket() {
    let dir = tempfile::tempdir().expect("directory");
    let socket = dir.path().join("http");
    let args = ["--http-listen", text(&socket)];
    Program::serve(dir.path(), &args).kill();
    assert!(socket.exists());
    let binary = Program::serve(dir.path(), &args);
    assert_eq!(status_for(&socket, Some("192.0.2.1"), INBOX).await, 200);
    binary.stop();
}

/// Else the control socket would take its place, and make administrators of those who come through it.
#[test]
fn the_control_socket_is_not_put_where_http_listens() {
    let dir = tempfile::tempdir().expect("directory");
    let data = fs::canonicalize(dir.path()).expect("a path");
    let alias = data.join("alias");
    std::os::unix::fs::symlink(&data, &alias).expect("link");
    for path in [data.join("tempmail.sock"), alias.join("tempmail.sock")] {
        let refused = refused(&data, &["--http-listen", text(&path)]);
        assert_ne!(refused.code, Some(0), "{refused:?}");
        let said = "tempmail.sock: another process or another setting listens there";
        assert!(refused.stderr.contains(said), "{refused:?}");
    }
}

/// A listener that accepts nothing is alive all the same.
#[test]
fn a_socket_whose_queue_is_full_is_not_replaced_and_not_waited_for() {
    let dir = tempfile::tempdir().expect("directory");
    let path = dir.path().join("http");
    let _listener = std::os::unix::net::UnixListener::bind(&path).expect("bind");
    let address = SocketAddrUnix::new(&path).expect("an address");
    let connected = std::iter::repeat_with(|| {
        let queued = socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("a socket");
        ioctl_fionbio(&queued, true).expect("not to wait");
        connect(&queued, &address).map(|()| queued)
    });
    let _queue: Vec<_> = connected.map_while(Result::ok).collect();
    let refused = refused(dir.path(), &["--http-listen", text(&path)]);
    assert!(refused.code != Some(0) && refused.stderr.contains("is in use"), "{refused:?}");
    assert!(path.exists());
}

/// Pages of other sites reach loopback by names that resolve to it.
#[tokio::test(flavor = "multi_thread")]
async fn a_socket_does_not_open_loopback_to_other_hosts_and_pages() {
    let dir = tempfile::tempdir().expect("directory");
    let socket = dir.path().join("http");
    let binary = Program::serve(dir.path(), &["--http-listen", text(&socket)]);
    let over_tcp = async |lines: &str| {
        let stream = tokio::net::TcpStream::connect(binary.http).await.expect("connect");
        status(stream, INBOX, lines).await
    };
    assert_eq!(over_tcp("Host: localhost\r\n").await, 200);
    assert_eq!(over_tcp(&format!("Host: {HOST}\r\n")).await, 421);
    assert_eq!(status_for(&socket, Some("192.0.2.1"), INBOX).await, 200);
    binary.stop();
}
