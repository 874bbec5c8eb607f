//! Errors as `application/problem+json` (RFC 9457), and the table of their codes.

use std::borrow::Cow;
use std::fmt::Display;
use std::time::{Duration, SystemTime};

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::model::Timestamp;

/// The header fields of every answer. They forbid caching, guessing of the content type, the Referer, and the use as an
/// image or script in pages of other origins.
pub(super) const COMMON_FIELDS: [(HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; sandbox"),
];

/// The content type of every problem.
pub(super) const CONTENT_TYPE: &str = "application/problem+json";

/// Declares the codes, each with what it means, its status and its text.
macro_rules! codes {
    ($($(#[doc = $meaning:literal])+ $name:ident = $status:ident $text:literal,)+) => {
        /// The stable code of an error, for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $($(#[doc = $meaning])+ $name,)+
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

            /// The code, its status, and when it is given, in Markdown.
            pub fn described(self) -> String {
                let meaning = match self {
                    $(Self::$name => concat!($($meaning),+),)+
                };
                let (status, word) = self.row();
                format!("`{word}` ({}): {}", status.as_u16(), meaning.trim_start())
            }
        }
    };
}

codes! {
    /// A parameter is not an address.
    AddressInvalid = BAD_REQUEST "address_invalid",
    /// A name is not a domain name.
    DomainInvalid = BAD_REQUEST "domain_invalid",
    /// An id is not a UUID, or not the number of a rule for faults.
    IdInvalid = BAD_REQUEST "id_invalid",
    /// `url` or `origin` is not an `http://` or `https://` URL, has user information, or has more than 2,048 octets.
    UrlInvalid = BAD_REQUEST "url_invalid",
    /// `url` leads to an address that is not public, a port of mail, or the service or its machine.
    UrlNotAllowed = BAD_REQUEST "url_not_allowed",
    /// `parameter` names a value in the query or the body that is not valid, is there twice, or excludes another one.
    ParameterInvalid = BAD_REQUEST "parameter_invalid",
    /// A required parameter is missing, or a required field in the body.
    ParameterMissing = BAD_REQUEST "parameter_missing",
    /// The query has more than 8,192 octets.
    QueryTooLong = URI_TOO_LONG "query_too_long",
    /// The body is not a JSON object, or it is incomplete.
    JsonInvalid = BAD_REQUEST "json_invalid",
    /// The body has more than 64 KB, or a submitted message more than `max-message-size`.
    BodyTooLarge = PAYLOAD_TOO_LARGE "body_too_large",
    /// The body took more than 10 s.
    BodyTimeout = REQUEST_TIMEOUT "body_timeout",
    /// The body is not declared as JSON.
    ContentTypeUnsupported = UNSUPPORTED_MEDIA_TYPE "content_type_unsupported",
    /// The request has no valid Host, or more than one.
    HostInvalid = BAD_REQUEST "host_invalid",
    /// The service does not answer for this Host: see `http-allowed-hosts`.
    HostNotAllowed = MISDIRECTED_REQUEST "host_not_allowed",
    /// A page of another origin sent the request: see `http-allowed-origins`.
    OriginNotAllowed = FORBIDDEN "origin_not_allowed",
    /// The path, or this part of a closed service, needs a token.
    TokenRequired = UNAUTHORIZED "token_required",
    /// The token, key or ticket is wrong, has expired, or was revoked.
    TokenInvalid = UNAUTHORIZED "token_invalid",
    /// The token permits only reading.
    ScopeInsufficient = FORBIDDEN "scope_insufficient",
    /// The address is a role address, which is for the administrator only.
    RoleAddress = FORBIDDEN "role_address",
    /// Only callers on the service's machine, and those with a token, choose a private inbox's name.
    AddressNotRandom = FORBIDDEN "address_not_random",
    /// There is no such message, webhook, registered domain or private inbox of yours.
    NotFound = NOT_FOUND "not_found",
    /// The path does not exist.
    UnknownPath = NOT_FOUND "unknown_path",
    /// The path has other methods, which Allow lists.
    MethodNotAllowed = METHOD_NOT_ALLOWED "method_not_allowed",
    /// The MX record points elsewhere; `expected` and `found` say more.
    MxMismatch = UNPROCESSABLE_ENTITY "mx_mismatch",
    /// The service receives no mail for the domain of `recipient`.
    DomainUnknown = UNPROCESSABLE_ENTITY "domain_unknown",
    /// Only private inboxes take mail (`accept = "leased"`).
    PrivateOnly = UNPROCESSABLE_ENTITY "private_only",
    /// A mailbox has as much mail as it may have.
    MailboxFull = UNPROCESSABLE_ENTITY "mailbox_full",
    /// `limit` names what there is enough of: see "Limits of what is kept" in the HTTP guide.
    LimitReached = UNPROCESSABLE_ENTITY "limit_reached",
    /// The address cannot be made private before `until`: it has mail, is private, or was.
    AddressInUse = CONFLICT "address_in_use",
    /// A token has this name already, the settings fix the domain, or faults need `trusted-network`.
    Conflict = CONFLICT "conflict",
    /// A rate limit, or a client's or network's share of connections or places to wait, is used up.
    RateLimited = TOO_MANY_REQUESTS "rate_limited",
    /// All connections or places to wait are taken; or memory for answers, turns for checks of DNS or tests of webhooks,
    /// or the client's share of these three.
    Busy = SERVICE_UNAVAILABLE "busy",
    /// The service stops, and a request that waits for mail ends.
    Stopping = SERVICE_UNAVAILABLE "stopping",
    /// No `mx-host` is set, so no domain can be checked.
    MxHostUnset = SERVICE_UNAVAILABLE "mx_host_unset",
    /// DNS gave no answer, so nothing is known about the domain.
    DnsUnavailable = SERVICE_UNAVAILABLE "dns_unavailable",
    /// The store failed or is stopping.
    StoreUnavailable = SERVICE_UNAVAILABLE "store_unavailable",
    /// The disk is full, or the store has `max-emails` Emails.
    StorageFull = INSUFFICIENT_STORAGE "storage_full",
    /// See `/readyz`.
    NotReady = SERVICE_UNAVAILABLE "not_ready",
    /// The message on the disk differs from what was written.
    EmailDamaged = INTERNAL_SERVER_ERROR "email_damaged",
    /// The program has a defect; the log says more.
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
    members: Vec<(&'static str, Value)>,
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
        Self { code, detail: detail.into(), members: Vec::new(), headers: Vec::new(), log_detail: None }
    }

    /// The problem of a value that is not valid, by the name of its parameter, in the query or the body. Addresses, domains,
    /// ids and URLs have codes of their own.
    pub(super) fn invalid(parameter: &str, detail: impl Into<Cow<'static, str>>) -> Self {
        let code = match parameter {
            "to" | "from" | "recipient" | "address" | "localPart" => Code::AddressInvalid,
            "domain" => Code::DomainInvalid,
            "id" | "event" => Code::IdInvalid,
            "url" | "origin" => Code::UrlInvalid,
            _ => Code::ParameterInvalid,
        };
        Self { code, ..Self::misplaced(parameter, detail) }
    }

    /// The problem of a value that is valid alone, but is there too often or beside another one.
    pub(super) fn misplaced(parameter: &str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::ParameterInvalid, detail).with_member("parameter", parameter.into())
    }

    /// The problem that a limit is reached.
    pub(super) fn limit_reached(limit: &str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::LimitReached, detail).with_member("limit", limit.into())
    }

    /// The problem with a further member in its body.
    #[must_use]
    pub fn with_member(mut self, name: &'static str, value: Value) -> Self {
        self.members.push((name, value));
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
        let title = status.canonical_reason().unwrap_or("Error");
        let mut body = json!({
            "type": "about:blank", "title": title, "status": status.as_u16(), "detail": self.detail, "code": word,
        });
        for (name, value) in &self.members {
            body[*name] = value.clone();
        }
        body.to_string().into_bytes()
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
