//! The webhooks of the service in memory.

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::{Parameters, Shared, for_administrator, problem};

/// The id that ends with `id`.
pub(in crate::cli) fn webhook_id(id: u8) -> String {
    format!("0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a{id:02x}")
}

/// A webhook as everybody sees it.
pub(in crate::cli) fn webhook(id: u8, recipient: &str, url: &str) -> Value {
    json!({
        "id": webhook_id(id), "recipient": recipient, "url": url, "signed": true, "status": "active",
        "createdAt": "2023-11-14 22:13:20", "lastDeliveryAt": null, "failures": 0, "dropped": 0,
    })
}

/// An attempt as the log shows it.
pub(in crate::cli) fn delivery(result: &str, status: Option<u16>) -> Value {
    let error = if result == "delivered" { None } else { Some(status.map_or("timeout", |_| "http_status")) };
    json!({
        "event": webhook_id(0xee), "email": null, "attempt": 1, "at": "2023-11-14 22:13:20", "durationMillis": 12,
        "status": status, "error": error, "response": "a\tb\n", "result": result,
        "nextAttemptAt": if result == "retry" { Some("2023-11-14 22:13:25") } else { None },
    })
}

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/api/webhooks", get(list).post(add).delete(remove))
}

/// The routes below `/api/admin`.
pub(super) fn admin_routes() -> Router<Shared> {
    Router::new()
        .route("/webhooks", get(list_all))
        .route("/webhooks/{id}/deliveries", get(deliveries))
        .route("/webhooks/{id}/replay", post(replay))
        .route("/webhooks/{id}/test", post(test))
}

async fn list(State(contents): State<Shared>, Query(query): Parameters) -> Response {
    let contents = contents.lock().expect("lock");
    if contents.has_no_webhooks {
        return problem(404, "unknown_path", "this path does not exist");
    }
    let of = |webhook: &&Value| query.get("recipient").is_some_and(|to| webhook["recipient"] == to.as_str());
    let mut webhooks: Vec<Value> = contents.webhooks.iter().filter(of).cloned().collect();
    for webhook in &mut webhooks {
        webhook.as_object_mut().expect("object").remove("registeredBy");
    }
    axum::Json(webhooks).into_response()
}

async fn list_all(State(contents): State<Shared>, Query(query): Parameters) -> Response {
    let contents = contents.lock().expect("lock");
    let is_of = |webhook: &&Value| {
        let domain = webhook["recipient"].as_str().and_then(|address| address.rsplit_once('@'));
        query.get("domain").is_none_or(|wanted| domain.is_some_and(|(_, domain)| domain == wanted))
    };
    let shown = |webhook| for_administrator(webhook, &["registeredBy"]);
    let webhooks: Vec<Value> = contents.webhooks.iter().filter(is_of).map(shown).collect();
    axum::Json(json!({ "webhooks": webhooks, "next": null })).into_response()
}

async fn add(State(contents): State<Shared>, body: String) -> Response {
    let body: Value = serde_json::from_str(&body).expect("JSON");
    let mut contents = contents.lock().expect("lock");
    let url = body["url"].as_str().expect("url");
    if contents.has_no_webhooks {
        return problem(404, "unknown_path", "this path does not exist");
    }
    let is_known = contents.webhooks.iter().any(|webhook| webhook["url"] == url);
    if !is_known {
        contents.webhooks.push(webhook(1, body["recipient"].as_str().expect("recipient"), url));
    }
    contents.secrets.push(body["secret"].clone());
    let status = if is_known { StatusCode::OK } else { StatusCode::CREATED };
    (status, axum::Json(json!({ "id": webhook_id(1), "status": "ok" }))).into_response()
}

async fn remove(State(contents): State<Shared>, Query(query): Parameters) -> Response {
    let mut contents = contents.lock().expect("lock");
    let before = contents.webhooks.len();
    contents.webhooks.retain(|webhook| query.get("id").is_none_or(|id| webhook["id"] != id.as_str()));
    axum::Json(json!({ "deleted": before - contents.webhooks.len() })).into_response()
}

fn unless_unknown(id: &str, answer: Value) -> Response {
    if id == webhook_id(1) {
        return axum::Json(answer).into_response();
    }
    problem(404, "not_found", "there is no webhook with this id")
}

async fn deliveries(State(contents): State<Shared>, Path(id): Path<String>) -> Response {
    unless_unknown(&id, json!(contents.lock().expect("lock").deliveries))
}

/// Every event can be sent again but the one of zeros. There is no room for the one of ones.
async fn replay(State(contents): State<Shared>, Path(id): Path<String>, body: String) -> Response {
    let body: Value = serde_json::from_str(&body).expect("JSON");
    let (replayed, no_room) = match body["event"].as_str().and_then(|event| event.split_once('-')) {
        Some(("00000000", _)) => (0, 0),
        Some(("ffffffff", _)) => (0, 1),
        _ => (3, 0),
    };
    contents.lock().expect("lock").replays.push(body);
    unless_unknown(&id, json!({ "replayed": replayed, "noRoom": no_room }))
}

async fn test(State(contents): State<Shared>, Path(id): Path<String>) -> Response {
    unless_unknown(&id, contents.lock().expect("lock").deliveries[0].clone())
}
