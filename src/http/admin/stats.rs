//! `GET /api/admin/stats`: detailed counts of the store.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::http::Api;
use crate::http::problem::Problem;
use crate::model::Timestamp;
use crate::store::DetailedStats;

/// The counts as JSON. `oldest` and `newest` are null without mail.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatsJson {
    messages: u64,
    emails: u64,
    mailboxes: u64,
    domains: u64,
    webhooks: u64,
    events: u64,
    segments: u64,
    live_octets: u64,
    disk_octets: u64,
    registry_octets: u64,
    held_octets: u64,
    oldest: Option<String>,
    newest: Option<String>,
}

impl From<DetailedStats> for StatsJson {
    fn from(detailed: DetailedStats) -> Self {
        let stats = detailed.stats;
        Self {
            messages: stats.messages,
            emails: stats.emails,
            mailboxes: stats.mailboxes,
            domains: detailed.domains,
            webhooks: stats.webhooks,
            events: stats.events,
            segments: stats.segments,
            live_octets: stats.live_octets,
            disk_octets: stats.disk_octets,
            registry_octets: stats.registry_octets,
            held_octets: stats.held_octets,
            oldest: detailed.oldest.map(Timestamp::to_interface),
            newest: detailed.newest.map(Timestamp::to_interface),
        }
    }
}

/// Answers with the numbers.
pub(super) async fn show(State(api): State<Arc<Api>>) -> Result<Json<StatsJson>, Problem> {
    Ok(Json(api.store.detailed_stats().await?.into()))
}
