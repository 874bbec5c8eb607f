//! `GET /api/admin/config`: every setting in effect.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use crate::config::SettingInEffect;
use crate::http::Api;

/// The settings, in the order of the guide.
pub(super) async fn show(State(api): State<Arc<Api>>) -> Json<Vec<SettingInEffect>> {
    Json(api.config.in_effect())
}
