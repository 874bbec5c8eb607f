//! Domain names in canonical form, and records of registered domains.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Client, Timestamp};

/// The longest domain name in octets, without a trailing dot (RFC 1035 section 2.3.4).
const NAME_OCTETS_MAX: usize = 253;
/// The longest label in octets (RFC 1035 section 2.3.4).
const LABEL_OCTETS_MAX: usize = 63;

/// A domain name in canonical form: A-labels, lower case, no trailing dot.
///
/// Every name from outside goes through [`DomainName::from_str`], so two values are equal exactly if they name one
/// domain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct DomainName(String);

/// Why a text is not a domain name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DomainNameError(Cow<'static, str>);

impl DomainName {
    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the name equals `parent` or lies below it.
    pub fn is_within(&self, parent: &str) -> bool {
        self.0.strip_suffix(parent).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }

    /// Whether the name is within `test`, `example`, `localhost` or `invalid`.
    ///
    /// RFC 2606 and RFC 6761 reserve these names for tests and documentation, so no certificate can be issued for
    /// them.
    pub fn is_reserved_for_testing(&self) -> bool {
        ["test", "example", "localhost", "invalid"].iter().any(|reserved| self.is_within(reserved))
    }
}

impl FromStr for DomainName {
    type Err = DomainNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |sentence: &'static str| DomainNameError(sentence.into());
        // The form in A-labels of UTS 46.
        let to_ascii = |name: &str| {
            idna::domain_to_ascii(name).map_err(|_| error("the internationalized domain name is not valid"))
        };
        let name = if text.is_ascii() { text.to_ascii_lowercase() } else { to_ascii(text)? };
        let name = name.strip_suffix('.').unwrap_or(&name);
        if name.is_empty() {
            return Err(error("the domain name is empty"));
        }
        if name.len() > NAME_OCTETS_MAX {
            return Err(error("the domain name is longer than 253 octets"));
        }
        if let Some(label) = name.split('.').find(|label| !is_label(label)) {
            return Err(DomainNameError(format!("'{label}' is not a label of a domain name").into()));
        }
        // URL parsers and resolvers read a name with a number as its last label as an IPv4 address.
        if name.rsplit('.').next().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit())) {
            return Err(error("an IP address is not a domain name"));
        }
        // An A-label without a valid U-label would be a second spelling of a name.
        if name.split('.').any(|label| label.starts_with("xn--")) && to_ascii(name)? != name {
            return Err(error("the internationalized domain name is not valid"));
        }
        Ok(Self(name.to_owned()))
    }
}

fn is_label(label: &str) -> bool {
    !label.is_empty()
        && label.len() <= LABEL_OCTETS_MAX
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<DomainName> for String {
    fn from(name: DomainName) -> Self {
        name.0
    }
}

impl TryFrom<String> for DomainName {
    type Error = DomainNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// A pattern of domains that the settings fix: one domain, all domains below one, or every domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DomainPattern {
    /// One domain, written `example.test`.
    Exact(DomainName),
    /// Every domain below one, without the domain itself, written `*.example.test`.
    Below(DomainName),
    /// Every domain, written `*`.
    Any,
}

impl DomainPattern {
    /// Whether the pattern matches `name`.
    pub fn matches(&self, name: &DomainName) -> bool {
        match self {
            Self::Exact(exact) => name == exact,
            Self::Below(parent) => name != parent && name.is_within(parent.as_str()),
            Self::Any => true,
        }
    }

    /// Whether the pattern can match more than one name.
    pub fn is_wildcard(&self) -> bool {
        !matches!(self, Self::Exact(_))
    }
}

impl FromStr for DomainPattern {
    type Err = DomainNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "*" => Ok(Self::Any),
            _ => match text.strip_prefix("*.") {
                Some(parent) => parent.parse().map(Self::Below),
                None => text.parse().map(Self::Exact),
            },
        }
    }
}

impl fmt::Display for DomainPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(name) => name.fmt(f),
            Self::Below(parent) => write!(f, "*.{parent}"),
            Self::Any => f.write_str("*"),
        }
    }
}

/// The status of a domain, with its names in the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DomainStatus {
    /// Mail is received for the domain.
    Active,
    /// The domain's MX points elsewhere, so mail for it is refused.
    Deactivated,
}

/// The record of a registered domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainRecord {
    /// The domain.
    pub name: DomainName,
    /// Whether mail is received for it.
    pub status: DomainStatus,
    /// Whether the administrator pinned it. A pinned domain is active without DNS and never verified.
    pub pinned: bool,
    /// Name of the owner: personal data, for the administrator only.
    pub owner: Option<String>,
    /// Contact address of the owner: personal data, for the administrator only.
    pub email: Option<String>,
    /// When it was registered.
    pub added_at: Timestamp,
    /// When its MX was last checked; `None` before the first check.
    pub last_checked_at: Option<Timestamp>,
    /// The result of the last check, in one sentence.
    pub last_check_result: Option<String>,
    /// The client that registered it; `None` for the administrator, who also takes over what it pins.
    pub registrant: Option<Client>,
    /// When it was deactivated; `None` while it is active.
    pub deactivated_at: Option<Timestamp>,
}

impl DomainRecord {
    /// An active domain that nobody has checked yet, without data of an owner.
    pub const fn new(name: DomainName, added_at: Timestamp) -> Self {
        Self {
            name,
            status: DomainStatus::Active,
            pinned: false,
            owner: None,
            email: None,
            added_at,
            last_checked_at: None,
            last_check_result: None,
            registrant: None,
            deactivated_at: None,
        }
    }

    /// Makes the domain active.
    pub fn activate(&mut self) {
        (self.status, self.deactivated_at) = (DomainStatus::Active, None);
    }

    /// Deactivates the domain at `now`.
    pub fn deactivate(&mut self, now: Timestamp) {
        (self.status, self.deactivated_at) = (DomainStatus::Deactivated, Some(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> DomainName {
        text.parse().expect(text)
    }

    #[test]
    fn every_spelling_has_one_canonical_form() {
        for (spelling, canonical) in [
            ("example.test", "example.test"),
            ("EXAMPLE.Test.", "example.test"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.example.", "xn--bcher-kva.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("localhost", "localhost"),
            ("a_b.example", "a_b.example"),
        ] {
            assert_eq!(name(spelling).as_str(), canonical, "{spelling}");
        }
    }

    #[test]
    fn what_is_no_domain_name_is_refused() {
        let long_label = format!("{}.test", "a".repeat(64));
        let long_name = ["a".repeat(60), "b".repeat(60), "c".repeat(60), "d".repeat(60), "e".repeat(60)].join(".");
        for bad in [
            "",
            ".",
            "..",
            "a..b",
            ".a",
            "-a.test",
            "a-.test",
            "a b.test",
            "a\0.test",
            "a@b",
            "127.0.0.1",
            "1",
            "xn--\u{80}",
            "xn--zzzzzzz--.test",
            // A spelling of U+0080, which no name has.
            "xn--a.test",
            &long_label,
            &long_name,
        ] {
            assert!(bad.parse::<DomainName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pattern_takes_what_it_says() {
        let below: DomainPattern = "*.Example.test".parse().expect("pattern");
        assert!(below.matches(&name("a.example.test")));
        assert!(below.matches(&name("a.b.example.test")));
        assert!(!below.matches(&name("example.test")));
        assert!(!below.matches(&name("badexample.test")));
        assert!("*".parse::<DomainPattern>().expect("pattern").matches(&name("any.thing")));
        assert!("*x".parse::<DomainPattern>().is_err());
        assert_eq!(below.to_string(), "*.example.test");
    }

    #[test]
    fn reserved_names_are_known_by_their_last_label() {
        assert!(name("example.test").is_reserved_for_testing());
        assert!(name("test").is_reserved_for_testing());
        assert!(!name("mytest").is_reserved_for_testing());
        assert!(!name("example.com").is_reserved_for_testing());
    }
}
