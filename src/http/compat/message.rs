//! One message: whole, its parts, and its JSON with the names of the original.

use std::collections::BTreeMap;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Value, json};

use super::query::Search;
use super::{Call, Refusal, list};
use crate::email;
use crate::http::{Problem, Query};
use crate::http::{attachment, message as own_message, query, raw, view};
use crate::mime::{Attachment, Message, NamedAddress};
use crate::model::{DomainName, EmailId, Recipient, StoredEmail, Timestamp};
use crate::reader;

/// The id that stands for the newest message.
const LATEST: &str = "latest";
/// The longest snippet in characters.
const SNIPPET_CHARS_MAX: usize = 250;

/// What a path has in the place of its names.
type InPath<T> = Result<Path<T>, PathRejection>;

/// `GET /api/v1/message/{id}`.
pub(super) async fn show(call: Call, path: InPath<String>) -> Result<Response, Refusal> {
    answer(call, path, |shown| serde_json::to_vec(shown)).await
}

/// `PUT /api/v1/messages`, by which the original marks messages as read. A request that would do nothing is refused.
pub(super) async fn mark(_: Call) -> Refusal {
    Problem::invalid("Read", "no message is marked as read here").into()
}

/// `GET /api/v1/message/{id}/headers`: the trace fields, and the header fields as received.
pub(super) async fn headers(call: Call, path: InPath<String>) -> Result<Response, Refusal> {
    let render = |shown: &Shown<'_, '_>| {
        let mut fields = BTreeMap::new();
        add_fields(&mut fields, &Message::new(shown.trace.as_bytes()));
        add_fields(&mut fields, shown.message);
        serde_json::to_vec(&fields)
    };
    answer(call, path, render).await
}

/// `GET /api/v1/message/{id}/raw`: the message as text.
pub(super) async fn source(call: Call, path: InPath<String>) -> Result<Response, Refusal> {
    let id = id(&call, &own_message::text(path)?).await?;
    let mut response = raw::show(State(call.api), call.caller, Ok(Path(id.to_string()))).await?;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    Ok(response)
}

/// `GET /api/v1/message/{id}/part/{part}`: an attachment.
pub(super) async fn part(call: Call, path: InPath<(String, String)>) -> Result<Response, Refusal> {
    let (name, part) = own_message::text(path)?;
    let id = id(&call, &name).await?;
    Ok(attachment::answer(&call.api, &call.caller, id, move |message| message.attachment_index(&part)).await?)
}

/// `GET /view/{id}.html` and `/view/{id}.txt`: the body for a browser.
pub(super) async fn page(call: Call, path: InPath<String>) -> Result<Response, Refusal> {
    let file = own_message::text(path)?;
    let (name, kind) = file.rsplit_once('.').ok_or_else(Problem::no_such_email)?;
    let path = Ok(Path(id(&call, name).await?.to_string()));
    let Call { api, caller, .. } = call;
    match kind {
        "html" => Ok(view::html(State(api), caller, Query::default(), path).await?),
        "txt" => Ok(view::text(State(api), caller, path).await?),
        _ => Err(Problem::no_such_email().into()),
    }
}

/// Answers with the JSON that `render` makes of the message that a path names.
async fn answer(
    call: Call,
    path: InPath<String>,
    render: fn(&Shown<'_, '_>) -> serde_json::Result<Vec<u8>>,
) -> Result<Response, Refusal> {
    let id = id(&call, &own_message::text(path)?).await?;
    let hostname = call.api.config.smtp.hostname.clone();
    let json = call.api.read(&call.caller, id, move |email, room| {
        let trace = raw::trace(&email, &hostname);
        let shown = |message: &Message<'_>| render(&Shown { email: &email, message, trace: &trace, is_whole: true });
        Ok(room.hold(reader::read(&email.raw, shown).map_err(|_| Problem::internal())?))
    });
    Ok(([(header::CONTENT_TYPE, "application/json")], json.await?).into_response())
}

/// The id that a path names. `latest` is the newest message, or the newest one that the parameter `query` finds.
async fn id(call: &Call, name: &str) -> Result<EmailId, Problem> {
    if name != LATEST {
        return query::id(name);
    }
    let (found, _) = list::matching(call, Search::optional(&call.query)?, 1).await?;
    found.first().map(|listed| listed.id).ok_or_else(Problem::no_such_email)
}

/// A message in a list as JSON. The name is that of this server in trace fields.
pub(super) fn in_list(email: &StoredEmail, hostname: &DomainName) -> serde_json::Result<Vec<u8>> {
    let trace = &raw::trace(email, hostname);
    reader::read(&email.raw, |message| serde_json::to_vec(&Shown { email, message, trace, is_whole: false }))
}

/// A message as JSON: as in a list, or whole.
struct Shown<'a, 'm> {
    email: &'a StoredEmail,
    message: &'a Message<'m>,
    /// What the message is shown with before its own header.
    trace: &'a str,
    is_whole: bool,
}

impl Serialize for Shown<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let &Self { email, message, trace, is_whole } = self;
        let head = message.head();
        let mut json = serializer.serialize_map(None)?;
        json.serialize_entry("ID", &email.listed.id)?;
        json.serialize_entry("MessageID", &head.message_id)?;
        // Nothing is ever marked as read. A single message says that it is, as in earlier versions of the original.
        json.serialize_entry("Read", &is_whole)?;
        json.serialize_entry("From", &Address::all(&head.from).first().copied().unwrap_or_default())?;
        json.serialize_entry("To", &Address::all(&head.to))?;
        json.serialize_entry("Cc", &Address::all(&head.cc))?;
        json.serialize_entry("Bcc", &Address::hidden(email, message))?;
        json.serialize_entry("ReplyTo", &Address::all(&head.reply_to))?;
        json.serialize_entry("Subject", message.subject())?;
        json.serialize_entry("Username", "")?;
        json.serialize_entry("Tags", &[(); 0])?;
        json.serialize_entry("Size", &(trace.len() as u64 + email.listed.size_octets))?;
        let (attached, inline): (Vec<_>, Vec<_>) = message.attachments().iter().partition(|it| is_attached(it));
        if !is_whole {
            json.serialize_entry("Created", &email.listed.received_at.to_rfc3339_millis())?;
            json.serialize_entry("Attachments", &attached.len())?;
            json.serialize_entry("Snippet", &snippet(message.text()))?;
            return json.end();
        }
        let sender = email.envelope.reverse_path.as_str();
        let return_path = if sender.is_empty() { message.from().map_or("", |from| &from.address) } else { sender };
        json.serialize_entry("ReturnPath", return_path)?;
        json.serialize_entry("ListUnsubscribe", &list_unsubscribe(message))?;
        let date = head.date_millis.map_or(email.listed.received_at, Timestamp::from_millis);
        json.serialize_entry("Date", &date.to_rfc3339_millis())?;
        json.serialize_entry("Text", &message.text_as_sent())?;
        json.serialize_entry("HTML", if message.has_html() { message.html() } else { "" })?;
        json.serialize_entry("Inline", &parts(&inline))?;
        json.serialize_entry("Attachments", &parts(&attached))?;
        json.end()
    }
}

/// What the header says about leaving a mailing list (RFC 2369, RFC 8058).
fn list_unsubscribe(message: &Message<'_>) -> Value {
    let field = |wanted: &str| {
        let mut fields = message.headers().iter();
        fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map_or("", |(_, value)| value)
    };
    let header = field("list-unsubscribe");
    let links = header.split('<').skip(1).filter_map(|rest| Some(rest.split_once('>')?.0.trim()));
    let is_link = |it: &&str| ["http://", "https://", "mailto:"].iter().any(|scheme| it.starts_with(scheme));
    let links: Vec<&str> = links.filter(is_link).collect();
    let is_wrong = links.is_empty() && !header.is_empty();
    let errors = if is_wrong { format!("\"{header}\" no valid unsubscribe links found") } else { String::new() };
    json!({ "Header": header, "Links": links, "Errors": errors, "HeaderPost": field("list-unsubscribe-post") })
}

fn parts(attachments: &[&Attachment]) -> Vec<Value> {
    let part = |it: &&Attachment| {
        json!({
            "PartID": it.part_number, "FileName": it.filename, "ContentType": it.content_type,
            "ContentID": it.content_id.as_deref().unwrap_or_default(), "Size": it.size_octets,
        })
    };
    attachments.iter().map(part).collect()
}

/// An address with its name. Both may be empty.
#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Address<'a> {
    pub(super) name: &'a str,
    pub(super) address: &'a str,
}

impl<'a> Address<'a> {
    /// The addresses of a header field.
    pub(super) fn all(named: &'a [NamedAddress]) -> Vec<Self> {
        named.iter().map(|NamedAddress { name, address }| Self { name, address }).collect()
    }

    /// The recipients that the header hides: those of Bcc, and those of the envelope that no field names. One with a private
    /// mailbox is hidden in Emails of others.
    pub(super) fn hidden(email: &'a StoredEmail, message: &'a Message<'_>) -> Vec<Self> {
        let head = message.head();
        let mut hidden = Self::all(&head.bcc);
        let own = email.lease();
        let is_visible = |it: &&Recipient| [None, own].contains(&it.mailbox.lease());
        for recipient in email.envelope.recipients.iter().filter(is_visible) {
            let is_it = |named: &NamedAddress| named.address.eq_ignore_ascii_case(&recipient.address);
            if ![&head.to, &head.cc, &head.bcc].into_iter().flatten().any(is_it) {
                hidden.push(Self { name: "", address: &recipient.address });
            }
        }
        hidden
    }
}

/// Whether a part is listed as an attachment. The others are listed as inline parts.
pub(super) fn is_attached(attachment: &Attachment) -> bool {
    attachment.is_declared || attachment.content_type == "application/octet-stream" || attachment.part_number == "0"
}

/// The beginning of a text with single blanks.
fn snippet(text: &str) -> String {
    let (line, is_all) = email::beginning(text, SNIPPET_CHARS_MAX);
    if is_all { line } else { line + "..." }
}

/// Adds the values of each header field by its name in the usual spelling, on one line and otherwise as received.
fn add_fields(fields: &mut BTreeMap<String, Vec<String>>, message: &Message<'_>) {
    for (name, folded) in message.received_fields() {
        let folded = String::from_utf8_lossy(folded);
        let lines: Vec<&str> = folded.lines().map(str::trim).collect();
        fields.entry(usual_spelling(name)).or_default().push(lines.join(" ").trim().to_owned());
    }
}

/// A field's name with a capital at the beginning and after each hyphen, all else in lower case.
fn usual_spelling(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let mut word = word.to_ascii_lowercase();
        word.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
        word
    });
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_the_beginning_on_one_line() {
        assert_eq!(snippet(" one\n\n  two\tthree \n"), "one two three");
        assert_eq!(snippet(&"ä".repeat(SNIPPET_CHARS_MAX)), "ä".repeat(SNIPPET_CHARS_MAX));
        assert_eq!(snippet(&"ab ".repeat(200)).chars().count(), SNIPPET_CHARS_MAX + 3);
        assert_eq!(snippet(""), "");
    }

    #[test]
    fn fields_have_their_usual_names_and_unfolded_values() {
        let raw = b"MIME-Version: 1.0\r\nmessage-ID: <1@x>\r\nX-A: =?utf-8?q?=E2?=\r\n  two\r\nX-a: 2\r\n\r\nBody: x";
        let mut fields = BTreeMap::new();
        add_fields(&mut fields, &Message::new(b"X-a: 1\r\n"));
        add_fields(&mut fields, &Message::new(raw));
        let shown: Vec<_> = fields.iter().map(|(name, values)| (name.as_str(), values.join("|"))).collect();
        assert_eq!(
            shown,
            [
                ("Message-Id", "<1@x>".to_owned()),
                ("Mime-Version", "1.0".to_owned()),
                ("X-A", "1|=?utf-8?q?=E2?= two|2".to_owned())
            ]
        );
    }
}
