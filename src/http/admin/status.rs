//! `GET /api/admin/status`: what runs here and how much it holds.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::http::Api;
use crate::http::problem::Problem;
use crate::model::{DomainName, DomainStatus, Timestamp};
use crate::panics::Panics;
use crate::store::StoreStats;

/// What only a running daemon knows.
#[derive(Clone, Debug)]
pub struct DaemonStatus {
    /// When it started.
    pub started_at: Timestamp,
    /// Where SMTP listens, with the ports in effect.
    pub smtp_listen: Vec<SocketAddr>,
    /// Where HTTP listens, with the ports in effect.
    pub http_listen: Vec<SocketAddr>,
    /// The panics of its process.
    pub panics: Panics,
}

/// `startedAt` and `panics` are null and the lists of listeners are empty where no daemon runs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusJson {
    version: &'static str,
    revision: u8,
    started_at: Option<String>,
    smtp_listen: Vec<SocketAddr>,
    http_listen: Vec<SocketAddr>,
    data_dir: PathBuf,
    hostname: DomainName,
    mx_hosts: Vec<DomainName>,
    retention_seconds: u64,
    max_message_octets: u64,
    /// Since the start.
    panics: Option<u64>,
    domains: DomainCounts,
    store: StoreStats,
}

#[derive(Debug, Serialize)]
struct DomainCounts {
    active: usize,
    deactivated: usize,
}

/// Answers with the status.
pub(super) async fn show(State(api): State<Arc<Api>>) -> Result<Json<StatusJson>, Problem> {
    let domains = api.registry.list().await?;
    let active = domains.iter().filter(|entry| entry.status == DomainStatus::Active).count();
    let config = &api.config;
    let daemon = api.status.as_deref();
    Ok(Json(StatusJson {
        version: env!("CARGO_PKG_VERSION"),
        revision: config.revision.number(),
        started_at: daemon.map(|daemon| daemon.started_at.to_interface()),
        smtp_listen: daemon.map(|daemon| daemon.smtp_listen.clone()).unwrap_or_default(),
        http_listen: daemon.map(|daemon| daemon.http_listen.clone()).unwrap_or_default(),
        data_dir: config.data_dir.clone(),
        hostname: config.hostname.clone(),
        mx_hosts: config.mx_hosts.clone(),
        retention_seconds: config.retention.as_secs(),
        max_message_octets: config.message_octets_max,
        panics: daemon.map(|daemon| daemon.panics.count()),
        domains: DomainCounts { active, deactivated: domains.len() - active },
        store: api.store.stats().await?,
    }))
}
