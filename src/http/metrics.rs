//! `GET /metrics`: the program's counters and gauges, in Prometheus' text format.
//!
//! Everybody may read the metrics. They contain only numbers and fixed words, and no address, domain or URL. A scrape
//! never counts rows of mail.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;

use super::Api;
use super::health::{CAUSES, cause};
use super::problem::Problem;
use crate::admission::What;
use crate::config::Revision;
use crate::metrics::{self, IntCounterVec, IntGauge, Measured, MetricFamily, collect, gauge, number, numbers};
use crate::service::Service;

/// The classes of statuses that the service sends.
const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];
/// The label of all paths without a route.
const NO_ROUTE: &str = "none";
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers with every metric of the revision, by name. Metrics of a store that can't be read are left out.
pub(super) async fn show(State(api): State<Arc<Api>>) -> Result<impl IntoResponse, Problem> {
    let mut families = of_parts(&api);
    families.extend(of_process(&api));
    families.extend(of_store(&api).await);
    let is_of =
        |family: &MetricFamily| api.config.revision == Revision::Two || !family.name().starts_with("tempmail_webhook");
    families.retain(|family| is_of(family) && !family.get_metric().is_empty());
    families.sort_by(|one, other| one.name().cmp(other.name()));
    let text = metrics::to_text(&families).map_err(|error| {
        tracing::error!(%error, "the metrics could not be written");
        Problem::internal()
    })?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text))
}

/// What the parts of the program count.
fn of_parts(api: &Api) -> Vec<MetricFamily> {
    let Service { store, domains, webhooks, smtp, panics, .. } = &**api;
    let parts: [&dyn Measured; 6] = [&**store, &**domains, &*webhooks.counters, &*api.requests, &smtp.counters, panics];
    parts.into_iter().flat_map(Measured::metrics).collect()
}

fn of_process(api: &Api) -> Vec<MetricFamily> {
    let config = &api.config;
    let revision = if config.revision == Revision::One { "1" } else { "2" };
    let build = [([env!("CARGO_PKG_VERSION"), revision], 1)];
    let limits = [
        (["smtpConnections"], config.smtp.connections_max as u64),
        (["domains"], config.domains.registered_max as u64),
    ];
    let help = "The program and the revision of its interface; always 1.";
    let mut families = numbers("tempmail_build_info", help, ["version", "revision"], build);
    let help = "The most that the settings permit: max-smtp-connections, max-domains.";
    families.extend(numbers("tempmail_limit", help, ["of"], limits));
    let help = "HTTP requests that wait for mail now, as a part of tempmail_http_requests_in_flight.";
    families.extend(number("tempmail_http_requests_waiting", help, api.admission.held(What::Waiting)));
    families
}

async fn of_store(api: &Api) -> Vec<MetricFamily> {
    let (stats, accepts) = (api.store.stats().await, api.store.accepts());
    let trouble = accepts.as_ref().err().or(stats.as_ref().err()).map(cause);
    let causes = CAUSES.map(|cause| ([cause.0], u64::from(trouble == Some(cause))));
    let nodes = api.store.cluster().map_or(1, |status| status.living_nodes.into());
    let help = "1 for the cause that /readyz reports now, 0 for the others.";
    let mut families = numbers("tempmail_store_trouble", help, ["cause"], causes);
    let help = "1 while mail is accepted, 0 while the store would refuse it.";
    families.extend(number("tempmail_store_accepts_mail", help, accepts.is_ok().into()));
    let help = "Nodes of the service that live and share the store; 1 without a cluster.";
    families.extend(number("tempmail_cluster_nodes", help, nodes));
    let Ok(stats) = stats else { return families };
    let help = "Emails, one for each recipient, including expired Emails that are not removed yet.";
    families.extend(number("tempmail_store_emails", help, stats.emails));
    let help = "Octets of all files of the store by their length.";
    families.extend(number("tempmail_store_disk_bytes", help, stats.disk_octets));
    families.extend(number("tempmail_leases", "Private inboxes that have not ended.", stats.leases));
    families.extend(number("tempmail_webhook_events_waiting", "Pending events.", stats.events));
    families
}

/// Counters of requests since the start, and the number of requests in progress.
#[derive(Debug)]
pub(super) struct Requests {
    answered: IntCounterVec,
    in_flight: IntGauge,
}

impl Default for Requests {
    fn default() -> Self {
        let help = "HTTP requests answered, by the template of their route and the class of their status.";
        Self {
            answered: metrics::counters_of("tempmail_http_requests_total", help, &["route", "class"]),
            in_flight: gauge("tempmail_http_requests_in_flight", "HTTP requests that are being answered now."),
        }
    }
}

impl Requests {
    /// Counts a request as in progress until the returned value is ended or dropped.
    pub(super) fn begin<'a>(&'a self, request: &Request) -> InFlight<'a> {
        self.in_flight.inc();
        InFlight { requests: self, route: request.extensions().get().cloned() }
    }
}

impl Measured for Requests {
    fn metrics(&self) -> Vec<MetricFamily> {
        collect(&[&self.answered, &self.in_flight])
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct InFlight<'a> {
    requests: &'a Requests,
    route: Option<MatchedPath>,
}

impl InFlight<'_> {
    /// Counts the request as answered with this status.
    pub(super) fn end(self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).checked_sub(2).and_then(|at| CLASSES.get(at));
        if let Some(class) = class {
            // Templates are never text from a caller, so there are not many.
            self.requests.answered.with_label_values(&[self.route(), class]).inc();
        }
    }

    /// The template of its route, or the label of all paths without one.
    pub(super) fn route(&self) -> &str {
        // A path without a route below a nested router has a template with a wildcard.
        let route = self.route.as_ref().map(MatchedPath::as_str).filter(|route| !route.contains("{*"));
        route.unwrap_or(NO_ROUTE)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.requests.in_flight.dec();
    }
}
