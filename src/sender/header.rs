//! Which header sections are checked, and what of them bounds the work.
//!
//! A signature names the fields that it covers, and each name is looked for among all fields. So many names, fields and
//! signatures together would take minutes. And whoever shows other fields, or another body, than a signature covers shows a
//! stranger's words as proven. So only a section is judged that everybody reads alike.

use crate::mime::limits::HEADER_SECTION_OCTETS_MAX;

/// The most fields of a mail that is checked.
const FIELDS_MAX: usize = 1_000;
/// The most signatures, and the most fields of the chain of those that passed the mail on.
const SIGNATURES_MAX: usize = 10;
const CHAIN_FIELDS_MAX: usize = 30;
/// The longest of these fields in octets.
const SIGNATURE_OCTETS_MAX: usize = 8 * 1024;

/// Fields that a mail has once (RFC 5322 section 3.6, RFC 2045). A signature covers the last one of several, and we show the
/// first (RFC 6376 section 8.15).
const ONCE: [&str; 13] = [
    "from",
    "sender",
    "reply-to",
    "to",
    "cc",
    "bcc",
    "subject",
    "date",
    "message-id",
    "mime-version",
    "content-type",
    "content-transfer-encoding",
    "content-disposition",
];

/// What there is to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signed {
    /// No signature.
    No,
    /// Some signatures.
    Yes,
    /// More than is checked.
    TooMuch,
    /// Not all readers would see the same fields, or the same body.
    Ambiguous,
}

/// What the header section of a message has to check.
pub(super) fn signed(raw: &[u8]) -> Signed {
    let (mut fields, mut signatures, mut chain, mut octets) = (0, 0, 0, 0);
    let mut longest = 0;
    let mut seen = [false; ONCE.len()];
    // Octets of the field so far, if it is one of those that are checked.
    let mut of_signature = None;
    for line in raw.split_inclusive(|octet| *octet == b'\n') {
        octets += line.len();
        if octets > HEADER_SECTION_OCTETS_MAX || fields > FIELDS_MAX {
            return Signed::TooMuch;
        }
        let Some(text) = line.strip_suffix(b"\r\n").filter(|text| !text.contains(&b'\r')) else {
            return Signed::Ambiguous;
        };
        if text.is_empty() {
            break;
        }
        if matches!(text[0], b' ' | b'\t') {
            if fields == 0 || text.trim_ascii().is_empty() {
                return Signed::Ambiguous;
            }
        } else {
            let Some(name) = name(text) else { return Signed::Ambiguous };
            fields += 1;
            if let Some(place) = ONCE.iter().position(|once| *once == name) {
                if seen[place] {
                    return Signed::Ambiguous;
                }
                seen[place] = true;
            }
            let (is_signature, is_of_chain) = (name == "dkim-signature", name.starts_with("arc-"));
            signatures += usize::from(is_signature);
            chain += usize::from(is_of_chain);
            of_signature = (is_signature || is_of_chain).then_some(0);
        }
        if let Some(so_far) = &mut of_signature {
            *so_far += line.len();
            longest = longest.max(*so_far);
        }
    }
    if signatures > SIGNATURES_MAX || chain > CHAIN_FIELDS_MAX || longest > SIGNATURE_OCTETS_MAX {
        return Signed::TooMuch;
    }
    if signatures + chain > 0 { Signed::Yes } else { Signed::No }
}

/// The name of the field that a line begins, in lower case; `None` if it begins none (RFC 5322 section 2.2).
fn name(line: &[u8]) -> Option<String> {
    let name = line.split(|octet| *octet == b':').next().filter(|name| name.len() < line.len())?;
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    is_name.then(|| String::from_utf8_lossy(name).to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_checked_are_counted_before_they_are_read() {
        let signature = "DKIM-Signature: v=1; b=x\r\n";
        let of = |head: String| signed(format!("{head}\r\n{}", signature.repeat(99)).as_bytes());
        assert_eq!(of("Subject: s\r\n".to_owned()), Signed::No);
        assert_eq!(of("dkim-SIGNATURE:\r\n".to_owned()), Signed::Yes);
        assert_eq!(of("ARC-Seal: i=1\r\n".repeat(30)), Signed::Yes);
        assert_eq!(of("ARC-Seal: i=1\r\n".repeat(31)), Signed::TooMuch);
        assert_eq!(of(signature.repeat(10)), Signed::Yes);
        assert_eq!(of(signature.repeat(11)), Signed::TooMuch);
        assert_eq!(of(signature.to_owned() + &" h=from\r\n".repeat(1_000)), Signed::TooMuch);
        assert_eq!(of("a:\r\n".repeat(1_002)), Signed::TooMuch);
        assert_eq!(of(format!("a: {}\r\n", "x".repeat(HEADER_SECTION_OCTETS_MAX))), Signed::TooMuch);
        assert_eq!(signed(b""), Signed::No);
    }

    #[test]
    fn only_a_header_that_everybody_reads_alike_is_judged() {
        let of = |head: &str| signed(format!("From: a@b.test\r\nDKIM-Signature: v=1\r\n{head}\r\nbody\n").as_bytes());
        assert_eq!(of("Subject: s\r\n t\r\nReceived: x\r\nReceived: y\r\n"), Signed::Yes);
        for head in [
            "Dear customer: \r\n <p>text</p>\r\n",
            "no field\r\n",
            "no field\nSubject: s\r\n",
            "Subject : s\r\n",
            ": s\r\n",
            "Subject: s\n",
            "Subject: s\rTo: t\r\n",
            "\x0c\nSubject: s\r\n",
            "Subject: s\r\n \r\n",
            "Subject: s\r\n\t\x0c\r\n",
            "S\u{fc}bject: s\r\n",
            "Subject: s\r\nsubject: t\r\n",
            "from: c@b.test\r\n",
            "Content-Type: text/html\r\nContent-Type: text/plain\r\n",
        ] {
            assert_eq!(of(head), Signed::Ambiguous, "{head:?}");
        }
        assert_eq!(signed(b" folded: x\r\n\r\n"), Signed::Ambiguous);
        assert_eq!(signed(b"Subject: cut"), Signed::Ambiguous);
    }
}
