//! A message with its envelope as an archive keeps it: the fields Return-Path and Delivered-To, then the octets as received.

use std::borrow::Cow;

use memchr::{memchr_iter, memmem};

use crate::client::smtp::with_crlf;
use crate::mime::parse_headers;

/// Fields that name the recipient of the envelope in the archives of other programs, the best first.
const RECIPIENT_FIELDS: [&str; 3] = ["delivered-to", "x-original-to", "envelope-to"];

/// A message with its envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Entry<'a> {
    /// The sender of the envelope; empty for the null sender, and where it is not known.
    pub(in crate::cli) sender: String,
    /// The recipient; empty where it is not known.
    pub(in crate::cli) recipient: String,
    /// The octets as received.
    pub(in crate::cli) message: Cow<'a, [u8]>,
}

impl<'a> Entry<'a> {
    /// An entry of what the service gives out: its own fields Return-Path and Received, then the octets as received. `None`
    /// if those fields are not there.
    pub(in crate::cli) fn of_raw(raw: &'a [u8], recipient: &str) -> Option<Self> {
        let (sender, rest) = field(raw, "Return-Path: <")?;
        let sender = sender.strip_suffix('>')?.to_owned();
        rest.strip_prefix(b"Received: ")?;
        // The clauses end with a semicolon at the end of a line, and the date is on the next.
        let date_at = memmem::find(rest, b";\r\n\t")? + 3;
        let message = &rest[date_at + memmem::find(&rest[date_at..], b"\r\n")? + 2..];
        Some(Self { sender, recipient: recipient.to_owned(), message: message.into() })
    }

    /// An entry as it stands in an archive, of this program or another.
    pub(in crate::cli) fn of_archive(text: &'a [u8]) -> Self {
        let text = if is_in_unix_lines(text) { with_crlf(text).into() } else { Cow::Borrowed(text) };
        if let Some((sender, recipient, at)) = own_fields(&text) {
            let message = match text {
                Cow::Borrowed(text) => Cow::Borrowed(&text[at..]),
                Cow::Owned(text) => Cow::Owned(text[at..].to_vec()),
            };
            return Self { sender, recipient, message };
        }
        let headers = parse_headers(&text).headers;
        let value = |wanted: &str| {
            let found = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value.trim_matches(['<', '>', ' ']).to_owned())
        };
        let recipient = RECIPIENT_FIELDS.iter().find_map(|name| value(name)).unwrap_or_default();
        Self { sender: value("return-path").unwrap_or_default(), recipient, message: text }
    }

    /// The octets of the entry in an archive. Lines end with LF if all of the message end with CRLF and it has no other CR;
    /// otherwise they are as they are. The last line has its end.
    pub(in crate::cli) fn to_archive(&self) -> Vec<u8> {
        let own = format!("Return-Path: <{}>\r\nDelivered-To: {}\r\n", self.sender, self.recipient);
        let mut text = [own.as_bytes(), &self.message].concat();
        if !text.ends_with(b"\n") {
            text.extend_from_slice(b"\r\n");
        }
        let is_plain = has_only_crlf(&text);
        if is_plain {
            text.retain(|&octet| octet != b'\r');
        }
        text
    }
}

/// The sender and the recipient of this program's own fields, and where the octets as received begin.
fn own_fields(text: &[u8]) -> Option<(String, String, usize)> {
    let (sender, rest) = field(text, "Return-Path: <")?;
    let (recipient, rest) = field(rest, "Delivered-To: ")?;
    Some((sender.strip_suffix('>')?.to_owned(), recipient.to_owned(), text.len() - rest.len()))
}

/// The value of the field on the first line if it begins like this, and what follows the line.
fn field<'a>(text: &'a [u8], start: &str) -> Option<(&'a str, &'a [u8])> {
    let rest = text.strip_prefix(start.as_bytes())?;
    let end = memmem::find(rest, b"\r\n")?;
    Some((str::from_utf8(&rest[..end]).ok()?, &rest[end + 2..]))
}

fn is_in_unix_lines(text: &[u8]) -> bool {
    memmem::find(text, b"\r\n").is_none()
}

/// Whether each CR and each LF is part of a CRLF.
fn has_only_crlf(text: &[u8]) -> bool {
    let both = memmem::find_iter(text, b"\r\n").count();
    both == memchr_iter(b'\r', text).count() && both == memchr_iter(b'\n', text).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: &[u8] = b"Return-Path: <me@x.test>\r\nReceived: from c ([192.0.2.1])\r\n\tby h with ESMTP\r\n\t\
        for <ann@x.test>;\r\n\tTue, 14 Nov 2023 22:13:20 +0000\r\nSubject: s\r\n\r\ntext\r\n";

    #[test]
    fn the_octets_are_those_as_received() {
        let entry = Entry::of_raw(RAW, "ann@x.test").expect("entry");
        assert_eq!((entry.sender.as_str(), &*entry.message), ("me@x.test", &b"Subject: s\r\n\r\ntext\r\n"[..]));
        assert_eq!(Entry::of_raw(b"Subject: s\r\n\r\n", "ann@x.test"), None);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for message in [
            &b"Subject: s\r\n\r\ntext\r\n"[..],
            b"\r\n\tnot a field\r\n",
            b"X: y\r\n\r\na bare \n and a bare \r too\r\n",
            b"X: y\r\n\r\na\r\r\nb\r\n",
            b"\x00\xff\r\n",
        ] {
            let entry = Entry { sender: String::new(), recipient: "ann@x.test".to_owned(), message: message.into() };
            let text = entry.to_archive();
            assert_eq!(Entry::of_archive(&text), entry, "{}", text.escape_ascii());
        }
        let plain = Entry { sender: "a@x.test".into(), recipient: "b@x.test".into(), message: b"A: b\r\n\r\nc".into() };
        assert_eq!(plain.to_archive(), b"Return-Path: <a@x.test>\nDelivered-To: b@x.test\nA: b\n\nc\n");
    }

    #[test]
    fn the_fields_of_other_programs_are_understood_and_kept() {
        let text = b"X-Original-To: list@x.test\nReturn-Path: <me@x.test>\nDelivered-To: <ann@x.test>\nA: b\n\nc\n";
        let entry = Entry::of_archive(text);
        assert_eq!((entry.sender.as_str(), entry.recipient.as_str()), ("me@x.test", "ann@x.test"));
        assert_eq!(&*entry.message, with_crlf(text));
        assert_eq!(Entry::of_archive(b"A: b\n\nc\n").recipient, "");
    }
}
