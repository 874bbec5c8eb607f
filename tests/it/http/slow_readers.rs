//! Clients that do not read their answers, and what that does to others. Over real sockets.

use std::net::{Ipv4Addr, SocketAddr};

use axum::http::StatusCode;
use http_body_util::BodyExt;
use rustix::net::RecvFlags;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::TestApi;
use super::fairness::{from, healthy, patient};
use super::http2;
use super::server::{read_to_end, serve};
use crate::support::until::until;

/// A mail whose answer needs more room than the share of one client.
const OCTETS: usize = 1 << 20;
const SLOW: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// An interface with a large mail, and the target of its JSON.
async fn with_large_mail() -> (TestApi, String) {
    let api = TestApi::with(|config| config.mail.message_octets_max = 2 * OCTETS as u64);
    let id = api.receive(&["ann@example.test"], &format!("Subject: s\r\n\r\n{}", "&".repeat(OCTETS))).await[0];
    (api, format!("/api/mail/messages/{id}"))
}

fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
}

/// Waits until an answer has begun, and reads nothing of it.
async fn begins(stream: &TcpStream) {
    until("an answer begins", async || {
        rustix::net::recv(stream, &mut [0], RecvFlags::PEEK | RecvFlags::DONTWAIT).is_ok_and(|(_, octets)| octets == 1)
    })
    .await;
}

async fn asks(client: Ipv4Addr, server: SocketAddr, target: &str) -> TcpStream {
    let mut stream = from(client, server).await;
    stream.write_all(get(target).as_bytes()).await.expect("write");
    stream
}

#[tokio::test]
async fn a_request_that_waits_for_answers_of_its_own_client_makes_way_for_others() {
    let (api, large) = with_large_mail().await;
    let server = serve(api.router.clone(), patient(10)).await;
    let silent = asks(SLOW, server.address, &large).await;
    begins(&silent).await;
    let with_one_slot = serve(api.router.clone(), patient(1)).await;
    let mut held_up = asks(SLOW, with_one_slot.address, &large).await;
    let mut other = from(OTHER, with_one_slot.address).await;
    healthy(&mut other).await;
    assert_eq!(read_to_end(&mut held_up).await, "", "it was evicted");
    drop(silent);
}

#[tokio::test]
async fn a_stream_that_is_not_read_ends_and_others_of_its_connection_go_on() {
    let (api, large) = with_large_mail().await;
    let server = serve(api.router.clone(), patient(10)).await;
    let (mut sender, _connection) = http2::connect(&server).await;
    let silent = sender.send_request(http2::request(&large)).await.expect("an answer");
    assert_eq!(silent.status(), StatusCode::OK);
    let mut other = asks(OTHER, server.address, &large).await;
    let answer = read_to_end(&mut other).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.len() > 5 * OCTETS, "{} octets", answer.len());
    silent.into_body().collect().await.expect_err("its room was for others");
    let health = sender.send_request(http2::request("/healthz")).await.expect("the connection is there");
    assert_eq!(health.status(), StatusCode::OK);
}
