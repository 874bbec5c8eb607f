//! The HTTP interface: connections, middleware, and one file for the handlers of each resource.
//!
//! [`router`] is the whole interface without a socket. The command line also uses it within its own process. The
//! interface knows nothing of SMTP. Every error is a [`Problem`], and every value from outside is bounded before its
//! use. The transport or a token sets the [`Principal`] of a request, which decides what a caller may do.
//!
//! ```text
//! server    listeners and limits      accept    from a connection to its first request
//! connection  serves one connection   stream    what it writes, and refusals of heads that cannot be read
//! activity  whether a connection owes octets of an answer
//! edge      middleware of every request           host, origin  which hosts and web origins are permitted
//! query     query strings        body      JSON bodies          principal  the caller of a request
//! authentication   the tokens of requests         access  what is closed to callers without one
//! messages, page, message, raw, view, attachment, delete, addresses, domains, webhooks, health, root, admin   one file per resource
//! wait, events   requests that wait for mail, once or for ever, in places of their own (waiting)
//! compat   the interface of another mail catcher, for test suites that were written for it
//! submission   messages that the administrator puts into inboxes
//! filter, search, fields   which Emails of a mailbox to list, and what of them; batch   how many to read in one go
//! pieces    bodies that are written as the client takes them
//! email, findings   an Email as JSON, its codes and links     problem, causes   errors, their codes and statuses
//! rendered   Emails that were listed lately
//! rate_limit   requests in a minute                forwarded  the client behind reverse proxies
//! memory    memory for answers               access_log  the ids of requests, and a line for each
//! openapi   the description of the interface       docs      the same as a page
//! web       the page for people: an inbox in a browser
//! safe_html  HTML of strangers, made safe to show
//! metrics   metrics in Prometheus' format; `metrics/catalogue` has the names
//! ```

mod accept;
mod access;
mod access_log;
mod activity;
mod addresses;
mod admin;
mod attachment;
mod authentication;
mod batch;
mod body;
mod causes;
mod compat;
mod connection;
mod delete;
mod docs;
mod domains;
mod edge;
mod email;
mod events;
mod fields;
mod filter;
mod findings;
mod forwarded;
mod health;
mod host;
mod memory;
mod message;
mod messages;
mod metrics;
mod openapi;
mod origin;
mod page;
mod pieces;
mod principal;
pub mod problem;
mod query;
mod rate_limit;
mod raw;
mod rendered;
mod root;
mod safe_html;
mod search;
mod server;
mod stream;
mod submission;
mod view;
mod wait;
mod waiting;
mod web;
mod webhooks;

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::get;

use crate::admission::Admission;
use crate::clock::Clock;
use crate::config::{Config, Revision};
use crate::domains::Registry;
use crate::reader::Reader;
use crate::store::Storage;
use crate::tokens::Tokens;
use crate::webhook::Guard;
use authentication::Authentication;
use metrics::Requests;

pub use admin::DaemonStatus;
pub use edge::Peer;
pub use metrics::MetricSource;
pub use principal::Principal;
pub use problem::{Code, Problem};
pub use rendered::RenderedEmails;
pub use server::{HttpLimits, HttpListener, serve_control, serve_public};
pub use webhooks::WebhookTest;

/// The parts of the program that the handlers use.
#[derive(Clone)]
pub struct Api {
    /// The settings in effect.
    pub config: Arc<Config>,
    /// The store.
    pub store: Arc<dyn Storage>,
    /// The rules for the URLs of webhooks.
    pub guard: Arc<Guard>,
    /// Sends sample events to webhooks.
    pub webhook_test: Arc<dyn WebhookTest>,
    /// The registry of domains.
    pub registry: Arc<Registry>,
    /// The tokens of remote callers.
    pub tokens: Arc<Tokens>,
    /// The threads that read messages.
    pub reader: Reader,
    /// Emails that were listed lately.
    pub rendered: RenderedEmails,
    /// What each client may have.
    pub admission: Arc<Admission>,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
    /// The state of the daemon; `None` in a process without a daemon.
    pub status: Option<Arc<DaemonStatus>>,
    /// The sources of `/metrics`, except for the counters of requests.
    pub metrics: Vec<MetricSource>,
}

/// The interface as a service.
///
/// It reads a [`Principal`] and a [`Peer`] from a request's extensions. A caller without a [`Principal`] and without a
/// token is the public. The rules for hosts and origins apply only to requests with a [`Peer`].
pub fn router(api: Api) -> Router {
    routers(api).0
}

/// The interface as a service, and metrics and health alone, for listeners that only an operator reaches.
pub fn routers(mut api: Api) -> (Router, Router) {
    let requests = Arc::<Requests>::default();
    api.metrics.push(MetricSource { name: "http", counts: requests.clone() });
    api.metrics.push(MetricSource { name: "waiting", counts: api.admission.clone() });
    let admission = Arc::clone(&api.admission);
    let (tokens, clock) = (Arc::clone(&api.tokens), Arc::clone(&api.clock));
    let auth = Authentication::new(tokens, clock, Arc::clone(&admission), api.config.http.public);
    let edge = edge::Edge::new(&api.config, Arc::clone(&auth), admission, requests);
    let api = Arc::new(api);
    let interface = routes(&api)
        .merge(compat::routes(&api.config, &auth))
        .with_state(Arc::clone(&api))
        .layer(middleware::from_fn_with_state(auth, authentication::pass))
        .layer(middleware::from_fn_with_state(edge, edge::pass));
    let metrics = health_routes().merge(metrics_route()).fallback(unknown_path).with_state(api);
    (interface, metrics)
}

fn routes(api: &Api) -> Router<Arc<Api>> {
    let revision = api.config.revision;
    let metrics = match api.config.http.metrics_listen.as_slice() {
        [] => metrics_route(),
        // They have a listener of their own, so that strangers do not see them.
        _ => Router::new(),
    };
    health_routes()
        .route("/", get(root::show))
        .route("/docs", get(docs::show))
        .route("/openapi.json", get(openapi::show))
        .route("/api/mail/messages", get(messages::list).post(submission::submit))
        .route("/api/mail/messages/{id}", get(message::show))
        .route("/api/mail/wait", get(wait::wait))
        .route("/api/mail/stream", get(events::stream))
        .route("/api/mail/messages/{id}/raw", get(raw::show))
        .route("/api/mail/messages/{id}/html", get(view::html))
        .route("/api/mail/messages/{id}/text", get(view::text))
        .route("/api/mail/messages/{id}/attachments/{index}", get(attachment::show))
        .route("/api/mail/delete", axum::routing::delete(delete::delete))
        .route("/api/addresses/random", get(addresses::random))
        .route("/api/domains", get(domains::list).post(domains::register))
        .route("/api/domains/active", get(domains::active))
        .route("/api/domains/check-dns", get(domains::check_dns))
        .merge(metrics)
        .merge(web_routes(api))
        .merge(webhook_routes(revision))
        .merge(admin::routes(revision))
        .fallback(unknown_path)
}

fn health_routes() -> Router<Arc<Api>> {
    Router::new().route("/healthz", get(health::alive)).route("/readyz", get(health::ready))
}

fn metrics_route() -> Router<Arc<Api>> {
    Router::new().route("/metrics", get(metrics::show))
}

/// The files of the page for people. Its document is at `/`.
fn web_routes(api: &Api) -> Router<Arc<Api>> {
    if !api.config.http.public.web {
        return Router::new();
    }
    Router::new().route("/web/{version}/{file}", get(web::file))
}

/// The routes of webhooks. Revision 1 has none.
fn webhook_routes(revision: Revision) -> Router<Arc<Api>> {
    let webhooks = get(webhooks::list).post(webhooks::register).delete(webhooks::delete);
    match revision {
        Revision::One => Router::new(),
        Revision::Two => Router::new().route("/api/webhooks", webhooks),
    }
}

async fn unknown_path() -> Problem {
    Problem::new(Code::UnknownPath, "this path does not exist; GET / lists the paths")
}
