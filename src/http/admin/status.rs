//! `GET /api/admin/status`: the state of the daemon and of the store. `GET /api/admin/stats`: detailed counts of the store.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::connections::Purpose;
use crate::http::health::cause;
use crate::http::{Answer, Api, Query};
use crate::model::{DomainStatus, Timestamp};
use crate::store::DetailedStats;
use crate::tls::Keeper;

/// Answers with the status, and with the last hour in numbers if `history` is true.
///
/// `cause` is there while mail is not accepted, `store` while it can be read, and `cluster` if the store is in one.
pub(super) async fn show(State(api): State<Arc<Api>>, query: Query) -> Answer<Value> {
    let domains = api.domains.table.list();
    let active = domains.iter().filter(|entry| entry.status() == DomainStatus::Active).count();
    let config = &api.config;
    let history = query.flag("history")?.then(|| api.history.to_json());
    let listen = |purpose| api.listening.shown(purpose);
    let counts = api.store.stats().await;
    let accepts = api.store.accepts();
    let trouble = accepts.as_ref().err().or(counts.as_ref().err());
    let mut status = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "revision": config.revision.number(),
        "startedAt": api.started_at.to_interface(),
        "smtpListen": listen(Purpose::Smtp),
        "smtpsListen": listen(Purpose::Smtps),
        "lmtpListen": listen(Purpose::Lmtp),
        "httpListen": listen(Purpose::Http),
        "httpsListen": listen(Purpose::Https),
        "metricsListen": listen(Purpose::Metrics),
        "tls": api.tls.as_deref().map(|keeper| certificate(keeper, api.clock.now())),
        "dataDir": config.data_dir,
        "hostname": config.smtp.hostname,
        "mxHosts": config.domains.mx_hosts,
        "retentionSeconds": config.mail.retention.as_secs(),
        "maxMessageOctets": config.mail.message_octets_max,
        "panics": api.panics.count(),
        "smtp": api.smtp.counters.to_json(),
        "domains": { "active": active, "deactivated": domains.len() - active },
        "acceptsMail": accepts.is_ok(),
    });
    let parts = [
        ("cause", trouble.map(|error| json!(cause(error).0))),
        ("store", counts.as_ref().ok().map(|counts| json!(counts))),
        ("cluster", api.store.cluster().map(|cluster| json!(cluster))),
        ("history", history),
    ];
    for (name, part) in parts {
        if let Some(part) = part {
            status[name] = part;
        }
    }
    Ok(Json(status))
}

/// The certificate in use. `fault` says why the last reading of its files failed, and is null otherwise.
fn certificate(keeper: &Keeper, now: Timestamp) -> Value {
    let (certificate, fault) = (keeper.certificate(), keeper.fault());
    json!({
        "names": certificate.names,
        "notAfter": certificate.not_after.to_interface(),
        "isSelfSigned": certificate.is_self_signed,
        "isExpired": certificate.is_expired(now),
        "fault": fault.as_ref().map(|fault| &fault.reason),
        "faultFoundAt": fault.as_ref().map(|fault| fault.found_at.to_interface()),
    })
}

/// Answers with the counts. `oldest` and `newest` are null without mail.
pub(super) async fn stats(State(api): State<Arc<Api>>) -> Answer<Value> {
    let DetailedStats { stats, domains, oldest, newest } = api.store.detailed_stats().await?;
    let mut counts = json!(stats);
    counts["domains"] = domains.into();
    counts["oldest"] = oldest.map(Timestamp::to_interface).into();
    counts["newest"] = newest.map(Timestamp::to_interface).into();
    Ok(Json(counts))
}
