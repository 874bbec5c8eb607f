//! The address of a server, the token that is shown to it, and who may vouch for it.

use std::fmt;
use std::str::FromStr;

use axum::http::HeaderValue;
use url::{Host, Url};

use crate::error::Error;

/// The base address of a server: http or https, a host, perhaps a path; no user information, query or fragment. Without a
/// scheme it is http on this machine, and https elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl {
    url: Url,
    base: String,
}

impl ServerUrl {
    /// The address without a trailing `/`: paths of the interface are appended to it.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The host alone, an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    pub(super) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether what is sent there can be read on the way: it goes to another machine without TLS.
    pub fn is_exposed(&self) -> bool {
        !self.is_tls() && !self.is_loopback()
    }

    pub(super) fn is_loopback(&self) -> bool {
        match self.url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            None => false,
        }
    }
}

impl FromStr for ServerUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || format!("'{text}' is no URL; examples are localhost:8080 and https://mail.example.org");
        if text.is_empty() {
            return Err(malformed());
        }
        if text.starts_with(':') {
            return format!("http://localhost{text}").parse();
        }
        // Without a scheme `localhost:8080` would parse, as the scheme `localhost`.
        if !text.contains("://") {
            let plain: Self = format!("http://{text}").parse()?;
            return if plain.is_loopback() { Ok(plain) } else { format!("https://{text}").parse() };
        }
        let url = Url::parse(text).map_err(|_| malformed())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("the URL of a server starts with http:// or https://, not {}:", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the URL of a server has no user name or password; a token goes into the file of --token-file"
                .to_owned());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("the URL of a server has no query and no fragment".to_owned());
        }
        let base = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self { url, base })
    }
}

/// With what a server is asked.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The token that is shown to it.
    pub token: Option<Token>,
    /// Certificates of authorities that may vouch for it, beside those of this machine.
    pub authorities: Vec<reqwest::Certificate>,
}

/// The certificates in the PEM text of a file, which messages call `name`.
pub fn authorities(name: &str, pem: &[u8]) -> Result<Vec<reqwest::Certificate>, Error> {
    let found = reqwest::Certificate::from_pem_bundle(pem).unwrap_or_default();
    if found.is_empty() { Err(Error::usage(format!("{name}: it has no certificate in PEM"))) } else { Ok(found) }
}

/// What a key of private inboxes begins with, unlike a token.
const KEY: &str = "Bearer tmk_";

/// What a caller bears: a token of the administrator, or a key of private inboxes. Never shown unless it is asked for.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(HeaderValue);

impl Token {
    /// A token from the environment or a file: visible ASCII, surrounding blanks and line ends removed.
    pub fn new(text: &str) -> Result<Self, Error> {
        let token = text.trim();
        let is_sound = !token.is_empty() && token.bytes().all(|octet| octet.is_ascii_graphic());
        let header = is_sound.then(|| HeaderValue::from_str(&format!("Bearer {token}")).ok()).flatten();
        let mut header =
            header.ok_or_else(|| Error::usage("the token is empty or holds more than visible ASCII characters"))?;
        header.set_sensitive(true);
        Ok(Self(header))
    }

    /// Whether it is a key, which opens private inboxes and nothing else.
    pub fn is_key(&self) -> bool {
        self.0.as_bytes().starts_with(KEY.as_bytes())
    }

    /// The secret itself.
    pub fn expose(&self) -> &str {
        self.0.to_str().unwrap_or_default().trim_start_matches("Bearer ")
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_address_loses_its_trailing_slash_and_keeps_its_path() {
        for (text, base) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("HTTPS://Mail.Example.test/", "https://mail.example.test"),
            ("https://example.test/mail/", "https://example.test/mail"),
            ("localhost:8080", "http://localhost:8080"),
            ("[::1]:8080", "http://[::1]:8080"),
            ("mail.example.test", "https://mail.example.test"),
        ] {
            assert_eq!(text.parse::<ServerUrl>().expect(text).base(), base);
        }
    }

    #[test]
    fn what_is_no_base_address_is_refused() {
        for (text, error) in [
            ("", "'' is no URL"),
            ("http://", "'http://' is no URL"),
            ("ftp://example.test", "not ftp:"),
            ("http://ann@example.test", "no user name"),
            ("http://:pw@example.test", "no user name"),
            ("http://example.test/?x", "no query"),
            ("http://example.test/#x", "no query"),
        ] {
            assert!(text.parse::<ServerUrl>().expect_err(text).contains(error), "{text}");
        }
    }

    #[test]
    fn only_loopback_hosts_go_past_the_proxy() {
        for (text, is_loopback) in [
            ("http://127.9.9.9", true),
            ("http://[::1]:8080", true),
            ("http://localhost", true),
            ("http://a.localhost", true),
            ("http://192.0.2.1", false),
            ("http://localhost.example.test", false),
        ] {
            let url: ServerUrl = text.parse().expect(text);
            assert_eq!((url.is_loopback(), url.is_exposed()), (is_loopback, !is_loopback), "{text}");
        }
        assert!(!"https://192.0.2.1".parse::<ServerUrl>().expect("url").is_exposed());
        assert_eq!("http://[::1]:1".parse::<ServerUrl>().expect("url").host(), "[::1]");
    }

    #[test]
    fn a_token_is_visible_ascii_and_never_shown() {
        let token = Token::new(" secret\n").expect("token");
        assert_eq!(token.header().to_str().expect("header"), "Bearer secret");
        assert_eq!(format!("{token:?}{:?}", token.header()), "TokenSensitive");
        assert!(Token::new("a b").is_err());
        assert!(Token::new("").is_err());
    }
}
