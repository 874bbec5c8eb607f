//! Addresses of pages: which ones a browser opens, and what in them is a secret or a code.

use url::Url;

use super::lexicon::LEXICON;

/// The longest address of a link, in octets.
pub(super) const URL_OCTETS_MAX: usize = 4_096;

/// The most parts of an address that are looked at.
const PARTS_MAX: usize = 40;

/// An address without the marks of the sentence after it.
pub(super) fn trimmed(written: &str) -> &str {
    let (has_round, has_square) = (written.contains('('), written.contains('['));
    let mut written = written;
    loop {
        let shorter = written.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_']);
        let shorter = match shorter.as_bytes().last() {
            Some(b')') if !has_round => &shorter[..shorter.len() - 1],
            Some(b']') if !has_square => &shorter[..shorter.len() - 1],
            _ => shorter,
        };
        if shorter.len() == written.len() {
            return written;
        }
        written = shorter;
    }
}

/// The address that a browser would open; `None` for other schemes, for secrets before the host, and for long ones.
pub(super) fn address(target: &str) -> Option<Url> {
    let target = target.trim();
    let is_web = ["http://", "https://"]
        .iter()
        .any(|scheme| target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    if !is_web || target.len() > URL_OCTETS_MAX || !has_short_host(target) {
        return None;
    }
    let url = Url::parse(target).ok()?;
    // A name before the host makes an address look like that of another host.
    let is_plain = url.username().is_empty() && url.password().is_none() && url.has_host();
    (is_plain && url.as_str().len() <= URL_OCTETS_MAX).then_some(url)
}

/// Whether the host of a web address can be one (RFC 1035 section 2.3.4). It takes long to read another one.
fn has_short_host(target: &str) -> bool {
    const HOST_OCTETS_MAX: usize = 253;
    const LABEL_OCTETS_MAX: usize = 4 * 63;
    let after = target.split_once("://").map_or(target, |(_, after)| after);
    let end = after.find(['/', '?', '#', '\\']).unwrap_or(after.len());
    let host = after[..end].rsplit('@').next().unwrap_or_default();
    host.len() <= HOST_OCTETS_MAX + ":65535".len() && host.split('.').all(|label| label.len() <= LABEL_OCTETS_MAX)
}

/// Whether a part of the path, the query or the fragment looks like a secret: long, with letters and digits, or a code.
pub(super) fn has_secret(url: &Url) -> bool {
    let is_secret = |part: &str| {
        let octets = part.as_bytes();
        let count = |is: fn(&u8) -> bool| octets.iter().filter(|octet| is(octet)).count();
        let (letters, digits) = (count(u8::is_ascii_alphabetic), count(u8::is_ascii_digit));
        let changes = |is: fn(&u8) -> bool| octets.windows(2).filter(|pair| is(&pair[0]) != is(&pair[1])).count();
        letters > 0 && digits > 0 && letters + digits >= 8
            || letters + digits >= 6 && changes(u8::is_ascii_digit) >= 3
            || letters >= 10 && changes(u8::is_ascii_uppercase) >= 5
    };
    let mut parts = url[url::Position::BeforePath..].split(['/', '?', '&', '=', '#', '.']).take(PARTS_MAX);
    parts.any(is_secret) || code_in(url).is_some()
}

/// Whether the address has something that is named as secrets are, as in `?token=7f`.
pub(super) fn names_secret(url: &Url) -> bool {
    let rest = url[url::Position::AfterPath..].to_ascii_lowercase();
    let is_secret = |part: &str| {
        let named = part.split_once('=').filter(|(_, value)| !value.is_empty());
        named.is_some_and(|(name, _)| LEXICON.others("in-address.secret").iter().any(|secret| name.contains(secret)))
    };
    rest.split(['?', '&', '#', '/', ';']).take(PARTS_MAX).any(is_secret)
}

/// Whether some part of the address has letters with digits among them, so that it may be for one reader alone.
pub(super) fn is_personal(url: &Url) -> bool {
    let is_mixed = |part: &str| {
        let has = |is: fn(&u8) -> bool| part.as_bytes().iter().any(is);
        part.len() >= 3 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    };
    url[url::Position::BeforePath..].split(['/', '?', '&', '=', '#', '.']).take(PARTS_MAX).any(is_mixed)
}

/// The code in the address of a link: digits in a parameter that is named for codes.
pub(super) fn code_in(url: &Url) -> Option<String> {
    const NAMES: [&str; 10] = [
        "code",
        "otp",
        "pin",
        "passcode",
        "verification_code",
        "verificationcode",
        "confirmation_code",
        "login_code",
        "auth_code",
        "security_code",
    ];
    let parts = [url.query(), url.fragment()];
    let pairs = parts.into_iter().flatten().flat_map(|part| part.split(['&', '?', ';'])).take(40);
    let mut named = pairs
        .filter_map(|pair| pair.split_once('='))
        .filter(|(name, _)| NAMES.contains(&name.to_ascii_lowercase().as_str()));
    let is_code = |value: &str| (4..=8).contains(&value.len()) && value.bytes().all(|octet| octet.is_ascii_digit());
    named.find(|(_, value)| is_code(value)).map(|(_, value)| value.to_owned())
}
