//! MX records as a zone file has them (RFC 1035 section 5).

use super::super::output::visible;
use crate::model::DomainName;

/// The preference of a record that is to be created.
const PREFERENCE: u16 = 10;

/// A line per record. `records` are host names, or preference and host name; what is neither becomes a comment.
pub(super) fn records(domain: &DomainName, records: &[String]) -> String {
    records.iter().map(|record| line(domain, record) + "\n").collect()
}

/// Every line as a comment; one that says so where there are none.
pub(super) fn commented(lines: &str) -> String {
    if lines.is_empty() {
        return "; no MX record\n".to_owned();
    }
    lines.lines().map(|line| if line.starts_with(';') { format!("{line}\n") } else { format!("; {line}\n") }).collect()
}

fn line(domain: &DomainName, record: &str) -> String {
    let words: Vec<&str> = record.split_whitespace().collect();
    let (preference, host) = match words.as_slice() {
        [host] => (Some(PREFERENCE), *host),
        [preference, host] => (preference.parse().ok(), *host),
        _ => (None, ""),
    };
    match (preference, absolute(host)) {
        (Some(preference), Some(host)) => format!("{domain}. IN MX {preference} {host}"),
        _ => format!("; {}", visible::line(record)),
    }
}

/// A host name with its final dot: without one, a zone file would append its own name. `.` is the null MX (RFC 7505).
fn absolute(host: &str) -> Option<String> {
    match host {
        "." => Some(".".to_owned()),
        host => host.parse::<DomainName>().ok().map(|name| format!("{name}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_absolute_and_can_be_pasted() {
        let domain: DomainName = "example.org".parse().expect("name");
        for (record, shown) in [
            ("mx.example.net", "example.org. IN MX 10 mx.example.net."),
            ("MX.example.net.", "example.org. IN MX 10 mx.example.net."),
            ("5 mx.example.net", "example.org. IN MX 5 mx.example.net."),
            ("0 .", "example.org. IN MX 0 ."),
            ("no MX record (NXDOMAIN)", "; no MX record (NXDOMAIN)"),
            ("x mx.example.net", "; x mx.example.net"),
            ("192.0.2.1", "; 192.0.2.1"),
            ("a;b\u{1b}", "; a;b\u{241b}"),
        ] {
            assert_eq!(line(&domain, record), shown);
        }
    }

    #[test]
    fn comments_comment_everything_once() {
        assert_eq!(commented("a\n; b\n"), "; a\n; b\n");
        assert_eq!(commented(""), "; no MX record\n");
    }
}
