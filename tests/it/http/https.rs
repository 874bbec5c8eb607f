//! HTTPS, over real sockets.

use std::time::Duration;

use rustls::pki_types::ServerName;
use tempmail::http::HttpLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::TestApi;
use super::server::{limits, read_to_end, serve_with};
use crate::support::keeper::keeper;

const SHORT: Duration = Duration::from_millis(50);
const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

async fn secure(stream: TcpStream, connector: &TlsConnector) -> std::io::Result<TlsStream<TcpStream>> {
    connector.connect(ServerName::try_from("localhost").expect("a name"), stream).await
}

#[tokio::test]
async fn a_client_without_alpn_is_answered_over_http_1() {
    let (tls, connector, _dir) = keeper();
    let server = serve_with(Some(tls.http_acceptor()), TestApi::new().router, limits()).await;
    let mut stream = secure(server.connect().await, &connector).await.expect("a handshake");
    stream.write_all(HEALTH).await.expect("write");
    let mut answer = String::new();
    // The end is announced (close_notify), else this is an error.
    stream.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // A head that cannot be read is refused over TLS as well.
    let mut stream = secure(server.connect().await, &connector).await.expect("a handshake");
    stream.write_all(b"nonsense\r\n\r\n").await.expect("write");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.contains("request_invalid"), "{answer}");
}

#[tokio::test]
async fn a_handshake_has_a_timeout_and_nothing_is_sent_in_the_clear() {
    let (tls, connector, _dir) = keeper();
    let limits = HttpLimits { handshake_timeout: SHORT, connections_per_client_max: 1, ..limits() };
    let server = serve_with(Some(tls.http_acceptor()), TestApi::new().router, limits).await;
    let mut silent = server.connect().await;
    // A connection in its handshake is one of its client.
    let mut one_too_many = server.connect().await;
    assert_eq!(read_to_end(&mut one_too_many).await, "");
    assert_eq!(read_to_end(&mut silent).await, "");
    let mut in_the_clear = server.connect().await;
    in_the_clear.write_all(HEALTH).await.expect("write");
    let said = read_to_end(&mut in_the_clear).await;
    assert!(!said.contains("HTTP"), "{said}");
    drop((silent, one_too_many, in_the_clear));
    crate::support::until::until("the client has a place again", async || {
        secure(server.connect().await, &connector).await.is_ok()
    })
    .await;
}

#[tokio::test]
async fn a_handshake_makes_way_for_another_client() {
    let (tls, connector, _dir) = keeper();
    let limits = HttpLimits { handshake_timeout: Duration::from_hours(1), connections_max: 1, ..limits() };
    let server = serve_with(Some(tls.http_acceptor()), TestApi::new().router, limits).await;
    let mut silent = server.connect().await;
    let mut stream = secure(server.connect().await, &connector).await.expect("a handshake");
    assert_eq!(read_to_end(&mut silent).await, "");
    stream.write_all(HEALTH).await.expect("write");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn stopping_waits_for_no_handshake() {
    let (tls, _, _dir) = keeper();
    let limits = HttpLimits { handshake_timeout: Duration::from_hours(1), ..limits() };
    let server = serve_with(Some(tls.http_acceptor()), TestApi::new().router, limits).await;
    let mut silent = server.connect().await;
    silent.write_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc").await.expect("write");
    server.shutdown.cancel();
    server.task.await.expect("served");
    assert_eq!(read_to_end(&mut silent).await, "");
}
