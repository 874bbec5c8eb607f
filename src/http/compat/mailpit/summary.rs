//! A message in a list.

use serde::Serialize;

use crate::mime::{Message, NamedAddress};
use crate::model::StoredEmail;
use crate::reader;

/// The longest snippet in characters.
const SNIPPET_CHARS_MAX: usize = 250;

/// The fields of a message in a list, with the names of the original.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Summary<'a> {
    #[serde(flatten)]
    common: Common<'a>,
    created: String,
    attachments: usize,
    snippet: String,
}

/// What a list and a single message show alike.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Common<'a> {
    #[serde(rename = "ID")]
    id: String,
    #[serde(rename = "MessageID")]
    message_id: &'a str,
    /// Nothing is ever marked as read. A single message says that it is, as in earlier versions of the original.
    read: bool,
    pub(super) from: Address<'a>,
    to: Vec<Address<'a>>,
    cc: Vec<Address<'a>>,
    bcc: Vec<Address<'a>>,
    reply_to: Vec<Address<'a>>,
    subject: &'a str,
    username: &'static str,
    tags: [&'static str; 0],
    size: u64,
}

impl<'a> Common<'a> {
    pub(super) fn of(email: &'a StoredEmail, message: &'a Message<'_>, read: bool) -> Self {
        let head = message.head();
        Self {
            id: email.listed.id.to_string(),
            message_id: &head.message_id,
            read,
            from: Address::all(&head.from).first().copied().unwrap_or_default(),
            to: Address::all(&head.to),
            cc: Address::all(&head.cc),
            bcc: Address::hidden(email, message),
            reply_to: Address::all(&head.reply_to),
            subject: message.subject(),
            username: "",
            tags: [],
            size: email.listed.size_octets,
        }
    }
}

/// An address with its name. Both may be empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Address<'a> {
    name: &'a str,
    pub(super) address: &'a str,
}

impl<'a> Address<'a> {
    /// The addresses of a header field.
    fn all(named: &'a [NamedAddress]) -> Vec<Self> {
        named.iter().map(|NamedAddress { name, address }| Self { name, address }).collect()
    }

    /// The recipients that the header hides: those of Bcc, and those of the envelope that no field names.
    pub(super) fn hidden(email: &'a StoredEmail, message: &'a Message<'_>) -> Vec<Self> {
        let head = message.head();
        let mut hidden = Self::all(&head.bcc);
        for recipient in &email.envelope.recipients {
            let is_it = |named: &NamedAddress| named.address.eq_ignore_ascii_case(&recipient.address);
            if ![&head.to, &head.cc, &head.bcc].into_iter().flatten().any(is_it) {
                hidden.push(Self { name: "", address: &recipient.address });
            }
        }
        hidden
    }
}

/// A message as JSON.
pub(in crate::http::compat) fn render(email: &StoredEmail) -> Option<Vec<u8>> {
    reader::read(&email.raw, |message| {
        let summary = Summary {
            common: Common::of(email, message, false),
            created: email.listed.received_at.to_rfc3339_millis(),
            attachments: message.attachments().iter().filter(|it| super::message::is_attached(it)).count(),
            snippet: snippet(message.text()),
        };
        serde_json::to_vec(&summary).ok()
    })
}

/// The beginning of a text with single blanks.
fn snippet(text: &str) -> String {
    let mut snippet = String::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        for c in if snippet.is_empty() { "" } else { " " }.chars().chain(word.chars()) {
            if chars == SNIPPET_CHARS_MAX {
                return snippet + "...";
            }
            snippet.push(c);
            chars += 1;
        }
    }
    snippet
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
}
