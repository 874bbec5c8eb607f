use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{any, get};

use super::*;
use crate::error::{Error, Exit};

#[test]
fn a_query_keeps_every_octet_of_an_address() {
    let of = |text: &str| query(&[("to", Some(text.to_owned())), ("page", None), ("limit", Some("1".to_owned()))]);
    assert_eq!(of("a+b@x.test"), "?to=a%2Bb%40x.test&limit=1");
    assert_eq!(of("\"a b&c\"@x.test"), "?to=%22a%20b%26c%22%40x.test&limit=1");
    assert_eq!(of("josé@x.test"), "?to=jos%C3%A9%40x.test&limit=1");
    assert_eq!(query(&[("page", None)]), "");
}

/// Answers some operations, and echoes what it was asked in the name of a domain.
fn router() -> Router {
    let problem = || async {
        let body = r#"{"status":404,"title":"Not Found","detail":"gone","code":"not_found"}"#;
        (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response()
    };
    let echo = |request: axum::extract::Request| async move {
        let head = format!("{} {}", request.method(), request.uri());
        let body = axum::body::to_bytes(request.into_body(), 1_000).await.expect("body");
        let name = format!("{head} {}", String::from_utf8_lossy(&body));
        (StatusCode::CREATED, axum::Json(json!({"domain": name, "status": "active"})))
    };
    Router::new()
        .route("/api/domains", any(echo))
        .route("/api/domains/active", get(|| async { vec![b' '; OCTETS_MAX + 1] }))
        .route("/api/mail/messages/{id}", get(problem))
        .route("/readyz", get(|| async { StatusCode::SERVICE_UNAVAILABLE }))
}

/// A client in-process; the flag says whether it was closed.
fn in_process() -> (Client, Arc<AtomicBool>) {
    let is_closed = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_closed);
    let close = Box::new(move || -> futures_util::future::BoxFuture<'static, ()> {
        Box::pin(async move { flag.store(true, Ordering::Relaxed) })
    });
    let local = LocalRouter { router: router(), shown: "/data".to_owned(), close };
    (Client::new(Transport::InProcess(local)), is_closed)
}

/// The same service over TCP.
async fn over_tcp() -> Client {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let server = format!("http://{}", listener.local_addr().expect("address")).parse().expect("url");
    tokio::spawn(async { axum::serve(listener, router()).await });
    Client::new(Transport::http(&server, None).expect("transport"))
}

fn new_domain() -> NewDomain {
    NewDomain { domain: "x.test".parse().expect("name"), owner: Some("Ann".to_owned()), email: None }
}

#[tokio::test]
async fn every_transport_gives_the_same_results_and_errors() {
    for client in [in_process().0, over_tcp().await] {
        let added = client.add_domain(&new_domain()).await.expect("added");
        assert!(added.is_new);
        assert_eq!(added.domain.domain, r#"POST /api/domains {"domain":"x.test","owner":"Ann"}"#);
        let id = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b".parse().expect("id");
        let error = client.email(id).await.expect_err("refused");
        assert!(error.is("not_found"), "{error}");
        assert_eq!(Error::from(error).exit(), Exit::NotFound);
        assert_eq!(client.ready().await, Ok(false));
        assert!(matches!(client.status().await, Err(ClientError::Unintelligible { .. })));
    }
}

#[tokio::test]
async fn every_transport_bounds_the_answer() {
    for client in [in_process().0, over_tcp().await] {
        assert_eq!(client.active_domains().await, Err(ClientError::TooLarge { octets_max: OCTETS_MAX }));
    }
}

#[tokio::test]
async fn closing_the_client_closes_what_it_opened() {
    let (client, is_closed) = in_process();
    assert!(client.is_administrator());
    client.close().await;
    assert!(is_closed.load(Ordering::Relaxed));
}
