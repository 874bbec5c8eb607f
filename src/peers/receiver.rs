//! Takes the hints of other nodes.

use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::post;

use super::{OCTETS_MAX, PATH};
use crate::store::Peers;

/// The interface for other nodes. It answers 204, or 401 to a request without the token of this store's nodes.
pub fn router(peers: Arc<dyn Peers>) -> Router {
    Router::new().route(PATH, post(take)).layer(DefaultBodyLimit::max(OCTETS_MAX)).with_state(peers)
}

async fn take(State(peers): State<Arc<dyn Peers>>, headers: HeaderMap, octets: Bytes) -> StatusCode {
    let given = headers.get(header::AUTHORIZATION).map(axum::http::HeaderValue::as_bytes).unwrap_or_default();
    let expected = format!("Bearer {}", peers.token());
    if verify_slices_are_equal(given, expected.as_bytes()).is_err() {
        return StatusCode::UNAUTHORIZED;
    }
    if peers.take(&octets) { StatusCode::NO_CONTENT } else { StatusCode::BAD_REQUEST }
}
