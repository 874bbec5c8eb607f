//! A message as JSON, with the names of the original.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use super::content::{Content, Parts};
use crate::model::StoredEmail;

/// The longest JSON of a message, as a multiple of its size, and an allowance beside it. So much room is reserved.
const JSON_MULTIPLE: usize = 16;
const JSON_ALLOWANCE: usize = 16 * 1024;

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Message<'a> {
    #[serde(rename = "ID")]
    id: &'a str,
    from: AsPath<'a>,
    to: Vec<AsPath<'a>>,
    content: Content<'a>,
    created: String,
    /// The parts of the message; null if it has none.
    #[serde(rename = "MIME")]
    mime: Option<Parts<'a>>,
    raw: Raw<'a>,
}

/// An address of the envelope.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct AsPath<'a> {
    relays: Option<[&'static str; 0]>,
    mailbox: &'a str,
    domain: &'a str,
    params: &'static str,
}

/// The message as SMTP brought it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Raw<'a> {
    from: &'a str,
    to: Vec<&'a str>,
    data: Cow<'a, str>,
    helo: &'a str,
}

impl<'a> AsPath<'a> {
    fn of(address: &'a str) -> Self {
        let (mailbox, domain) = address.rsplit_once('@').unwrap_or((address, ""));
        Self { relays: None, mailbox, domain, params: "" }
    }
}

/// A message as JSON. One whose parts would take more than the room for an answer is shown without them.
pub(super) fn render(email: &StoredEmail) -> Option<Vec<u8>> {
    let octets_max = email.raw.len() * JSON_MULTIPLE + JSON_ALLOWANCE;
    [true, false].into_iter().find_map(|with_parts| {
        let mut json = Bounded { octets: Vec::new(), octets_max };
        let id = email.listed.id.to_string();
        serde_json::to_writer(&mut json, &Message::of(email, &id, with_parts)).ok()?;
        Some(json.octets)
    })
}

impl<'a> Message<'a> {
    fn of(email: &'a StoredEmail, id: &'a str, with_parts: bool) -> Self {
        let envelope = &email.envelope;
        let recipients: Vec<&str> = envelope.recipients.iter().map(|recipient| recipient.address.as_str()).collect();
        let mut content = Content::of(&email.raw);
        let mime = if with_parts { content.parts() } else { None };
        content.add("Return-Path", format!("<{}>", envelope.reverse_path));
        content
            .add("Received", format!("from {} by tempmail; {}", envelope.helo, email.listed.received_at.to_rfc5322()));
        content.add_missing("Message-ID", id);
        Self {
            id,
            from: AsPath::of(&envelope.reverse_path),
            to: recipients.iter().map(|address| AsPath::of(address)).collect(),
            content,
            created: email.listed.received_at.to_rfc3339_millis(),
            mime,
            raw: Raw {
                from: &envelope.reverse_path,
                to: recipients,
                data: String::from_utf8_lossy(&email.raw),
                helo: &envelope.helo,
            },
        }
    }
}

/// Octets up to a bound. What would exceed it is an error.
struct Bounded {
    octets: Vec<u8>,
    octets_max: usize,
}

impl Write for Bounded {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        if self.octets.len() + octets.len() > self.octets_max {
            return Err(io::Error::other("too long"));
        }
        self.octets.extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
