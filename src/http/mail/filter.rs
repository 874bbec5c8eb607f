//! The filters of a mailbox's Emails, in the query of a request.

use crate::email::sender;
use crate::http::{Problem, Query};
use crate::mime::Message;
use crate::model::{Listed, StoredEmail, Timestamp};
use crate::reader;

/// What an Email must be like. Without any condition every Email passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::http) struct Filter {
    /// Texts in lower case that the sender and the subject contain.
    from: Option<String>,
    subject: Option<String>,
    /// The first moment of receipt, and the first one after the last.
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    has: Option<Has>,
}

/// What an Email must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Has {
    Attachment,
    /// A one-time code.
    Code,
    /// A link that the mail was sent for.
    Link,
}

/// In the order in which they are described.
const HAS: [(&str, Has); 3] = [("attachment", Has::Attachment), ("code", Has::Code), ("link", Has::Link)];

/// The values of the parameter `has`.
pub(in crate::http) fn had() -> [&'static str; 3] {
    HAS.map(|(name, _)| name)
}

impl Filter {
    /// The conditions of a query.
    pub(super) fn of(query: &Query) -> Result<Self, Problem> {
        let at = |name: &str| query.get(name)?.map(|text| time(name, text)).transpose();
        Ok(Self { since: at("since")?, until: at("until")?, ..Self::of_content(query)? })
    }

    /// The conditions of a query, without those of time.
    pub(super) fn of_content(query: &Query) -> Result<Self, Problem> {
        let text = |name: &str| Ok::<_, Problem>(query.get(name)?.map(str::to_lowercase));
        let invalid = || Problem::invalid("has", format!("'has' must be one of: {}", had().join(", ")));
        let known = |text: &str| HAS.into_iter().find(|(name, _)| *name == text).map(|(_, has)| has);
        let has = query.get("has")?.map(|text| known(text).ok_or_else(invalid)).transpose()?;
        Ok(Self { from: text("from")?, subject: text("subject")?, has, ..Self::default() })
    }

    /// The filter, for Emails received at a time or later.
    pub(super) fn since(self, at: Timestamp) -> Self {
        Self { since: Some(at), ..self }
    }

    /// Whether there is any condition.
    pub(in crate::http) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether an Email must be parsed to know if it passes.
    pub(in crate::http) fn needs_content(&self) -> bool {
        self.from.is_some() || self.subject.is_some() || self.has.is_some()
    }

    /// Whether an Email may pass, as far as its time of receipt says.
    pub(in crate::http) fn admits(&self, listed: &Listed) -> bool {
        self.since.is_none_or(|since| listed.received_at >= since)
            && self.until.is_none_or(|until| listed.received_at < until)
    }

    /// Whether the content of an Email passes.
    pub(in crate::http) fn passes(&self, email: &StoredEmail, message: &Message<'_>) -> bool {
        let contains = |text: &str, part: &Option<String>| {
            part.as_ref().is_none_or(|part| text.to_lowercase().contains(part.as_str()))
        };
        contains(sender(email, message), &self.from)
            && contains(message.subject(), &self.subject)
            && self.has.is_none_or(|has| has.is_in(message))
    }
}

impl Has {
    fn is_in(self, message: &Message<'_>) -> bool {
        match self {
            Self::Attachment => !message.attachments().is_empty(),
            Self::Code => reader::findings(message).code().is_some(),
            Self::Link => reader::findings(message).link().is_some(),
        }
    }
}

/// The time in the parameter `name`.
pub(super) fn time(name: &str, text: &str) -> Result<Timestamp, Problem> {
    let detail = || format!("'{name}' must be a time such as '2026-01-31 12:00:00' in UTC, or 2026-01-31T12:00:00Z");
    Timestamp::from_text(text).ok_or_else(|| Problem::invalid(name, detail()))
}
