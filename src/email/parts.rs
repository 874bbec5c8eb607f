//! The fields of an Email that are objects, or lists of them, in another form than they are read in.

use serde::Serialize;

use crate::mime::{Head, NamedAddress};
use crate::model::{self, Timestamp};

/// Who wrote the message to whom, and when.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header<'a> {
    from: &'a [NamedAddress],
    to: &'a [NamedAddress],
    cc: &'a [NamedAddress],
    reply_to: &'a [NamedAddress],
    message_id: &'a str,
    /// Empty if there is none that can be read.
    date: String,
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

/// A header field.
#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    value: &'a str,
}

impl<'a> Header<'a> {
    pub(super) fn of(head: &'a Head) -> Self {
        let Head { from, to, cc, reply_to, message_id, date_millis, .. } = head;
        let date = date_millis.map(|at| Timestamp::from_millis(at).to_interface()).unwrap_or_default();
        Self { from, to, cc, reply_to, message_id, date }
    }
}

impl<'a> Envelope<'a> {
    pub(super) fn of(envelope: &'a model::Envelope) -> Self {
        let model::Envelope { reverse_path, helo, .. } = envelope;
        Self { reverse_path, client: envelope.client.to_string(), helo, protocol: envelope.protocol.to_string() }
    }
}

/// The header fields in their order.
pub(super) fn headers(fields: &[(String, String)]) -> impl Serialize {
    fields.iter().map(|(name, value)| Named { name, value }).collect::<Vec<_>>()
}
