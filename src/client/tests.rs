use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{any, get};
use serde_json::json;

use super::*;
use crate::error::{Error, Exit};

#[test]
fn a_query_keeps_every_octet_of_an_address() {
    let of =
        |text: &str| with_query("/x", &[("to", Some(text.to_owned())), ("page", None), ("limit", Some("1".into()))]);
    assert_eq!(of("a+b@x.test"), "/x?to=a%2Bb%40x.test&limit=1");
    assert_eq!(of("\"a b&c\"@x.test"), "/x?to=%22a%20b%26c%22%40x.test&limit=1");
    assert_eq!(of("josé@x.test"), "/x?to=jos%C3%A9%40x.test&limit=1");
    assert_eq!(with_query("/x", &[("page", None)]), "/x");
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
        (StatusCode::CREATED, axum::Json(json!({"status": "active", "domain": name})))
    };
    let large = || async {
        let chunk = bytes::Bytes::from(vec![b' '; 1 << 20]);
        let chunks = std::iter::repeat_n(chunk, transport::OCTETS_MAX / (1 << 20) + 1).map(Ok::<_, std::io::Error>);
        axum::body::Body::from_stream(futures_util::stream::iter(chunks))
    };
    let page = |request: axum::extract::Request| async move {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let next = if query.contains("cursor=2") { None } else { Some("2") };
        axum::Json(json!({"emails": [query], "total": 2, "nextCursor": next}))
    };
    Router::new()
        .route("/api/domains", any(echo))
        .route("/api/domains/active", get(large))
        .route("/api/mail/messages", get(page))
        .route("/api/mail/messages/{id}", get(problem))
        .route("/api/mail/wait", get(|| async { StatusCode::NO_CONTENT }))
        .route("/readyz", get(|| async { StatusCode::SERVICE_UNAVAILABLE }))
}

async fn client() -> Client {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let server = format!("http://{}", listener.local_addr().expect("address")).parse().expect("url");
    tokio::spawn(async { axum::serve(listener, router()).await });
    Client::new(Transport::http(&server, Access::default()).expect("transport"))
}

#[tokio::test]
async fn a_call_gives_the_answer_in_its_own_order_or_the_refusal() {
    let client = client().await;
    let body = json!({"owner": "Ann", "domain": "x.test"});
    let (added, is_new) = client.post("/api/domains", body).await.expect("added");
    assert!(is_new);
    assert_eq!(
        added.to_string(),
        json!({"status": "active", "domain": r#"POST /api/domains {"owner":"Ann","domain":"x.test"}"#}).to_string()
    );
    let error = client.email(EmailId::from_octets([0x44; 16])).await.expect_err("refused");
    assert!(error.is("not_found"), "{error}");
    assert_eq!(Error::from(error).exit(), Exit::NotFound);
    assert_eq!(client.ready().await, Ok(false));
    assert_eq!(client.get("/api/mail/wait", &[]).await, Ok(Value::Null));
    assert!(matches!(client.status().await, Err(ClientError::Failed { why: Failure::Unintelligible(_), .. })));
}

#[tokio::test]
async fn an_answer_has_a_bound() {
    let answer = client().await.get::<Value>("/api/domains/active", &[]).await;
    assert_eq!(answer, Err(ClientError::TooLarge { octets_max: transport::OCTETS_MAX }));
}

#[tokio::test]
async fn the_pages_of_a_list_follow_its_cursor() {
    let client = client().await;
    let mut pages = client.pages(MAIL, vec![("to", Some("a@x.test".to_owned()))], Some(100));
    let first = pages.next(7).await.expect("an answer").expect("a page");
    assert_eq!(first.rows, [json!("to=a%40x.test&cursor=&limit=7")]);
    assert!(first.has_more && first.total == Some(2), "{first:?}");
    let second = pages.next(u64::MAX).await.expect("an answer").expect("a page");
    assert_eq!(second.rows, [json!("to=a%40x.test&cursor=2&limit=100")]);
    assert!(!second.has_more && pages.next(1).await.is_ok_and(|page| page.is_none()));
}
