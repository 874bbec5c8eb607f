//! An Email as JSON: its fields, and the one writer of them. Lists, single mails and events show parts of one set.
//!
//! ```text
//! mod   the fields and the writer     parts   fields that are objects     text   texts as JSON
//! kept  what was written, for the next time
//! ```

mod kept;
mod parts;
mod text;

use std::ops::Range;

use serde::Serialize;

pub use kept::{Kept, WrittenBody};

use crate::mime::Message;
use crate::model::StoredEmail;
use crate::reader;

/// A field of an Email.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    BodyText,
    Header,
    Headers,
    Attachments,
    Links,
    Envelope,
}

/// Every field in the order of an answer. A caller can choose the first ones for a list.
const FIELDS: [(&str, Field); 18] = [
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
    ("bodyText", Field::BodyText),
    ("header", Field::Header),
    ("headers", Field::Headers),
    ("attachments", Field::Attachments),
    ("links", Field::Links),
    ("envelope", Field::Envelope),
];
/// How many of them a caller can choose.
const CHOSEN: usize = 12;

/// The longest preview in characters.
const PREVIEW_CHARS_MAX: usize = 140;

/// A set of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fields(u32);

impl Fields {
    /// The six fields of an Email in a list. None of them is ever absent or null.
    pub const SIX: Self =
        Self(Self::NAMES.0 | Self::of(&[Field::From, Field::Subject, Field::Message, Field::ReceivedAt]).0);
    /// The fields of an Email in an event, and in the list of all mail: those that need no body.
    pub const WITHOUT_BODY: Self =
        Self(Self::SIX.0 & !Self::of(&[Field::Message]).0 | Self::of(&[Field::Size, Field::ExpiresAt]).0);
    /// What names an Email that is gone.
    pub const NAMES: Self = Self::of(&[Field::Id, Field::Recipient]);
    /// All that is known of a single Email: not what a list says in short.
    pub const ALL: Self =
        Self(((1 << FIELDS.len()) - 1) & !Self::of(&[Field::AttachmentCount, Field::FromName, Field::Preview]).0);

    /// The names of the fields that a caller can choose.
    pub fn names() -> [&'static str; CHOSEN] {
        std::array::from_fn(|at| FIELDS[at].0)
    }

    /// The fields with these names; the error is a name that no field has.
    pub fn named<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self, &'a str> {
        names.into_iter().try_fold(Self(0), |fields, name| {
            let (_, field) = FIELDS[..CHOSEN].iter().find(|(known, _)| *known == name).ok_or(name)?;
            Ok(Self(fields.0 | Self::of(&[*field]).0))
        })
    }

    /// Whether the header section alone has all of them.
    pub const fn are_of_header(self) -> bool {
        self.0 & !(Self::WITHOUT_BODY.0 | Self::of(&[Field::FromName]).0) == 0
    }

    /// Whether they are written in about the time that it takes to read the message. The others take a search in the text of
    /// the body, which may be HTML.
    pub const fn are_quick(self) -> bool {
        self.0 & !(Self::WITHOUT_BODY.0 | Self::of(&[Field::FromName, Field::Message, Field::AttachmentCount]).0) == 0
    }

    /// Whether the whole body is among them, which may be long.
    pub const fn have_body(self) -> bool {
        self.has(Field::Message) || self.has(Field::BodyText)
    }

    const fn has(self, field: Field) -> bool {
        self.0 & (1 << field as u32) != 0
    }

    const fn of(mut fields: &[Field]) -> Self {
        let mut set = 0;
        while let [field, rest @ ..] = fields {
            set |= 1 << *field as u32;
            fields = rest;
        }
        Self(set)
    }
}

/// Appends these fields of an Email to `json` as an object. `None` if the envelope lacks the Email, which means a damaged
/// store: then nothing is appended.
pub fn write(json: &mut Vec<u8>, email: &StoredEmail, fields: Fields) -> Option<WrittenBody> {
    let start = json.len();
    reader::read(&email.raw, |message| {
        // What an earlier try left that panicked.
        json.truncate(start);
        let text = write_of(json, email, message, fields)?;
        let body = if text.is_empty() { None } else { message.single_body() };
        Some(WrittenBody { text: text.start - start..text.end - start, body })
    })
}

/// Appends a member to the object that `json` ends with, which has others.
pub fn add(json: &mut Vec<u8>, name: &str, member: &impl Serialize) {
    json.pop();
    json.push(b',');
    text::string(json, name);
    json.push(b':');
    value(json, member);
    json.push(b'}');
}

/// The address of the header field From, or else the envelope's sender.
pub fn sender<'a>(email: &'a StoredEmail, message: &'a Message<'_>) -> &'a str {
    message.from().map_or(&email.envelope.reverse_path, |from| &from.address)
}

/// Appends the fields. Returns where the text of the body is in `json`: nowhere if it is not among them.
fn write_of(json: &mut Vec<u8>, email: &StoredEmail, message: &Message<'_>, fields: Fields) -> Option<Range<usize>> {
    let mut body = json.len()..json.len();
    let recipient = email.recipient()?;
    let findings =
        if fields.has(Field::Codes) || fields.has(Field::Links) { reader::findings(message) } else { <_>::default() };
    let listed = &email.listed;
    let chosen = FIELDS.iter().filter(|(_, field)| fields.has(*field));
    for ((name, field), separator) in chosen.zip(std::iter::once(b'{').chain(std::iter::repeat(b','))) {
        json.push(separator);
        text::string(json, name);
        json.push(b':');
        match field {
            Field::Id => value(json, &listed.id),
            Field::Recipient => text::string(json, &recipient.address),
            Field::From => text::string(json, sender(email, message)),
            Field::Subject => text::string(json, message.subject()),
            Field::Message => {
                let start = json.len();
                text::html(json, message);
                body = start + 1..json.len() - 1;
            }
            Field::ReceivedAt => text::string(json, &listed.received_at.to_interface()),
            Field::Size => value(json, &listed.size_octets),
            Field::ExpiresAt => text::string(json, &listed.expires_at.to_interface()),
            Field::AttachmentCount => value(json, &message.attachments().len()),
            Field::FromName => text::string(json, message.from().map_or("", |from| &from.name)),
            Field::Preview => text::string(json, &beginning(message.text(), PREVIEW_CHARS_MAX).0),
            Field::Codes => value(json, &findings.codes),
            Field::BodyText => text::string(json, message.text()),
            Field::Header => value(json, &parts::Header::of(message.head())),
            Field::Headers => value(json, &parts::headers(message.headers())),
            Field::Attachments => value(json, &message.attachments()),
            Field::Links => value(json, &findings.links),
            Field::Envelope => value(json, &parts::Envelope::of(&email.envelope)),
        }
    }
    json.push(b'}');
    Some(body)
}

fn value(json: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(json, value).expect("texts and numbers are always JSON");
}

/// The beginning of a text on one line, and whether it is all of it.
pub fn beginning(text: &str, chars_max: usize) -> (String, bool) {
    let words: Vec<&str> = text.split_whitespace().take(chars_max).collect();
    let line = words.join(" ");
    match line.char_indices().nth(chars_max) {
        Some((end, _)) => (line[..end].to_owned(), false),
        None => (line, true),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use bytes::Bytes;

    use super::*;
    use crate::model::{Address, Envelope, Greeting, Listed, Place, Protocol, Subaddressing, Timestamp};
    use crate::random;

    pub(super) fn email(raw: impl Into<Bytes>) -> StoredEmail {
        let at = Timestamp::from_millis(1_700_000_000_000);
        let recipient: Address = "ann@example.test".parse().expect("an address");
        let id = random::email_id(at);
        let envelope = Envelope::new(
            Ipv4Addr::LOCALHOST.into(),
            String::new(),
            Protocol::plain(Greeting::Ehlo),
            "bounces@example.org".to_owned(),
            [(recipient.to_string(), recipient.mailbox(Subaddressing::Keep))],
            || id,
        );
        let listed = Listed { id, sequence: 1, received_at: at, expires_at: at, size_octets: 1, place: Place([0; 16]) };
        StoredEmail { listed, envelope, raw: raw.into() }
    }

    #[test]
    fn fields_of_the_header_need_no_body() {
        let email = email("From: Shop <shop@example.org>\r\nSubject: s\r\n\r\nYour code is 123456");
        let written = |message: Message<'_>, field: Field| {
            let mut json = Vec::new();
            write_of(&mut json, &email, &message, Fields::of(&[field])).expect("it is in its envelope");
            json
        };
        let of_body =
            [Field::Message, Field::AttachmentCount, Field::Preview, Field::Codes, Field::BodyText, Field::Attachments];
        for (name, field) in FIELDS {
            assert!(!(of_body.contains(&field) && Fields::of(&[field]).are_of_header()), "{name}");
            if Fields::of(&[field]).are_of_header() {
                let bare = written(Message::without_body(&email.raw), field);
                assert_eq!(written(Message::new(&email.raw), field), bare, "{name}");
            }
        }
    }

    #[test]
    fn a_preview_is_one_short_line() {
        let preview = |text: &str| beginning(text, PREVIEW_CHARS_MAX);
        assert_eq!(preview(" Hello,\n\n  your\tcode "), ("Hello, your code".to_owned(), true));
        assert_eq!(preview(""), (String::new(), true));
        assert_eq!(preview(&"ü".repeat(500)), ("ü".repeat(PREVIEW_CHARS_MAX), false));
        assert_eq!(preview(&"ab ".repeat(500)).0.chars().count(), PREVIEW_CHARS_MAX);
    }
}
