//! `GET /healthz` and `GET /readyz`: whether the process is alive, and whether it can accept and show mail.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::{Answer, Api, Code, Problem};
use crate::model::EmailId;
use crate::store::StoreError;

/// `GET /healthz`: any answer shows that the process is alive.
pub(super) async fn alive() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// `GET /readyz`: 503 with the cause while the store would refuse a message or can't be read.
pub(super) async fn ready(State(api): State<Arc<Api>>) -> Answer<Value> {
    // Looking up an unused id is the cheapest read.
    let read = api.store.find(EmailId::from_octets([0; 16]), api.clock.now()).await;
    let Err(error) = api.store.accepts().and(read.map(drop)) else {
        return Ok(Json(json!({ "status": "ready" })));
    };
    tracing::warn!(%error, "the service is not ready: the store can't accept or read mail");
    let (cause, detail) = cause(&error);
    Err(Problem::new(Code::NotReady, detail).with_member("cause", json!(cause)).with_retry_after(10))
}

/// Why the service is not ready: a stable code, and a text for people. Only the log shows the disk's error.
pub(super) type Cause = (&'static str, &'static str);

const STORAGE_FULL: Cause =
    ("storage_full", "the disk or max-emails is full; mail can be read and deleted, but new mail is refused");
const WRITER_ENDED: Cause = ("writer_ended", "the writer of the store has ended; the service is stopping");
const STOPPING: Cause = ("stopping", "the service is stopping");
const STORE_UNAVAILABLE: Cause = ("store_unavailable", "the store failed");
pub(super) const CAUSES: [Cause; 4] = [STORAGE_FULL, WRITER_ENDED, STOPPING, STORE_UNAVAILABLE];

/// The cause that an error of the store is.
pub(super) const fn cause(error: &StoreError) -> Cause {
    match error {
        StoreError::Full => STORAGE_FULL,
        StoreError::WriterEnded => WRITER_ENDED,
        StoreError::Stopping => STOPPING,
        _ => STORE_UNAVAILABLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last two end the service before anybody can ask it.
    #[test]
    fn each_error_of_the_store_has_its_cause() {
        for (error, cause) in [
            (StoreError::Full, "storage_full"),
            (StoreError::Failed("the disk".into()), "store_unavailable"),
            (StoreError::WriterEnded, "writer_ended"),
            (StoreError::Stopping, "stopping"),
        ] {
            assert_eq!(super::cause(&error).0, cause);
        }
    }
}
