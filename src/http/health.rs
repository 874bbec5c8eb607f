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
    let (cause, detail) = Cause::of(&error).texts();
    Err(Problem::new(Code::NotReady, detail).with_member("cause", json!(cause)).with_retry_after(10))
}

/// Why the service is not ready. Only the log shows the disk's error.
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

    /// The stable code of the cause.
    pub(super) const fn as_str(self) -> &'static str {
        self.texts().0
    }

    /// The code, and the cause as a text for people.
    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::StorageFull => {
                ("storage_full", "the disk is full; mail can be read and deleted, but new mail is refused")
            }
            Self::WriterEnded => ("writer_ended", "the writer of the store has ended; the service is stopping"),
            Self::Stopping => ("stopping", "the service is stopping"),
            Self::StoreUnavailable => ("store_unavailable", "the store failed"),
        }
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
            assert_eq!(Cause::of(&error).as_str(), cause);
        }
    }
}
