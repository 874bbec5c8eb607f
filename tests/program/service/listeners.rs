//! What the daemon listens on beside SMTP and HTTP, and its certificate.
//! Promise: it outlives the code below it.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use rustix::io::ioctl_fionbio;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::net::UnixStream;

use crate::support::certificates::Pair;
use crate::support::command::{isolate, outcome};
use crate::support::program::{Program, refused};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

fn status(binary: &Program) -> Value {
    binary.tempmail(&["status", "--json"]).json()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[tokio::test(flavor = "multi_thread")]
async fn lmtp_has_a_socket_of_its_mode_that_goes_with_the_daemon() {
    let dir = tempfile::tempdir().expect("directory");
    let socket = dir.path().join("lmtp");
    // A killed daemon leaves its socket behind.
    drop(UnixListener::bind(&socket).expect("bind"));
    let args = ["--lmtp-listen", text(&socket), "--lmtp-listen", "127.0.0.1:0", "--lmtp-socket-mode", "606"];
    let binary = Program::serve(dir.path(), &args);
    let file = fs::metadata(&socket).expect("a file");
    assert!(file.file_type().is_socket());
    assert_eq!(file.permissions().mode() & 0o777, 0o606);
    let listens = status(&binary)["lmtpListen"].clone();
    assert_eq!(listens[0], text(&socket));
    let over_tcp = listens[1].as_str().and_then(|text| text.parse().ok()).expect("an address");
    SmtpPeer::greeted(over_tcp).await;
    SmtpPeer::over(UnixStream::connect(&socket).await.expect("connect")).expect("220").await;
    binary.stop();
    assert!(!socket.exists());
}

#[test]
fn a_path_that_is_taken_stops_the_start() {
    let dir = tempfile::tempdir().expect("directory");
    let (used, file) = (dir.path().join("used"), dir.path().join("file"));
    let _listener = UnixListener::bind(&used).expect("bind");
    fs::write(&file, "precious").expect("write");
    for (path, code, words) in [(&used, 75, "used is in use"), (&file, 78, "file is there and is no socket")] {
        let refused = refused(dir.path(), &["--lmtp-listen", text(path)]);
        assert_eq!(refused.code, Some(code), "{refused:?}");
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
    assert_eq!(fs::read(&file).expect("read"), b"precious");
}

/// Else the control socket would take its place, and make administrators of those who come through it.
#[test]
fn the_control_socket_is_not_put_where_lmtp_listens() {
    let dir = tempfile::tempdir().expect("directory");
    let data = fs::canonicalize(dir.path()).expect("a path");
    let alias = data.join("alias");
    std::os::unix::fs::symlink(&data, &alias).expect("link");
    for path in [data.join("tempmail.sock"), alias.join("tempmail.sock")] {
        let refused = refused(&data, &["--lmtp-listen", text(&path)]);
        assert_ne!(refused.code, Some(0), "{refused:?}");
        let said = "tempmail.sock is in use by another process or another setting";
        assert!(refused.stderr.contains(said), "{refused:?}");
    }
}

#[test]
fn a_file_where_the_control_socket_goes_is_kept_and_the_start_says_so() {
    let dir = tempfile::tempdir().expect("directory");
    let data = fs::canonicalize(dir.path()).expect("a path");
    fs::write(data.join("tempmail.sock"), "precious").expect("write");
    let refused = refused(&data, &[]);
    assert_eq!(refused.code, Some(78), "{refused:?}");
    assert!(refused.stderr.contains("tempmail.sock is there and is no socket"), "{refused:?}");
    assert_eq!(fs::read(data.join("tempmail.sock")).expect("read"), b"precious");
}

/// A listener that accepts nothing is alive all the same.
#[test]
fn a_socket_whose_queue_is_full_is_not_replaced_and_not_waited_for() {
    let dir = tempfile::tempdir().expect("directory");
    let path = dir.path().join("lmtp");
    let _listener = UnixListener::bind(&path).expect("bind");
    let address = SocketAddrUnix::new(&path).expect("an address");
    let connected = std::iter::repeat_with(|| {
        let queued = socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("a socket");
        ioctl_fionbio(&queued, true).expect("not to wait");
        connect(&queued, &address).map(|()| queued)
    });
    let _queue: Vec<_> = connected.map_while(Result::ok).collect();
    let refused = refused(dir.path(), &["--lmtp-listen", text(&path)]);
    assert!(refused.code != Some(0) && refused.stderr.contains("is in use"), "{refused:?}");
    assert!(path.exists());
}

#[test]
fn http_has_no_unix_socket() {
    let dir = tempfile::tempdir().expect("directory");
    let path = dir.path().join("http");
    let refused = refused(dir.path(), &["--http-listen", text(&path)]);
    assert_eq!(refused.code, Some(78), "{refused:?}");
    assert!(refused.stderr.contains("a reverse proxy reaches it on loopback"), "{refused:?}");
    assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn sighup_reads_the_certificate_again_and_status_tells_what_is_wrong_with_it() {
    let (dir, tls) = (tempfile::tempdir().expect("directory"), tempfile::tempdir().expect("directory"));
    let pair = Pair::fresh();
    let files = pair.write(tls.path());
    let (cert, key) = (text(&files.certificate), text(&files.key));
    let args = ["--tls-cert", cert, "--tls-key", key, "--smtps-listen", "127.0.0.1:0"];
    let binary = Program::serve(dir.path(), &args);
    binary.logged("every user of this machine may read the key");
    let shown = status(&binary);
    let smtps = shown["smtpsListen"][0].as_str().and_then(|text| text.parse().ok()).expect("an address");
    assert_eq!(shown["tls"]["names"], json!(["localhost"]));
    assert_eq!((&shown["tls"]["isExpired"], &shown["tls"]["fault"]), (&json!(false), &Value::Null));
    let mut session = SmtpPeer::connect(smtps).await.secure(&pair.connector()).await.expect("a handshake");
    session.expect("220").await;

    fs::write(&files.certificate, "nothing").expect("write");
    binary.signal(Signal::HUP);
    binary.logged("the certificate could not be replaced; the old one stays in use");
    let fault = status(&binary)["tls"]["fault"].to_string();
    assert!(fault.contains("holds no certificate"), "{fault}");
    SmtpPeer::connect(smtps).await.secure(&pair.connector()).await.expect("a handshake").expect("220").await;

    let next = Pair::fresh();
    next.write(tls.path());
    binary.signal(Signal::HUP);
    binary.logged("the certificate was read again and is in use");
    SmtpPeer::connect(smtps).await.secure(&next.connector()).await.expect("a handshake").expect("220").await;
    until("the fault is gone from the status", async || status(&binary)["tls"]["fault"].is_null()).await;
    session.deliver("hello@example.test", "hi\r\n").await;
    binary.stop();
}

#[test]
fn a_certificate_that_cannot_be_used_stops_the_start() {
    let dir = tempfile::tempdir().expect("directory");
    let refused = refused(dir.path(), &["--tls-cert", "/does/not/exist.pem"]);
    let said = refused.stderr;
    assert_eq!(refused.code, Some(78), "{said}");
    assert!(said.contains("/does/not/exist.pem: No such file") && said.contains("see that"), "{said}");
}

#[test]
fn too_few_open_files_for_the_connections_are_warned_of_at_the_start() {
    let dir = tempfile::tempdir().expect("directory");
    let mut command = Command::new("sh");
    isolate(&mut command, dir.path());
    // The certificate ends the start after its warnings.
    let script = "ulimit -n 600; exec \"$0\" serve --tls-cert /does/not/exist.pem";
    let ended = outcome(command.args(["-c", script, env!("CARGO_BIN_EXE_tempmail")]));
    assert_eq!(ended.code, Some(78), "{ended:?}");
    assert!(ended.stderr.contains("at most 600 files can be open, but max-smtp-connections"), "{ended:?}");
    assert!(ended.stderr.contains("raise the limit (ulimit -Hn, LimitNOFILE=) or lower"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_its_own_is_enough_for_starttls() {
    let binary = Program::fresh(&["--tls-cert=self-signed", "--hostname", "mx.example.test"]);
    let shown = binary.logged("ready")["tls"].as_str().expect("text").to_owned();
    assert_eq!(shown, "mx.example.test, localhost (self-signed)");
    let mut peer = SmtpPeer::greeted(binary.smtp).await;
    assert!(peer.command("EHLO client.test", "250").await.contains("STARTTLS"));
    // Without a certificate to read again, SIGHUP ends nothing either.
    binary.signal(Signal::HUP);
    peer.command("NOOP", "250").await;
    binary.stop();
}
