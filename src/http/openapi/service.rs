//! The service itself: its index, its state, and its descriptions.

use serde_json::json;

use super::operation::Operation;
use super::schema::reference;
use crate::http::problem::Code;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/", "getIndex", "List the most important paths").json(
            200,
            "The paths, and which parts are open to callers without a token. A browser, which accepts `text/html`, gets \
             the page for people instead.",
            reference("Index"),
        ),
        Operation::get("/docs", "getDocs", "Read this description as a page").answer(
            200,
            "The page.",
            "text/html; charset=utf-8",
            super::plain_text(),
        ),
        Operation::get("/openapi.json", "getOpenApi", "Get this description").json(
            200,
            "An OpenAPI 3.1 document.",
            json!({ "type": "object", "required": ["openapi", "paths"] }),
        ),
        Operation::get("/healthz", "getHealth", "Whether the process runs").json(200, "It does.", reference("Health")),
        Operation::get("/readyz", "getReadiness", "Whether mail can be received and read")
            .json(200, "It can.", reference("Readiness"))
            .fails(&[Code::NotReady]),
        Operation::get("/metrics", "getMetrics", "Counters and gauges in Prometheus' text format").answer(
            200,
            "The metrics.",
            "text/plain; version=0.0.4; charset=utf-8",
            super::plain_text(),
        ),
    ]
}
