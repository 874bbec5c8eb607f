//! The URL of a webhook. It is parsed once, so the URL that is checked is the URL that is called.

use std::fmt;
use std::sync::Arc;

use hyper::Uri;
use hyper::header::HeaderValue;
use url::{Host, Position, Url};

use super::guard::Refused;

/// The longest URL in octets, both as given and in canonical form.
pub const URL_OCTETS_MAX: usize = 2048;

/// A URL that a webhook may have: http or https, with a host, without user information. The guard decides whether the host
/// may be called.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    origin: Origin,
    path_and_query: Uri,
    authority: HeaderValue,
}

/// The scheme, host and port of a URL. Only the administrator sees more of a webhook's URL than this.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    is_tls: bool,
    /// In canonical form, an IPv6 address in brackets, a name without a trailing dot.
    host: Arc<str>,
    port: u16,
}

/// Why a text can't be a webhook's URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// More than [`URL_OCTETS_MAX`].
    #[error("the URL is longer than {URL_OCTETS_MAX} octets")]
    TooLong,
    /// It does not start with `http://` or `https://`.
    #[error("the URL must start with http:// or https://")]
    Scheme,
    /// It is not a URL, or its host is neither a name nor an address.
    #[error("the URL is not valid")]
    Malformed,
    /// A name or password before the host, even an empty one.
    #[error("the URL has user information before '@', which is not accepted; leave it out")]
    UserInformation,
    /// The guard refuses its host or port.
    #[error("{0}")]
    Refused(#[from] Refused),
}

impl Target {
    /// Parses the URL of a webhook. The fragment is dropped, because it is never sent.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.len() > URL_OCTETS_MAX {
            return Err(UrlError::TooLong);
        }
        let rest = after_scheme(text).ok_or(UrlError::Scheme)?;
        // The parser would drop tabs, line ends and outer blanks. Then people would see another text than the URL that is
        // called.
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(UrlError::Malformed);
        }
        let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(UrlError::UserInformation);
        }
        if authority.is_empty() {
            return Err(UrlError::Malformed);
        }
        let mut url = Url::parse(text).map_err(|_| UrlError::Malformed)?;
        if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Malformed);
        }
        url.set_fragment(None);
        // Percent-encoding and A-labels make a URL longer.
        if url.as_str().len() > URL_OCTETS_MAX {
            return Err(UrlError::TooLong);
        }
        let origin = Origin::of(&url).ok_or(UrlError::Malformed)?;
        let path_and_query = url[Position::BeforePath..].parse().map_err(|_| UrlError::Malformed)?;
        let authority = origin.authority().try_into().map_err(|_| UrlError::Malformed)?;
        Ok(Self { url, origin, path_and_query, authority })
    }

    /// The URL in canonical form.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Its origin.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The host as the parser understood it.
    pub(super) fn host(&self) -> Option<Host<&str>> {
        self.url.host()
    }

    /// The request target: path and query (RFC 9112 section 3.2.1).
    pub(super) fn request_target(&self) -> &Uri {
        &self.path_and_query
    }

    /// The value of the Host header: the host, and the port unless it is the scheme's default.
    pub(super) fn authority(&self) -> &HeaderValue {
        &self.authority
    }

    /// Whether its scheme is https.
    pub(super) fn is_tls(&self) -> bool {
        self.origin.is_tls
    }

    /// The port, or the scheme's default.
    pub(super) fn port(&self) -> u16 {
        self.origin.port
    }
}

impl fmt::Debug for Target {
    /// Shows the origin alone, because a path is often a credential.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({})", self.origin)
    }
}

impl Origin {
    fn of(url: &Url) -> Option<Self> {
        let host: Arc<str> = match url.host()? {
            Host::Domain(name) => without_dot(name).into(),
            address => address.to_string().into(),
        };
        // A name with an empty label never resolves.
        if host.is_empty() || host.split('.').any(str::is_empty) {
            return None;
        }
        Some(Self { is_tls: url.scheme() == "https", host, port: url.port_or_known_default()? })
    }

    /// The host, an IPv6 address in brackets, a name without a trailing dot.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    fn authority(&self) -> String {
        if self.port == if self.is_tls { 443 } else { 80 } {
            return self.host.to_string();
        }
        format!("{}:{}", self.host, self.port)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority())
    }
}

/// Whether a name is `localhost` or below it. Such a name means loopback, whatever DNS says (RFC 6761 section 6.3).
pub(super) fn is_localhost(name: &str) -> bool {
    let name = without_dot(name);
    let is_below = || name.len() > 10 && name.as_bytes()[name.len() - 10..].eq_ignore_ascii_case(b".localhost");
    name.eq_ignore_ascii_case("localhost") || is_below()
}

fn without_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

fn after_scheme(text: &str) -> Option<&str> {
    let after = |scheme: &str| {
        let (start, rest) = text.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    };
    after("http://").or_else(|| after("https://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_canonical_form_and_an_origin() {
        for (text, url, origin) in [
            ("http://hooks.example", "http://hooks.example/", "http://hooks.example"),
            ("HTTPS://Hooks.Example:443/a?b#c", "https://hooks.example/a?b", "https://hooks.example"),
            ("https://hooks.example.:8443/", "https://hooks.example.:8443/", "https://hooks.example:8443"),
            ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC", "http://xn--bcher-kva.example"),
            ("http://[2A00:1450::1]:8080", "http://[2a00:1450::1]:8080/", "http://[2a00:1450::1]:8080"),
            ("http://0x8.8.2056/", "http://8.8.8.8/", "http://8.8.8.8"),
            ("http:///hooks.example/a", "", ""),
            ("https://hooks.example/@team", "https://hooks.example/@team", "https://hooks.example"),
        ] {
            let target = Target::parse(text);
            let shown = target.as_ref().map_or(("", String::new()), |it| (it.url().as_str(), it.origin().to_string()));
            assert_eq!(shown, (url, origin.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_request_names_its_host_and_its_path() {
        for (text, authority, request_target) in [
            ("http://hooks.example", "hooks.example", "/"),
            ("https://hooks.example:443/a?b=%20|^#c", "hooks.example", "/a?b=%20|^"),
            ("https://hooks.example.:80/?", "hooks.example:80", "/?"),
            ("http://[2A00:1450::1]:8080//ü", "[2a00:1450::1]:8080", "//%C3%BC"),
        ] {
            let target = Target::parse(text).expect(text);
            let said = (target.authority().to_str().expect("ASCII"), target.request_target().to_string());
            assert_eq!(said, (authority, request_target.to_owned()), "{text}");
        }
    }

    #[test]
    fn texts_that_cannot_be_a_webhooks_url() {
        let long = format!("http://a.example/{}", "a".repeat(URL_OCTETS_MAX));
        let escaped = format!("http://a.example/{}", "é".repeat(700));
        for (text, error) in [
            ("", UrlError::Scheme),
            ("hooks.example", UrlError::Scheme),
            ("ftp://a.example", UrlError::Scheme),
            ("file:///etc/passwd", UrlError::Scheme),
            ("http:/a.example", UrlError::Scheme),
            ("http:a.example", UrlError::Scheme),
            (" http://a.example", UrlError::Scheme),
            ("ht\ntp://a.example", UrlError::Scheme),
            ("http://a.example ", UrlError::Malformed),
            ("http://a.exa\nmple/", UrlError::Malformed),
            ("http://a.example/\t", UrlError::Malformed),
            ("http://", UrlError::Malformed),
            ("http://?x", UrlError::Malformed),
            ("http://:80", UrlError::Malformed),
            ("http://a..example", UrlError::Malformed),
            ("http://a.example..", UrlError::Malformed),
            ("http://.", UrlError::Malformed),
            ("http://.a.example", UrlError::Malformed),
            ("http://a.example:99999", UrlError::Malformed),
            ("http://a.example:x", UrlError::Malformed),
            ("http://a^b", UrlError::Malformed),
            ("http://256.0.0.1", UrlError::Malformed),
            ("http://1.2.3.4.5", UrlError::Malformed),
            ("http://[::1", UrlError::Malformed),
            ("http://[fe80::1%25eth0]", UrlError::Malformed),
            ("http://ann@a.example", UrlError::UserInformation),
            ("http://ann:pw@a.example", UrlError::UserInformation),
            ("http://@a.example", UrlError::UserInformation),
            ("http://:@a.example", UrlError::UserInformation),
            ("http://a.example@127.0.0.1/", UrlError::UserInformation),
            (&long, UrlError::TooLong),
            (&escaped, UrlError::TooLong),
        ] {
            assert_eq!(Target::parse(text), Err(error), "{text:?}");
        }
    }

    #[test]
    fn debug_does_not_show_the_path() {
        let target = Target::parse("https://hooks.example/s3cret").expect("url");
        assert_eq!(format!("{target:?}"), "Target(https://hooks.example)");
    }

    #[test]
    fn localhost_and_the_names_below_it() {
        for (name, is_local) in [
            ("localhost", true),
            ("LOCALHOST.", true),
            ("a.localhost", true),
            ("a.b.localhost.", true),
            (".localhost", false),
            ("localhost.example", false),
            ("notlocalhost", false),
            ("héllocalhost", false),
        ] {
            assert_eq!(is_localhost(name), is_local, "{name}");
        }
    }
}
