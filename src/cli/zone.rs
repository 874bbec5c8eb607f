//! Lines of a zone file (RFC 1035 section 5), as a server gave them.

use super::output::visible;

/// A line per record. What would be more than one plain record where it is pasted becomes a comment.
pub(super) fn records(records: &[String]) -> String {
    records.iter().map(|record| line(record) + "\n").collect()
}

/// Every line as a comment; one that says so where there are none.
pub(super) fn commented(lines: &str) -> String {
    if lines.is_empty() {
        return "; no record\n".to_owned();
    }
    lines.lines().map(|line| [if line.starts_with(';') { "" } else { "; " }, line, "\n"].concat()).collect()
}

/// `owner IN TYPE data`, with nothing in it that a zone file or a shell would read as more than names and numbers.
fn line(record: &str) -> String {
    let is_plain = record.bytes().all(|octet| octet.is_ascii_alphanumeric() || b" .-_:".contains(&octet));
    let mut words = record.split_whitespace();
    let (owner, class) = (words.next().unwrap_or_default(), words.next());
    if is_plain && owner.ends_with('.') && class == Some("IN") && words.count() >= 2 {
        record.to_owned()
    } else if record.starts_with(';') {
        visible::line(record).into_owned()
    } else {
        format!("; {}", visible::line(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_records_can_be_pasted() {
        for good in [
            "example.org. IN MX 10 mx.example.net.",
            "example.org. IN MX 0 .",
            "_x.example.org. IN A 192.0.2.1",
            "example.org. IN AAAA 2001:db8::1",
        ] {
            assert_eq!(line(good), good);
        }
        for (bad, shown) in [
            ("mx.example.net", "; mx.example.net"),
            ("example.org. IN MX", "; example.org. IN MX"),
            ("example.org. IN MX 10 a\nb. IN MX 10 c.", "; example.org. IN MX 10 a\u{240a}b. IN MX 10 c."),
            ("example.org. IN TXT \"$(x)\"", "; example.org. IN TXT \"$(x)\""),
            ("$INCLUDE /etc/passwd x", "; $INCLUDE /etc/passwd x"),
            ("; a comment", "; a comment"),
            ("; a\nb. IN MX 10 c.", "; a\u{240a}b. IN MX 10 c."),
        ] {
            assert_eq!(line(bad), shown);
        }
    }

    #[test]
    fn comments_comment_everything_once() {
        assert_eq!(commented("a\n; b\n"), "; a\n; b\n");
        assert_eq!(commented(""), "; no record\n");
    }
}
