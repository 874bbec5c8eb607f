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
pub(super) const CONTENT_TYPE: &str = "application/problem+json";

/// Declares the codes, each with what it means, its status and its text.
macro_rules! codes {
    ($(#[doc = $meaning:literal] $name:ident = $status:ident $text:literal,)+) => {
        /// The stable code of an error, for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $meaning] $name,)+
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The status and the text of the code.
            pub const fn row(self) -> (StatusCode, &'static str) {
                match self {
                    $(Self::$name => (StatusCode::$status, $text),)+
                }
            }
        }
    };
}

codes! {
    /// A parameter is not an address.
    AddressInvalid = BAD_REQUEST "address_invalid",
    /// A parameter is not the beginning of a local part.
    PrefixInvalid = BAD_REQUEST "prefix_invalid",
    /// An id is not a UUID.
    IdInvalid = BAD_REQUEST "id_invalid",
    /// `page` is not a whole number of at least 1.
    PageInvalid = BAD_REQUEST "page_invalid",
    /// `limit` is not a whole number of at least 1.
    LimitInvalid = BAD_REQUEST "limit_invalid",
    /// `cursor` does not come from an answer.
    CursorInvalid = BAD_REQUEST "cursor_invalid",
    /// `has` is not a property of an Email.
    FilterInvalid = BAD_REQUEST "filter_invalid",
    /// `fields` names a field that does not exist.
    FieldsInvalid = BAD_REQUEST "fields_invalid",
    /// `after` is not a position of a list.
    AfterInvalid = BAD_REQUEST "after_invalid",
    /// A name is not a domain name.
    DomainInvalid = BAD_REQUEST "domain_invalid",
    /// `owner` is not a text of 1 to 256 characters, or has control characters.
    OwnerInvalid = BAD_REQUEST "owner_invalid",
    /// `email` is not an address.
    EmailInvalid = BAD_REQUEST "email_invalid",
    /// A URL is not valid for a webhook.
    UrlInvalid = BAD_REQUEST "url_invalid",
    /// A URL leads to an address that is not public.
    UrlNotAllowed = BAD_REQUEST "url_not_allowed",
    /// A URL has a port that no webhook may be sent to.
    UrlPortNotAllowed = BAD_REQUEST "url_port_not_allowed",
    /// A URL leads to this service itself.
    UrlOwnListener = BAD_REQUEST "url_own_listener",
    /// A secret is not a text, or is too long.
    SecretInvalid = BAD_REQUEST "secret_invalid",
    /// A text is not a point in time.
    TimeInvalid = BAD_REQUEST "time_invalid",
    /// `timeout` is not a whole number of seconds.
    TimeoutInvalid = BAD_REQUEST "timeout_invalid",
    /// A text is not the name of a token.
    NameInvalid = BAD_REQUEST "name_invalid",
    /// A text is not the scope of a token.
    ScopeInvalid = BAD_REQUEST "scope_invalid",
    /// A life of a token is no number of seconds, or is too long.
    ExpiryInvalid = BAD_REQUEST "expiry_invalid",
    /// A text is not a rule for faults, or not the number of one.
    FaultInvalid = BAD_REQUEST "fault_invalid",
    /// A text is none of those that are permitted.
    TextInvalid = BAD_REQUEST "text_invalid",
    /// A value is neither `true` nor `false`.
    BooleanInvalid = BAD_REQUEST "boolean_invalid",
    /// A required parameter is missing.
    ParameterMissing = BAD_REQUEST "parameter_missing",
    /// A parameter appears more than once.
    ParameterRepeated = BAD_REQUEST "parameter_repeated",
    /// Parameters that exclude each other appear together.
    ParametersConflict = BAD_REQUEST "parameters_conflict",
    /// The query is not percent-encoded UTF-8.
    QueryInvalid = BAD_REQUEST "query_invalid",
    /// The query is too long.
    QueryTooLong = URI_TOO_LONG "query_too_long",
    /// A required field is missing in the body.
    FieldMissing = BAD_REQUEST "field_missing",
    /// The body is not a JSON object.
    JsonInvalid = BAD_REQUEST "json_invalid",
    /// The connection broke before the body was complete.
    BodyIncomplete = BAD_REQUEST "body_incomplete",
    /// The body is too long.
    BodyTooLarge = PAYLOAD_TOO_LARGE "body_too_large",
    /// The body did not arrive in time.
    BodyTimeout = REQUEST_TIMEOUT "body_timeout",
    /// The body is not declared as JSON.
    ContentTypeUnsupported = UNSUPPORTED_MEDIA_TYPE "content_type_unsupported",
    /// The request has no valid Host, or more than one.
    HostInvalid = BAD_REQUEST "host_invalid",
    /// The service does not answer for this Host.
    HostNotAllowed = MISDIRECTED_REQUEST "host_not_allowed",
    /// Pages of this origin may not write.
    OriginNotAllowed = FORBIDDEN "origin_not_allowed",
    /// The path is for the administrator only.
    Unauthorized = UNAUTHORIZED "unauthorized",
    /// The token is wrong, has expired, or was revoked.
    TokenInvalid = UNAUTHORIZED "token_invalid",
    /// The scope of the token does not permit the request.
    ScopeInsufficient = FORBIDDEN "scope_insufficient",
    /// This part of the interface needs a token.
    TokenRequired = UNAUTHORIZED "token_required",
    /// The address is a role address, which is for the administrator only.
    RoleAddress = FORBIDDEN "role_address",
    /// The message, webhook or domain does not exist, or no longer exists.
    NotFound = NOT_FOUND "not_found",
    /// The path does not exist.
    UnknownPath = NOT_FOUND "unknown_path",
    /// The path does not have this method.
    MethodNotAllowed = METHOD_NOT_ALLOWED "method_not_allowed",
    /// The MX record of the domain points elsewhere.
    MxMismatch = UNPROCESSABLE_ENTITY "mx_mismatch",
    /// The limit of registered domains is reached.
    TooManyDomains = UNPROCESSABLE_ENTITY "too_many_domains",
    /// The limit of registered domains of one client is reached.
    TooManyDomainsForClient = UNPROCESSABLE_ENTITY "too_many_domains_for_client",
    /// The service receives no mail for the domain of an address.
    DomainUnknown = UNPROCESSABLE_ENTITY "domain_unknown",
    /// The limit of webhooks for one address is reached.
    TooManyWebhooksForRecipient = UNPROCESSABLE_ENTITY "too_many_webhooks_for_recipient",
    /// The limit of webhooks for one client is reached.
    TooManyWebhooksForClient = UNPROCESSABLE_ENTITY "too_many_webhooks_for_client",
    /// The limit of all webhooks is reached.
    TooManyWebhooks = UNPROCESSABLE_ENTITY "too_many_webhooks",
    /// A mailbox has as much mail as it may have.
    MailboxFull = UNPROCESSABLE_ENTITY "mailbox_full",
    /// Another token has the name.
    TokenNameTaken = CONFLICT "token_name_taken",
    /// The limit of tokens is reached.
    TooManyTokens = UNPROCESSABLE_ENTITY "too_many_tokens",
    /// SMTP can be reached from other machines, and faults are not permitted there.
    FaultsExposed = CONFLICT "faults_exposed",
    /// The limit of rules for faults is reached.
    TooManyFaults = UNPROCESSABLE_ENTITY "too_many_faults",
    /// The client has sent too many requests.
    RateLimited = TOO_MANY_REQUESTS "rate_limited",
    /// The client has too many connections.
    TooManyConnectionsForClient = TOO_MANY_REQUESTS "too_many_connections_for_client",
    /// All connections of the service are taken.
    TooManyConnections = SERVICE_UNAVAILABLE "too_many_connections",
    /// The client has too many requests that wait for mail.
    TooManyWaitingForClient = TOO_MANY_REQUESTS "too_many_waiting_for_client",
    /// All places of requests that wait for mail are taken.
    TooManyWaiting = SERVICE_UNAVAILABLE "too_many_waiting",
    /// The service stops.
    Stopping = SERVICE_UNAVAILABLE "stopping",
    /// The domain is fixed in the settings.
    DomainFixed = CONFLICT "domain_fixed",
    /// No `mx-host` is set.
    MxHostUnset = SERVICE_UNAVAILABLE "mx_host_unset",
    /// DNS gave no answer about the domain.
    DnsUnavailable = SERVICE_UNAVAILABLE "dns_unavailable",
    /// Too many checks of domains are in progress, so DNS was not asked.
    DnsBusy = SERVICE_UNAVAILABLE "dns_busy",
    /// Too many tests of webhooks are in progress, or the receiver's address was called too often.
    WebhookBusy = SERVICE_UNAVAILABLE "webhook_busy",
    /// The store failed or is stopping.
    StoreUnavailable = SERVICE_UNAVAILABLE "store_unavailable",
    /// The disk is full.
    StorageFull = INSUFFICIENT_STORAGE "storage_full",
    /// Too many answers are on their way to slow readers.
    Busy = SERVICE_UNAVAILABLE "busy",
    /// The service is not ready.
    NotReady = SERVICE_UNAVAILABLE "not_ready",
    /// The message on the disk differs from what was written.
    EmailDamaged = INTERNAL_SERVER_ERROR "email_damaged",
    /// The program has a defect.
    Internal = INTERNAL_SERVER_ERROR "internal",
}

/// An error as a client sees it: `type`, `title`, `status`, `detail`, `code`, and further members.
///
/// Programs distinguish errors by `code`. So `type` is `about:blank`, and `title` is the phrase of the status (RFC
/// 9457 section 4.2.1). `detail` is for people and may change.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    code: Code,
    detail: Cow<'static, str>,
    members: Box<Map<String, Value>>,
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
        Self { code, detail: detail.into(), members: Box::default(), headers: Vec::new(), log_detail: None }
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

    /// The problem as its detail in plain text, with its status and header fields. Those of the service's own stay as they
    /// are.
    pub(super) fn into_text(self) -> Response {
        let (status, _) = self.code.row();
        let text = self.detail.clone().into_owned();
        let mut response = self.into_response();
        if !status.is_server_error() {
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
            *response.body_mut() = text.into();
        }
        response
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
