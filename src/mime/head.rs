//! Who wrote a message to whom, and when, as its header says.

use super::addresses::NamedAddress;
use super::fields::{Field, Section};

/// The header fields of originators, destinations and identification (RFC 5322 sections 3.6.1 to 3.6.4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// From, in the order of the fields and in them. So are the other addresses.
    pub from: Vec<NamedAddress>,
    /// To.
    pub to: Vec<NamedAddress>,
    /// Cc.
    pub cc: Vec<NamedAddress>,
    /// Bcc, which only a sender's own copy should have.
    pub bcc: Vec<NamedAddress>,
    /// Reply-To.
    pub reply_to: Vec<NamedAddress>,
    /// Message-ID without its angle brackets; empty if there is none.
    pub message_id: String,
    /// Date, in milliseconds since the Unix epoch; `None` if there is none that can be read.
    pub date_millis: Option<i64>,
}

impl Head {
    /// What the header section says.
    pub(super) fn of(section: &Section<'_>) -> Self {
        let mailboxes = |name: &str| section.named(name).flat_map(Field::mailboxes).collect();
        let message_id = section.first("message-id").map(Field::text).unwrap_or_default();
        Self {
            from: mailboxes("from"),
            to: mailboxes("to"),
            cc: mailboxes("cc"),
            bcc: mailboxes("bcc"),
            reply_to: mailboxes("reply-to"),
            message_id: message_id.trim_start_matches('<').trim_end_matches('>').to_owned(),
            date_millis: section.first("date").and_then(Field::date_millis),
        }
    }
}
