//! The HTTP interface: connections, middleware, and one file for the handlers of each resource.
//!
//! [`router`] is the whole interface without a socket. The interface shows the counters and the rules for faults of SMTP,
//! and knows nothing else of it. Every error is a [`Problem`], but for heads that hyper itself refuses, and every value
//! from outside is bounded before its use. The transport and the edge find the [`Caller`] of a request, which decides what
//! it may do.
//!
//! ```text
//! transport  listeners and connections           pace    gives up peers that take their answers too slowly
//! edge      middleware of every request           browser  for which hosts, and from which pages
//! query     query strings        body      JSON bodies          caller     who asks
//! authentication   the tokens of requests, and what is closed to callers without one
//! mail   lists, single mails, waiting, deleting, submitting      waiting   places of requests that wait for mail
//! view, addresses, leases, domains, webhooks, health, root, admin   one file per resource
//! compat   the interface of another mail catcher, for test suites that were written for it
//! problem, causes   errors, their codes and statuses
//! rate_limit   requests in a minute                forwarded  the client behind reverse proxies
//! memory    memory for answers               access_log  a line for each request
//! route     routes to handlers
//! describe  openapi.json, the description of the interface       docs      the guide on it as a page
//! web       the page for people: an inbox in a browser
//! safe_html  HTML of strangers, made safe to show      ticket    what frames show in place of a token or key
//! metrics   metrics in Prometheus' format
//! ```

mod access_log;
mod addresses;
mod admin;
mod authentication;
mod body;
mod browser;
mod caller;
mod causes;
mod compat;
mod describe;
mod docs;
mod domains;
mod edge;
mod forwarded;
mod health;
mod leases;
mod mail;
mod memory;
mod metrics;
mod pace;
pub mod problem;
mod query;
mod rate_limit;
mod root;
mod route;
mod safe_html;
mod ticket;
mod transport;
mod view;
mod waiting;
mod web;
mod webhooks;

use std::ops::Deref;
use std::sync::{Arc, Once};

use axum::http::StatusCode;
use axum::middleware;
use axum::{Json, Router};
use tokio_util::sync::CancellationToken;

use crate::config::Revision;
use crate::service::Service;
use body::JsonObject;
use browser::Browsers;
use mail::delete::Deleted;
use mail::rows::Cached;
use mail::{attachment, delete, events, list, message, raw, submit, wait};
use memory::Room;
use metrics::Requests;
use query::Query;
use route::{delete, get, patch, post};

pub use caller::Caller;
pub use problem::{Code, Problem};
pub(crate) use transport::serve;

/// The answer of a handler with the status 200.
type Answer<T> = Result<Json<T>, Problem>;

/// The answer of a handler whose status says whether something is new.
type Created<T> = Result<(StatusCode, Json<T>), Problem>;

/// What the handlers use: the service, and what only HTTP has.
struct Api {
    service: Arc<Service>,
    /// Emails that were listed lately.
    shown: Cached,
    /// Counters of requests.
    requests: Arc<Requests>,
    /// Cancelled when the service stops.
    stop: CancellationToken,
    /// The rules for hosts and origins.
    browsers: Browsers,
    /// The warning of a proxy that is not trusted.
    warning_of_proxy: Once,
}

impl Deref for Api {
    type Target = Service;

    fn deref(&self) -> &Service {
        &self.service
    }
}

/// The interface as a service.
///
/// It reads a [`Caller`] from a request's extensions. A request without one comes from the public.
pub fn router(service: Arc<Service>) -> Router {
    routers(service, CancellationToken::new()).0
}

/// The interface as a service, and metrics and health alone, for listeners that only an operator reaches.
fn routers(service: Arc<Service>, stop: CancellationToken) -> (Router, Router) {
    let browsers = Browsers::new(&service.config.http);
    let api = Arc::new(Api {
        service,
        shown: Cached::default(),
        requests: Arc::default(),
        stop,
        browsers,
        warning_of_proxy: Once::new(),
    });
    let interface = routes(&api)
        .merge(compat::routes(&api))
        .with_state(Arc::clone(&api))
        .layer(middleware::from_fn_with_state(Arc::clone(&api), edge::pass));
    let metrics = health_routes().merge(metrics_route()).fallback(unknown_path).with_state(api);
    (interface, metrics)
}

fn routes(api: &Api) -> Router<Arc<Api>> {
    let (revision, config) = (api.config.revision, &api.config.http);
    let mut routes = health_routes()
        .route("/", get(root::show))
        .route("/docs", get(docs::show))
        .route("/openapi.json", describe::route(&api.config))
        .route("/api/mail/messages", get(list::list).merge(post(submit::submit)))
        .route("/api/mail/messages/{id}", get(message::show))
        .route("/api/mail/wait", get(wait::wait))
        .route("/api/mail/stream", get(events::stream))
        .route("/api/mail/messages/{id}/raw", get(raw::show))
        .route("/api/mail/messages/{id}/html", get(view::html))
        .route("/api/mail/messages/{id}/ticket", get(ticket::show))
        .route("/api/mail/messages/{id}/text", get(view::text))
        .route("/api/mail/messages/{id}/attachments/{index}", get(attachment::show))
        .route("/api/mail/delete", delete(delete::delete))
        .route(
            "/api/addresses",
            get(leases::list).merge(post(leases::take)).merge(patch(leases::change)).merge(delete(leases::end)),
        )
        .route("/api/addresses/random", get(addresses::random))
        .route("/api/domains", get(domains::list).merge(post(domains::register)))
        .route("/api/domains/active", get(domains::active))
        .route("/api/domains/check-dns", get(domains::check_dns))
        .merge(admin::routes(revision))
        .fallback(unknown_path);
    if revision == Revision::Two {
        let webhooks = get(webhooks::list).merge(post(webhooks::register)).merge(delete(webhooks::delete));
        routes = routes.route("/api/webhooks", webhooks);
    }
    // The files of the page for people. Its document is at `/`.
    if config.public.web {
        routes = routes.route("/web/{version}/{file}", get(web::file));
    }
    // Where they have a listener of their own, strangers do not see them.
    if config.metrics_listen.is_empty() {
        routes = routes.merge(metrics_route());
    }
    routes
}

fn health_routes() -> Router<Arc<Api>> {
    Router::new().route("/healthz", get(health::alive)).route("/readyz", get(health::ready))
}

fn metrics_route() -> Router<Arc<Api>> {
    Router::new().route("/metrics", get(metrics::show))
}

async fn unknown_path() -> Problem {
    Problem::new(Code::UnknownPath, "this path does not exist; GET / lists the paths")
}
