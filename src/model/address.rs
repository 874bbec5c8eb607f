//! Mail addresses and mailboxes, and the one function that maps an address to its mailbox.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::{DomainName, DomainNameError, LeaseId};

/// The longest local part in octets (RFC 5321 section 4.5.3.1.1), quotes included.
const LOCAL_PART_OCTETS_MAX: usize = 64;

/// An address `local-part@domain` (RFC 5321 section 4.1.2, with UTF-8 as in RFC 6531).
///
/// It is shown with the local part as given and the domain in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    local_part: String,
    unquoted: String,
    domain: DomainName,
}

/// Why a text is not an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// There is no `@`, or the local part is not one of RFC 5321. The text says so.
    #[error("{0}")]
    Form(&'static str),
    /// The domain is an address literal such as `[192.0.2.1]`, which is well-formed but never a registered domain.
    #[error("an address literal is not a registered domain")]
    AddressLiteral,
    /// The text after the `@` is not a domain name.
    #[error(transparent)]
    Domain(#[from] DomainNameError),
}

/// The meaning of a `+tag` in the local part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subaddressing {
    /// The tag is part of the address.
    #[default]
    Keep,
    /// Mail for `user+tag@` arrives at `user@`.
    Strip,
}

impl Address {
    /// The domain.
    pub fn domain(&self) -> &DomainName {
        &self.domain
    }

    /// The local part as given, including quotes.
    pub fn local_part(&self) -> &str {
        &self.local_part
    }

    /// The address `local_part@domain`.
    ///
    /// The rules of [`Address::from_str`] apply to `local_part`.
    pub fn new(local_part: &str, domain: DomainName) -> Result<Self, AddressError> {
        if local_part.len() > LOCAL_PART_OCTETS_MAX {
            return Err(AddressError::Form("the local part of the address is longer than 64 octets"));
        }
        let invalid = AddressError::Form("the local part of the address is not valid");
        let unquoted = unquote(local_part).ok_or(invalid)?;
        Ok(Self { local_part: local_part.to_owned(), unquoted, domain })
    }

    /// The mailbox at which mail for this address arrives. SMTP, HTTP and the command line compare addresses only by
    /// this canonical form.
    pub fn mailbox(&self, subaddressing: Subaddressing) -> Mailbox {
        let folded = fold(&self.unquoted);
        let local = match subaddressing {
            Subaddressing::Keep => folded.as_str(),
            // `+tag@` keeps its tag, since an empty local part would be left.
            Subaddressing::Strip => match folded.split_once('+') {
                Some((user, _)) if !user.is_empty() => user,
                _ => folded.as_str(),
            },
        };
        Mailbox(format!("{local}@{}", self.domain))
    }
}

impl FromStr for Address {
    type Err = AddressError;

    /// Parses `local-part@domain`. The domain follows the last `@`, and may be in U-labels and end with a dot.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let no_at_sign = AddressError::Form("an address has the form local-part@domain");
        let (local_part, domain) = text.rsplit_once('@').ok_or(no_at_sign)?;
        if domain.starts_with('[') && domain.ends_with(']') {
            return Err(AddressError::AddressLiteral);
        }
        Self::new(local_part, domain.parse()?)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.local_part, self.domain)
    }
}

/// The content of a local part: a dot-string unchanged, or a quoted string without quotes and backslashes.
///
/// Against the grammar, a dot-string may begin or end with dots and repeat them. Such addresses exist.
fn unquote(local_part: &str) -> Option<String> {
    let Some(quoted) = local_part.strip_prefix('"') else {
        let is_atext = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c);
        let is_valid = !local_part.is_empty() && local_part.chars().all(|c| is_atext(c) && !c.is_control());
        return is_valid.then(|| local_part.to_owned());
    };
    let inner = quoted.strip_suffix('"')?;
    let mut content = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' => chars.next()?,
            '"' => return None,
            c => c,
        };
        if c.is_control() {
            return None;
        }
        content.push(c);
    }
    (!content.is_empty()).then_some(content)
}

/// A local part with ASCII letters in lower case and all characters in Unicode's normal form C.
///
/// Composing comes after lower case, so that folding twice changes nothing: only h has a composed character with a
/// macron below, and H has none.
pub(crate) fn fold(local_part: &str) -> String {
    if local_part.is_ascii() {
        return local_part.to_ascii_lowercase();
    }
    local_part.nfc().map(|c| c.to_ascii_lowercase()).nfc().collect()
}

/// What begins the name of a lease in that of its mailbox. No address has a control character.
const LEASE_TAG: char = '\u{1f}';

/// The canonical form of an address, `local-part@domain`, under which mail is stored and read.
///
/// The local part is unquoted, with ASCII letters in lower case and all characters in Unicode's normal form C. The
/// domain is canonical. Two addresses have one mailbox exactly if these texts are equal.
///
/// The mail of a lease has a private mailbox: the local part, a character that no address has, and the id of the lease. It
/// is shown as the address is. What is shown is an address of the mailbox, with quotes where it needs them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Mailbox(String);

impl Mailbox {
    /// The canonical text. Without its quotes it is not always a valid address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The canonical local part.
    pub fn local_part(&self) -> &str {
        self.split().0
    }

    /// The domain.
    pub fn domain(&self) -> &str {
        self.split().1
    }

    /// The mailbox of a lease of this one.
    #[must_use]
    pub fn private(&self, lease: LeaseId) -> Self {
        let (local_part, domain) = self.split();
        Self(format!("{local_part}{LEASE_TAG}{lease}@{domain}"))
    }

    /// The lease that the mailbox is of; `None` if it is public.
    pub fn lease(&self) -> Option<LeaseId> {
        self.local_part().split_once(LEASE_TAG).and_then(|(_, id)| LeaseId::from_hex(id))
    }

    /// The mailbox that the address has without a lease.
    #[must_use]
    pub fn public(&self) -> Self {
        Self(format!("{}@{}", self.public_local_part(), self.domain()))
    }

    fn public_local_part(&self) -> &str {
        let local_part = self.local_part();
        local_part.split_once(LEASE_TAG).map_or(local_part, |(public, _)| public)
    }

    fn split(&self) -> (&str, &str) {
        self.0.rsplit_once('@').unwrap_or((&self.0, ""))
    }
}

impl fmt::Display for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (local_part, domain) = (self.public_local_part(), self.domain());
        if unquote(local_part).as_deref() == Some(local_part) {
            return write!(f, "{local_part}@{domain}");
        }
        write!(f, "\"{}\"@{domain}", local_part.replace('\\', r"\\").replace('"', "\\\""))
    }
}

/// The role addresses of every domain, such as `postmaster`.
///
/// A certificate authority accepts mail to some of them as proof of control of the domain. So only the administrator
/// may read them, except on domains that can't have a certificate.
///
/// Mail to `<postmaster>` without a domain is for the administrator (RFC 5321 section 4.5.1). It arrives at `postmaster`
/// of the service's own name, which is a role address even if that name can't have a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleAddresses(HashSet<String>);

/// The local part that receives mail for the administrator.
pub const POSTMASTER: &str = "postmaster";

impl RoleAddresses {
    /// Role addresses from a list of local parts, which are compared in canonical form.
    pub fn new<'a>(local_parts: impl IntoIterator<Item = &'a str>) -> Self {
        Self(local_parts.into_iter().map(fold).collect())
    }

    /// Whether a role has the local part of `mailbox`, on whatever domain.
    pub fn has(&self, mailbox: &Mailbox) -> bool {
        self.0.contains(mailbox.local_part())
    }

    /// Whether only the administrator of the service with the name `hostname` may read `mailbox`.
    pub fn contains(&self, mailbox: &Mailbox, hostname: &DomainName) -> bool {
        let is_testing = || mailbox.domain().parse::<DomainName>().is_ok_and(|name| name.is_reserved_for_testing());
        let is_own = mailbox.local_part() == POSTMASTER && mailbox.domain() == hostname.as_str();
        self.has(mailbox) && (is_own || !is_testing())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mailbox(text: &str) -> String {
        text.parse::<Address>().expect(text).mailbox(Subaddressing::Keep).as_str().to_owned()
    }

    #[test]
    fn spellings_of_one_mailbox_agree() {
        for (spelling, canonical) in [
            ("Ann@Example.TEST", "ann@example.test"),
            ("\"ann\"@example.test.", "ann@example.test"),
            ("\"a\\nn\"@example.test", "ann@example.test"),
            ("\"a b\"@example.test", "a b@example.test"),
            ("\"a@b\"@example.test", "a@b@example.test"),
            ("ann@bücher.example", "ann@xn--bcher-kva.example"),
            ("ANN+Tag@example.test", "ann+tag@example.test"),
            ("Jose\u{301}@example.test", "jos\u{e9}@example.test"),
            // The capital has no composed form, so composing before lower case would leave two characters.
            ("H\u{331}@example.test", "\u{1e96}@example.test"),
            (".a..b.@example.test", ".a..b.@example.test"),
        ] {
            assert_eq!(mailbox(spelling), canonical, "{spelling}");
        }
    }

    #[test]
    fn an_address_is_shown_with_its_local_part_as_it_came() {
        let address: Address = "\"Ann B\"@EXAMPLE.test.".parse().expect("address");
        assert_eq!(address.to_string(), "\"Ann B\"@example.test");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let long = format!("{}@example.test", "a".repeat(65));
        for bad in [
            "",
            "a",
            "@",
            "@example.test",
            "a@",
            "a b@example.test",
            "a@b@c",
            "\"\"@example.test",
            "\"a@example.test",
            "a\"@example.test",
            "\"a\"b\"@example.test",
            "\"a\\\"@example.test",
            "a\r@example.test",
            "a\0@example.test",
            "\"a\n\"@example.test",
            "<a@example.test>",
            "a@-x.test",
            "a,b@example.test",
            &long,
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad:?}");
        }
        assert_eq!("a@[127.0.0.1]".parse::<Address>(), Err(AddressError::AddressLiteral));
    }

    #[test]
    fn subaddressing_strips_the_tag_when_asked() {
        let strip = |text: &str| text.parse::<Address>().expect(text).mailbox(Subaddressing::Strip).as_str().to_owned();
        assert_eq!(strip("Ann+news@example.test"), "ann@example.test");
        assert_eq!(strip("+news@example.test"), "+news@example.test");
        assert_eq!(strip("ann@example.test"), "ann@example.test");
    }

    #[test]
    fn roles_are_guarded_where_a_certificate_can_be_had() {
        let roles = RoleAddresses::new([POSTMASTER, "admin"]);
        let mailbox = |text: &str| text.parse::<Address>().expect(text).mailbox(Subaddressing::Keep);
        let hostname = "mx.example.test".parse().expect("name");
        let is_role = |text: &str| roles.contains(&mailbox(text), &hostname);
        assert!(is_role("Admin@example.com"));
        assert!(is_role("\"postmaster\"@example.com"));
        assert!(!is_role("admin+x@example.com"));
        assert!(!is_role("administration@example.com"));
        assert!(!is_role("admin@example.test"));
        assert!(!is_role("admin@sub.localhost"));
        assert!(is_role("postmaster@mx.example.test"), "the administrator's");
        assert!(!is_role("admin@mx.example.test"));
        assert!(!is_role("postmaster@example.test"));
        assert!(!RoleAddresses::new([]).contains(&mailbox("admin@example.com"), &hostname));
    }

    proptest! {
        #[test]
        fn any_text_is_an_address_or_an_error(text in "\\PC{0,80}") {
            let _ = text.parse::<Address>();
        }

        #[test]
        fn what_is_shown_reads_back_as_the_same_mailbox(local in "[a-zA-Z0-9.+é\u{301}-]{1,20}", domain in "[a-zA-Z]{1,10}\\.(test|example)") {
            if let Ok(address) = format!("{local}@{domain}").parse::<Address>() {
                let again: Address = address.to_string().parse().expect("shown form");
                prop_assert_eq!(again.mailbox(Subaddressing::Keep), address.mailbox(Subaddressing::Keep));
            }
        }

        #[test]
        fn a_mailbox_is_shown_as_an_address_of_it(local in "[ -~é]{1,20}") {
            let escaped: String = local.chars().flat_map(|c| ['\\', c]).collect();
            let address: Address = format!("\"{escaped}\"@example.test").parse().expect("quoted");
            let mailbox = address.mailbox(Subaddressing::Keep);
            let private = mailbox.private(LeaseId::from_octets([7; 16]));
            for shown in [mailbox.to_string(), private.to_string()] {
                prop_assert_eq!(shown.parse::<Address>().expect("shown form").mailbox(Subaddressing::Keep), mailbox.clone());
            }
            prop_assert_eq!(private.public(), mailbox);
        }

        #[test]
        fn quoting_and_case_never_change_the_mailbox(local in "[a-zA-Z0-9._-]{1,20}") {
            let plain: Address = format!("{local}@example.test").parse().expect("plain");
            let quoted: Address = format!("\"{}\"@EXAMPLE.test", local.to_uppercase()).parse().expect("quoted");
            prop_assert_eq!(plain.mailbox(Subaddressing::Keep), quoted.mailbox(Subaddressing::Keep));
        }
    }
}
