//! Emails as the interface shows them.

use serde::{Deserialize, Serialize};

/// An Email as the message list gives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Email {
    /// UUID; knowing it is enough to read and delete the Email.
    pub id: String,
    /// The envelope recipient.
    pub recipient: String,
    /// The header From's address, else the envelope sender; empty for the null sender.
    pub from: String,
    /// Decoded; empty if there is none.
    pub subject: String,
    /// The body as HTML; empty where it was not asked for.
    #[serde(default)]
    pub message: String,
    /// UTC, `YYYY-MM-DD HH:MM:SS`.
    pub received_at: String,
}

/// The newest Emails of an inbox.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct EmailPage {
    /// Newest first.
    pub emails: Vec<Email>,
    /// Emails in the whole inbox.
    pub total: u64,
}

/// One header field.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Header {
    /// As the message spells it.
    pub name: String,
    /// Decoded to UTF-8, unfolded.
    pub value: String,
}

/// One attachment of an Email.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Its place among the Email's attachments.
    pub index: u64,
    /// As the message names it; empty if it does not.
    #[serde(default)]
    pub filename: String,
    /// Its media type.
    #[serde(default)]
    pub content_type: String,
    /// Octets when decoded.
    #[serde(default)]
    pub size: u64,
}

/// A one-time code in an Email.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct OneTimeCode {
    /// As a person types it.
    pub code: String,
    /// What it is for.
    pub kind: String,
    /// From 0 to 1.
    pub confidence: f64,
}

/// A link in an Email that a reader would press.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Link {
    /// Where it leads.
    pub url: String,
    /// What it is for.
    pub kind: String,
    /// From 0 to 1.
    pub confidence: f64,
    /// What is written on it; may be empty.
    #[serde(default)]
    pub text: String,
}

/// One Email as far as this program reads it, and all that the service says of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmailDetail {
    /// What the message list shows of it.
    #[serde(flatten)]
    pub email: Email,
    /// The plain-text body; empty if the message has only HTML.
    #[serde(default)]
    pub body_text: String,
    /// In the order of the message.
    #[serde(default)]
    pub headers: Vec<Header>,
    /// In the order of the message.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// The best first.
    #[serde(default)]
    pub codes: Vec<OneTimeCode>,
    /// The best first.
    #[serde(default)]
    pub links: Vec<Link>,
    /// Octets as received.
    #[serde(default)]
    pub size: u64,
    /// When it goes: UTC, `YYYY-MM-DD HH:MM:SS`.
    #[serde(default)]
    pub expires_at: String,
    /// The answer as it was sent.
    #[serde(skip)]
    pub sent: String,
}

impl EmailDetail {
    /// The value of the first header field of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_of_a_later_server_are_no_hindrance() {
        let given = json!({
            "id": "x", "recipient": "a@b", "from": "", "subject": "s", "message": "m", "receivedAt": "t",
            "bodyText": "b", "headers": [{"name": "To", "value": "x"}], "attachments": [], "size": 5,
            "expiresAt": "e", "envelope": {"helo": "h"},
            "codes": [{"code": "1", "kind": "otp", "confidence": 0.9, "until": "t"}], "links": [],
        });
        let detail: EmailDetail = serde_json::from_value(given).expect("detail");
        assert_eq!(detail.header("tO"), Some("x"));
        assert_eq!((detail.email.subject.as_str(), detail.size, detail.codes[0].code.as_str()), ("s", 5, "1"));
    }
}
