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
            StoreError::Full => (Code::StorageFull, "the disk of the service is full"),
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
            LeaseError::Role => Self::new(Code::RoleAddress, detail),
            LeaseError::DomainUnknown => Self::new(Code::DomainUnknown, detail),
            LeaseError::TooMany(Refused { what: What::Opened, retry_after, .. }) => {
                let detail =
                    "the clients of this service, or of your network, read too many addresses; try again later";
                Self::new(Code::RateLimited, detail).with_retry_after(whole_seconds(retry_after).max(1))
            }
            LeaseError::TooMany(Refused { by: Bound::All, .. }) => Self::limit_reached("leases", detail),
            LeaseError::TooMany(_) => Self::limit_reached("leases_for_client", detail),
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
