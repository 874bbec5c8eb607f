//! Errors as `application/problem+json` (RFC 9457), and the table of their codes.

use std::borrow::Cow;
use std::fmt::Display;
use std::time::{Duration, SystemTime};

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Map, Value};

use super::edge::COMMON_FIELDS;
use crate::model::Timestamp;

/// The content type of every problem.
const CONTENT_TYPE: &str = "application/problem+json";

/// The stable code of an error, for programs. [`Code::row`] is the table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// A parameter is not an address.
    AddressInvalid,
    /// An id is not a UUID.
    IdInvalid,
    /// `page` is not a whole number of at least 1.
    PageInvalid,
    /// `limit` is not a whole number of at least 1.
    LimitInvalid,
    /// `cursor` does not come from an answer.
    CursorInvalid,
    /// `has` is not a property of an Email.
    FilterInvalid,
    /// `fields` names a field that does not exist.
    FieldsInvalid,
    /// `after` is not a position of a list.
    AfterInvalid,
    /// A name is not a domain name.
    DomainInvalid,
    /// `owner` is not a text of 1 to 256 characters, or has control characters.
    OwnerInvalid,
    /// `email` is not an address.
    EmailInvalid,
    /// A URL is not valid for a webhook.
    UrlInvalid,
    /// A URL leads to an address that is not public.
    UrlNotAllowed,
    /// A URL has a port that no webhook may be sent to.
    UrlPortNotAllowed,
    /// A URL leads to this service itself.
    UrlOwnListener,
    /// A secret is not a text, or is too long.
    SecretInvalid,
    /// A text is not a point in time.
    TimeInvalid,
    /// A text is not the name of a token.
    NameInvalid,
    /// A text is not the scope of a token.
    ScopeInvalid,
    /// A life of a token is no number of seconds, or is too long.
    ExpiryInvalid,
    /// A value is neither `true` nor `false`.
    BooleanInvalid,
    /// A required parameter is missing.
    ParameterMissing,
    /// A parameter appears more than once.
    ParameterRepeated,
    /// Parameters that exclude each other appear together.
    ParametersConflict,
    /// The query is not percent-encoded UTF-8.
    QueryInvalid,
    /// The query is too long.
    QueryTooLong,
    /// A required field is missing in the body.
    FieldMissing,
    /// The body is not a JSON object.
    JsonInvalid,
    /// The connection broke before the body was complete.
    BodyIncomplete,
    /// The body is too long.
    BodyTooLarge,
    /// The body did not arrive in time.
    BodyTimeout,
    /// The body is not declared as JSON.
    ContentTypeUnsupported,
    /// The field Range begins behind the end.
    RangeNotSatisfiable,
    /// The head of a request is not HTTP.
    RequestInvalid,
    /// The head of a request is too long or has too many fields.
    HeadTooLarge,
    /// The request has no valid Host, or more than one.
    HostInvalid,
    /// The service does not answer for this Host.
    HostNotAllowed,
    /// Pages of this origin may not write.
    OriginNotAllowed,
    /// The path is for the administrator only.
    Unauthorized,
    /// The token is wrong, has expired, or was revoked.
    TokenInvalid,
    /// The scope of the token does not permit the request.
    ScopeInsufficient,
    /// This part of the interface needs a token.
    TokenRequired,
    /// This part of the interface is closed to the public.
    PublicOff,
    /// The address is a role address, which is for the administrator only.
    RoleAddress,
    /// The message, webhook or domain does not exist, or no longer exists.
    NotFound,
    /// The path does not exist.
    UnknownPath,
    /// The path does not have this method.
    MethodNotAllowed,
    /// The MX record of the domain points elsewhere.
    MxMismatch,
    /// The limit of registered domains is reached.
    TooManyDomains,
    /// The limit of registered domains of one client is reached.
    TooManyDomainsForClient,
    /// The service receives no mail for the domain of an address.
    DomainUnknown,
    /// The limit of webhooks for one address is reached.
    TooManyWebhooksForRecipient,
    /// The limit of webhooks for one client is reached.
    TooManyWebhooksForClient,
    /// The limit of all webhooks is reached.
    TooManyWebhooks,
    /// A mailbox or its domain has as much mail as it may have.
    MailboxFull,
    /// Another token has the name.
    TokenNameTaken,
    /// The limit of tokens is reached.
    TooManyTokens,
    /// The client has sent too many requests.
    RateLimited,
    /// The client has too many connections.
    TooManyConnectionsForClient,
    /// All connections of the service are taken.
    TooManyConnections,
    /// The domain is fixed in the settings.
    DomainFixed,
    /// No `mx-host` is set.
    MxHostUnset,
    /// DNS gave no answer about the domain.
    DnsUnavailable,
    /// Too many checks of domains are in progress, so DNS was not asked.
    DnsBusy,
    /// Too many tests of webhooks are in progress, or the receiver's address was called too often.
    WebhookBusy,
    /// The store failed or is stopping.
    StoreUnavailable,
    /// The disk is full.
    StorageFull,
    /// Too many answers are on their way to slow readers.
    Busy,
    /// The service is not ready.
    NotReady,
    /// The message on the disk differs from what was written.
    EmailDamaged,
    /// The program has a defect.
    Internal,
}

impl Code {
    /// The status and the text of the code.
    pub const fn row(self) -> (StatusCode, &'static str) {
        use StatusCode as S;
        match self {
            Self::AddressInvalid => (S::BAD_REQUEST, "address_invalid"),
            Self::IdInvalid => (S::BAD_REQUEST, "id_invalid"),
            Self::PageInvalid => (S::BAD_REQUEST, "page_invalid"),
            Self::LimitInvalid => (S::BAD_REQUEST, "limit_invalid"),
            Self::CursorInvalid => (S::BAD_REQUEST, "cursor_invalid"),
            Self::FilterInvalid => (S::BAD_REQUEST, "filter_invalid"),
            Self::FieldsInvalid => (S::BAD_REQUEST, "fields_invalid"),
            Self::AfterInvalid => (S::BAD_REQUEST, "after_invalid"),
            Self::DomainInvalid => (S::BAD_REQUEST, "domain_invalid"),
            Self::OwnerInvalid => (S::BAD_REQUEST, "owner_invalid"),
            Self::EmailInvalid => (S::BAD_REQUEST, "email_invalid"),
            Self::UrlInvalid => (S::BAD_REQUEST, "url_invalid"),
            Self::UrlNotAllowed => (S::BAD_REQUEST, "url_not_allowed"),
            Self::UrlPortNotAllowed => (S::BAD_REQUEST, "url_port_not_allowed"),
            Self::UrlOwnListener => (S::BAD_REQUEST, "url_own_listener"),
            Self::SecretInvalid => (S::BAD_REQUEST, "secret_invalid"),
            Self::TimeInvalid => (S::BAD_REQUEST, "time_invalid"),
            Self::NameInvalid => (S::BAD_REQUEST, "name_invalid"),
            Self::ScopeInvalid => (S::BAD_REQUEST, "scope_invalid"),
            Self::ExpiryInvalid => (S::BAD_REQUEST, "expiry_invalid"),
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
            Self::RangeNotSatisfiable => (S::RANGE_NOT_SATISFIABLE, "range_not_satisfiable"),
            Self::RequestInvalid => (S::BAD_REQUEST, "request_invalid"),
            Self::HeadTooLarge => (S::REQUEST_HEADER_FIELDS_TOO_LARGE, "head_too_large"),
            Self::HostInvalid => (S::BAD_REQUEST, "host_invalid"),
            Self::HostNotAllowed => (S::MISDIRECTED_REQUEST, "host_not_allowed"),
            Self::OriginNotAllowed => (S::FORBIDDEN, "origin_not_allowed"),
            Self::Unauthorized => (S::UNAUTHORIZED, "unauthorized"),
            Self::TokenInvalid => (S::UNAUTHORIZED, "token_invalid"),
            Self::ScopeInsufficient => (S::FORBIDDEN, "scope_insufficient"),
            Self::TokenRequired => (S::UNAUTHORIZED, "token_required"),
            Self::PublicOff => (S::FORBIDDEN, "public_off"),
            Self::RoleAddress => (S::FORBIDDEN, "role_address"),
            Self::NotFound => (S::NOT_FOUND, "not_found"),
            Self::UnknownPath => (S::NOT_FOUND, "unknown_path"),
            Self::MethodNotAllowed => (S::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::MxMismatch => (S::UNPROCESSABLE_ENTITY, "mx_mismatch"),
            Self::TooManyDomains => (S::UNPROCESSABLE_ENTITY, "too_many_domains"),
            Self::TooManyDomainsForClient => (S::UNPROCESSABLE_ENTITY, "too_many_domains_for_client"),
            Self::DomainUnknown => (S::UNPROCESSABLE_ENTITY, "domain_unknown"),
            Self::TooManyWebhooksForRecipient => (S::UNPROCESSABLE_ENTITY, "too_many_webhooks_for_recipient"),
            Self::TooManyWebhooksForClient => (S::UNPROCESSABLE_ENTITY, "too_many_webhooks_for_client"),
            Self::TooManyWebhooks => (S::UNPROCESSABLE_ENTITY, "too_many_webhooks"),
            Self::MailboxFull => (S::UNPROCESSABLE_ENTITY, "mailbox_full"),
            Self::TokenNameTaken => (S::CONFLICT, "token_name_taken"),
            Self::TooManyTokens => (S::UNPROCESSABLE_ENTITY, "too_many_tokens"),
            Self::RateLimited => (S::TOO_MANY_REQUESTS, "rate_limited"),
            Self::TooManyConnectionsForClient => (S::TOO_MANY_REQUESTS, "too_many_connections_for_client"),
            Self::TooManyConnections => (S::SERVICE_UNAVAILABLE, "too_many_connections"),
            Self::DomainFixed => (S::CONFLICT, "domain_fixed"),
            Self::MxHostUnset => (S::SERVICE_UNAVAILABLE, "mx_host_unset"),
            Self::DnsUnavailable => (S::SERVICE_UNAVAILABLE, "dns_unavailable"),
            Self::DnsBusy => (S::SERVICE_UNAVAILABLE, "dns_busy"),
            Self::WebhookBusy => (S::SERVICE_UNAVAILABLE, "webhook_busy"),
            Self::StoreUnavailable => (S::SERVICE_UNAVAILABLE, "store_unavailable"),
            Self::StorageFull => (S::INSUFFICIENT_STORAGE, "storage_full"),
            Self::Busy => (S::SERVICE_UNAVAILABLE, "busy"),
            Self::NotReady => (S::SERVICE_UNAVAILABLE, "not_ready"),
            Self::EmailDamaged => (S::INTERNAL_SERVER_ERROR, "email_damaged"),
            Self::Internal => (S::INTERNAL_SERVER_ERROR, "internal"),
        }
    }
}

/// An error as a client sees it: `type`, `title`, `status`, `detail`, `code`, and further members.
///
/// Programs distinguish errors by `code`. So `type` is `about:blank`, and `title` is the phrase of the status (RFC
/// 9457 section 4.2.1). `detail` is for people and may change.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    code: Code,
    detail: Cow<'static, str>,
    members: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
    log_detail: Option<LogDetail>,
}

/// The cause of a problem, which the operator needs and the client must not see. [`super::edge`] logs it with the
/// request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LogDetail {
    /// Whether the service itself failed.
    pub(super) is_failure: bool,
    pub(super) text: String,
}

impl Problem {
    /// A problem with an explanation for people. The text may quote the request, but must reveal nothing internal.
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

    /// The problem with a Retry-After in seconds.
    #[must_use]
    pub fn with_retry_after(self, seconds: u32) -> Self {
        self.with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// The problem with a detail for the log.
    pub(super) fn with_log_detail(mut self, is_failure: bool, detail: &impl Display) -> Self {
        self.log_detail = Some(LogDetail { is_failure, text: detail.to_string() });
        self
    }

    /// The problem of an unknown Email.
    pub(super) fn no_such_email() -> Self {
        Self::new(Code::NotFound, "there is no message with this id; it may have expired or been deleted")
    }

    /// The problem of a defect in this program. The client learns no details.
    pub(super) fn internal() -> Self {
        Self::new(Code::Internal, "the service has a defect; the log says more")
    }

    /// The code of the problem.
    pub fn code(&self) -> Code {
        self.code
    }

    fn body(&self) -> Vec<u8> {
        let (status, word) = self.code.row();
        let body = Body {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: &self.detail,
            code: word,
            members: &self.members,
        };
        serde_json::to_vec(&body).expect("texts and JSON")
    }

    /// The problem as the last answer on a connection, in HTTP/1.1, for where no request was read.
    pub(super) fn into_octets(self, now: Timestamp) -> Vec<u8> {
        let (status, _) = self.code.row();
        let body = self.body();
        let millis = u64::try_from(now.millis()).unwrap_or(0);
        let date = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_millis(millis));
        let mut octets = format!("HTTP/1.1 {status}\r\ndate: {date}\r\nconnection: close\r\n").into_bytes();
        octets.extend(format!("content-type: {CONTENT_TYPE}\r\ncontent-length: {}\r\n", body.len()).into_bytes());
        let common = COMMON_FIELDS.map(|(name, value)| (name, HeaderValue::from_static(value)));
        for (name, value) in common.into_iter().chain(self.headers) {
            octets.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        octets.extend(b"\r\n");
        octets.extend(body);
        octets
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
    members: &'a Map<String, Value>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, _) = self.code.row();
        let content_type = (header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
        let mut response = (status, [content_type], self.body()).into_response();
        response.headers_mut().extend(self.headers);
        if let Some(log_detail) = self.log_detail {
            response.extensions_mut().insert(log_detail);
        }
        response
    }
}
