//! `GET /healthz` and `GET /readyz`: is the process alive, and can it take and give mail.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::Api;
use super::problem::{Code, Problem};
use crate::model::EmailId;
use crate::store::StoreError;

/// `GET /healthz`: any answer shows that the process is alive.
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
            let cause = Cause::of(&error);
            tracing::warn!(%error, "not ready");
            let problem = Problem::new(Code::NotReady, cause.detail());
            Err(problem.with_member("cause", json!(cause.as_str())).with_retry_after(10))
        }
    }
}

/// Why the service is not ready. What the disk said is for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    StorageFull,
    WriterEnded,
    Stopping,
    StoreUnavailable,
}

impl Cause {
    pub(super) const ALL: [Self; 4] = [Self::StorageFull, Self::WriterEnded, Self::Stopping, Self::StoreUnavailable];

    pub(super) fn of(error: &StoreError) -> Self {
        match error {
            StoreError::Full => Self::StorageFull,
            StoreError::WriterEnded => Self::WriterEnded,
            StoreError::Stopping => Self::Stopping,
            _ => Self::StoreUnavailable,
        }
    }

    /// A stable word.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::StorageFull => "storage_full",
            Self::WriterEnded => "writer_ended",
            Self::Stopping => "stopping",
            Self::StoreUnavailable => "store_unavailable",
        }
    }

    /// The cause in words for people.
    const fn detail(self) -> &'static str {
        match self {
            Self::StorageFull => "the disk is full: mail is read and deleted, none is accepted",
            Self::WriterEnded => "the writer of the store has ended; the service is stopping",
            Self::Stopping => "the service is stopping",
            Self::StoreUnavailable => "the store failed",
        }
    }
}
