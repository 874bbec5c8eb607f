//! `GET /api/admin/stats`: detailed counts of the store.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::http::{Answer, Api};
use crate::model::Timestamp;
use crate::store::{DetailedStats, StoreStats};

/// The counts as JSON. `oldest` and `newest` are null without mail.
#[derive(Debug, Serialize)]
pub(super) struct StatsJson {
    #[serde(flatten)]
    stats: StoreStats,
    domains: u64,
    oldest: Option<String>,
    newest: Option<String>,
}

/// Answers with the numbers.
pub(super) async fn show(State(api): State<Arc<Api>>) -> Answer<StatsJson> {
    let DetailedStats { stats, domains, oldest, newest } = api.store.detailed_stats().await?;
    let (oldest, newest) = (oldest.map(Timestamp::to_interface), newest.map(Timestamp::to_interface));
    Ok(Json(StatsJson { stats, domains, oldest, newest }))
}
