//! What is shown of a certificate: its end and its names (RFC 5280, sections 4.1 and 4.2.1.6).
//!
//! Whether it can be used is for the library of TLS to say. Here only the end must be readable; a name that is not is left out.

use crate::model::Timestamp;

/// Types of DER (X.690), as the octet before the length.
mod tag {
    pub(super) const BMP_STRING: u8 = 0x1e;
    pub(super) const OCTET_STRING: u8 = 0x04;
    pub(super) const OID: u8 = 0x06;
    pub(super) const SEQUENCE: u8 = 0x30;
    pub(super) const UTC_TIME: u8 = 0x17;
    pub(super) const GENERALIZED_TIME: u8 = 0x18;
    /// The version of a certificate.
    pub(super) const VERSION: u8 = 0xa0;
    /// The extensions of a certificate.
    pub(super) const EXTENSIONS: u8 = 0xa3;
    /// A DNS name among other names.
    pub(super) const DNS_NAME: u8 = 0x82;
}

/// The identifier of a common name, 2.5.4.3, as octets.
const COMMON_NAME: &[u8] = &[0x55, 4, 3];
/// The identifier of a list of other names, 2.5.29.17.
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 29, 17];

/// Fields of a certificate.
pub(super) struct Fields {
    /// The end of its validity, in whole seconds.
    pub(super) not_after: Timestamp,
    /// The DNS names that it lists; the common name of its subject, as `CN=NAME`, if it lists none.
    pub(super) names: Vec<String>,
}

/// Reads the DER of a certificate. Its signature is not looked at. `None`: it has no end that can be read.
pub(super) fn read(certificate: &[u8]) -> Option<Fields> {
    let whole = Elements(certificate).of(tag::SEQUENCE)?;
    let mut fields = Elements(whole).of(tag::SEQUENCE).map(Elements)?;
    // The version, which the first one of all does not have, is followed by the number, the algorithm and the issuer.
    let (first, _) = fields.next()?;
    for _ in 0..if first == tag::VERSION { 3 } else { 2 } {
        fields.next()?;
    }
    let (kind, end) = Elements(fields.of(tag::SEQUENCE)?).nth(1)?;
    let not_after = time(kind, end)?;
    let subject = fields.of(tag::SEQUENCE).unwrap_or_default();
    let extensions = fields.find(|(kind, _)| *kind == tag::EXTENSIONS).map_or(&[][..], |(_, octets)| octets);
    let mut names = dns_names(Elements(extensions).of(tag::SEQUENCE).unwrap_or_default());
    if names.is_empty() {
        names.extend(common_name(subject).map(|name| format!("CN={name}")));
    }
    Some(Fields { not_after, names })
}

/// Elements of DER, one after the other: the type of each and its content. Ends before what is none.
struct Elements<'o>(&'o [u8]);

impl<'o> Elements<'o> {
    /// The content of the next element if that has the type.
    fn of(&mut self, wanted: u8) -> Option<&'o [u8]> {
        self.next().and_then(|(kind, content)| (kind == wanted).then_some(content))
    }
}

impl<'o> Iterator for Elements<'o> {
    type Item = (u8, &'o [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&[kind, length], rest) = self.0.split_first_chunk()?;
        let (length, rest) = match length {
            0..=0x7f => (usize::from(length), rest),
            // A certificate has less than 16 MB, so more octets say nothing true.
            0x81..=0x83 => {
                let (octets, rest) = rest.split_at_checked(usize::from(length - 0x80))?;
                (octets.iter().fold(0, |length, &octet| length << 8 | usize::from(octet)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((kind, content))
    }
}

/// A time of RFC 5280, section 4.1.2.5: to the second, in UTC, with two digits of a year from 1950 to 2049 or with four.
fn time(kind: u8, octets: &[u8]) -> Option<Timestamp> {
    let text = str::from_utf8(octets).ok().filter(|text| text.is_ascii())?;
    let (year, rest) = match kind {
        tag::UTC_TIME if text.len() == 13 => {
            (if &text[..2] < "50" { format!("20{}", &text[..2]) } else { format!("19{}", &text[..2]) }, &text[2..])
        }
        tag::GENERALIZED_TIME if text.len() == 15 => (text[..4].to_owned(), &text[4..]),
        _ => return None,
    };
    let part = |at: usize| &rest[at..at + 2];
    let text = format!("{year}-{}-{}T{}:{}:{}{}", part(0), part(2), part(4), part(6), part(8), &rest[10..]);
    Timestamp::from_text(&text)
}

/// The DNS names in the extensions.
fn dns_names(extensions: &[u8]) -> Vec<String> {
    let listed = Elements(extensions).find_map(|(_, extension)| {
        let mut parts = Elements(extension);
        // Between them may be whether who does not know the extension must refuse the certificate.
        let is_named = parts.of(tag::OID)? == SUBJECT_ALT_NAME;
        parts.find(|(kind, _)| is_named && *kind == tag::OCTET_STRING).map(|(_, value)| value)
    });
    let names = listed.and_then(|value| Elements(value).of(tag::SEQUENCE)).unwrap_or_default();
    Elements(names).filter(|(kind, _)| *kind == tag::DNS_NAME).map(|(_, name)| text(name)).collect()
}

/// The last common name of a subject, which is the most specific one.
fn common_name(subject: &[u8]) -> Option<String> {
    let attributes = Elements(subject).flat_map(|(_, set)| Elements(set));
    let values = attributes.filter_map(|(_, attribute)| {
        let mut parts = Elements(attribute);
        let is_named = parts.of(tag::OID)? == COMMON_NAME;
        parts.next().filter(|_| is_named)
    });
    let (kind, value) = values.last()?;
    // Two octets for a character: what is left out is the first one of each that people read most.
    Some(if kind == tag::BMP_STRING { text(value).replace('\0', "") } else { text(value) })
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DistinguishedName, DnType, DnValue, KeyPair, date_time_ymd};

    use super::*;

    /// The DER of a certificate for these names until the beginning of a year.
    fn certificate(names: &[&str], common_name: impl Into<DnValue>, year: i32) -> Vec<u8> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).expect("names");
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "Example");
        params.distinguished_name.push(DnType::CommonName, common_name);
        params.not_after = date_time_ymd(year, 1, 1);
        let made = params.self_signed(&KeyPair::generate().expect("a key")).expect("a certificate");
        made.der().to_vec()
    }

    #[test]
    fn the_end_and_the_names_are_read() {
        // Years from 2050 on are written in another form.
        for (names, year, said, end) in [
            (&["mail.a.test", "192.0.2.1", "*.b.test"][..], 2049, "mail.a.test *.b.test", "2049-01-01T00:00:00Z"),
            (&["192.0.2.1"], 1999, "CN=mail.c.test", "1999-01-01T00:00:00Z"),
            (&[], 2050, "CN=mail.c.test", "2050-01-01T00:00:00Z"),
        ] {
            let fields = read(&certificate(names, "mail.c.test", year)).expect("a certificate");
            assert_eq!((fields.names.join(" "), fields.not_after.to_rfc3339()), (said.to_owned(), end.to_owned()));
        }
        let wide = DnValue::BmpString("mail.c.test".try_into().expect("a text"));
        assert_eq!(read(&certificate(&[], wide, 2030)).expect("a certificate").names, ["CN=mail.c.test"]);
    }

    #[test]
    fn whatever_is_damaged_ends_without_a_panic() {
        let whole = certificate(&["mail.a.test"], "mail.c.test", 2030);
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_none(), "{length}");
        }
        // Lengths of all sizes, in each place.
        for at in 0..whole.len() {
            for octet in [0, 0x7f, 0x80, 0x83, 0x84, 0x88, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = octet;
                damaged[(at + 1)..].iter_mut().take(8).for_each(|octet| *octet = 0xff);
                read(&damaged);
            }
        }
    }
}
