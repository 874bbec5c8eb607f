//! The message as sendmail hands it on: complete, and without Bcc.

use crate::client::smtp::with_crlf;
use crate::mime::{Head, Message, limits};
use crate::model::Timestamp;

/// Fields that are for the sender's own copy, or for the last receiver to add.
const REMOVED: [&str; 3] = ["bcc", "resent-bcc", "return-path"];

/// What the added fields are made of.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Added<'a> {
    /// The sender of the envelope; empty for the null sender.
    pub(in crate::cli) sender: &'a str,
    /// The full name of the sender.
    pub(in crate::cli) name: Option<&'a str>,
    pub(in crate::cli) hostname: &'a str,
    pub(in crate::cli) now: Timestamp,
    /// A number that no other message has.
    pub(in crate::cli) tag: u64,
}

/// A message that is ready for SMTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Rewritten {
    /// With CRLF line ends.
    pub(in crate::cli) message: Vec<u8>,
    /// The addresses in To, Cc and Bcc.
    pub(in crate::cli) recipients: Vec<String>,
}

/// Adds From, Date and Message-ID where they are missing, and removes Bcc. The other fields keep their octets.
///
/// The error is a sentence: a header section, or a field of recipients, of which not everything can be read.
pub(in crate::cli) fn rewritten(raw: &[u8], added: &Added<'_>) -> Result<Rewritten, String> {
    let raw = with_crlf(raw);
    let (fields, body) = split(&raw);
    let section_octets: usize = fields.iter().map(|field| field.len()).sum();
    if section_octets > limits::HEADER_SECTION_OCTETS_MAX {
        return Err(format!("the header is longer than {} octets", limits::HEADER_SECTION_OCTETS_MAX));
    }
    let is_for = |field: &[u8]| ["to", "cc", "bcc"].iter().any(|name| is_named(field, name));
    if fields.iter().any(|field| field.len() > limits::FIELD_OCTETS_MAX && is_for(field)) {
        return Err(format!("a field of recipients is longer than {} octets", limits::FIELD_OCTETS_MAX));
    }
    let read = Message::new(&raw);
    let Head { to, cc, bcc, .. } = read.head();
    let recipients = [to, cc, bcc].into_iter().flatten().map(|named| named.address.clone()).collect();
    let mut message = Vec::with_capacity(raw.len() + 256);
    for field in fields.iter().filter(|field| !REMOVED.iter().any(|name| is_named(field, name))) {
        message.extend_from_slice(field);
    }
    for (name, value) in missing(&fields, added) {
        message.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    message.extend_from_slice(b"\r\n");
    message.extend_from_slice(body);
    Ok(Rewritten { message, recipients })
}

fn missing(fields: &[&[u8]], added: &Added<'_>) -> Vec<(&'static str, String)> {
    let is_there = |name: &str| fields.iter().any(|field| is_named(field, name));
    let sender = match added.sender {
        "" => format!("MAILER-DAEMON@{}", added.hostname),
        sender => sender.to_owned(),
    };
    let from = match added.name {
        Some(name) => format!("\"{}\" <{sender}>", quotable(name)),
        None => sender,
    };
    let id = format!("<{}.{:016x}@{}>", added.now.millis(), added.tag, added.hostname);
    let all = [("From", from), ("Date", added.now.to_rfc5322()), ("Message-ID", id)];
    all.into_iter().filter(|(name, _)| !is_there(name)).collect()
}

/// A name inside quotes; nothing in it can end its line.
fn quotable(name: &str) -> String {
    let visible = name.chars().filter(|c| !c.is_control());
    visible.flat_map(|c| ['"', '\\'].contains(&c).then_some('\\').into_iter().chain([c])).collect()
}

/// The fields, each with its line ends, and the body of a message with CRLF line ends. A line that is no field begins the body,
/// and the line `From ` of an mbox file is left out.
fn split(raw: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut fields: Vec<&[u8]> = Vec::new();
    let (mut at, mut field_at) = (0, 0);
    for line in raw.split_inclusive(|&octet| octet == b'\n') {
        let next = at + line.len();
        if line == b"\r\n" {
            return (fields, &raw[next..]);
        }
        if let (b' ' | b'\t', Some(field)) = (line[0], fields.last_mut()) {
            *field = &raw[field_at..next];
        } else if name(line).is_some() {
            field_at = at;
            fields.push(line);
        } else if at != 0 || !line.starts_with(b"From ") {
            return (fields, &raw[at..]);
        }
        at = next;
    }
    (fields, &[])
}

/// The name of a field (RFC 5322 section 2.2, with the obsolete blanks before its colon).
fn name(field: &[u8]) -> Option<&[u8]> {
    let colon = memchr::memchr(b':', field)?;
    let name = field[..colon].trim_ascii_end();
    (!name.is_empty() && name.iter().all(u8::is_ascii_graphic)).then_some(name)
}

fn is_named(field: &[u8], wanted: &str) -> bool {
    name(field).is_some_and(|name| name.eq_ignore_ascii_case(wanted.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    fn added() -> Added<'static> {
        Added { sender: "me@x.test", name: None, hostname: "host.test", now: NOW, tag: 7 }
    }

    fn text(raw: &str) -> String {
        String::from_utf8(rewritten(raw.as_bytes(), &added()).expect("message").message).expect("text")
    }

    #[test]
    fn missing_fields_are_added_and_others_kept() {
        assert_eq!(
            text("Subject: s\nX:  odd \n\t folded\n\nbody\n.dot"),
            "Subject: s\r\nX:  odd \r\n\t folded\r\nFrom: me@x.test\r\nDate: Tue, 14 Nov 2023 22:13:20 +0000\r\n\
             Message-ID: <1700000000000.0000000000000007@host.test>\r\n\r\nbody\r\n.dot\r\n"
        );
        let whole = "From: a@x.test\r\nDate: now\r\nMessage-Id: <1@x>\r\n\r\nbody\r\n";
        assert_eq!(text(whole), whole);
    }

    #[test]
    fn bcc_goes_with_its_folded_lines() {
        let raw = "To: A <a@x.test>,\n b@x.test\nBCC : c@x.test,\n\td@x.test\nCc: e@x.test\n\nBcc: f@x.test\n";
        let rewritten = rewritten(raw.as_bytes(), &added()).expect("message");
        assert_eq!(rewritten.recipients, ["a@x.test", "b@x.test", "e@x.test", "c@x.test", "d@x.test"]);
        let text = String::from_utf8(rewritten.message).expect("text");
        assert!(!text.contains("c@x.test") && !text.contains("d@x.test"), "{text}");
        assert!(text.ends_with("\r\n\r\nBcc: f@x.test\r\n"), "{text}");
    }

    #[test]
    fn a_text_without_a_header_gets_one() {
        assert!(text("just text\n").ends_with("@host.test>\r\n\r\njust text\r\n"));
        assert!(text("").ends_with("@host.test>\r\n\r\n"));
        assert!(text("\nbody\n").ends_with("@host.test>\r\n\r\nbody\r\n"));
        assert!(text("From ann Thu Jan  1\nSubject: s\n\nbody\n").starts_with("Subject: s\r\n"));
    }

    #[test]
    fn a_name_cannot_add_a_field() {
        let added = Added { name: Some("A \"B\"\r\nBcc: x@x.test"), sender: "", ..added() };
        let text = String::from_utf8(rewritten(b"\n", &added).expect("message").message).expect("text");
        assert!(text.starts_with("From: \"A \\\"B\\\"Bcc: x@x.test\" <MAILER-DAEMON@host.test>\r\n"), "{text}");
    }

    #[test]
    fn recipients_that_cannot_all_be_read_are_refused() {
        let long = format!("To: {}\n\n", "ann@x.test,".repeat(limits::FIELD_OCTETS_MAX / 10));
        assert!(rewritten(long.as_bytes(), &added()).is_err());
        let many = "X: y\n".repeat(limits::HEADER_SECTION_OCTETS_MAX / 5);
        assert!(rewritten(many.as_bytes(), &added()).is_err());
    }
}
