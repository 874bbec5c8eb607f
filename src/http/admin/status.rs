//! `GET /api/admin/status`: the state of the daemon and of the store.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::config::Endpoint;
use crate::counts::Counts;
use crate::http::Api;
use crate::http::health::Cause;
use crate::http::problem::Problem;
use crate::model::{DomainName, DomainStatus, Timestamp};
use crate::panics::Panics;
use crate::smtp::fault::Faults;
use crate::store::{ClusterStatus, StoreStats};
use crate::tls::Keeper;

/// The state of a running daemon.
#[derive(Clone, Debug)]
pub struct DaemonStatus {
    /// When the daemon started.
    pub started_at: Timestamp,
    /// The addresses of the SMTP listeners, with their actual ports.
    pub smtp_listen: Vec<SocketAddr>,
    /// The addresses of the SMTP listeners with TLS from the first octet, with their actual ports.
    pub smtps_listen: Vec<SocketAddr>,
    /// The addresses of the LMTP listeners, with their actual ports.
    pub lmtp_listen: Vec<Endpoint>,
    /// The addresses of the HTTP listeners, with their actual ports.
    pub http_listen: Vec<SocketAddr>,
    /// The addresses of the HTTP listeners with TLS from the first octet, with their actual ports.
    pub https_listen: Vec<SocketAddr>,
    /// The addresses of the listeners for metrics alone, with their actual ports.
    pub metrics_listen: Vec<SocketAddr>,
    /// The certificate, if there is one.
    pub tls: Option<Arc<Keeper>>,
    /// The panics of the daemon's process.
    pub panics: Panics,
    /// The counters of SMTP.
    pub smtp: Arc<dyn Counts>,
    /// The rules for faults of SMTP.
    pub faults: Arc<Faults>,
}

impl DaemonStatus {
    /// Every TCP address of a listener.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        let of_lmtp = self.lmtp_listen.iter().filter_map(Endpoint::tcp);
        let lists =
            [&self.smtp_listen[..], &self.smtps_listen, &self.http_listen, &self.https_listen, &self.metrics_listen];
        lists.concat().into_iter().chain(of_lmtp).collect()
    }
}

/// The status as JSON. Without a daemon, `startedAt`, `tls`, `panics` and `smtp` are null, and the lists of listeners
/// are empty.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusJson {
    version: &'static str,
    revision: u8,
    started_at: Option<String>,
    smtp_listen: Vec<SocketAddr>,
    smtps_listen: Vec<SocketAddr>,
    lmtp_listen: Vec<String>,
    http_listen: Vec<SocketAddr>,
    https_listen: Vec<SocketAddr>,
    metrics_listen: Vec<SocketAddr>,
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
    smtp: Option<Map<String, Value>>,
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

/// Counters by name. Several counters with one name form an object, by their labels.
fn counted(counts: &dyn Counts) -> Map<String, Value> {
    let mut counted = Map::new();
    for count in counts.read() {
        let mut place = counted.entry(count.name).or_insert(Value::Null);
        for label in &count.labels {
            place = &mut place[&**label];
        }
        *place = json!(count.value);
    }
    counted
}

/// Answers with the status.
pub(super) async fn show(State(api): State<Arc<Api>>) -> Result<Json<StatusJson>, Problem> {
    let domains = api.registry.table.list();
    let active = domains.iter().filter(|entry| entry.status() == DomainStatus::Active).count();
    let config = &api.config;
    let daemon = api.status.as_deref();
    let stats = api.store.stats().await;
    let accepts = api.store.accepts();
    let trouble = accepts.as_ref().err().or(stats.as_ref().err());
    Ok(Json(StatusJson {
        version: env!("CARGO_PKG_VERSION"),
        revision: config.revision.number(),
        started_at: daemon.map(|daemon| daemon.started_at.to_interface()),
        smtp_listen: daemon.map(|daemon| daemon.smtp_listen.clone()).unwrap_or_default(),
        smtps_listen: daemon.map(|daemon| daemon.smtps_listen.clone()).unwrap_or_default(),
        lmtp_listen: daemon
            .map(|daemon| daemon.lmtp_listen.iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        tls: daemon.and_then(|daemon| daemon.tls.as_deref()).map(|keeper| TlsJson::of(keeper, api.clock.now())),
        http_listen: daemon.map(|daemon| daemon.http_listen.clone()).unwrap_or_default(),
        https_listen: daemon.map(|daemon| daemon.https_listen.clone()).unwrap_or_default(),
        metrics_listen: daemon.map(|daemon| daemon.metrics_listen.clone()).unwrap_or_default(),
        data_dir: config.data_dir.clone(),
        hostname: config.smtp.hostname.clone(),
        mx_hosts: config.domains.mx_hosts.clone(),
        retention_seconds: config.mail.retention.as_secs(),
        max_message_octets: config.mail.message_octets_max,
        panics: daemon.map(|daemon| daemon.panics.count()),
        smtp: daemon.map(|daemon| counted(daemon.smtp.as_ref())),
        domains: DomainCounts { active, deactivated: domains.len() - active },
        accepts_mail: accepts.is_ok(),
        cause: trouble.map(|error| Cause::of(error).as_str()),
        store: stats.ok(),
        cluster: api.store.cluster(),
    }))
}
