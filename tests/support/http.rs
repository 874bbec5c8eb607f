//! Requests to a running service, over TCP.

use std::net::SocketAddr;

use reqwest::{Client, ClientBuilder};
use serde_json::{Value, json};

/// A status, and the body where it is JSON.
pub(crate) type Answer = (u16, Value);

/// A client for plain HTTP.
pub(crate) fn client() -> Client {
    client_builder().build().expect("a client")
}

/// A builder of clients for plain HTTP. They read no root certificates of this machine, which takes long.
pub(crate) fn client_builder() -> ClientBuilder {
    Client::builder().tls_certs_only([])
}

/// `GET`, of something that answers with JSON.
pub(crate) async fn get(server: SocketAddr, path: &str) -> Answer {
    answer(client().get(format!("http://{server}{path}"))).await
}

/// `POST /api/domains` for a domain.
pub(crate) async fn add_domain(server: SocketAddr, domain: &str) -> Answer {
    let url = format!("http://{server}/api/domains");
    answer(client().post(url).json(&json!({ "domain": domain }))).await
}

/// A page of 100 of an inbox, which must be answered with 200.
pub(crate) async fn inbox(server: SocketAddr, to: &str) -> Value {
    let (status, page) = get(server, &format!("/api/mail/messages?to={to}&limit=100")).await;
    assert_eq!(status, 200, "{page}");
    page
}

/// How many mails an inbox has.
pub(crate) async fn total(server: SocketAddr, to: &str) -> u64 {
    inbox(server, to).await["total"].as_u64().expect("total")
}

/// The message with its trace fields, as octets; `None` if there is none.
pub(crate) async fn raw(server: SocketAddr, id: &str) -> Option<Vec<u8>> {
    let answer = client().get(format!("http://{server}/api/mail/messages/{id}/raw")).send().await.expect("an answer");
    let is_there = answer.status() == 200;
    let body = answer.bytes().await.expect("body");
    is_there.then(|| body.to_vec())
}

async fn answer(request: reqwest::RequestBuilder) -> Answer {
    let answer = request.send().await.expect("an answer");
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap_or_default())
}
