//! `GET /healthz` and `GET /readyz`: is the process alive, and can it take and give mail.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::Api;
use super::problem::{Code, Problem};
use crate::model::EmailId;
use crate::store::StoreError;

/// `GET /healthz`: whoever gets an answer has found it alive.
pub(super) async fn alive() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// `GET /readyz`: 503 with the cause while the store would refuse a message or can't be read.
pub(super) async fn ready(State(api): State<Arc<Api>>) -> Result<Json<Value>, Problem> {
    // Looking for an id that nothing has is the cheapest read there is.
    let read = api.store.find(EmailId::from_octets([0; 16]), api.clock.now()).await.map(|_| ());
    match api.store.accepts().and(read) {
        Ok(()) => Ok(Json(json!({ "status": "ready" }))),
        Err(error) => {
            let (cause, detail) = cause(&error);
            tracing::warn!(%error, "not ready");
            Err(Problem::new(Code::NotReady, detail).with_member("cause", json!(cause)).with_retry_after(10))
        }
    }
}

/// Why the service is not ready, as a stable word and for people. What the disk said is for the log.
pub(super) fn cause(error: &StoreError) -> (&'static str, &'static str) {
    match error {
        StoreError::Full => ("storage_full", "the disk is full: mail is read and deleted, none is accepted"),
        StoreError::WriterEnded => ("writer_ended", "the writer of the store has ended; the service is stopping"),
        StoreError::Stopping => ("stopping", "the service is stopping"),
        _ => ("store_unavailable", "the store failed"),
    }
}
