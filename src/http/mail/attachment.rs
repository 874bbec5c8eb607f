//! `GET /api/mail/messages/{id}/attachments/{index}`: one attachment, for saving.
//!
//! A browser must not take it for a page: it is always an attachment, and its type is from a short list.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::message;
use crate::http::query;
use crate::http::{Api, Caller, Code, Problem};
use crate::mime::Message;
use crate::model::EmailId;

/// Types that are declared as the mail declares them. Browsers run nothing in these.
const TYPES: [&str; 10] = [
    "application/pdf",
    "application/zip",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "message/rfc822",
    "text/calendar",
    "text/csv",
    "text/plain",
];

/// Answers with the octets of an attachment.
pub(in crate::http) async fn show(
    State(api): State<Arc<Api>>,
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, Problem> {
    let (id, index) = message::text(path)?;
    answer(&api, &caller, query::id(&id)?, move |_| index.parse().ok()).await
}

/// Answers with the octets of the attachment whose index `find` gives.
pub(in crate::http) async fn answer(
    api: &Arc<Api>,
    caller: &Caller,
    id: EmailId,
    find: impl FnOnce(&Message<'_>) -> Option<usize> + Send + 'static,
) -> Result<Response, Problem> {
    let read = api.read(caller, id, move |email, room| {
        let message = Message::new(&email.raw);
        let found = find(&message).and_then(|index| message.attachment(index));
        let no_such = || Problem::new(Code::NotFound, "the message has no such attachment");
        let (attachment, octets) = found.ok_or_else(no_such)?;
        Ok((attachment, room.hold(octets.into_owned())))
    });
    let (attachment, octets) = read.await?;
    let content_type = TYPES.iter().find(|safe| **safe == attachment.content_type).copied();
    let fields = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type.unwrap_or("application/octet-stream"))),
        (header::CONTENT_DISPOSITION, disposition(&attachment.filename)),
    ];
    Ok((fields, octets).into_response())
}

/// The field Content-Disposition with a file name, in ASCII and, if it differs, in UTF-8 (RFC 6266, RFC 8187).
fn disposition(filename: &str) -> HeaderValue {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || " !#$&'()+,-.;=@[]^_`{}~".contains(*c);
    let plain: String = filename.chars().map(|c| if is_plain(&c) { c } else { '_' }).collect();
    let mut value = format!("attachment; filename=\"{plain}\"");
    if plain != filename {
        value.push_str("; filename*=UTF-8''");
        for octet in filename.bytes() {
            if octet.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&octet) {
                value.push(char::from(octet));
            } else {
                // Writing to a String does not fail.
                let _ = write!(value, "%{octet:02X}");
            }
        }
    }
    // All of it is visible ASCII.
    HeaderValue::from_str(&value).unwrap_or(HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_quoted_and_repeated_in_utf_8() {
        for (name, expected) in [
            ("a b.pdf", "attachment; filename=\"a b.pdf\""),
            ("grün.txt", "attachment; filename=\"gr_n.txt\"; filename*=UTF-8''gr%C3%BCn.txt"),
            ("a\".exe\\", "attachment; filename=\"a_.exe_\"; filename*=UTF-8''a%22.exe%5C"),
            ("50%41.txt", "attachment; filename=\"50_41.txt\"; filename*=UTF-8''50%2541.txt"),
            ("a\r\nX: y", "attachment; filename=\"a__X_ y\"; filename*=UTF-8''a%0D%0AX%3A%20y"),
            ("<b>*'", "attachment; filename=\"_b__'\"; filename*=UTF-8''%3Cb%3E%2A%27"),
        ] {
            assert_eq!(disposition(name), expected, "{name}");
        }
    }
}
