//! What is shown of a certificate: its end and its names (RFC 5280, sections 4.1 and 4.2.1.6).

use std::time::Duration;

use yasna::models::{ObjectIdentifier, TaggedDerValue};
use yasna::tags::{TAG_GENERALIZEDTIME, TAG_UTCTIME};
use yasna::{ASN1Error, ASN1ErrorKind, ASN1Result, BERReader, BERReaderSeq, Tag, parse_der};

use crate::model::Timestamp;

const COMMON_NAME: &[u64] = &[2, 5, 4, 3];
const SUBJECT_ALT_NAME: &[u64] = &[2, 5, 29, 17];
/// The tag of a DNS name among other names.
const DNS_NAME: u64 = 2;

/// Fields of a certificate.
pub(super) struct Fields {
    /// The end of its validity, in whole seconds.
    pub(super) not_after: Timestamp,
    /// The DNS names that it lists; the common name of its subject, as `CN=NAME`, if it lists none.
    pub(super) names: Vec<String>,
}

/// Reads the DER of a certificate. Its signature is not looked at. The error is the parser's text.
pub(super) fn read(certificate: &[u8]) -> Result<Fields, String> {
    let fields = parse_der(certificate, |whole| {
        whole.read_sequence(|parts| {
            let fields = parts.next().read_sequence(fields)?;
            skip(parts, 2)?;
            Ok(fields)
        })
    });
    fields.map_err(|error| error.to_string())
}

/// The part that is signed.
fn fields(parts: &mut BERReaderSeq<'_, '_>) -> ASN1Result<Fields> {
    parts.read_optional(|version| version.read_tagged(Tag::context(0), |number| number.read_u8().map(drop)))?;
    // The serial number, the algorithm and the issuer.
    skip(parts, 3)?;
    let not_after = parts.next().read_sequence(|times| {
        skip(times, 1)?;
        time(times.next())
    })?;
    let common_names = parts.next().collect_sequence_of(|names| names.collect_set_of(common_name))?;
    // The key, and identifiers that nobody uses any more.
    skip(parts, 1)?;
    for tag in [1, 2] {
        parts.read_optional(|id| id.read_tagged_implicit(Tag::context(tag), |id| id.read_bytes().map(drop)))?;
    }
    let extensions =
        parts.read_optional(|all| all.read_tagged(Tag::context(3), |all| all.collect_sequence_of(dns_names)))?;
    let mut names: Vec<String> = extensions.into_iter().flatten().flatten().collect();
    if names.is_empty() {
        names = common_names.into_iter().flatten().flatten().map(|name| format!("CN={name}")).collect();
    }
    Ok(Fields { not_after, names })
}

fn skip(parts: &mut BERReaderSeq<'_, '_>, count: usize) -> ASN1Result<()> {
    (0..count).try_for_each(|_| parts.next().read_der().map(drop))
}

fn time(reader: BERReader<'_, '_>) -> ASN1Result<Timestamp> {
    let seconds = match reader.lookahead_tag()? {
        TAG_UTCTIME => reader.read_utctime()?.datetime().unix_timestamp(),
        TAG_GENERALIZEDTIME => reader.read_generalized_time()?.datetime().unix_timestamp(),
        _ => return Err(ASN1Error::new(ASN1ErrorKind::Invalid)),
    };
    Ok(Timestamp::from_millis(0).plus(Duration::from_secs(u64::try_from(seconds).unwrap_or(0))))
}

/// The value of an attribute of a name, if it is the common name.
fn common_name(reader: BERReader<'_, '_>) -> ASN1Result<Option<String>> {
    reader.read_sequence(|parts| {
        let kind = parts.next().read_oid()?;
        let value = parts.next().read_tagged_der()?;
        Ok(is(&kind, COMMON_NAME).then(|| String::from_utf8_lossy(value.value()).into_owned()))
    })
}

/// The DNS names in an extension, which are there only in one kind of them.
fn dns_names(reader: BERReader<'_, '_>) -> ASN1Result<Vec<String>> {
    reader.read_sequence(|parts| {
        let kind = parts.next().read_oid()?;
        parts.read_optional(|is_critical| is_critical.read_bool().map(drop))?;
        let value = parts.next().read_bytes()?;
        if !is(&kind, SUBJECT_ALT_NAME) {
            return Ok(Vec::new());
        }
        let names = parse_der(&value, |names| names.collect_sequence_of(|name| name.read_tagged_der().map(dns_name)))?;
        Ok(names.into_iter().flatten().collect())
    })
}

fn dns_name(name: TaggedDerValue) -> Option<String> {
    (name.tag() == Tag::context(DNS_NAME)).then(|| String::from_utf8_lossy(name.value()).into_owned())
}

fn is(kind: &ObjectIdentifier, numbers: &[u64]) -> bool {
    kind.components() == numbers
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};

    use super::*;

    /// The DER of a certificate for these names until the beginning of a year.
    fn certificate(names: &[&str], common_name: &str, year: i32) -> Vec<u8> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).expect("names");
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "Example");
        if !common_name.is_empty() {
            params.distinguished_name.push(DnType::CommonName, common_name);
        }
        params.not_after = date_time_ymd(year, 1, 1);
        let made = params.self_signed(&KeyPair::generate().expect("a key")).expect("a certificate");
        made.der().to_vec()
    }

    #[test]
    fn the_end_and_the_names_are_read() {
        // Years from 2050 on are written in another form.
        for (names, common_name, year, said, end) in [
            (
                &["mail.a.test", "192.0.2.1", "*.b.test"][..],
                "c.test",
                2049,
                "mail.a.test *.b.test",
                "2049-01-01T00:00:00Z",
            ),
            (&[], "mail.c.test", 2050, "CN=mail.c.test", "2050-01-01T00:00:00Z"),
            (&["192.0.2.1"], "", 2030, "", "2030-01-01T00:00:00Z"),
        ] {
            let fields = read(&certificate(names, common_name, year)).expect("a certificate");
            assert_eq!((fields.names.join(" "), fields.not_after.to_rfc3339()), (said.to_owned(), end.to_owned()));
        }
    }

    #[test]
    fn what_is_no_certificate_is_an_error() {
        let whole = certificate(&["mail.a.test"], "", 2030);
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_err(), "{length}");
        }
        assert!(read(&[&whole[..], b"0"].concat()).is_err());
    }
}
