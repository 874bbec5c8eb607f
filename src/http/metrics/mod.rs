//! `GET /metrics`: the program's counters and gauges, in Prometheus' text format, version 0.0.4.
//!
//! Everybody may read the metrics. They contain only numbers and fixed words, and no address, domain or URL. A scrape
//! never counts rows of mail.

mod catalogue;
mod render;
mod requests;

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use super::Api;
use super::health::Cause;
use super::problem::Problem;
use crate::counts::{Count, Counts, Durations};
use crate::store::{ClusterStatus, StoreStats};

pub(super) use requests::Requests;

/// The numbers of one source at one moment.
struct Numbers {
    source: &'static str,
    counts: Vec<Count>,
    durations: Vec<Durations>,
}

impl Numbers {
    fn of(source: &'static str, counts: Vec<Count>) -> Self {
        Self { source, counts, durations: Vec::new() }
    }

    fn read(source: &'static str, counts: &dyn Counts) -> Self {
        Self { durations: counts.durations(), ..Self::of(source, counts.read()) }
    }
}

/// Answers with every metric of the revision. Metrics of a store that can't be read are left out.
pub(super) async fn show(State(api): State<Arc<Api>>) -> Result<impl IntoResponse, Problem> {
    let mut numbers = counted(&api);
    numbers.push(Numbers::of("process", process(&api)));
    numbers.push(Numbers::of("limits", limits(&api)));
    let stats = api.store.stats().await;
    let accepts = api.store.accepts();
    let trouble = accepts.as_ref().err().or(stats.as_ref().err()).map(Cause::of);
    numbers.push(Numbers::of("state", state(accepts.is_ok(), trouble)));
    numbers.push(Numbers::of("stored", stats.map(|stats| stored(&stats)).unwrap_or_default()));
    numbers.push(Numbers::of("cluster", cluster(api.store.cluster())));
    let text = render::text(&numbers, api.config.revision)?;
    Ok(([(header::CONTENT_TYPE, render::CONTENT_TYPE)], text))
}

/// The counters of the parts of the program.
fn counted(api: &Api) -> Vec<Numbers> {
    let mut sources: Vec<(&str, &dyn Counts)> = vec![
        ("store", &*api.store),
        ("domains", &*api.domains),
        ("webhooks", &*api.webhooks.counters),
        ("http", &*api.requests),
        ("waiting", &*api.admission),
    ];
    if let Some(daemon) = &api.daemon {
        sources.extend([("smtp", &*api.smtp as &dyn Counts), ("faults", &*api.faults), ("panics", &daemon.panics)]);
    }
    sources.into_iter().map(|(source, counts)| Numbers::read(source, counts)).collect()
}

fn process(api: &Api) -> Vec<Count> {
    let revision = api.config.revision.number().to_string();
    let build = Count { name: "build", labels: vec![env!("CARGO_PKG_VERSION").into(), revision.into()], value: 1 };
    let started_at = api.daemon.as_ref().map(|daemon| {
        let seconds = daemon.started_at.millis().div_euclid(1000);
        Count::one("startedAt", u64::try_from(seconds).unwrap_or(0))
    });
    [Some(build), started_at].into_iter().flatten().collect()
}

fn limits(api: &Api) -> Vec<Count> {
    let config = &api.config;
    vec![
        Count::one("smtpConnections", config.smtp.connections_max as u64),
        Count::one("domains", config.domains.registered_max as u64),
    ]
}

fn state(accepts_mail: bool, trouble: Option<Cause>) -> Vec<Count> {
    let causes = Cause::ALL.into_iter();
    let present = causes.map(|cause| Count::labelled("trouble", cause.as_str(), u64::from(trouble == Some(cause))));
    [Count::one("acceptsMail", u64::from(accepts_mail))].into_iter().chain(present).collect()
}

/// A store that is in no cluster belongs to one node.
fn cluster(status: Option<ClusterStatus>) -> Vec<Count> {
    let status = status.unwrap_or(ClusterStatus { living_nodes: 1, ..ClusterStatus::default() });
    vec![Count::one("nodes", status.living_nodes.into()), Count::one("leads", u64::from(status.leads))]
}

fn stored(stats: &StoreStats) -> Vec<Count> {
    let StoreStats {
        emails,
        mailboxes,
        messages,
        live_octets,
        webhooks,
        events,
        segments,
        disk_octets,
        registry_octets,
        held_octets,
    } = *stats;
    vec![
        Count::one("emails", emails),
        Count::one("mailboxes", mailboxes),
        Count::one("messages", messages),
        Count::one("liveOctets", live_octets),
        Count::one("webhooks", webhooks),
        Count::one("events", events),
        Count::one("segments", segments),
        Count::one("diskOctets", disk_octets),
        Count::one("registryOctets", registry_octets),
        Count::one("heldOctets", held_octets),
    ]
}
