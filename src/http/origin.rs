//! Which pages in a browser may use this service (the Fetch standard's CORS protocol). Never with credentials.

use axum::http::HeaderValue;

use super::host::{host_of, is_loopback};

/// The origins whose pages may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AllowedOrigins {
    /// Every one: nothing here needs a credential.
    Any,
    /// Those of loopback.
    Loopback,
    /// These.
    Listed(Vec<String>),
}

/// What to say to a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// The page may use the service.
    pub(super) is_allowed: bool,
    /// The value of `Access-Control-Allow-Origin`.
    pub(super) allow_origin: Option<HeaderValue>,
    /// The answer depends on the origin, which caches must know.
    pub(super) varies: bool,
}

impl AllowedOrigins {
    /// What to say to a request with the field Origin `origin` that was sent to `authority`.
    ///
    /// Without an origin there is no page of another site, and a page of this very host needs no permission.
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

/// `host[:port]` of an origin of the web. `null` and other schemes have none.
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
        // A page served by a proxy in front, whose host is permitted.
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
