//! `GET /openapi.json`: the description of the interface in `OpenAPI` 3.1.
//!
//! `openapi.json` beside this file is the description, written by hand. A new route gets its operation there, and a new
//! body its schema. What carries `"x-only"` is there only while the interface has that part: `webhooks` in revision 2,
//! the `page` for people, or `metrics` on this listener. Tests compare the description with the router in both
//! directions.

use std::sync::{Arc, LazyLock};

use axum::body::Bytes;
use axum::http::header;
use axum::routing::MethodRouter;
use serde_json::Value;

use super::{Api, route::get};
use crate::config::{Config, Revision};

const DESCRIPTION: &str = include_str!("openapi.json");
const ONLY: &str = "x-only";

/// The route that gives out the description of an interface with these settings.
pub(super) fn route(config: &Config) -> MethodRouter<Arc<Api>> {
    let absent = absent(config);
    let document = Arc::new(LazyLock::new(move || document(&absent)));
    get(move || {
        let document = Bytes::clone(&document);
        async { ([(header::CONTENT_TYPE, "application/json")], document) }
    })
}

/// The parts that an interface with these settings does not have.
fn absent(config: &Config) -> Vec<&'static str> {
    let parts = [
        ("webhooks", config.revision == Revision::Two),
        ("page", config.http.public.web),
        ("metrics", config.http.metrics_listen.is_empty()),
    ];
    parts.into_iter().filter(|(_, is_there)| !is_there).map(|(part, _)| part).collect()
}

/// The description without what only absent parts have.
fn document(absent: &[&str]) -> Bytes {
    let mut document: Value = serde_json::from_str(DESCRIPTION).expect("the description is JSON");
    strip(&mut document, absent);
    document["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    document.to_string().into()
}

/// Takes out of a value what only absent parts have, and the marks of the others.
fn strip(value: &mut Value, absent: &[&str]) {
    let is_there = |value: &Value| value[ONLY].as_str().is_none_or(|part| !absent.contains(&part));
    match value {
        Value::Object(members) => {
            members.shift_remove(ONLY);
            members.retain(|_, member| is_there(member));
            for member in members.values_mut() {
                strip(member, absent);
            }
        }
        Value::Array(items) => {
            items.retain(is_there);
            for item in items {
                strip(item, absent);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::health::CAUSES;

    #[test]
    fn each_cause_is_described() {
        let document: Value = serde_json::from_slice(&document(&[])).expect("JSON");
        for schema in ["Problem", "Status"] {
            let described = &document["components"]["schemas"][schema]["properties"]["cause"]["enum"];
            assert_eq!(*described, Value::from(CAUSES.map(|(cause, _)| cause).to_vec()), "{schema}");
        }
    }
}
