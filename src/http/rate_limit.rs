//! Rate limits of a client and of its network: one for all requests, and smaller ones for requests that cost more. And
//! the refusal of what has places.
//!
//! A minute's quota may be used at once; after that it comes back evenly. A request that is refused uses nothing of the
//! limit that refuses it.

use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::problem::{Code, Problem};
use crate::admission::{Admission, Bound, Refused, What, Who};

/// The fields that say how much of each quota is left (draft-ietf-httpapi-ratelimit-headers).
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Counts a request. The local socket, the bearers of valid tokens, and checks of health have no limit.
pub(super) fn count(admission: &Admission, who: Who, request: &Request) -> Quotas {
    let mut quotas = Quotas::default();
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    if who == Who::Administrator || ["/healthz", "/livez", "/readyz"].contains(&route) {
        return quotas;
    }
    for what in [Some(What::Requests), of_route(request.method(), route)].into_iter().flatten() {
        let Some(quota) = admission.quota(what) else { continue };
        match admission.spend(who, what, 1) {
            Ok(left) => quotas.push(what, quota, left.amount, left.whole_in),
            Err(refused) => {
                quotas.push(what, quota, 0, refused.retry_after);
                quotas.refusal = Some(exceeded(admission, refused));
                break;
            }
        }
    }
    quotas
}

/// The limit of a request that costs more than others.
fn of_route(method: &Method, route: &str) -> Option<What> {
    match route {
        "/api/domains" if method == Method::POST => Some(What::DomainRegistrations),
        "/api/domains/check-dns" if [Method::GET, Method::HEAD].contains(method) => Some(What::DnsChecks),
        "/api/addresses" if method == Method::POST => Some(What::NewLeases),
        "/api/addresses" if [Method::PATCH, Method::DELETE].contains(method) => Some(What::LeaseChanges),
        // It counts refused registrations too, so that no client can guess a secret.
        "/api/webhooks" if method == Method::POST => Some(What::WebhookRegistrations),
        _ => None,
    }
}

/// What is counted, as a name in the fields and in words.
const fn named(what: What) -> (&'static str, &'static str) {
    match what {
        What::DomainRegistrations => ("domain-registrations", "registrations of domains"),
        What::DnsChecks => ("dns-checks", "checks of DNS"),
        What::NewLeases => ("private-inboxes", "private inboxes"),
        What::LeaseChanges => ("private-inbox-changes", "changes of private inboxes"),
        What::WebhookRegistrations => ("webhook-registrations", "registrations of webhooks"),
        What::WrongTokens => ("wrong-tokens", "requests with wrong tokens"),
        _ => ("requests", "requests"),
    }
}

/// The problem of a client that has used up its quota, or whose network has.
pub(super) fn exceeded(admission: &Admission, refused: Refused) -> Problem {
    let (_, counted) = named(refused.what);
    let detail = match admission.quota(refused.what) {
        Some(quota) if refused.by == Bound::Client => {
            format!("a client may make {quota} {counted} in a minute; try again later")
        }
        _ => format!("the clients of this network (IPv4 /24, IPv6 /48) make too many {counted}; try again later"),
    };
    Problem::new(Code::RateLimited, detail).with_retry_after(whole_seconds(refused.retry_after))
}

/// The problem that there is no place, because the client or its network has too many, or all are taken.
pub(super) fn no_place(refused: Refused, what: &str, retry_after: u32) -> Problem {
    let (code, detail) = match refused.by {
        Bound::Client => (Code::RateLimited, format!("this client has too many {what}; end some")),
        Bound::Network => {
            let detail = format!("the clients of this network (IPv4 /24, IPv6 /48) have too many {what}; end some");
            (Code::RateLimited, detail)
        }
        Bound::All => (Code::Busy, format!("all places for {what} are taken; try again")),
    };
    Problem::new(code, detail).with_retry_after(retry_after)
}

/// What is left of the quotas that a request was counted for.
#[derive(Default)]
pub(super) struct Quotas {
    left: Vec<String>,
    policies: Vec<String>,
    /// The answer to a request that exceeds a limit.
    pub(super) refusal: Option<Problem>,
}

impl Quotas {
    fn push(&mut self, what: What, quota: u64, left: u64, whole_in: Duration) {
        let (name, _) = named(what);
        self.left.push(format!("\"{name}\";r={left};t={}", whole_seconds(whole_in)));
        self.policies.push(format!("\"{name}\";q={quota};w=60"));
    }

    /// Writes the quotas into an answer's fields.
    pub(super) fn write(&self, headers: &mut HeaderMap) {
        for (name, values) in [(RATE_LIMIT, &self.left), (RATE_LIMIT_POLICY, &self.policies)] {
            if !values.is_empty() {
                headers.insert(name, HeaderValue::try_from(values.join(", ")).expect("words and numbers"));
            }
        }
    }
}

pub(super) fn whole_seconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1000)).unwrap_or(u32::MAX)
}
