//! The mail of all addresses as the interface shows it. The operations are the administrator's.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Client, ClientError, OCTETS_MAX, query};
use crate::model::DomainName;

/// An Email without its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewestEmail {
    /// UUID; knowing it is enough to read and delete the Email.
    pub id: String,
    /// The envelope recipient.
    pub recipient: String,
    /// The header From's address, else the envelope sender; empty for the null sender.
    pub from: String,
    /// Decoded; empty if there is none.
    pub subject: String,
    /// UTC, `YYYY-MM-DD HH:MM:SS`.
    pub received_at: String,
    /// Fields of a later server.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A mailbox with Emails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MailboxEntry {
    /// Its address.
    pub address: String,
    /// How many Emails it has.
    pub messages: u64,
    /// When the newest was received, UTC, `YYYY-MM-DD HH:MM:SS`.
    pub newest: String,
    /// Octets of their messages.
    pub octets: u64,
    /// Fields of a later server.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A page of the Emails of all addresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewestPage {
    /// Newest first.
    pub emails: Vec<NewestEmail>,
    /// The other fields of the page.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A page of the mailboxes that have Emails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MailboxesPage {
    /// In the order of their newest Emails.
    pub mailboxes: Vec<MailboxEntry>,
    /// The other fields of the page.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Which page of the mail of all addresses to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllQuery {
    /// Only those of this domain.
    pub domain: Option<DomainName>,
    /// The server's default stands for `None`.
    pub limit: Option<u64>,
    /// Behind the page of this `next`; the newest page for `None`.
    pub after: Option<String>,
}

/// The `next` among the other fields of a page: where the following one begins.
fn next(other: &Map<String, Value>) -> Option<&str> {
    other.get("next")?.as_str()
}

impl NewestPage {
    /// Where the next page begins; `None` at the end.
    pub fn next(&self) -> Option<&str> {
        next(&self.other)
    }
}

impl MailboxesPage {
    /// Where the next page begins; `None` at the end.
    pub fn next(&self) -> Option<&str> {
        next(&self.other)
    }
}

impl Client {
    /// The newest Emails of all addresses.
    pub async fn all_emails(&self, which: &AllQuery) -> Result<NewestPage, ClientError> {
        self.get(format!("/api/admin/messages{}", which.query()), OCTETS_MAX).await
    }

    /// The mailboxes that have Emails.
    pub async fn mailboxes(&self, which: &AllQuery) -> Result<MailboxesPage, ClientError> {
        self.get(format!("/api/admin/mailboxes{}", which.query()), OCTETS_MAX).await
    }
}

impl AllQuery {
    fn query(&self) -> String {
        query(&[
            ("domain", self.domain.as_ref().map(ToString::to_string)),
            ("limit", self.limit.map(|limit| limit.to_string())),
            ("after", self.after.clone()),
        ])
    }
}
