//! Which answers are encoded for clients that accept it: large ones without a secret, and never mail.
//! Mechanism: it goes with encoded answers.

use super::{Answer, TestServer};

const ACCEPTED: &str = "zstd, gzip, deflate, br";

async fn encoded(api: &TestServer, target: &str) -> Answer {
    api.get_with(target, "accept-encoding", ACCEPTED).await
}

/// The length that a gzip file says its content has (RFC 1952 section 2.3.1).
fn content_length(gzip: &[u8]) -> usize {
    assert_eq!(gzip[..2], [0x1f, 0x8b]);
    let length = gzip.last_chunk().copied().expect("a trailer");
    usize::try_from(u32::from_le_bytes(length)).expect("a length")
}

#[tokio::test]
async fn large_answers_without_a_secret_are_encoded_if_the_client_accepts_it() {
    let api = TestServer::start().await;
    for target in ["/openapi.json", "/docs", "/metrics"] {
        let plain = api.get(target).await;
        assert_eq!((plain.status.as_u16(), plain.header("content-encoding")), (200, None), "{target}");
        assert_eq!(plain.header("vary"), Some("accept-encoding"), "{target}");
        let small = encoded(&api, target).await;
        assert_eq!((small.status.as_u16(), small.header("content-encoding")), (200, Some("gzip")), "{target}");
        assert_eq!(small.header("vary"), Some("accept-encoding"), "{target}");
        assert_eq!(small.header("content-type"), plain.header("content-type"), "{target}");
        assert!(small.body.len() * 2 < plain.body.len(), "{target}: {} of {}", small.body.len(), plain.body.len());
        // The numbers of metrics change with each request.
        let of_same = content_length(&small.body).abs_diff(plain.body.len());
        assert!(of_same < if target == "/metrics" { 1_000 } else { 1 }, "{target}: {of_same}");
        // A tag would have to tell the encodings apart.
        assert_eq!((plain.header("etag"), small.header("etag")), (None, None), "{target}");
    }
    let refused = api.get_with("/openapi.json", "accept-encoding", "gzip;q=0, identity").await;
    assert_eq!(refused.header("content-encoding"), None);
    let head = api.request("HEAD", "/openapi.json").header("accept-encoding", ACCEPTED);
    assert_eq!(Answer::to(head).await.body.len(), 0);
}

#[tokio::test]
async fn mail_is_never_encoded() {
    let api = TestServer::start().await;
    let text = "your code is 482913 ".repeat(1_000);
    let id = api.receive(&["ann@example.test"], &format!("Subject: code\r\n\r\n{text}")).await.remove(0);
    for target in [
        "/api/mail/messages?to=ann@example.test".to_owned(),
        format!("/api/mail/messages/{id}"),
        format!("/api/mail/messages/{id}/raw"),
        format!("/api/mail/messages/{id}/html"),
        format!("/api/mail/messages/{id}/text"),
        "/api/mail/wait?to=ann@example.test".to_owned(),
        "/".to_owned(),
    ] {
        let answer = encoded(&api, &target).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-encoding")), (200, None), "{target}");
        assert!(answer.header("vary").is_none_or(|vary| !vary.contains("encoding")), "{target}");
    }
}
