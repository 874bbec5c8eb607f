//! What of a header section bounds the work of checking it.
//!
//! A signature names the fields that it covers, and each name is looked for among all fields. So many names, fields and
//! signatures together would take minutes.

use crate::mime::limits::HEADER_SECTION_OCTETS_MAX;

/// The most fields of a mail that is checked.
const FIELDS_MAX: usize = 1_000;
/// The most signatures, and the most fields of the chain of those that passed the mail on.
const SIGNATURES_MAX: usize = 10;
const CHAIN_FIELDS_MAX: usize = 30;
/// The longest of these fields in octets.
const SIGNATURE_OCTETS_MAX: usize = 8 * 1024;

/// What there is to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signed {
    /// No signature.
    No,
    /// Some signatures.
    Yes,
    /// More than is checked.
    TooMuch,
}

/// What the header section of a message has to check.
pub(super) fn signed(raw: &[u8]) -> Signed {
    let (mut fields, mut signatures, mut chain, mut octets) = (0, 0, 0, 0);
    let mut longest = 0;
    // Octets of the field so far, if it is one of those that are checked.
    let mut of_signature = None;
    for line in raw.split_inclusive(|octet| *octet == b'\n') {
        octets += line.len();
        if line.trim_ascii().is_empty() && !line.starts_with(b" ") && !line.starts_with(b"\t") {
            break;
        }
        if octets > HEADER_SECTION_OCTETS_MAX || fields > FIELDS_MAX {
            return Signed::TooMuch;
        }
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            fields += 1;
            let name = line.split(|octet| *octet == b':').next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
            let (is_signature, is_of_chain) = (name == b"dkim-signature", name.starts_with(b"arc-"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_checked_are_counted_before_they_are_read() {
        let signature = "DKIM-Signature: v=1; b=x\r\n";
        let of = |head: String| signed(format!("{head}\r\n{}", signature.repeat(99)).as_bytes());
        assert_eq!(of("Subject: s\r\n".to_owned()), Signed::No);
        assert_eq!(of(" dkim-signature: x\r\n".to_owned()), Signed::No);
        assert_eq!(of("dkim-SIGNATURE :\r\n".to_owned()), Signed::Yes);
        assert_eq!(of("ARC-Seal: i=1\r\n".repeat(30)), Signed::Yes);
        assert_eq!(of("ARC-Seal: i=1\r\n".repeat(31)), Signed::TooMuch);
        assert_eq!(of(signature.repeat(10)), Signed::Yes);
        assert_eq!(of(signature.repeat(11)), Signed::TooMuch);
        assert_eq!(of(signature.replace('\r', "").repeat(11)), Signed::TooMuch);
        assert_eq!(of(signature.to_owned() + &" h=from\r\n".repeat(1_000)), Signed::TooMuch);
        assert_eq!(of("a:\r\n".repeat(1_002)), Signed::TooMuch);
        assert_eq!(of(format!("a: {}\r\n", "x".repeat(HEADER_SECTION_OCTETS_MAX))), Signed::TooMuch);
        assert_eq!(signed(b""), Signed::No);
    }
}
