//! Reverse-paths and forward-paths (RFC 5321 section 4.1.2).
//!
//! A local part keeps its quotes, because they belong to the address that the client has meant.

use super::line::{is_blank, trim_blanks_start};
use crate::model::{Address, AddressError, DomainName};

/// The longest reverse-path in octets (RFC 5321 section 4.5.3.1.3, without the angle brackets).
const REVERSE_PATH_OCTETS_MAX: usize = 254;

/// The recipient in RCPT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ForwardPath {
    /// A mailbox at a domain.
    Address(Address),
    /// `<postmaster>` without a domain, in the client's spelling (RFC 5321 section 4.5.1).
    Postmaster(String),
    /// A mailbox at an address literal such as `[192.0.2.1]`.
    AddressLiteral,
}

/// Splits what follows `FROM:` or `TO:` into the path, without brackets and source route, and the parameters.
///
/// Some clients put blanks around the path or leave the brackets out; both are accepted. `None`: there is no path, or it
/// holds a control character or is not UTF-8. The caller decides whether the path may be more than ASCII.
pub(super) fn split(argument: &[u8]) -> Option<(&str, &[u8])> {
    let argument = trim_blanks_start(argument);
    let (path, parameters) = if let Some(inner) = argument.strip_prefix(b"<") {
        let end = find_unquoted(inner, |octet| octet == b'>')?;
        (&inner[..end], &inner[end + 1..])
    } else {
        let end = find_unquoted(argument, is_blank).unwrap_or(argument.len());
        let (path, parameters) = argument.split_at(end);
        // Without brackets there is no null sender.
        if path.is_empty() {
            return None;
        }
        (path, parameters)
    };
    if parameters.first().is_some_and(|&octet| !is_blank(octet)) {
        return None;
    }
    let path = std::str::from_utf8(path).ok()?.trim_matches(' ');
    if path.chars().any(char::is_control) {
        return None;
    }
    Some((without_route(path)?, parameters))
}

/// Whether `path` is a valid sender: empty, or a mailbox at a domain or an address literal.
///
/// A local part over 64 octets is accepted: mailing lists and forwarders make such senders.
pub(super) fn is_reverse_path(path: &str) -> bool {
    if path.is_empty() {
        return true;
    }
    let Some((local_part, domain)) = path.rsplit_once('@') else { return false };
    path.len() <= REVERSE_PATH_OCTETS_MAX
        && is_local_part(local_part)
        && (is_address_literal(domain) || domain.parse::<DomainName>().is_ok())
}

/// Reads the path of RCPT; `None` if it is not a valid recipient.
pub(super) fn forward_path(path: &str) -> Option<ForwardPath> {
    if path.eq_ignore_ascii_case("postmaster") {
        return Some(ForwardPath::Postmaster(path.to_owned()));
    }
    match path.parse::<Address>() {
        Ok(address) => Some(ForwardPath::Address(address)),
        Err(AddressError::AddressLiteral) => {
            let (local_part, domain) = path.rsplit_once('@')?;
            (is_local_part(local_part) && is_address_literal(domain)).then_some(ForwardPath::AddressLiteral)
        }
        Err(_) => None,
    }
}

/// The index of the first octet outside of a quoted string that `is_end` accepts.
fn find_unquoted(text: &[u8], is_end: impl Fn(u8) -> bool) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.iter().position(|&octet| {
        if is_escaped {
            is_escaped = false;
        } else if octet == b'"' {
            is_quoted = !is_quoted;
        } else if is_quoted {
            is_escaped = octet == b'\\';
        } else {
            return is_end(octet);
        }
        false
    })
}

/// Removes a source route, which a server must accept and ignore (RFC 5321 section 3.3 and appendix C).
fn without_route(path: &str) -> Option<&str> {
    if !path.starts_with('@') {
        return Some(path);
    }
    let (route, mailbox) = path.split_once(':')?;
    let is_hop = |hop: &str| hop.strip_prefix('@').is_some_and(|name| is_address_literal(name) || is_name(name));
    (!mailbox.is_empty() && route.split(',').all(is_hop)).then_some(mailbox)
}

fn is_name(text: &str) -> bool {
    text.parse::<DomainName>().is_ok()
}

/// Whether `text` is an address literal by its characters (RFC 5321 section 4.1.3); its meaning does not matter.
fn is_address_literal(text: &str) -> bool {
    text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).is_some_and(|inner| {
        !inner.is_empty() && inner.bytes().all(|octet| octet.is_ascii_alphanumeric() || b".:-".contains(&octet))
    })
}

/// Whether `text` is a dot-string or a quoted string, by the rules of [`Address`] except for the length. Unlike the local
/// part of a recipient, a quoted string may be empty (RFC 5321 section 4.1.2).
fn is_local_part(text: &str) -> bool {
    let Some(quoted) = text.strip_prefix('"') else {
        return !text.is_empty()
            && text.bytes().all(|octet| {
                !octet.is_ascii() || octet.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&octet)
            });
    };
    // The first quote that is not escaped must be the last octet.
    let mut is_escaped = false;
    let end = quoted.bytes().position(|octet| {
        let is_end = octet == b'"' && !is_escaped;
        is_escaped = octet == b'\\' && !is_escaped;
        is_end
    });
    end.is_some_and(|end| end == quoted.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(argument: &str) -> Option<&str> {
        split(argument.as_bytes()).map(|(path, _)| path)
    }

    #[test]
    fn each_form_of_a_path_that_clients_send_is_read() {
        for (argument, path, parameters) in [
            ("<>", "", ""),
            ("<ann@example.test>", "ann@example.test", ""),
            (" <ann@example.test>", "ann@example.test", ""),
            ("< ann@example.test >", "ann@example.test", ""),
            ("<ann@example.test> SIZE=1", "ann@example.test", " SIZE=1"),
            ("<ann@example.test>\tSIZE=1", "ann@example.test", "\tSIZE=1"),
            ("ann@example.test", "ann@example.test", ""),
            ("ann@example.test SIZE=1", "ann@example.test", " SIZE=1"),
            ("<@a.test,@b.test:ann@example.test>", "ann@example.test", ""),
            ("<@[192.0.2.1]:ann@example.test>", "ann@example.test", ""),
            ("<\"a>b\"@example.test> BODY=7BIT", "\"a>b\"@example.test", " BODY=7BIT"),
            ("<\"a\\\">b\"@example.test>", "\"a\\\">b\"@example.test", ""),
            ("\"a b\"@example.test", "\"a b\"@example.test", ""),
            ("<b\u{fc}cher@b\u{fc}cher.test>", "b\u{fc}cher@b\u{fc}cher.test", ""),
            ("<\"@a.test:x\"@example.test>", "\"@a.test:x\"@example.test", ""),
        ] {
            assert_eq!(split(argument.as_bytes()), Some((path, parameters.as_bytes())), "{argument}");
        }
    }

    #[test]
    fn text_without_a_path_is_refused() {
        for argument in [
            "",
            "   ",
            "<ann@example.test",
            "<\"ann@example.test>",
            "<ann@example.test>SIZE=1",
            "<ann@example.test>>",
            "<a\0b@example.test>",
            "<a\x1bb@example.test>",
            "<a\x7fb@example.test>",
            "<\"a\tb\"@example.test>",
            "<b\u{85}cher@example.test>",
            "<@a.test>",
            "<@a.test:>",
            "<@a b:ann@example.test>",
            "<@:ann@example.test>",
            "<@a.test,b.test:ann@example.test>",
        ] {
            assert_eq!(path_of(argument), None, "{argument:?}");
        }
        assert_eq!(split(b"<a\xff@example.test>"), None);
    }

    #[test]
    fn a_sender_is_checked_loosely() {
        let long = format!("{}@example.test", "a".repeat(100));
        for path in [
            "",
            "ann@example.test",
            "\"a b\"@example.test",
            "\"\"@example.test",
            "\"\"@[192.0.2.1]",
            "\"a\\\\\"@example.test",
            "ann@[192.0.2.1]",
            "ann@[IPv6:2001:db8::1]",
            "a..b@example.test",
            "root@my_host",
            "j\u{f5}geva@b\u{fc}cher.test",
            "\"j \u{f5}\"@[192.0.2.1]",
            &long,
        ] {
            assert!(is_reverse_path(path), "{path}");
        }
        let too_long = format!("{}@example.test", "a".repeat(250));
        for path in [
            "ann",
            "postmaster",
            "@example.test",
            "ann@",
            "a b@example.test",
            "a@b@example.test",
            "\"a\"b\"@example.test",
            "\"a\\\"@example.test",
            "\"@example.test",
            "a\"b\"@example.test",
            "ann@[]",
            "ann@[a b]",
            "ann@192.0.2.1",
            "<ann@example.test",
            &too_long,
        ] {
            assert!(!is_reverse_path(path), "{path}");
        }
    }

    #[test]
    fn recipients_keep_their_spelling() {
        for path in ["\"Ann B\"@example.test", "Ann@example.test", ".a..b.@example.test"] {
            match forward_path(path) {
                Some(ForwardPath::Address(address)) => assert_eq!(address.to_string(), path),
                other => panic!("{path}: {other:?}"),
            }
        }
        assert_eq!(forward_path("PostMaster"), Some(ForwardPath::Postmaster("PostMaster".into())));
        assert_eq!(forward_path("ann@[127.0.0.1]"), Some(ForwardPath::AddressLiteral));
        for path in ["", "ann", "ann@", "a b@example.test", "ann@-x.test", "a b@[127.0.0.1]", "ann@[<]"] {
            assert_eq!(forward_path(path), None, "{path}");
        }
    }
}
