//! Errors of other modules as problems.

use serde_json::json;

use super::leases;
use super::problem::{Code, Problem};
use super::rate_limit::whole_seconds;
use crate::admission::{Bound, Refused, What};
use crate::domains::DomainError;
use crate::leases::{LeaseError, OutOfRange};
use crate::store::StoreError;
use crate::tokens::TokenError;
use crate::webhook::{Busy, TestError};

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let (code, detail) = match &error {
            StoreError::Full => (
                Code::StorageFull,
                "the service is full: its disk has no room, or it has as many messages as it may have",
            ),
            StoreError::Failed(_) | StoreError::WriterEnded | StoreError::OutcomeUnknown | StoreError::Unconfirmed => {
                (Code::StoreUnavailable, "the store failed; try again")
            }
            StoreError::Stopping => (Code::StoreUnavailable, "the service is stopping"),
            StoreError::Damaged { .. } => (Code::EmailDamaged, "the message is damaged on the disk of the service"),
            StoreError::MailboxFull => (Code::MailboxFull, "a mailbox has as much mail as it may have"),
            StoreError::TooLarge { .. } => (Code::Internal, "the service has a defect; the log says more"),
        };
        let mut problem = Self::new(code, detail);
        if error != StoreError::Stopping {
            problem = problem.with_log_detail(true, &error);
        }
        if code == Code::StoreUnavailable { problem.with_retry_after(10) } else { problem }
    }
}

impl From<TestError> for Problem {
    fn from(error: TestError) -> Self {
        match error {
            TestError::Full => {
                let detail = "too many tests of webhooks are in progress; try again";
                Self::new(Code::Busy, detail).with_retry_after(5)
            }
            TestError::Busy(Busy { wait }) => {
                let detail = "the address of this webhook was called too often; try again";
                let seconds = wait.as_millis().div_ceil(1000).try_into().unwrap_or(u32::MAX);
                Self::new(Code::Busy, detail).with_retry_after(seconds)
            }
            TestError::Store(error) => error.into(),
        }
    }
}

impl From<TokenError> for Problem {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::NameTaken => Self::new(Code::Conflict, "there is a token with this name; revoke it first"),
            TokenError::TooMany => Self::limit_reached("tokens", format!("{error}; revoke one")),
            TokenError::Store(error) => error.into(),
        }
    }
}

impl From<LeaseError> for Problem {
    fn from(error: LeaseError) -> Self {
        let detail = error.to_string();
        match error {
            LeaseError::InUse { until } => {
                Self::new(Code::AddressInUse, detail).with_member("until", until.to_interface().into())
            }
            LeaseError::Random => Self::new(Code::AddressInUse, detail),
            LeaseError::Role => Self::new(Code::RoleAddress, detail),
            LeaseError::DomainUnknown => Self::new(Code::DomainUnknown, detail),
            // An open mailbox closes with time, a lease must end.
            LeaseError::TooMany(Refused { what: What::Opened, by, retry_after }) => {
                let who = match by {
                    Bound::Client => "this client",
                    Bound::Network => "the clients of this network (IPv4 /24, IPv6 /48)",
                    Bound::All => "the clients of this service",
                };
                let detail = format!("{who} opened too many addresses within a day; try again later");
                Self::new(Code::RateLimited, detail).with_retry_after(whole_seconds(retry_after))
            }
            LeaseError::TooMany(Refused { by, .. }) => {
                let (limit, who) = match by {
                    Bound::Client => ("leases_for_client", "this client has"),
                    Bound::Network => ("leases_for_client", "the clients of this network (IPv4 /24, IPv6 /48) have"),
                    Bound::All => ("leases", "this service has"),
                };
                Self::limit_reached(
                    limit,
                    format!("{who} as many private inboxes as permitted; end one, or wait for an end"),
                )
            }
            LeaseError::KeyFull(_) => Self::limit_reached("leases_for_key", detail),
            LeaseError::OutOfRange(OutOfRange { term, .. }) => {
                let name = leases::name(term);
                Self::invalid(name, format!("'{name}': {detail}"))
            }
            LeaseError::Unknown => Self::new(Code::NotFound, detail),
            LeaseError::Store(error) => error.into(),
        }
    }
}

impl From<DomainError> for Problem {
    fn from(error: DomainError) -> Self {
        let detail = error.to_string();
        let plain = |code| Self::new(code, detail.clone());
        match error {
            DomainError::MxHostUnset => plain(Code::MxHostUnset),
            DomainError::MxMismatch(report) => plain(Code::MxMismatch)
                .with_member("expected", json!(report.expected))
                .with_member("found", json!(report.found)),
            DomainError::Dns(cause) => plain(Code::DnsUnavailable)
                .with_retry_after(60)
                .with_log_detail(false, &format_args!("DNS gave no answer: {cause}")),
            DomainError::Busy => plain(Code::Busy).with_retry_after(5),
            DomainError::TooMany => Self::limit_reached("domains", detail),
            DomainError::TooManyOfClient(_) => Self::limit_reached("domains_for_client", detail),
            DomainError::Fixed => plain(Code::Conflict).with_member("setting", "domain".into()),
            DomainError::NotRegistered => plain(Code::NotFound),
            DomainError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::http::header::RETRY_AFTER;
    use axum::response::IntoResponse;

    use super::*;

    /// What time gives back is waited for, and what stands must end.
    #[test]
    fn a_refusal_says_whether_waiting_helps() {
        let minute = Duration::from_mins(1);
        for (what, by, retry_after, expected) in [
            (What::Opened, Bound::Client, minute, (429, Some("60"))),
            (What::Opened, Bound::All, minute, (429, Some("60"))),
            (What::Leases, Bound::Client, Duration::ZERO, (422, None)),
            (What::Leases, Bound::Network, Duration::ZERO, (422, None)),
            (What::Leases, Bound::All, Duration::ZERO, (422, None)),
        ] {
            let answer = Problem::from(LeaseError::TooMany(Refused { what, by, retry_after })).into_response();
            let seconds = answer.headers().get(RETRY_AFTER).and_then(|seconds| seconds.to_str().ok());
            assert_eq!((answer.status().as_u16(), seconds), expected, "{what:?} {by:?}");
        }
    }
}
