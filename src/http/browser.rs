//! What browsers may send: for which hosts, and from pages of which web origins.
//!
//! In DNS rebinding, the name of a hostile site resolves to 127.0.0.1, and its pages could read from services on loopback.
//! So a service that only this machine reaches answers only for loopback hosts and those that are listed. Pages of other
//! sites get no permission to read (CORS, in the Fetch standard), may not write, and may not even ask: whether a frame
//! stays empty would tell them something. No answer permits credentials.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Version, header};
use url::Host;

use super::problem::{Code, Problem};
use crate::config::HttpConfig;

/// The site of the page that sent a request, and how, as the browser says (Fetch Metadata Request Headers).
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
/// What links of any site may lead to. There is no mail in it. The second is sandboxed and leads to the third.
const LINKED: [&str; 3] = ["/", "/docs", "/openapi.json"];
/// The fields of an answer that pages of other origins may read beside those that they always may.
const EXPOSED: &str = "Content-Disposition, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id";

/// The rules for hosts and origins.
#[derive(Debug)]
pub(super) struct Browsers {
    /// The hosts beside loopback that are answered for, on any port; `None` for any. Addresses have no brackets.
    hosts: Option<Vec<String>>,
    /// Whether names without a dot are answered for too. No web site has one, but containers name each other so.
    has_local_names: bool,
    /// The origins whose pages may read and write; `None` for any, since nothing public needs a credential.
    origins: Option<Vec<String>>,
    /// Whether pages of loopback hosts may too.
    has_loopback_origins: bool,
}

impl Browsers {
    /// The settings, or their defaults for listeners that only this machine reaches, or for others.
    pub(super) fn new(config: &HttpConfig) -> Self {
        let (is_local, hosts) = (config.is_local(), config.allowed_hosts.clone());
        let has_loopback_origins = is_local && config.allowed_origins.is_none();
        let origins = config.allowed_origins.clone().or(is_local.then(Vec::new));
        Self {
            hosts: Some(hosts).filter(|hosts| is_local || !hosts.is_empty()),
            has_local_names: !is_local,
            origins: origins.filter(|origins| !origins.iter().any(|origin| origin == "*")),
            has_loopback_origins,
        }
    }

    /// Refuses a request for a host that is not permitted, or of a page that may not send it. Returns whose pages may read the
    /// answer, as the value of `Access-Control-Allow-Origin`.
    pub(super) fn check<B>(&self, request: &Request<B>) -> Result<Option<HeaderValue>, Problem> {
        self.check_host(request)?;
        let Some(origins) = &self.origins else {
            return Ok(Some(HeaderValue::from_static("*")));
        };
        let origin = request.headers().get(header::ORIGIN);
        let is_named = origin.is_some_and(|origin| {
            origins.iter().any(|listed| origin.as_bytes().eq_ignore_ascii_case(listed.as_bytes()))
                || self.has_loopback_origins
                    && authority_of(origin).and_then(host_of).is_some_and(|it| is_loopback(&it))
        });
        if !is_named && (is_of_other_site(request) || is_write(request) && !is_of_own_origin(request)) {
            return Err(Problem::new(
                Code::OriginNotAllowed,
                "a page of another origin sent this request; add the origin to the setting http-allowed-origins",
            ));
        }
        Ok(origin.filter(|_| is_named).cloned())
    }

    /// Writes the fields for the pages that may read an answer.
    pub(super) fn write(&self, allow_origin: Option<HeaderValue>, headers: &mut HeaderMap) {
        if let Some(origin) = allow_origin {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        }
        // Where the answer depends on the origin, caches must keep one for each.
        if self.origins.is_some() {
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
    }

    fn check_host<B>(&self, request: &Request<B>) -> Result<(), Problem> {
        let Some(hosts) = &self.hosts else { return Ok(()) };
        let Some(authority) = authority(request)? else { return Ok(()) };
        let host = host_of(authority).ok_or_else(|| invalid("the Host of the request is no host"))?;
        let is_local_name = matches!(&host, Host::Domain(name) if !name.trim_end_matches('.').contains('.'));
        let name = host.to_string();
        let name = name.trim_matches(['[', ']']).trim_end_matches('.');
        if self.has_local_names && is_local_name || is_loopback(&host) || hosts.iter().any(|listed| listed == name) {
            return Ok(());
        }
        Err(Problem::new(
            Code::HostNotAllowed,
            "this service does not answer for this Host; add it to the setting http-allowed-hosts",
        ))
    }
}

/// Whether a page of another site sent a request, and it follows no link that any site may have.
fn is_of_other_site<B>(request: &Request<B>) -> bool {
    let says = |name, value: &str| request.headers().get(name).is_some_and(|found| found == value);
    let is_link = says(FETCH_MODE, "navigate") && LINKED.contains(&request.uri().path());
    (says(FETCH_SITE, "cross-site") || says(FETCH_SITE, "same-site")) && !is_link
}

/// A form can POST without a preflight, so that its answer is not all that matters.
fn is_write<B>(request: &Request<B>) -> bool {
    ![Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method())
}

/// Whether no page sent a request, or one of the host that it is for.
fn is_of_own_origin<B>(request: &Request<B>) -> bool {
    let host = authority(request).ok().flatten();
    request.headers().get(header::ORIGIN).is_none_or(|origin| {
        authority_of(origin).zip(host).is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host))
    })
}

/// The `host[:port]` of a request; `None` for a request of HTTP/1.0 without one. The target takes precedence over the
/// field Host (RFC 9112 section 3.2.2).
fn authority<B>(request: &Request<B>) -> Result<Option<&str>, Problem> {
    if let Some(authority) = request.uri().authority() {
        return Ok(Some(authority.as_str()));
    }
    let mut values = request.headers().get_all(header::HOST).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().map(Some).map_err(|_| invalid("the Host of the request is no host")),
        (Some(_), Some(_)) => Err(invalid("the request has more than one Host")),
        (None, _) if request.version() < Version::HTTP_11 => Ok(None),
        (None, _) => Err(invalid("the request has no Host")),
    }
}

fn invalid(detail: &'static str) -> Problem {
    Problem::new(Code::HostInvalid, detail)
}

/// The `host[:port]` of an origin with the scheme http or https; `None` for other origins, such as `null`.
fn authority_of(origin: &HeaderValue) -> Option<&str> {
    let origin = origin.to_str().ok()?;
    origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
}

/// The host in `host[:port]`, as browsers read it; `None` for any other text.
fn host_of(authority: &str) -> Option<Host> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => (host, port),
        _ => (authority, ""),
    };
    Host::parse(host).ok().filter(|_| port.bytes().all(|octet| octet.is_ascii_digit()))
}

/// Whether a host is a loopback name or address (RFC 6761 section 6.3, RFC 1122, RFC 4291).
fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Domain(name) => format!(".{}", name.trim_end_matches('.')).ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.to_canonical().is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_distinguished_from_what_looks_like_it() {
        for host in [
            "localhost",
            "LOCALHOST",
            "localhost.",
            "a.localhost",
            "127.0.0.1",
            "127.8.9.1",
            "[::1]",
            "[::ffff:127.0.0.1]",
            // As browsers read it.
            "0x7f.1",
        ] {
            assert!(host_of(host).is_some_and(|it| is_loopback(&it)), "{host}");
        }
        for host in [
            "",
            "example.test",
            "localhost.example.test",
            "notlocalhost",
            "127.0.0.1.example.test",
            "128.0.0.1",
            "0.0.0.0",
            "[::2]",
            "[::]",
            "::1",
        ] {
            assert!(!host_of(host).is_some_and(|it| is_loopback(&it)), "{host}");
        }
    }

    #[test]
    fn the_host_is_what_precedes_the_port() {
        for (authority, host) in [
            ("localhost:8080", Some("localhost")),
            ("localhost", Some("localhost")),
            ("[::1]:80", Some("[::1]")),
            ("[::1]", Some("[::1]")),
            ("localhost:", Some("localhost")),
            ("localhost:80@evil.test", None),
            ("user@localhost", None),
            ("localhost:x", None),
            ("localhost%2f", None),
            ("[::1", None),
            ("[::1]x", None),
            ("", None),
            (":80", None),
            ("a b", None),
        ] {
            assert_eq!(host_of(authority).map(|it| it.to_string()).as_deref(), host, "{authority}");
        }
    }

    /// The rules of a service on loopback with these hosts and origins.
    fn rules(hosts: &[&str], origins: Option<&[&str]>) -> Browsers {
        let owned = |all: &[&str]| all.iter().map(ToString::to_string).collect();
        let has_loopback_origins = origins.is_some_and(<[&str]>::is_empty);
        Browsers {
            hosts: Some(owned(hosts)),
            has_local_names: false,
            origins: origins.map(owned),
            has_loopback_origins,
        }
    }

    #[test]
    fn every_spelling_of_the_host_is_checked() {
        let browsers = rules(&["mail.example.test", "192.0.2.1", "2001:db8::1"], Some(&[]));
        let code = |target: &str, host: Option<&str>, version| {
            let mut request = Request::builder().uri(target).version(version);
            if let Some(host) = host {
                request = request.header("host", host);
            }
            browsers.check(&request.body(()).expect("request")).err().map(|problem| problem.code())
        };
        let http11 = Version::HTTP_11;
        assert_eq!(code("/", Some("127.0.0.1:8080"), http11), None);
        assert_eq!(code("/", Some("Mail.Example.test:99"), http11), None);
        assert_eq!(code("/", Some("mail.example.test."), http11), None);
        assert_eq!(code("/", Some("192.0.2.1:8080"), http11), None);
        assert_eq!(code("/", Some("[2001:db8::1]:8080"), http11), None);
        assert_eq!(code("/", Some("[2001:DB8:0::1]"), http11), None);
        assert_eq!(code("/", Some("[2001:db8::2]"), http11), Some(Code::HostNotAllowed));
        assert_eq!(code("/", Some("box.mail.example.test"), http11), Some(Code::HostNotAllowed));
        assert_eq!(code("/", Some("evil.test"), http11), Some(Code::HostNotAllowed));
        assert_eq!(code("http://evil.test/", Some("localhost"), http11), Some(Code::HostNotAllowed));
        assert_eq!(code("http://localhost/", Some("localhost"), http11), None);
        assert_eq!(code("/", Some("a b"), http11), Some(Code::HostInvalid));
        assert_eq!(code("/", None, http11), Some(Code::HostInvalid));
        assert_eq!(code("/", None, Version::HTTP_10), None);
        let twice = Request::builder().uri("/").header("host", "localhost").header("host", "evil.test");
        assert!(browsers.check(&twice.body(()).expect("request")).is_err());
    }

    #[test]
    fn names_without_a_dot_are_no_web_sites() {
        let hosts = Browsers { has_local_names: true, ..rules(&["localhost"], Some(&[])) };
        let code = |host: &str| {
            hosts.check(&Request::builder().header("host", host).body(()).expect("request")).err().map(|it| it.code())
        };
        for host in ["tempmail", "tempmail:8080", "tempmail.", "localhost", "[::1]"] {
            assert_eq!(code(host), None, "{host}");
        }
        for host in ["evil.test", "evil.test.", "192.0.2.1", "[2001:db8::1]:80"] {
            assert_eq!(code(host), Some(Code::HostNotAllowed), "{host}");
        }
    }

    /// Whether a page of an origin may write and may read.
    fn permits(origins: Option<&[&str]>, origin: &str, host: &str) -> (bool, bool) {
        let browsers = rules(&["mail.test", "x.test"], origins);
        let request = Request::builder().method("POST").header("host", host).header("origin", origin);
        let grant = browsers.check(&request.body(()).expect("request"));
        (grant.is_ok(), grant.is_ok_and(|origin| origin.is_some()))
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
            assert_eq!(permits(Some(&[]), origin, "localhost:8080"), (true, true), "{origin}");
        }
        for origin in [
            "https://evil.test",
            "null",
            "http://localhost.evil.test",
            "file://",
            "http://localhost/x",
            "http://localhost@evil.test",
        ] {
            assert_eq!(permits(Some(&[]), origin, "localhost:8080"), (false, false), "{origin}");
        }
        // A proxy in front with a permitted host serves this page.
        assert_eq!(permits(Some(&[]), "https://mail.test", "mail.test"), (true, false));
    }

    #[test]
    fn a_list_replaces_the_rule() {
        let listed = Some(&["https://app.test"][..]);
        assert_eq!(permits(listed, "https://app.test", "x.test"), (true, true));
        assert_eq!(permits(listed, "http://localhost", "x.test"), (false, false));
        assert_eq!(permits(None, "null", "x.test"), (true, true));
    }

    #[test]
    fn a_page_of_another_site_may_link_and_not_ask() {
        let is_answered = |target: &str, fields: &[(&str, &str)]| {
            let request = Request::builder().uri(target).header("host", "localhost:8080");
            let request = fields.iter().fold(request, |request, (name, value)| request.header(*name, *value));
            rules(&[], Some(&[])).check(&request.body(()).expect("request")).is_ok()
        };
        let (cross, same) = (("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"));
        let (link, image) = (("sec-fetch-mode", "navigate"), ("sec-fetch-mode", "no-cors"));
        let inbox = "/api/mail/messages?to=a@b.test";
        for site in [cross, same] {
            assert!(!is_answered(inbox, &[site, link]) && !is_answered(inbox, &[site, image]));
            assert!(is_answered("/?x", &[site, link]) && is_answered("/docs", &[site, link]));
            assert!(!is_answered("/", &[site, image]) && !is_answered("/", &[site]));
            assert!(is_answered(inbox, &[site, ("origin", "http://localhost:3000")]), "this page may read");
            assert!(!is_answered(inbox, &[site, ("origin", "https://evil.test")]));
        }
        for site in ["none", "same-origin"] {
            assert!(is_answered(inbox, &[("sec-fetch-site", site), link]));
        }
    }
}
