//! The fields of an Email that are objects, or lists of them.

use serde::Serialize;

use crate::mime::{self, Findings, Head, Message, NamedAddress};
use crate::model::{self, Timestamp};

/// Who wrote the message to whom, and when.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header<'a> {
    from: Vec<Named<'a>>,
    to: Vec<Named<'a>>,
    cc: Vec<Named<'a>>,
    reply_to: Vec<Named<'a>>,
    message_id: &'a str,
    /// Empty if there is none that can be read.
    date: String,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    address: &'a str,
}

/// The envelope of the Email, without its other recipients. They may be in a Bcc.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Envelope<'a> {
    reverse_path: &'a str,
    client: String,
    helo: &'a str,
    protocol: String,
}

#[derive(Serialize)]
pub(super) struct HeaderField<'a> {
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attachment<'a> {
    index: usize,
    filename: &'a str,
    content_type: &'a str,
    size: u64,
}

#[derive(Serialize)]
pub(super) struct Code<'a> {
    code: &'a str,
    kind: &'static str,
    confidence: f64,
}

#[derive(Serialize)]
pub(super) struct Link<'a> {
    url: &'a str,
    kind: &'static str,
    confidence: f64,
    text: &'a str,
}

impl<'a> Header<'a> {
    pub(super) fn of(head: &'a Head) -> Self {
        let named = |all: &'a [NamedAddress]| {
            all.iter().map(|NamedAddress { name, address }| Named { name, address }).collect()
        };
        Self {
            from: named(&head.from),
            to: named(&head.to),
            cc: named(&head.cc),
            reply_to: named(&head.reply_to),
            message_id: &head.message_id,
            date: head.date.map(Timestamp::to_interface).unwrap_or_default(),
        }
    }
}

impl<'a> Envelope<'a> {
    pub(super) fn of(envelope: &'a model::Envelope) -> Self {
        Self {
            reverse_path: &envelope.reverse_path,
            client: envelope.client.to_string(),
            helo: &envelope.helo,
            protocol: envelope.protocol.to_string(),
        }
    }
}

/// The header fields in their order.
pub(super) fn headers<'a>(message: &'a Message<'_>) -> Vec<HeaderField<'a>> {
    message.headers().iter().map(|(name, value)| HeaderField { name, value }).collect()
}

pub(super) fn attachments<'a>(message: &'a Message<'_>) -> Vec<Attachment<'a>> {
    let attachment = |it: &'a mime::Attachment| Attachment {
        index: it.index,
        filename: &it.filename,
        content_type: &it.content_type,
        size: it.size_octets,
    };
    message.attachments().iter().map(attachment).collect()
}

/// The one-time codes, best first.
pub(super) fn codes(Findings { codes, .. }: &Findings) -> Vec<Code<'_>> {
    codes.iter().map(|it| Code { code: &it.code, kind: it.kind.as_str(), confidence: it.confidence }).collect()
}

/// The links that a reader would press, best first.
pub(super) fn links(Findings { links, .. }: &Findings) -> Vec<Link<'_>> {
    let found = links.iter();
    found.map(|it| Link { url: &it.url, kind: it.kind.as_str(), confidence: it.confidence, text: &it.text }).collect()
}
