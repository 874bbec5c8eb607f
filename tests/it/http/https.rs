//! HTTPS: an answer over HTTP/1, a handshake that has its time, and nothing in the clear.
//! Promise: it outlives the code below it.

use rustls::pki_types::ServerName;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::TestServer;
use super::server::{GREEDY, is_served, read_to_end};
use crate::support::certificates::Pair;
use crate::support::until::until;

const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// A service with HTTPS, a client that trusts it, and the directory of its certificate.
async fn service(settings: &str) -> (TestServer, TlsConnector, TempDir) {
    let dir = tempfile::tempdir().expect("directory");
    let pair = Pair::fresh();
    let files = pair.write(dir.path());
    let (certificate, key) = (files.certificate.display(), files.key.display());
    let tls = format!("https-listen = '127.0.0.1:0'\ntls-cert = '{certificate}'\ntls-key = '{key}'\n{settings}");
    (TestServer::with(&tls).await, pair.connector(), dir)
}

async fn connect(server: &TestServer) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind((GREEDY, 0).into()).expect("bind");
    socket.connect(server.https()).await.expect("connect")
}

async fn secure(stream: TcpStream, connector: &TlsConnector) -> std::io::Result<TlsStream<TcpStream>> {
    connector.connect(ServerName::try_from("localhost").expect("a name"), stream).await
}

#[tokio::test]
async fn a_client_without_alpn_is_answered_over_http_1() {
    let (server, connector, _dir) = service("").await;
    // A head that cannot be read is refused over TLS as well.
    for (request, wanted) in [(HEALTH, "HTTP/1.1 200"), (b"nonsense\r\n\r\n", "HTTP/1.1 400")] {
        let mut stream = secure(connect(&server).await, &connector).await.expect("a handshake");
        stream.write_all(request).await.expect("write");
        let mut answer = String::new();
        // The end is announced (close_notify), else this is an error.
        stream.read_to_string(&mut answer).await.expect("an answer");
        assert!(answer.contains(wanted), "{answer}");
    }
}

#[tokio::test]
async fn a_handshake_has_a_timeout_and_nothing_is_sent_in_the_clear() {
    let limits = "tls-handshake-timeout = '1s'\nmax-http-connections-per-client = 1\nlimit-exempt = ['none']";
    let (server, connector, _dir) = service(limits).await;
    let mut silent = connect(&server).await;
    // A connection in its handshake is one of its client.
    let mut one_too_many = connect(&server).await;
    assert_eq!(read_to_end(&mut one_too_many).await, "");
    assert_eq!(read_to_end(&mut silent).await, "");
    let mut in_the_clear = connect(&server).await;
    in_the_clear.write_all(HEALTH).await.expect("write");
    let said = read_to_end(&mut in_the_clear).await;
    assert!(!said.contains("HTTP"), "{said}");
    drop((silent, one_too_many, in_the_clear));
    until("the client has a place again", async || secure(connect(&server).await, &connector).await.is_ok()).await;
}

/// TLS has a buffer of its own, and only its flush waits where all but that has gone into the socket's.
#[tokio::test]
async fn a_client_that_reads_nothing_is_given_up_wherever_its_answer_waits() {
    let limits = "max-http-connections-per-client = 1\nlimit-exempt = ['none']\nmax-message-size = '9MB'";
    let (server, connector, _dir) = service(&format!("{limits}\nhttp-write-timeout = '100ms'")).await;
    let stuck = async |octets: usize| {
        let id = server.receive(&["ann@example.test"], &"x".repeat(octets)).await.remove(0);
        let mut stuck = secure(connect(&server).await, &connector).await.expect("a handshake");
        let request = format!("GET /api/mail/messages/{id}/raw HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stuck.write_all(request.as_bytes()).await.expect("write");
        until(format!("the place of {octets} octets is free"), async || is_served(&server, GREEDY).await).await;
        stuck.into_inner().0
    };
    let mut taken = 0;
    let mut stream = stuck(9_000_000).await;
    let mut piece = vec![0; 65_536];
    while let Ok(octets @ 1..) = stream.read(&mut piece).await {
        taken += octets;
    }
    for more in [8_000, 24_000, 40_000, 56_000] {
        stuck(taken + more).await;
    }
}

#[tokio::test]
async fn stopping_waits_for_no_handshake() {
    let (server, _, _dir) = service("tls-handshake-timeout = '1m'\ndrain-timeout = '5m'").await;
    let mut silent = connect(&server).await;
    silent.write_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc").await.expect("write");
    server.stop().await;
    assert_eq!(read_to_end(&mut silent).await, "");
}
