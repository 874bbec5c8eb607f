//! The HTTP interface: URL to handler, one file per resource, and the connections that carry it.
//!
//! [`router`] is the whole interface without a socket; the command line uses it in its own process. It knows the store,
//! the domains and the parser, never SMTP. Every error is a [`Problem`]; every value from outside is bounded before it is
//! used. What a caller may do depends on the [`Principal`] that its transport puts into the request.
//!
//! ```text
//! server    connections: accept, bound, drain
//! edge      what every request passes             host, origin  which Host and which pages are permitted
//! query     query strings        body      JSON bodies          principal  who asks
//! messages, message, raw, delete, domains, webhooks, health, root, admin   one file per resource
//! email     an Email as JSON     problem   errors, their codes and statuses
//! etag      whether a caller has an answer already
//! registration_limit   the rate limit on registrations of webhooks
//! metrics   Prometheus' format; `metrics/catalogue` has the names
//! ```

mod admin;
mod body;
mod delete;
mod domains;
mod edge;
mod email;
mod etag;
mod health;
mod host;
mod message;
mod messages;
mod metrics;
mod origin;
mod principal;
pub mod problem;
mod query;
mod raw;
mod registration_limit;
mod root;
mod server;
mod webhooks;

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::{get, post};

use crate::clock::Clock;
use crate::config::{Config, Revision};
use crate::reader::Reader;
use crate::store::{Outbox, Store};
use crate::webhook::Guard;
use metrics::Requests;
use registration_limit::RegistrationLimit;

pub use admin::DaemonStatus;
pub use domains::Domains;
pub use edge::Peer;
pub use etag::ETags;
pub use metrics::MetricSource;
pub use principal::Principal;
pub use problem::{Code, Problem};
pub use server::{HttpLimits, serve_tcp, serve_unix};
pub use webhooks::WebhookTest;

/// All that the handlers use.
#[derive(Clone)]
pub struct Api {
    /// The settings in effect.
    pub config: Arc<Config>,
    /// Where mail is.
    pub store: Arc<dyn Store>,
    /// Where webhooks are.
    pub outbox: Arc<dyn Outbox>,
    /// What URLs a webhook may have.
    pub guard: Arc<Guard>,
    /// What sends sample events.
    pub webhook_test: Arc<dyn WebhookTest>,
    /// Which domains are served.
    pub registry: Arc<dyn Domains>,
    /// What reads messages.
    pub reader: Reader,
    /// What makes entity tags.
    pub etags: ETags,
    /// What tells the time.
    pub clock: Arc<dyn Clock>,
    /// What only a running daemon knows; `None` in a process without one.
    pub status: Option<Arc<DaemonStatus>>,
    /// What counts for `/metrics`, beside the requests themselves.
    pub metrics: Vec<MetricSource>,
}

/// The interface as a service. It reads a [`Principal`] and a [`Peer`] from the request's extensions; without the first
/// the caller is the public, without the second the rules for hosts and origins are left out.
pub fn router(mut api: Api) -> Router {
    let requests = Arc::<Requests>::default();
    api.metrics.push(MetricSource { name: "http", counts: requests.clone() });
    let edge = edge::Edge::new(&api.config, requests);
    let revision = api.config.revision;
    let limit = RegistrationLimit::new(api.config.webhooks.registrations_per_minute, Arc::clone(&api.clock));
    Router::new()
        .route("/", get(root::show))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(metrics::show))
        .route("/api/mail/messages", get(messages::list))
        .route("/api/mail/messages/{id}", get(message::show))
        .route("/api/mail/messages/{id}/raw", get(raw::show))
        .route("/api/mail/delete", axum::routing::delete(delete::delete))
        .route("/api/domains", get(domains::list).post(domains::register))
        .route("/api/domains/active", get(domains::active))
        .route("/api/domains/check-dns", get(domains::check_dns))
        .merge(webhook_routes(revision, limit))
        .merge(admin::routes(revision))
        .fallback(unknown_path)
        .with_state(Arc::new(api))
        .layer(middleware::from_fn_with_state(edge, edge::pass))
}

/// Revision 1 has no webhooks: their paths are unknown to it.
fn webhook_routes(revision: Revision, limit: Arc<RegistrationLimit>) -> Router<Arc<Api>> {
    let register = post(webhooks::register).layer(middleware::from_fn_with_state(limit, registration_limit::pass));
    let webhooks = get(webhooks::list).merge(register).delete(webhooks::delete);
    match revision {
        Revision::One => Router::new(),
        Revision::Two => Router::new().route("/api/webhooks", webhooks),
    }
}

async fn unknown_path() -> Problem {
    Problem::new(Code::UnknownPath, "nothing has this path; GET / says what is here")
}
