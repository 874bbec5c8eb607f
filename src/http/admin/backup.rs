//! `GET /api/admin/backup`: a backup file of the store.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::http::{Api, Problem};
use crate::store::StoreError;
use crate::store::backup;

/// Answers with the file while it is read. A later failure breaks the answer off, and the file then lacks its end.
pub(super) async fn show(State(api): State<Arc<Api>>) -> Result<Response, Problem> {
    let mut batches = api.store.backup(api.clock.now());
    // A failure before the first octet can still be answered with an error.
    let first = batches.next().await.transpose()?.unwrap_or_default();
    let records =
        stream::once(async { Ok(first) }).chain(batches).and_then(|batch| async move { backup::encode(&batch) });
    let records =
        records.inspect_err(|error: &StoreError| tracing::error!(%error, "a backup ended early; make a new one"));
    let body = Body::from_stream(stream::once(async { Ok(backup::header()) }).chain(records));
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], body).into_response())
}
