//! `GET /openapi.json`: a description of the interface in `OpenAPI` 3.1, and the table that it is made from.
//!
//! To document a route, add its operations to the file of its resource, and new bodies to `schemas`. Tests compare the
//! table with the router in both directions. The handlers read queries and bodies by hand, so nothing could be derived
//! from their signatures.

mod admin;
mod domains;
mod mail;
mod operation;
mod schema;
mod schemas;
mod service;
mod web;
mod webhooks;

use std::sync::{Arc, LazyLock};

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde_json::{Map, Value, json};

use super::Api;
use crate::config::Revision;
use operation::Operation;

/// The documents of both revisions. They are the same as long as the process lives.
static ONE: LazyLock<String> = LazyLock::new(|| document(Revision::One).to_string());
static TWO: LazyLock<String> = LazyLock::new(|| document(Revision::Two).to_string());

/// Answers with the document of the revision that runs.
pub(super) async fn show(State(api): State<Arc<Api>>) -> impl IntoResponse {
    let document: &'static str = match api.config.revision {
        Revision::One => &ONE,
        Revision::Two => &TWO,
    };
    ([(header::CONTENT_TYPE, "application/json")], document)
}

/// The tags, with what they group, and the operations of each.
fn operations(revision: Revision) -> Vec<(&'static str, &'static str, Vec<Operation>)> {
    let mut operations = vec![
        ("mail", "The mail of an address", mail::operations()),
        ("domains", "The domains that mail is received for", domains::operations()),
        ("service", "The service itself", service::operations()),
        ("admin", "For the administrator and bearers of tokens", admin::operations()),
    ];
    if revision == Revision::Two {
        operations.insert(2, ("webhooks", "Calls to a URL when mail arrives", webhooks::operations()));
        operations.push(("web", "The page for people, while `public` has the word web", web::operations()));
        operations.push(("admin-webhooks", "All webhooks, for the administrator", admin::webhooks()));
    }
    operations
}

/// The document of a revision.
pub(super) fn document(revision: Revision) -> Value {
    let (mut tags, mut paths, mut responses) = (Vec::new(), Map::new(), Map::new());
    for (tag, description, operations) in operations(revision) {
        tags.push(json!({ "name": tag, "description": description }));
        for operation in operations {
            let (path, method) = (operation.path, operation.method);
            let of_path = paths.entry(path).or_insert_with(|| json!({}));
            of_path[method] = operation.document(tag, &mut responses);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "tempmail",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Disposable mail: read what arrived at an address",
            "description": DESCRIPTION,
            "license": { "name": "MIT", "identifier": "MIT" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": schemas::all(revision),
            "responses": responses,
            "headers": headers(),
            "securitySchemes": {
                "bearerAuth": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of `tempmail token new`. The scope `read` permits GET and HEAD only.",
                },
            },
        },
    })
}

const DESCRIPTION: &str = "Errors are `application/problem+json` (RFC 9457) with a stable `code`. \
    Each GET has a HEAD with the same answers without a body. Unknown parameters are ignored, \
    and new fields may be added to answers. In a query, `+` is a plus sign. \
    OPTIONS is answered 204 everywhere.";

/// The header fields of answers.
fn headers() -> Value {
    let text = |description: &str| json!({ "description": description, "schema": { "type": "string" } });
    json!({
        "RateLimit": text("What is left of the quotas (draft-ietf-httpapi-ratelimit-headers)."),
        "RateLimit-Policy": text("The quotas (draft-ietf-httpapi-ratelimit-headers)."),
        "WWW-Authenticate": text("`Bearer`, where a token is needed or is not valid."),
        "Retry-After": {
            "description": "After how many seconds to try again.",
            "schema": { "type": "integer", "minimum": 0 },
        },
    })
}

/// The number of a page.
fn page_number() -> Value {
    json!({ "type": "integer", "minimum": 1, "default": 1, "description": "The number of the page, less than 2^64." })
}

/// The size of a page, whose bounds are settings.
fn page_size() -> Value {
    let limit = "The size of the page. A number above the setting `page-size-max` counts as that. \
                 The default is the setting `page-size-default`.";
    json!({ "type": "integer", "minimum": 1, "description": limit })
}

/// The schema of a body of text.
fn plain_text() -> Value {
    json!({ "type": "string" })
}

/// Octets of a media type of their own.
fn octets() -> Value {
    json!({ "type": "string", "format": "binary" })
}
