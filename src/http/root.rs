//! `GET /`: a short index of the interface, or the page for people.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::caller::Caller;
use super::{Api, addresses, web};
use crate::config::Revision;

/// Answers browsers with the page, unless it is off, and others with the index.
pub(super) async fn show(State(api): State<Arc<Api>>, caller: Caller, headers: HeaderMap) -> Response {
    if api.config.http.public.web && web::is_wanted(&headers) {
        return web::document();
    }
    ([(header::VARY, "accept")], Json(index(&api, &caller))).into_response()
}

/// Who may use a part of the interface.
fn access(is_public: bool) -> &'static str {
    if is_public { "open" } else { "token" }
}

/// The most important paths, whether the caller reads all mail, what is open to callers without a token, whether addresses
/// take mail that are not private, and limits.
fn index(api: &Api, caller: &Caller) -> Value {
    let public = api.config.http.public;
    let mut pointer = json!({
        "service": "tempmail",
        "version": env!("CARGO_PKG_VERSION"),
        "revision": api.config.revision.number(),
        "public": {
            "domains": access(public.domains),
            "delete": access(public.delete),
            "read": access(public.read),
        },
        "allMail": caller.reads_all(),
        "publicInboxes": addresses::has_public_inboxes(api),
        "limits": {
            "messageOctets": api.config.mail.message_octets_max,
            "retentionSeconds": api.config.mail.retention.as_secs(),
            "privateInboxSeconds": api.config.leases.life_max.as_secs(),
            "pageSize": api.config.http.page_size_max,
            "requestsPerMinute": api.config.http.rate_limit,
        },
        "endpoints": {
            "docs": "GET /docs",
            "openapi": "GET /openapi.json",
            "inbox": "GET /api/mail/messages?to=ADDRESS",
            "stream": "GET /api/mail/stream?to=ADDRESS",
            "wait": "GET /api/mail/wait?to=ADDRESS",
            "message": "GET /api/mail/messages/ID",
            "raw": "GET /api/mail/messages/ID/raw",
            "html": "GET /api/mail/messages/ID/html",
            "text": "GET /api/mail/messages/ID/text",
            "attachment": "GET /api/mail/messages/ID/attachments/INDEX",
            "delete": "DELETE /api/mail/delete?to=ADDRESS or ?id=ID",
            "newAddress": "GET /api/addresses/random",
            "domains": "GET /api/domains",
            "activeDomains": "GET /api/domains/active",
            "addDomain": "POST /api/domains",
            "checkDns": "GET /api/domains/check-dns?domain=DOMAIN",
        },
    });
    if api.config.revision == Revision::Two {
        pointer["public"]["webhooks"] = json!(access(public.webhooks));
        pointer["endpoints"]["webhooks"] = json!("GET /api/webhooks?recipient=ADDRESS");
        pointer["endpoints"]["addWebhook"] = json!("POST /api/webhooks");
    }
    pointer
}
