//! The URL of a webhook. It is parsed once, so the URL that is checked is the URL that is called.

use std::fmt;

use hyper::Uri;
use url::{Host, Url};

use super::refused::Refused;

/// The longest URL in octets, both as given and in canonical form.
pub const URL_OCTETS_MAX: usize = 2048;

/// A URL that a webhook may have: http or https, with a host, without user information. The guard decides whether the host
/// may be called.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    /// The URL of requests, whose host has no final dot: certificates and the Host header have none.
    request_url: Url,
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
        let request_url = request_url(&url).ok_or(UrlError::Malformed)?;
        Ok(Self { url, request_url })
    }

    /// The URL in canonical form.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Scheme, host and port: only the administrator sees more of a webhook's URL than this.
    pub fn origin(&self) -> String {
        self.request_url.origin().ascii_serialization()
    }

    /// The host as the parser understood it, without a final dot.
    pub(super) fn host(&self) -> Option<Host<&str>> {
        self.request_url.host()
    }

    /// The URL of requests.
    pub(super) fn request_url(&self) -> &Url {
        &self.request_url
    }

    /// Whether requests go over TLS.
    pub(super) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The port, or the scheme's default.
    pub(super) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }
}

impl fmt::Debug for Target {
    /// Shows the origin alone, because a path is often a credential.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({})", self.origin())
    }
}

fn request_url(url: &Url) -> Option<Url> {
    let mut request_url = url.clone();
    if let Host::Domain(name) = url.host()? {
        let name = without_dot(name);
        // A name with an empty label never resolves.
        if name.split('.').any(str::is_empty) {
            return None;
        }
        request_url.set_host(Some(name)).ok()?;
    }
    // What is sent is a URI (RFC 3986), which is narrower than the URLs of browsers.
    request_url.as_str().parse::<Uri>().ok()?;
    Some(request_url)
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
            let shown = target.as_ref().map_or(("", String::new()), |it| (it.url().as_str(), it.origin()));
            assert_eq!(shown, (url, origin.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_request_has_the_url_without_a_final_dot_of_its_host() {
        for (text, requested) in [
            ("http://hooks.example", "http://hooks.example/"),
            ("https://hooks.example.:443/a?b=%20|^#c", "https://hooks.example/a?b=%20|^"),
            ("https://hooks.example.:80/?", "https://hooks.example:80/?"),
            ("http://[2A00:1450::1]:8080//ü", "http://[2a00:1450::1]:8080//%C3%BC"),
        ] {
            let target = Target::parse(text).expect(text);
            assert_eq!(target.request_url().as_str(), requested, "{text}");
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
