//! `GET /api/admin/status`: the state of the daemon and of the store.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;

use crate::connections::Purpose;
use crate::http::Api;
use crate::http::health::Cause;
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::model::{DomainName, DomainStatus, Timestamp};
use crate::store::{ClusterStatus, StoreStats};
use crate::tls::Keeper;

/// The status as JSON. Without a daemon, `startedAt`, `tls`, `panics` and `smtp` are null, and the lists of listeners
/// are empty.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusJson {
    version: &'static str,
    revision: u8,
    started_at: Option<String>,
    smtp_listen: Vec<String>,
    smtps_listen: Vec<String>,
    lmtp_listen: Vec<String>,
    http_listen: Vec<String>,
    https_listen: Vec<String>,
    metrics_listen: Vec<String>,
    /// The certificate; null without one.
    tls: Option<TlsJson>,
    data_dir: PathBuf,
    hostname: DomainName,
    mx_hosts: Vec<DomainName>,
    retention_seconds: u64,
    max_message_octets: u64,
    /// Panics since the start.
    panics: Option<u64>,
    /// Counters of SMTP since the start. Several counters with one name form an object.
    smtp: Option<Value>,
    domains: DomainCounts,
    /// Whether mail is accepted now.
    accepts_mail: bool,
    /// Why mail is not accepted, as a cause of `/readyz`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    /// Absent while the store can't be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<StoreStats>,
    /// Absent where the store is in no cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<ClusterStatus>,
    /// The last hour, only if it is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Value>,
}

/// The certificate in use. `fault` says why the last reading of its files failed, and is null otherwise.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TlsJson {
    names: Vec<String>,
    not_after: String,
    is_self_signed: bool,
    is_expired: bool,
    fault: Option<String>,
    fault_found_at: Option<String>,
}

impl TlsJson {
    fn of(keeper: &Keeper, now: Timestamp) -> Self {
        let (certificate, fault) = (keeper.certificate(), keeper.fault());
        Self {
            names: certificate.names.clone(),
            not_after: certificate.not_after.to_interface(),
            is_self_signed: certificate.is_self_signed,
            is_expired: certificate.is_expired(now),
            fault: fault.as_ref().map(|fault| fault.reason.clone()),
            fault_found_at: fault.as_ref().map(|fault| fault.found_at.to_interface()),
        }
    }
}

#[derive(Debug, Serialize)]
struct DomainCounts {
    active: usize,
    deactivated: usize,
}

/// Answers with the status, and with the last hour in numbers if `history` is true.
pub(super) async fn show(State(api): State<Arc<Api>>, query: Query) -> Result<Json<StatusJson>, Problem> {
    let domains = api.domains.table.list();
    let active = domains.iter().filter(|entry| entry.status() == DomainStatus::Active).count();
    let config = &api.config;
    let daemon = api.daemon.as_ref();
    let history = query.flag("history")?.then_some(daemon).flatten();
    let listen = |purpose| daemon.map(|daemon| daemon.listening.shown(purpose)).unwrap_or_default();
    let stats = api.store.stats().await;
    let accepts = api.store.accepts();
    let trouble = accepts.as_ref().err().or(stats.as_ref().err());
    Ok(Json(StatusJson {
        version: env!("CARGO_PKG_VERSION"),
        revision: config.revision.number(),
        started_at: daemon.map(|daemon| daemon.started_at.to_interface()),
        smtp_listen: listen(Purpose::Smtp),
        smtps_listen: listen(Purpose::Smtps),
        lmtp_listen: listen(Purpose::Lmtp),
        http_listen: listen(Purpose::Http),
        https_listen: listen(Purpose::Https),
        metrics_listen: listen(Purpose::Metrics),
        tls: api.tls.as_deref().map(|keeper| TlsJson::of(keeper, api.clock.now())),
        data_dir: config.data_dir.clone(),
        hostname: config.smtp.hostname.clone(),
        mx_hosts: config.domains.mx_hosts.clone(),
        retention_seconds: config.mail.retention.as_secs(),
        max_message_octets: config.mail.message_octets_max,
        panics: daemon.map(|daemon| daemon.panics.count()),
        smtp: daemon.map(|_| api.smtp.to_json()),
        domains: DomainCounts { active, deactivated: domains.len() - active },
        accepts_mail: accepts.is_ok(),
        cause: trouble.map(|error| Cause::of(error).as_str()),
        store: stats.ok(),
        cluster: api.store.cluster(),
        history: history.map(|daemon| daemon.history.to_json()),
    }))
}
