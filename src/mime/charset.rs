//! Decodes octets of any charset to text.

use std::borrow::Cow;

use mail_parser::decoders::charsets::map::charset_decoder;

/// Decodes `octets` of `charset`. Octets that can't be decoded become U+FFFD or another character.
///
/// If the charset is missing, unknown or `us-ascii`, valid UTF-8 is decoded as UTF-8 and anything else as
/// Windows-1252. Mail without a declared charset uses both.
pub(super) fn decode<'a>(octets: &'a [u8], charset: Option<&str>) -> Cow<'a, str> {
    let octets = octets.strip_prefix(b"\xef\xbb\xbf").unwrap_or(octets);
    let name = charset.unwrap_or_default().trim().to_ascii_lowercase();
    let decoder = match name.as_str() {
        "utf-8" | "utf8" => return String::from_utf8_lossy(octets),
        "us-ascii" | "ascii" | "ansi_x3.4-1968" | "" => None,
        name => charset_decoder(name.as_bytes()),
    };
    if decoder.is_none()
        && let Ok(text) = str::from_utf8(octets)
    {
        return text.into();
    }
    match decoder.or_else(|| charset_decoder(b"windows-1252")) {
        Some(decode) => decode(octets).into(),
        None => String::from_utf8_lossy(octets),
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
            // Programs without a locale use this name for ASCII.
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
