//! Transfer encodings of parts (RFC 2045 section 6).

use std::borrow::Cow;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode_char;

/// The transfer encoding of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    /// No encoding: `7bit`, `8bit`, `binary`, an unknown name, or no field.
    #[default]
    Identity,
    /// RFC 2045 section 6.8.
    Base64,
    /// RFC 2045 section 6.7.
    QuotedPrintable,
}

impl Encoding {
    /// The encoding that the value of a Content-Transfer-Encoding field names.
    pub(super) fn of_field(value: &[u8]) -> Self {
        let word = value.split(|octet| b" \t;(".contains(octet)).next().unwrap_or_default();
        if word.eq_ignore_ascii_case(b"base64") {
            Self::Base64
        } else if word.eq_ignore_ascii_case(b"quoted-printable") {
            Self::QuotedPrintable
        } else {
            Self::Identity
        }
    }

    /// Decodes `octets`. Malformed input is not an error: base64 ignores it, and quoted-printable keeps it.
    pub(super) fn decode(self, octets: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Identity => Cow::Borrowed(octets),
            Self::Base64 => Cow::Owned(decode_base64(octets)),
            Self::QuotedPrintable => Cow::Owned(decode_quoted_printable(octets)),
        }
    }
}

/// Decodes base64, ignoring octets outside the alphabet as RFC 2045 section 6.8 says. Some mailing lists append a
/// plain footer.
fn decode_base64(octets: &[u8]) -> Vec<u8> {
    base64_decode(octets).unwrap_or_else(|| {
        let is_alphabet = |octet: &u8| octet.is_ascii_alphanumeric() || b"+/=".contains(octet);
        let alphabet: Vec<u8> = octets.iter().copied().filter(is_alphabet).collect();
        base64_decode(&alphabet).unwrap_or_default()
    })
}

/// Decodes quoted-printable. An `=` that begins neither a soft line break nor an octet is kept. Spaces before a line
/// end are padding and removed.
fn decode_quoted_printable(octets: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(octets.len());
    for line in octets.split_inclusive(|&octet| octet == b'\n') {
        let (text, end) = match line {
            [text @ .., b'\r', b'\n'] => (text, &b"\r\n"[..]),
            [text @ .., b'\n'] => (text, &b"\n"[..]),
            text => (text, &b""[..]),
        };
        let (text, end) = match text.trim_ascii_end() {
            [text @ .., b'='] => (text, &b""[..]),
            text => (text, end),
        };
        let mut rest = text;
        while let Some((&octet, tail)) = rest.split_first() {
            let written = tail.first_chunk().filter(|_| octet == b'=');
            let meant = written.and_then(|&[high, low]| quoted_printable_decode_char(high, low));
            decoded.push(meant.unwrap_or(octet));
            rest = if meant.is_some() { &tail[2..] } else { tail };
        }
        decoded.extend_from_slice(end);
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_ignores_what_is_not_of_its_alphabet() {
        for (written, meant) in [
            ("aGVsbG8=", "hello"),
            ("aGVs\r\nbG8=\r\n", "hello"),
            ("aGVsbG8", "hello"),
            ("a!G.V-s bG8=", "hello"),
            ("", ""),
            ("=", ""),
        ] {
            assert_eq!(Encoding::Base64.decode(written.as_bytes()), meant.as_bytes(), "{written}");
        }
    }

    #[test]
    fn quoted_printable_is_read_and_what_is_malformed_stays() {
        for (written, meant) in [
            ("gr=C3=bcn", "grün"),
            ("a=\r\nb=  \r\nc  \r\nd", "abc\r\nd"),
            ("1==2 =zz =4", "1==2 =zz =4"),
            ("a=\nb\n", "ab\n"),
            ("end=", "end"),
            ("", ""),
        ] {
            assert_eq!(
                String::from_utf8_lossy(&Encoding::QuotedPrintable.decode(written.as_bytes())),
                meant,
                "{written:?}"
            );
        }
    }

    #[test]
    fn the_field_names_the_encoding() {
        assert_eq!(Encoding::of_field(b"BASE64"), Encoding::Base64);
        assert_eq!(Encoding::of_field(b"quoted-printable (really)"), Encoding::QuotedPrintable);
        assert_eq!(Encoding::of_field(b"x-uuencode"), Encoding::Identity);
        assert_eq!(Encoding::of_field(b""), Encoding::Identity);
    }
}
