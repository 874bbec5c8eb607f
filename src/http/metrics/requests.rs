//! Counters of requests, by the template of their route and the class of their status.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::{MatchedPath, Request};
use axum::http::StatusCode;

use crate::counts::{Count, Counts};

/// The classes of statuses that the service sends.
const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];
/// The label of all paths without a route.
const NO_ROUTE: &str = "none";

type Classes = [AtomicU64; CLASSES.len()];

/// Counters of requests since the start, and the number of requests in progress.
#[derive(Debug, Default)]
pub(in crate::http) struct Requests {
    /// The counters by template. Templates are never text from a caller, so their number is bounded.
    routes: RwLock<BTreeMap<Arc<str>, Classes>>,
    in_flight: AtomicU64,
}

impl Requests {
    /// Counts a request as in progress until the returned value is ended or dropped.
    pub(in crate::http) fn begin<'a>(&'a self, request: &Request) -> InFlight<'a> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight { requests: self, route: request.extensions().get().cloned() }
    }

    fn answered(&self, route: &str, status: StatusCode) {
        let Some(class) = usize::from(status.as_u16() / 100).checked_sub(2).filter(|class| *class < CLASSES.len())
        else {
            return;
        };
        let add = |classes: &Classes| classes[class].fetch_add(1, Ordering::Relaxed);
        let is_known = self.routes.read().unwrap_or_else(PoisonError::into_inner).get(route).map(add).is_some();
        if !is_known {
            let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
            add(routes.entry(route.into()).or_default());
        }
    }
}

/// A request in progress.
#[derive(Debug)]
pub(in crate::http) struct InFlight<'a> {
    requests: &'a Requests,
    route: Option<MatchedPath>,
}

impl InFlight<'_> {
    /// Counts the request as answered with this status.
    pub(in crate::http) fn end(self, status: StatusCode) {
        self.requests.answered(self.route(), status);
    }

    /// The template of its route, or the label of all paths without one.
    pub(in crate::http) fn route(&self) -> &str {
        // A path without a route below a nested router has a template with a wildcard.
        let route = self.route.as_ref().map(MatchedPath::as_str).filter(|route| !route.contains("{*"));
        route.unwrap_or(NO_ROUTE)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.requests.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counts for Requests {
    fn read(&self) -> Vec<Count> {
        let mut counts = vec![Count::one("inFlight", self.in_flight.load(Ordering::Relaxed))];
        for (route, classes) in self.routes.read().unwrap_or_else(PoisonError::into_inner).iter() {
            let of_route = Count::family("requests", CLASSES, classes);
            counts.extend(of_route.map(|mut count| {
                count.labels.insert(0, route.to_string().into());
                count
            }));
        }
        counts
    }
}
