//! `GET /api/mail/messages/{id}`: one Email with all its details.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;

use super::Api;
use super::email::EmailJson;
use super::findings::{CodeJson, LinkJson};
use super::memory::{Asker, Room};
use super::principal::Principal;
use super::problem::{Code, Problem};
use super::query;
use crate::mime::{Attachment, Findings, Head, Message, NamedAddress};
use crate::model::{EmailId, Envelope, StoredEmail, Timestamp};
use crate::reader;

/// The six fields of an Email in a list, and further details.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MessageJson<'a> {
    #[serde(flatten)]
    email: EmailJson<'a>,
    body_text: &'a str,
    header: HeadJson<'a>,
    headers: Vec<HeaderJson<'a>>,
    attachments: Vec<AttachmentJson<'a>>,
    codes: Vec<CodeJson<'a>>,
    links: Vec<LinkJson<'a>>,
    /// The size as received, in octets.
    size: u64,
    expires_at: String,
    envelope: EnvelopeJson<'a>,
}

/// Who wrote the message to whom, and when.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HeadJson<'a> {
    from: Vec<NamedAddressJson<'a>>,
    to: Vec<NamedAddressJson<'a>>,
    cc: Vec<NamedAddressJson<'a>>,
    reply_to: Vec<NamedAddressJson<'a>>,
    message_id: &'a str,
    /// Empty if there is none that can be read.
    date: String,
}

#[derive(Serialize)]
struct NamedAddressJson<'a> {
    name: &'a str,
    address: &'a str,
}

#[derive(Serialize)]
struct HeaderJson<'a> {
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AttachmentJson<'a> {
    index: usize,
    filename: &'a str,
    content_type: &'a str,
    size: u64,
}

/// The envelope of the Email, without its other recipients. They may be in a Bcc.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EnvelopeJson<'a> {
    reverse_path: &'a str,
    client: String,
    helo: &'a str,
    protocol: String,
}

/// Answers with the Email.
pub(super) async fn show(
    State(api): State<Arc<Api>>,
    principal: Principal,
    asker: Asker,
    path: Result<Path<String>, PathRejection>,
) -> Result<impl IntoResponse, Problem> {
    let json = api.read(principal, &asker, id(path)?, |email, room| render(&email, room)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json))
}

/// The JSON of an Email with all its details.
pub(super) fn render(email: &StoredEmail, room: Room) -> Result<Bytes, Problem> {
    let json = reader::read(&email.raw, |message| {
        serde_json::to_vec(&MessageJson::of(email, message, &reader::findings(message))?).ok()
    });
    let json = json.ok_or_else(Problem::internal)?;
    // A boxed slice has no spare room at its end.
    Ok(room.hold(json.into_boxed_slice()))
}

/// The id in the path.
pub(super) fn id(path: Result<Path<String>, PathRejection>) -> Result<EmailId, Problem> {
    query::id(&text(path)?)
}

/// What a path has in the place of its names. A path that is not UTF-8 has no valid id.
pub(super) fn text<T>(path: Result<Path<T>, PathRejection>) -> Result<T, Problem> {
    let Path(text) = path.map_err(|_| Problem::new(Code::IdInvalid, "the id in the path is not valid"))?;
    Ok(text)
}

impl<'a> MessageJson<'a> {
    fn of(email: &'a StoredEmail, message: &'a Message<'_>, findings: &'a Findings) -> Option<Self> {
        Some(Self {
            email: EmailJson::of(email, message)?,
            body_text: message.text(),
            header: HeadJson::of(message.head()),
            headers: message.headers().iter().map(|(name, value)| HeaderJson { name, value }).collect(),
            attachments: message.attachments().iter().map(AttachmentJson::of).collect(),
            codes: findings.codes.iter().map(CodeJson::of).collect(),
            links: findings.links.iter().map(LinkJson::of).collect(),
            size: email.listed.size_octets,
            expires_at: email.listed.expires_at.to_interface(),
            envelope: EnvelopeJson::of(&email.envelope),
        })
    }
}

impl<'a> HeadJson<'a> {
    fn of(head: &'a Head) -> Self {
        let named = |all: &'a [NamedAddress]| {
            all.iter().map(|NamedAddress { name, address }| NamedAddressJson { name, address }).collect()
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

impl<'a> AttachmentJson<'a> {
    fn of(attachment: &'a Attachment) -> Self {
        Self {
            index: attachment.index,
            filename: &attachment.filename,
            content_type: &attachment.content_type,
            size: attachment.size_octets,
        }
    }
}

impl<'a> EnvelopeJson<'a> {
    fn of(envelope: &'a Envelope) -> Self {
        Self {
            reverse_path: &envelope.reverse_path,
            client: envelope.client.to_string(),
            helo: &envelope.helo,
            protocol: envelope.protocol.to_string(),
        }
    }
}
