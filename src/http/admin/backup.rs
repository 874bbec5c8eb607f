//! `GET /api/admin/backup`: everything that lives, as a file.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::http::Api;
use crate::http::problem::Problem;
use crate::store::StoreError;
use crate::store::backup;

/// Answers with the file, as it is read. A failure on the way breaks the answer off; the file then lacks its end.
pub(super) async fn show(State(api): State<Arc<Api>>) -> Result<Response, Problem> {
    let mut batches = api.store.backup();
    // A failure before the first octet is answered like any other.
    let first = batches.next().await.transpose()?.unwrap_or_default();
    let records =
        stream::once(async { Ok(first) }).chain(batches).and_then(|batch| async move { backup::encode(&batch) });
    let records = records.inspect_err(|error: &StoreError| tracing::error!(%error, "a backup was broken off"));
    let body = Body::from_stream(stream::once(async { Ok(backup::header()) }).chain(records));
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], body).into_response())
}
