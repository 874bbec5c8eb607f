//! The header fields of the page and of its files, and who gets the page at all.
//! Promise: it outlives the code below it.

use std::collections::BTreeSet;

use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};

use crate::support::http;
use crate::support::test_server::TestServer;

/// What Chromium sends.
const OF_BROWSERS: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

async fn get(server: &TestServer, path: &str, fields: &[(&str, &str)]) -> Response {
    let mut request = http::client().get(format!("http://{}{path}", server.http()));
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    request.send().await.expect("an answer")
}

fn field<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).unwrap_or_else(|| panic!("no {name}: {headers:?}")).to_str().expect("text")
}

fn has_token(headers: &HeaderMap, name: &str, wanted: &str) -> bool {
    let fields = headers.get_all(name).into_iter().map(|value| value.to_str().expect("text"));
    fields.flat_map(|value| value.split(',')).any(|token| token.trim().eq_ignore_ascii_case(wanted))
}

/// The paths of files that the document names.
fn files(document: &str) -> BTreeSet<String> {
    let named = document.split('"').filter(|text| text.starts_with("web/"));
    named.map(|path| format!("/{path}")).collect()
}

#[tokio::test]
async fn the_document_may_do_little_and_is_asked_for_each_time() {
    let server = TestServer::start().await;
    let answer = get(&server, "/", &[("accept", OF_BROWSERS)]).await;
    let headers = answer.headers().clone();
    assert_eq!(field(&headers, "content-type"), "text/html; charset=utf-8");
    let policy: Vec<&str> = field(&headers, "content-security-policy").split(';').map(str::trim).collect();
    for directive in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "frame-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ] {
        assert!(policy.contains(&directive), "{directive}: {policy:?}");
    }
    assert!(!policy.join(";").contains("unsafe"), "{policy:?}");
    assert_eq!(field(&headers, "x-content-type-options"), "nosniff");
    assert_eq!(field(&headers, "cross-origin-opener-policy"), "same-origin");
    assert_eq!(field(&headers, "cache-control"), "no-cache");
    assert!(has_token(&headers, "vary", "accept"), "{headers:?}");
    assert!(!headers.contains_key("set-cookie"));
    let document = answer.text().await.expect("text");
    assert!(!document.contains("<script>") && !document.contains("style="), "nothing is inline");
}

#[tokio::test]
async fn files_are_kept_for_good() {
    let server = TestServer::start().await;
    let document = get(&server, "/", &[("accept", OF_BROWSERS)]).await.text().await.expect("text");
    let files = files(&document);
    assert!(files.len() > 20, "{files:?}");
    for path in &files {
        let answer = get(&server, path, &[]).await;
        let headers = answer.headers();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert_eq!(field(headers, "cache-control"), "public, max-age=31536000, immutable", "{path}");
        assert_eq!(field(headers, "x-content-type-options"), "nosniff", "{path}");
        let kind = match path.rsplit('.').next() {
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "text/javascript; charset=utf-8",
        };
        assert_eq!(field(headers, "content-type"), kind, "{path}");
    }
    let (version, _) = files.first().expect("a file")[5..].split_once('/').expect("a version");
    for path in ["/web/0/app.js".to_owned(), format!("/web/{version}/none.js"), format!("/web/{version}/..%2fmod.rs")] {
        assert_eq!(get(&server, &path, &[]).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn programs_get_json() {
    let server = TestServer::start().await;
    for accept in ["*/*", "application/json", "text/html;q=0, */*"] {
        let answer = get(&server, "/", &[("accept", accept)]).await;
        assert_eq!(field(answer.headers(), "content-type"), "application/json", "{accept}");
        assert!(has_token(answer.headers(), "vary", "accept"), "{accept}");
    }
}

#[tokio::test]
async fn a_document_that_is_refused_is_a_small_page() {
    let limited = TestServer::with("rate-limit = 2").await;
    let browser = [("accept", OF_BROWSERS)];
    while get(&limited, "/api/domains", &[]).await.status() != StatusCode::TOO_MANY_REQUESTS {}
    let other = TestServer::start().await;
    for (server, host, status, said) in [
        (&limited, "localhost", StatusCode::TOO_MANY_REQUESTS, "Too many requests"),
        (&other, "<b>evil.test", StatusCode::BAD_REQUEST, ""),
        (&other, "evil.test", StatusCode::MISDIRECTED_REQUEST, "http-allowed-hosts"),
    ] {
        let fields = [browser[0], ("host", host)];
        let answer = get(server, "/", &fields).await;
        let headers = answer.headers().clone();
        assert_eq!(answer.status(), status, "{host}");
        if said.is_empty() {
            assert_eq!(field(&headers, "content-type"), "application/problem+json", "{host}");
            continue;
        }
        assert_eq!(field(&headers, "content-type"), "text/html; charset=utf-8", "{host}");
        let policy = field(&headers, "content-security-policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("script"), "{policy}");
        assert_eq!(headers.contains_key("retry-after"), status == StatusCode::TOO_MANY_REQUESTS);
        let page = answer.text().await.expect("text");
        assert!(page.contains(said) && !page.contains("{t") && !page.contains("{again"), "{page}");
        assert!(!page.contains("src=") && !page.contains("<script"), "it needs nothing more: {page}");
        for (path, accept) in [("/", "*/*"), ("/api/domains", OF_BROWSERS)] {
            let answer = get(server, path, &[("accept", accept), ("host", host)]).await;
            assert_eq!(field(answer.headers(), "content-type"), "application/problem+json", "{path} {accept}");
        }
    }
}

#[tokio::test]
async fn the_index_says_who_may_read_all_mail() {
    let server = TestServer::start().await;
    assert_eq!(server.get("/").await.json()["allMail"], false);
    assert_eq!(server.admin_get("/").await["allMail"], true);
    let body = serde_json::json!({ "name": "a", "scope": "read" });
    let (_, created) = server.admin_post("/api/admin/tokens", &body).await;
    let token = created["token"].as_str().expect("a token").to_owned();
    let answer = get(&server, "/", &[("authorization", &format!("Bearer {token}"))]).await;
    let index: serde_json::Value = answer.json().await.expect("JSON");
    assert_eq!(index["allMail"], true);
}

#[tokio::test]
async fn a_service_without_the_page_gives_browsers_json_too() {
    let off = TestServer::with("public = ['read', 'delete']").await;
    let first = TestServer::with("revision = 1").await;
    let with_page = TestServer::start().await;
    let document = get(&with_page, "/", &[("accept", OF_BROWSERS)]).await.text().await.expect("text");
    let file = files(&document).pop_first().expect("a file");
    for server in [&off, &first] {
        let answer = get(server, "/", &[("accept", OF_BROWSERS)]).await;
        assert_eq!(field(answer.headers(), "content-type"), "application/json");
        assert_eq!(get(server, &file, &[]).await.status(), StatusCode::NOT_FOUND);
    }
}
