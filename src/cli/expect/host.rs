//! The host that a link leads to.

use std::fmt;
use std::str::FromStr;

/// A host in the form that URLs have: a name in A-labels, or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host(url::Host);

impl Host {
    /// The host of a link.
    pub(super) fn of(url: &url::Url) -> Option<Self> {
        url.host().map(|host| Self(host.to_owned()))
    }

    /// Whether `other` is this host or a name below it.
    pub(super) fn covers(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (url::Host::Domain(name), url::Host::Domain(other)) => {
                let (name, other) = (name.trim_end_matches('.'), other.trim_end_matches('.'));
                other.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            }
            (host, other) => host == other,
        }
    }
}

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        url::Host::parse(text)
            .ok()
            .filter(|_| !text.trim_matches('.').is_empty())
            .map(Self)
            .ok_or_else(|| "give a host alone, such as app.example.test, without https://, port and path".to_owned())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Host {
        text.parse().expect(text)
    }

    #[test]
    fn a_host_covers_itself_and_what_is_below_it() {
        for (name, other, expected) in [
            ("app.test", "app.test", true),
            ("APP.test.", "app.test", true),
            ("app.test", "www.app.test", true),
            ("app.test", "myapp.test", false),
            ("www.app.test", "app.test", false),
            ("bücher.test", "xn--bcher-kva.test", true),
            ("127.0.0.1", "127.0.0.1", true),
            ("0.0.1", "127.0.0.1", false),
            ("[::1]", "[::1]", true),
        ] {
            assert_eq!(host(name).covers(&host(other)), expected, "{name} {other}");
        }
    }

    #[test]
    fn a_url_is_no_host() {
        for text in ["https://app.test", "app.test/path", "app.test:80", "", ".", "a b"] {
            assert!(text.parse::<Host>().is_err(), "{text}");
        }
    }
}
