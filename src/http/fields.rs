//! The fields of Emails that a caller chose with the parameter `fields`.

use serde::Serialize;
use serde::ser::SerializeMap;

use super::findings::CodeJson;
use super::problem::{Code, Problem};
use super::query::Query;
use crate::mime::Message;
use crate::model::StoredEmail;
use crate::reader;

/// A field of an Email in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    Id,
    Recipient,
    From,
    Subject,
    Message,
    ReceivedAt,
    Size,
    ExpiresAt,
    AttachmentCount,
    FromName,
    Preview,
    Codes,
}

/// In the order of an answer.
const FIELDS: [(&str, Field); 12] = [
    ("id", Field::Id),
    ("recipient", Field::Recipient),
    ("from", Field::From),
    ("subject", Field::Subject),
    ("message", Field::Message),
    ("receivedAt", Field::ReceivedAt),
    ("size", Field::Size),
    ("expiresAt", Field::ExpiresAt),
    ("attachmentCount", Field::AttachmentCount),
    ("fromName", Field::FromName),
    ("preview", Field::Preview),
    ("codes", Field::Codes),
];

/// The longest preview in characters.
const PREVIEW_CHARS_MAX: usize = 140;

/// The name of each field.
pub(super) fn names() -> [&'static str; 12] {
    FIELDS.map(|(name, _)| name)
}

/// The chosen fields, in the order of [`FIELDS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fields(Vec<(&'static str, Field)>);

impl Fields {
    /// The fields that a query names; `None` if it names none.
    pub(super) fn of(query: &Query) -> Result<Option<Self>, Problem> {
        let Some(text) = query.get("fields")? else { return Ok(None) };
        let names: Vec<&str> = text.split(',').collect();
        if let Some(unknown) = names.iter().find(|name| FIELDS.iter().all(|(known, _)| known != *name)) {
            let known = self::names().join(", ");
            return Err(Problem::new(Code::FieldsInvalid, format!("'{unknown}' is no field; the fields are {known}")));
        }
        Ok(Some(Self(FIELDS.into_iter().filter(|(name, _)| names.contains(name)).collect())))
    }

    /// The fields of an Email in an event: those that need no body, and no name.
    pub(super) fn of_events() -> Self {
        let is_of_lists = |field: &Field| {
            let of_lists = [Field::Message, Field::AttachmentCount, Field::FromName, Field::Preview, Field::Codes];
            of_lists.contains(field)
        };
        Self(FIELDS.into_iter().filter(|(_, field)| !is_of_lists(field)).collect())
    }

    /// A number that no other choice of fields has; never 0.
    pub(super) fn number(&self) -> u16 {
        self.0.iter().map(|(_, field)| 1 << *field as u16).sum()
    }

    /// The JSON of an Email; `None` only if its envelope lacks it.
    pub(super) fn render(&self, email: &StoredEmail, message: &Message<'_>) -> Option<Vec<u8>> {
        let chosen = Chosen { fields: self, recipient: &email.recipient()?.address, email, message };
        serde_json::to_vec(&chosen).ok()
    }
}

/// The beginning of a text on one line.
fn preview(text: &str) -> String {
    let mut preview = String::new();
    let mut chars_left = PREVIEW_CHARS_MAX;
    for word in text.split_whitespace() {
        let word: String = word.chars().take(chars_left).collect();
        chars_left = chars_left.saturating_sub(word.chars().count() + 1);
        if !preview.is_empty() {
            preview.push(' ');
        }
        preview += &word;
        if chars_left == 0 {
            break;
        }
    }
    preview
}

struct Chosen<'a, 'm> {
    fields: &'a Fields,
    recipient: &'a str,
    email: &'a StoredEmail,
    message: &'a Message<'m>,
}

impl Serialize for Chosen<'_, '_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { fields: Fields(fields), recipient, email, message } = self;
        let listed = &email.listed;
        let mut map = serializer.serialize_map(Some(fields.len()))?;
        for (name, field) in fields {
            match field {
                Field::Id => map.serialize_entry(name, &listed.id),
                Field::Recipient => map.serialize_entry(name, recipient),
                Field::From => map.serialize_entry(name, message.from().unwrap_or(&email.envelope.reverse_path)),
                Field::Subject => map.serialize_entry(name, message.subject()),
                Field::Message => map.serialize_entry(name, message.html()),
                Field::ReceivedAt => map.serialize_entry(name, &listed.received_at.to_interface()),
                Field::Size => map.serialize_entry(name, &listed.size_octets),
                Field::ExpiresAt => map.serialize_entry(name, &listed.expires_at.to_interface()),
                Field::AttachmentCount => map.serialize_entry(name, &message.attachments().len()),
                Field::FromName => {
                    map.serialize_entry(name, message.head().from.first().map_or("", |from| from.name.as_str()))
                }
                Field::Preview => map.serialize_entry(name, &preview(message.text())),
                Field::Codes => {
                    let findings = reader::findings(message);
                    map.serialize_entry(name, &findings.codes.iter().map(CodeJson::of).collect::<Vec<_>>())
                }
            }?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_one_short_line() {
        assert_eq!(preview(" Hello,\n\n  your\tcode "), "Hello, your code");
        assert_eq!(preview(""), "");
        assert_eq!(preview(&"ü".repeat(500)).chars().count(), PREVIEW_CHARS_MAX);
        let words = preview(&"ab ".repeat(500));
        assert!((PREVIEW_CHARS_MAX - 2..=PREVIEW_CHARS_MAX).contains(&words.chars().count()), "{words}");
    }
}
