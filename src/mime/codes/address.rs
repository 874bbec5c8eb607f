//! Addresses of pages: which ones a browser opens, and what in them is a secret or a code.

use url::Url;

use super::candidate::{changes, is_random};
use super::lexicon::LEXICON;

/// The longest address of a link, in octets.
pub(super) const URL_OCTETS_MAX: usize = 4_096;

/// The longest host with a port (RFC 1035 section 2.3.4). It takes long to read a longer one.
const HOST_OCTETS_MAX: usize = 253 + ":65535".len();

/// The most parts of an address that are looked at.
const PARTS_MAX: usize = 40;

/// An address without the marks of the sentence after it.
pub(super) fn trimmed(written: &str) -> &str {
    let is_mark = |c: char| ".,;:!?'*_".contains(c);
    if written.contains('(') {
        written.trim_end_matches(is_mark)
    } else {
        written.trim_end_matches(|c| c == ')' || is_mark(c))
    }
}

/// The address that a browser would open; `None` for other schemes, for secrets before the host, and for long ones.
pub(super) fn address(target: &str) -> Option<Url> {
    let target = target.trim();
    let (scheme, after) = target.split_once("://")?;
    let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    let host = after.split(['/', '?', '#', '\\']).next().unwrap_or_default().rsplit('@').next().unwrap_or_default();
    if !is_web || target.len() > URL_OCTETS_MAX || host.len() > HOST_OCTETS_MAX {
        return None;
    }
    let url = Url::parse(target).ok()?;
    // A name before the host makes an address look like that of another host.
    let is_plain = url.username().is_empty() && url.password().is_none() && url.has_host();
    (is_plain && url.as_str().len() <= URL_OCTETS_MAX).then_some(url)
}

/// The parts behind the host of an address, each with the name of the parameter whose value it is, or an empty name.
fn parts(address: &str) -> impl Iterator<Item = (&str, &str)> {
    let path = address.splitn(4, '/').nth(3).unwrap_or_default();
    path.split(['/', '?', '&', '#', '.', ';']).take(PARTS_MAX).map(|part| part.split_once('=').unwrap_or(("", part)))
}

/// Whether a part has letters and digits.
fn is_mixed(part: &str) -> bool {
    part.contains(|c: char| c.is_ascii_digit()) && part.contains(|c: char| c.is_ascii_alphabetic())
}

/// Whether some part looks like a secret: long, with letters and digits, or with digits again and again.
pub(super) fn has_secret(url: &Url) -> bool {
    parts(url.as_str()).any(|(_, part)| {
        let signs = part.bytes().filter(u8::is_ascii_alphanumeric).count();
        let is_secret = signs >= 8 && is_mixed(part) && changes(part, u8::is_ascii_digit) > 1
            || signs >= 6 && changes(part, u8::is_ascii_digit) >= 3;
        // The address of a mailbox is none.
        is_secret && !part.contains('@') && !part.contains("%40")
    })
}

/// Whether some part has letters with digits among them, or letters that nobody chose, so that it is for one reader.
pub(super) fn is_personal(url: &Url) -> bool {
    let is_code = |part: &str| part.len() >= 6 && part.bytes().all(|it| it.is_ascii_alphabetic()) && is_random(part);
    // As in `guide-2026`.
    let is_dated = |part: &str| part.rsplit_once("-20").is_some_and(|(_, year)| year.len() == 2);
    parts(url.as_str()).any(|(_, part)| part.len() >= 3 && is_mixed(part) && !is_dated(part) || is_code(part))
}

/// Whether the address has something that is named as secrets are, as in `?token=7f`.
pub(super) fn names_secret(url: &Url) -> bool {
    let is_named = |name: &str| LEXICON.others("in-address.secret").iter().any(|secret| name.contains(secret));
    parts(url.as_str()).any(|(name, value)| !value.is_empty() && is_named(&name.to_ascii_lowercase()))
}

/// The parts behind the host of an address, and whether they are named as codes.
pub(super) fn parts_and_codes(address: &str) -> impl Iterator<Item = (&str, bool)> {
    let is_code = |name: &str| LEXICON.others("parameter").contains(&*name.to_ascii_lowercase());
    parts(address).map(move |(name, part)| (part, is_code(name)))
}
