//! Errors as `application/problem+json` (RFC 9457): the one table of their codes.

use std::borrow::Cow;
use std::fmt::Display;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::domains::DomainError;
use crate::store::StoreError;
use crate::webhook::{Busy, TestError};

/// What went wrong, as a stable word for machines. [`Code::row`] is the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// A parameter is no address.
    AddressInvalid,
    /// An id is no UUID.
    IdInvalid,
    /// `page` is no number from 1.
    PageInvalid,
    /// `limit` is no number from 1.
    LimitInvalid,
    /// A name is no domain name.
    DomainInvalid,
    /// `owner` is no text of 1 to 256 characters.
    OwnerInvalid,
    /// `email` is no address.
    EmailInvalid,
    /// A URL is none that a webhook may have.
    UrlInvalid,
    /// A URL leads to an address that is not public.
    UrlNotAllowed,
    /// A URL leads to a port that no webhook is sent to.
    UrlPortNotAllowed,
    /// A URL leads to this service itself.
    UrlOwnListener,
    /// A secret is no text, or too long.
    SecretInvalid,
    /// A text is no point in time.
    TimeInvalid,
    /// A parameter or field is neither `true` nor `false`.
    BooleanInvalid,
    /// A parameter that is needed is not there.
    ParameterMissing,
    /// A parameter is there more than once.
    ParameterRepeated,
    /// Parameters that exclude each other are there together.
    ParametersConflict,
    /// The query is no list of percent-encoded UTF-8.
    QueryInvalid,
    /// The query is longer than is read.
    QueryTooLong,
    /// A field of the body that is needed is not there.
    FieldMissing,
    /// The body is no JSON object.
    JsonInvalid,
    /// The body broke off.
    BodyIncomplete,
    /// The body is longer than is read.
    BodyTooLarge,
    /// The body took too long.
    BodyTimeout,
    /// The body is of another type.
    ContentTypeUnsupported,
    /// There is no Host, or more than one, or it is no host.
    HostInvalid,
    /// The Host is not one that is answered for.
    HostNotAllowed,
    /// A page of another origin may not write here.
    OriginNotAllowed,
    /// The administrator's alone, and the caller is not known to be that.
    Unauthorized,
    /// Mail of a role address is the administrator's alone.
    RoleAddress,
    /// There is no such thing, or not any more.
    NotFound,
    /// Nothing has this path.
    UnknownPath,
    /// The path has other methods.
    MethodNotAllowed,
    /// The MX of the domain points elsewhere.
    MxMismatch,
    /// No more domains can be registered.
    TooManyDomains,
    /// No mail is received for the domain of an address.
    DomainUnknown,
    /// The address has as many webhooks as permitted.
    TooManyWebhooksForRecipient,
    /// The client has registered as many webhooks as permitted.
    TooManyWebhooksForClient,
    /// No more webhooks can be registered.
    TooManyWebhooks,
    /// The client has asked too often.
    RateLimited,
    /// The domain stands in flags or file.
    DomainFixed,
    /// No mail host is configured.
    MxHostUnset,
    /// DNS gave no answer.
    DnsUnavailable,
    /// As many tests of webhooks are in progress, or calls were made, as permitted.
    WebhookBusy,
    /// The store failed or is closing.
    StoreUnavailable,
    /// The disk is full.
    StorageFull,
    /// Not ready to serve.
    NotReady,
    /// The octets on disk are not what was written.
    EmailDamaged,
    /// A defect of this program.
    Internal,
}

impl Code {
    /// Status and word.
    pub const fn row(self) -> (StatusCode, &'static str) {
        use StatusCode as S;
        match self {
            Self::AddressInvalid => (S::BAD_REQUEST, "address_invalid"),
            Self::IdInvalid => (S::BAD_REQUEST, "id_invalid"),
            Self::PageInvalid => (S::BAD_REQUEST, "page_invalid"),
            Self::LimitInvalid => (S::BAD_REQUEST, "limit_invalid"),
            Self::DomainInvalid => (S::BAD_REQUEST, "domain_invalid"),
            Self::OwnerInvalid => (S::BAD_REQUEST, "owner_invalid"),
            Self::EmailInvalid => (S::BAD_REQUEST, "email_invalid"),
            Self::UrlInvalid => (S::BAD_REQUEST, "url_invalid"),
            Self::UrlNotAllowed => (S::BAD_REQUEST, "url_not_allowed"),
            Self::UrlPortNotAllowed => (S::BAD_REQUEST, "url_port_not_allowed"),
            Self::UrlOwnListener => (S::BAD_REQUEST, "url_own_listener"),
            Self::SecretInvalid => (S::BAD_REQUEST, "secret_invalid"),
            Self::TimeInvalid => (S::BAD_REQUEST, "time_invalid"),
            Self::BooleanInvalid => (S::BAD_REQUEST, "boolean_invalid"),
            Self::ParameterMissing => (S::BAD_REQUEST, "parameter_missing"),
            Self::ParameterRepeated => (S::BAD_REQUEST, "parameter_repeated"),
            Self::ParametersConflict => (S::BAD_REQUEST, "parameters_conflict"),
            Self::QueryInvalid => (S::BAD_REQUEST, "query_invalid"),
            Self::QueryTooLong => (S::URI_TOO_LONG, "query_too_long"),
            Self::FieldMissing => (S::BAD_REQUEST, "field_missing"),
            Self::JsonInvalid => (S::BAD_REQUEST, "json_invalid"),
            Self::BodyIncomplete => (S::BAD_REQUEST, "body_incomplete"),
            Self::BodyTooLarge => (S::PAYLOAD_TOO_LARGE, "body_too_large"),
            Self::BodyTimeout => (S::REQUEST_TIMEOUT, "body_timeout"),
            Self::ContentTypeUnsupported => (S::UNSUPPORTED_MEDIA_TYPE, "content_type_unsupported"),
            Self::HostInvalid => (S::BAD_REQUEST, "host_invalid"),
            Self::HostNotAllowed => (S::MISDIRECTED_REQUEST, "host_not_allowed"),
            Self::OriginNotAllowed => (S::FORBIDDEN, "origin_not_allowed"),
            Self::Unauthorized => (S::UNAUTHORIZED, "unauthorized"),
            Self::RoleAddress => (S::FORBIDDEN, "role_address"),
            Self::NotFound => (S::NOT_FOUND, "not_found"),
            Self::UnknownPath => (S::NOT_FOUND, "unknown_path"),
            Self::MethodNotAllowed => (S::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::MxMismatch => (S::UNPROCESSABLE_ENTITY, "mx_mismatch"),
            Self::TooManyDomains => (S::UNPROCESSABLE_ENTITY, "too_many_domains"),
            Self::DomainUnknown => (S::UNPROCESSABLE_ENTITY, "domain_unknown"),
            Self::TooManyWebhooksForRecipient => (S::UNPROCESSABLE_ENTITY, "too_many_webhooks_for_recipient"),
            Self::TooManyWebhooksForClient => (S::UNPROCESSABLE_ENTITY, "too_many_webhooks_for_client"),
            Self::TooManyWebhooks => (S::UNPROCESSABLE_ENTITY, "too_many_webhooks"),
            Self::RateLimited => (S::TOO_MANY_REQUESTS, "rate_limited"),
            Self::DomainFixed => (S::CONFLICT, "domain_fixed"),
            Self::MxHostUnset => (S::SERVICE_UNAVAILABLE, "mx_host_unset"),
            Self::DnsUnavailable => (S::SERVICE_UNAVAILABLE, "dns_unavailable"),
            Self::WebhookBusy => (S::SERVICE_UNAVAILABLE, "webhook_busy"),
            Self::StoreUnavailable => (S::SERVICE_UNAVAILABLE, "store_unavailable"),
            Self::StorageFull => (S::INSUFFICIENT_STORAGE, "storage_full"),
            Self::NotReady => (S::SERVICE_UNAVAILABLE, "not_ready"),
            Self::EmailDamaged => (S::INTERNAL_SERVER_ERROR, "email_damaged"),
            Self::Internal => (S::INTERNAL_SERVER_ERROR, "internal"),
        }
    }
}

/// An error as a client sees it: `type`, `title`, `status`, `detail`, `code`, and members of its own.
///
/// `type` is `about:blank` and `title` the phrase of the status, as RFC 9457 section 4.2.1 wants it: what tells errors
/// apart is `code`. `detail` is for people and may change.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    code: Code,
    detail: Cow<'static, str>,
    members: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
    log_detail: Option<LogDetail>,
}

/// What the operator has to know of a problem, and the client must not. [`super::edge`] logs it with the request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LogDetail {
    /// The service itself failed.
    pub(super) is_failure: bool,
    pub(super) text: String,
}

impl Problem {
    /// A problem with an explanation for people. It may quote the request, never the inside of the program.
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { code, detail: detail.into(), members: Map::new(), headers: Vec::new(), log_detail: None }
    }

    /// The problem with a further member in its body.
    #[must_use]
    pub fn with_member(mut self, name: &str, value: Value) -> Self {
        self.members.insert(name.to_owned(), value);
        self
    }

    /// The problem with a further header field.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The problem with a Retry-After of that many seconds.
    #[must_use]
    pub fn with_retry_after(self, seconds: u32) -> Self {
        self.with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// The problem with a detail for the log.
    fn with_log_detail(mut self, is_failure: bool, detail: &impl Display) -> Self {
        self.log_detail = Some(LogDetail { is_failure, text: detail.to_string() });
        self
    }

    /// There is no such Email.
    pub(super) fn no_such_email() -> Self {
        Self::new(Code::NotFound, "there is no message with this id; it may have expired or been deleted")
    }

    /// A defect of this program. The client learns nothing more about it.
    pub(super) fn internal() -> Self {
        Self::new(Code::Internal, "the service has a defect; the log says more")
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.code
    }
}

#[derive(Serialize)]
struct Body<'a> {
    r#type: &'static str,
    title: &'static str,
    status: u16,
    detail: &'a str,
    code: &'static str,
    #[serde(flatten)]
    members: Map<String, Value>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, word) = self.code.row();
        let body = Body {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: &self.detail,
            code: word,
            members: self.members,
        };
        let mut response = (status, axum::Json(body)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response.headers_mut().extend(self.headers);
        if let Some(log_detail) = self.log_detail {
            response.extensions_mut().insert(log_detail);
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let (code, detail) = match &error {
            StoreError::Full => (Code::StorageFull, "the disk of the service is full"),
            StoreError::Failed(_) | StoreError::WriterEnded | StoreError::OutcomeUnknown => {
                (Code::StoreUnavailable, "the store failed; try again")
            }
            StoreError::Stopping => (Code::StoreUnavailable, "the service is stopping"),
            StoreError::Damaged { .. } => (Code::EmailDamaged, "the message is damaged on the disk of the service"),
            StoreError::TooLarge { .. } | StoreError::MailboxFull => {
                (Code::Internal, "the service has a defect; the log says more")
            }
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
                let detail = "as many tests of webhooks are in progress as permitted";
                Self::new(Code::WebhookBusy, detail).with_retry_after(5)
            }
            TestError::Busy(Busy { wait }) => {
                let detail = "this webhook's address was called as often as permitted";
                let seconds = wait.as_millis().div_ceil(1000).try_into().unwrap_or(u32::MAX);
                Self::new(Code::WebhookBusy, detail).with_retry_after(seconds)
            }
            TestError::Store(error) => error.into(),
        }
    }
}

impl From<DomainError> for Problem {
    fn from(error: DomainError) -> Self {
        match error {
            DomainError::MxHostUnset => Self::new(
                Code::MxHostUnset,
                "this service has no mail host configured (mx-host), so no domain can be verified",
            ),
            DomainError::MxMismatch(report) => Self::new(Code::MxMismatch, report.message)
                .with_member("expected", json!(report.expected))
                .with_member("found", json!(report.found)),
            DomainError::Dns(cause) => Self::new(
                Code::DnsUnavailable,
                "DNS gave no answer for the domain; that says nothing about it, try again later",
            )
            .with_retry_after(60)
            .with_log_detail(false, &format_args!("DNS gave no answer: {cause}")),
            DomainError::TooMany => Self::new(Code::TooManyDomains, "as many domains as permitted are registered"),
            DomainError::Fixed => Self::new(
                Code::DomainFixed,
                "the domain is fixed in the flags or the configuration file of the service",
            ),
            DomainError::NotRegistered => Self::new(Code::NotFound, "the domain is not registered"),
            DomainError::Store(error) => error.into(),
        }
    }
}
