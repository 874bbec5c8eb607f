//! The web origins whose pages may use the service (CORS, in the Fetch standard). No answer permits credentials.

use axum::http::HeaderValue;

use super::host::{host_of, is_loopback};

/// The permitted origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AllowedOrigins {
    /// All origins are permitted, since nothing public needs a credential.
    Any,
    /// Origins on loopback are permitted.
    Loopback,
    /// These origins are permitted.
    Listed(Vec<String>),
}

/// The permission of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// Whether the page may use the service.
    pub(super) is_allowed: bool,
    /// The value of `Access-Control-Allow-Origin`.
    pub(super) allow_origin: Option<HeaderValue>,
    /// Whether the answer depends on the origin, so that caches must keep one for each.
    pub(super) varies: bool,
}

impl AllowedOrigins {
    /// The permission of a request to `authority` with the field Origin `origin`.
    ///
    /// A request without an origin does not come from a page of another site. A page of this host needs no permission.
    pub(super) fn grant(&self, origin: Option<&HeaderValue>, authority: Option<&str>) -> Grant {
        let is_named = match self {
            Self::Any => {
                return Grant { is_allowed: true, allow_origin: Some(HeaderValue::from_static("*")), varies: false };
            }
            Self::Loopback => origin.and_then(host_of_origin).is_some_and(is_loopback),
            Self::Listed(origins) => origin.is_some_and(|origin| {
                origins.iter().any(|listed| origin.as_bytes().eq_ignore_ascii_case(listed.as_bytes()))
            }),
        };
        let is_same = origin
            .and_then(authority_of_origin)
            .zip(authority)
            .is_some_and(|(origin, authority)| origin.eq_ignore_ascii_case(authority));
        Grant {
            is_allowed: origin.is_none() || is_named || is_same,
            allow_origin: origin.filter(|_| is_named).cloned(),
            varies: true,
        }
    }
}

/// The `host[:port]` of an origin with the scheme http or https; `None` for other origins, such as `null`.
fn authority_of_origin(origin: &HeaderValue) -> Option<&str> {
    let origin = origin.to_str().ok()?;
    origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
}

fn host_of_origin(origin: &HeaderValue) -> Option<&str> {
    authority_of_origin(origin).and_then(host_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(origins: &AllowedOrigins, origin: &'static str, host: &str) -> (bool, bool) {
        let grant = origins.grant(Some(&HeaderValue::from_static(origin)), Some(host));
        (grant.is_allowed, grant.allow_origin.is_some())
    }

    #[test]
    fn loopback_pages_are_granted_and_others_are_not() {
        for origin in [
            "http://localhost:3000",
            "https://localhost",
            "http://127.0.0.1",
            "http://[::1]:5173",
            "http://app.localhost",
        ] {
            assert_eq!(grant(&AllowedOrigins::Loopback, origin, "localhost:8080"), (true, true), "{origin}");
        }
        for origin in [
            "https://evil.test",
            "null",
            "http://localhost.evil.test",
            "file://",
            "http://localhost/x",
            "http://localhost@evil.test",
        ] {
            assert_eq!(grant(&AllowedOrigins::Loopback, origin, "localhost:8080"), (false, false), "{origin}");
        }
        // A proxy in front with a permitted host serves this page.
        assert_eq!(grant(&AllowedOrigins::Loopback, "https://mail.test", "mail.test"), (true, false));
    }

    #[test]
    fn without_an_origin_there_is_no_page_to_refuse() {
        let grant = AllowedOrigins::Loopback.grant(None, Some("localhost"));
        assert_eq!((grant.is_allowed, grant.allow_origin, grant.varies), (true, None, true));
    }

    #[test]
    fn a_list_replaces_the_rule() {
        let listed = AllowedOrigins::Listed(vec!["https://app.test".into()]);
        assert_eq!(grant(&listed, "https://app.test", "x.test"), (true, true));
        assert_eq!(grant(&listed, "http://localhost", "x.test"), (false, false));
        assert_eq!(grant(&AllowedOrigins::Any, "null", "x.test"), (true, true));
    }
}
