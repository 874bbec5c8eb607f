//! Octets of some charset to text.

use std::borrow::Cow;

use mail_parser::decoders::charsets::map::charset_decoder;

/// The text that `octets` are in `charset`. Total: what can't be decoded becomes U+FFFD or another character.
///
/// Without a charset, with one that nobody knows, and with `us-ascii`, octets that are UTF-8 are taken for it and others
/// for Windows-1252: both occur in mail that declares nothing.
pub(super) fn decode<'a>(octets: &'a [u8], charset: Option<&str>) -> Cow<'a, str> {
    let octets = octets.strip_prefix(b"\xef\xbb\xbf").unwrap_or(octets);
    let charset = charset.map(|name| name.trim().to_ascii_lowercase());
    match charset.as_deref() {
        Some("utf-8" | "utf8") => String::from_utf8_lossy(octets),
        None | Some("us-ascii" | "ascii" | "ansi_x3.4-1968" | "") => guess(octets),
        Some(name) => match charset_decoder(name.as_bytes()) {
            Some(decode) => decode(octets).into(),
            None => guess(octets),
        },
    }
}

fn guess(octets: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(octets) {
        Ok(text) => text.into(),
        Err(_) => match charset_decoder(b"windows-1252") {
            Some(decode) => decode(octets).into(),
            None => String::from_utf8_lossy(octets),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charsets_become_text() {
        for (octets, charset, expected) in [
            (&b"gr\xc3\xbcn"[..], Some("UTF-8"), "grün"),
            (b"\xef\xbb\xbfgr\xc3\xbcn", None, "grün"),
            // What programs without a locale call ASCII.
            (b"gr\xc3\xbcn", Some("ANSI_X3.4-1968"), "grün"),
            (b"gr\xfcn", Some("iso-8859-1"), "grün"),
            (b"gr\xfcn", None, "grün"),
            (b"gr\xc3\xbcn", Some("us-ascii"), "grün"),
            (b"gr\xc3\xbcn", Some("no-such-charset"), "grün"),
            (b"gr\xfcn", Some("utf-8"), "gr\u{fffd}n"),
            (b"\xcf\xf0\xe8", Some("windows-1251"), "При"),
            (b"\x83n\x83\x8D\x81[", Some("Shift_JIS"), "ハロー"),
            (b"\xc4\xe3\xba\xc3", Some("gb2312"), "你好"),
            (b"", Some("utf-16"), ""),
        ] {
            assert_eq!(decode(octets, charset), expected, "{charset:?}");
        }
    }
}
