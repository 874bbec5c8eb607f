//! A message with its bodies, and the list of its attachments.

use serde::Serialize;

use super::summary::Common;
use crate::mime::{self, Message};
use crate::model::StoredEmail;
use crate::reader;

/// The fields of a message, with the names of the original.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Details<'a> {
    #[serde(flatten)]
    common: Common<'a>,
    return_path: &'a str,
    list_unsubscribe: ListUnsubscribe<'a>,
    date: String,
    text: &'a str,
    #[serde(rename = "HTML")]
    html: &'a str,
    inline: Vec<Attachment<'a>>,
    attachments: Vec<Attachment<'a>>,
}

/// What the header says about leaving a mailing list (RFC 2369, RFC 8058).
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct ListUnsubscribe<'a> {
    header: &'a str,
    links: Vec<&'a str>,
    errors: &'static str,
    header_post: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Attachment<'a> {
    #[serde(rename = "PartID")]
    part_id: String,
    file_name: &'a str,
    content_type: &'a str,
    #[serde(rename = "ContentID")]
    content_id: &'a str,
    size: u64,
}

/// A message as JSON.
pub(super) fn render(email: &StoredEmail) -> Option<Vec<u8>> {
    reader::read(&email.raw, |message| serde_json::to_vec(&Details::of(email, message)).ok())
}

impl<'a> Details<'a> {
    fn of(email: &'a StoredEmail, message: &'a Message<'_>) -> Self {
        let common = Common::of(email, message, true);
        let (sender, reverse_path) = (common.from.address, email.envelope.reverse_path.as_str());
        let (attachments, inline): (Vec<_>, Vec<_>) = message.attachments().iter().partition(|it| is_attached(it));
        Self {
            common,
            return_path: if reverse_path.is_empty() { sender } else { reverse_path },
            list_unsubscribe: ListUnsubscribe::of(message),
            date: message.head().date.unwrap_or(email.listed.received_at).to_rfc3339_millis(),
            text: message.text(),
            html: if message.has_html() { message.html() } else { "" },
            inline: inline.into_iter().map(Attachment::of).collect(),
            attachments: attachments.into_iter().map(Attachment::of).collect(),
        }
    }
}

/// Whether a part is listed as an attachment. The others are listed as inline parts.
pub(super) fn is_attached(attachment: &mime::Attachment) -> bool {
    attachment.is_declared || attachment.content_type == "application/octet-stream"
}

impl<'a> Attachment<'a> {
    fn of(attachment: &'a mime::Attachment) -> Self {
        Self {
            part_id: attachment.index.to_string(),
            file_name: &attachment.filename,
            content_type: &attachment.content_type,
            content_id: attachment.content_id.as_deref().unwrap_or_default(),
            size: attachment.size_octets,
        }
    }
}

impl<'a> ListUnsubscribe<'a> {
    fn of(message: &'a Message<'_>) -> Self {
        let field = |wanted: &str| {
            let mut fields = message.headers().iter();
            fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map_or("", |(_, value)| value)
        };
        let header = field("list-unsubscribe");
        let links = header.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(link, _)| link.trim());
        Self { header, links: links.collect(), errors: "", header_post: field("list-unsubscribe-post") }
    }
}
