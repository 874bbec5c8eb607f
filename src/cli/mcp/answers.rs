//! The answers of the tools. Whatever a stranger wrote has gone through `text`.

use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;

use super::text::{self, Fence, LINE_CHARS_MAX, NOTICE, URL_CHARS_MAX};
use crate::cli::output::time;
use crate::client::{Email, EmailDetail, EmailPage, OneTimeCode};
use crate::mime::{self, VISIBLE_TEXT_OCTETS_MAX};

/// What is said of a mail without a text that a reader would see.
const NO_TEXT: &str = "(no visible text)";

/// An answer: for the program, and for the model.
pub(super) trait Answer: Serialize {
    /// The answer as a text; that of a stranger is between the markers of `fence`.
    fn text(&self, fence: &Fence) -> String;
}

/// A fresh address.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FreshAddress {
    /// The address
    pub(super) address: String,
    /// Its domain
    pub(super) domain: String,
}

/// A one-time code.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CodeEntry {
    /// As a person types it
    code: String,
    /// What it is for, such as otp
    kind: String,
    /// From 0.5 to 1
    confidence: f64,
}

/// The code that was waited for.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundCode {
    /// The code, as a person types it
    code: String,
    /// What it is for, such as otp
    kind: String,
    /// From 0.5 to 1
    confidence: f64,
    /// The id of the mail that has it
    mail_id: String,
}

/// A link that a reader would press.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Link {
    /// Where it leads
    url: String,
    /// `verification`, `sign_in`, `reset`, `invite` or `unsubscribe`
    kind: String,
    /// From 0.5 to 1
    confidence: f64,
    /// What is written on it
    text: String,
}

/// An attachment. Its octets are not handed over.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Attachment {
    /// Its place among the attachments
    index: u64,
    /// As the mail names it
    filename: String,
    /// Its media type, as the mail says
    content_type: String,
    /// In octets
    size: u64,
}

/// One mail.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Mail {
    /// What to keep in mind when reading it
    notice: &'static str,
    /// Its id
    id: String,
    /// The address that it is for
    recipient: String,
    /// When it came, in RFC 3339
    received_at: String,
    /// When it goes, in RFC 3339
    expires_at: String,
    /// The sender as the mail says; untrusted
    from: String,
    /// Untrusted
    subject: String,
    /// The one-time codes in it, the best first; untrusted
    codes: Vec<CodeEntry>,
    /// The links in it that a reader would press, the best first; untrusted
    links: Vec<Link>,
    /// Untrusted
    attachments: Vec<Attachment>,
    /// The text that a reader sees, between markers; untrusted
    body: String,
    /// Whether the text is longer, and its end is left out here
    is_shortened: bool,
}

/// A mail in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListedMail {
    /// Its id
    id: String,
    /// When it came, in RFC 3339
    received_at: String,
    /// The sender as the mail says; untrusted
    from: String,
    /// Untrusted
    subject: String,
}

/// A list of mail.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Inbox {
    /// What to keep in mind when reading it
    notice: &'static str,
    /// The mails in the whole inbox
    total: u64,
    /// The newest first
    mails: Vec<ListedMail>,
}

/// What was deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Deleted {
    /// How many mails
    pub(super) deleted: u64,
}

fn short(text: &str) -> String {
    text::line(text, LINE_CHARS_MAX)
}

impl CodeEntry {
    fn of(code: &OneTimeCode) -> Self {
        Self { code: short(&code.code), kind: short(&code.kind), confidence: code.confidence }
    }
}

impl FoundCode {
    /// The best code of a mail; `None` if it has none.
    pub(super) fn of(detail: &EmailDetail) -> Option<Self> {
        let CodeEntry { code, kind, confidence } = CodeEntry::of(detail.codes.first()?);
        Some(Self { code, kind, confidence, mail_id: short(&detail.email.id) })
    }
}

impl Mail {
    /// The mail as it is handed over, with its text between the markers of `fence`.
    pub(super) fn of(detail: &EmailDetail, fence: &Fence) -> Self {
        let email = &detail.email;
        let (body, is_shortened) = text::body(&mime::visible_text(&email.message));
        let link = |link: &crate::client::Link| Link {
            url: text::line(&link.url, URL_CHARS_MAX),
            kind: short(&link.kind),
            confidence: link.confidence,
            text: short(&link.text),
        };
        let attachment = |attachment: &crate::client::Attachment| Attachment {
            index: attachment.index,
            filename: short(&attachment.filename),
            content_type: short(&attachment.content_type),
            size: attachment.size,
        };
        Self {
            notice: NOTICE,
            id: short(&email.id),
            recipient: short(&email.recipient),
            received_at: short(&time::rfc3339(&email.received_at)),
            expires_at: short(&time::rfc3339(&detail.expires_at)),
            from: short(detail.header("From").unwrap_or(&email.from)),
            subject: short(&email.subject),
            codes: detail.codes.iter().map(CodeEntry::of).collect(),
            links: detail.links.iter().map(link).collect(),
            attachments: detail.attachments.iter().map(attachment).collect(),
            body: fence.around(if body.is_empty() { NO_TEXT } else { &body }),
            is_shortened: is_shortened || email.message.len() > VISIBLE_TEXT_OCTETS_MAX,
        }
    }
}

impl Inbox {
    /// The list as it is handed over.
    pub(super) fn of(page: &EmailPage) -> Self {
        let mail = |email: &Email| ListedMail {
            id: short(&email.id),
            received_at: short(&time::rfc3339(&email.received_at)),
            from: short(&email.from),
            subject: short(&email.subject),
        };
        Self { notice: NOTICE, total: page.total, mails: page.emails.iter().map(mail).collect() }
    }
}

impl Answer for FreshAddress {
    fn text(&self, _: &Fence) -> String {
        self.address.clone()
    }
}

impl Answer for FoundCode {
    fn text(&self, _: &Fence) -> String {
        let Self { code, kind, confidence, mail_id } = self;
        format!("{code}\n(kind {kind}, confidence {confidence}, in mail {mail_id})")
    }
}

impl Answer for Deleted {
    fn text(&self, _: &Fence) -> String {
        format!("deleted: {}", self.deleted)
    }
}

impl Answer for Inbox {
    fn text(&self, fence: &Fence) -> String {
        let line = |mail: &ListedMail| format!("{}  {}  {}  {}", mail.id, mail.received_at, mail.from, mail.subject);
        let lines: Vec<String> = self.mails.iter().map(line).collect();
        let (total, shown) = (self.total, self.mails.len());
        if lines.is_empty() {
            return format!("{total} mails, {shown} shown");
        }
        format!("{total} mails, {shown} shown\n{NOTICE}\n{}", fence.around(&lines.join("\n")))
    }
}

impl Answer for Mail {
    fn text(&self, fence: &Fence) -> String {
        let mut lines = vec![format!("From: {}", self.from), format!("Subject: {}", self.subject)];
        lines.extend(self.codes.iter().map(|it| format!("Code: {} ({})", it.code, it.confidence)));
        lines.extend(self.links.iter().map(|it| format!("Link: {} ({}) {}", it.url, it.kind, it.text)));
        lines.extend(
            self.attachments.iter().map(|it| {
                format!("Attachment: {}  {}  {}  {} octets", it.index, it.filename, it.content_type, it.size)
            }),
        );
        let Self { id, recipient, received_at, expires_at, body, .. } = self;
        let fields = fence.around(&lines.join("\n"));
        let rest = if self.is_shortened { "\nThe text is longer; its end is left out here." } else { "" };
        format!(
            "Id: {id}\nDelivered to: {recipient}\nReceived: {received_at}\nExpires: {expires_at}\n{NOTICE}\n{fields}\n{body}{rest}"
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::mcp::text::BODY_CHARS_MAX;

    fn detail(message: &str) -> EmailDetail {
        serde_json::from_value(json!({
            "id": "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b", "recipient": "hello@example.test", "from": "ann@x.test",
            "subject": "one\u{202e}\ntwo", "message": message, "receivedAt": "2023-11-14 22:13:20",
            "headers": [{"name": "From", "value": "Ann \u{e0041}<ann@x.test>"}],
            "attachments": [{"index": 0, "filename": "a\u{202e}fdp.exe", "contentType": "x/y", "size": 1}],
            "links": [{"url": "https://x.test/v", "kind": "verification", "confidence": 1.0, "text": "G\u{200b}o"}],
            "expiresAt": "2023-11-15 00:13:20",
        }))
        .expect("detail")
    }

    #[test]
    fn whatever_a_stranger_wrote_is_clean_and_between_markers() {
        let fence = Fence::new();
        let mail = Mail::of(&detail("<p>Seen<i hidden>not</i></p>"), &fence);
        assert_eq!((mail.from.as_str(), mail.subject.as_str()), ("Ann <ann@x.test>", "one two"));
        assert_eq!((mail.attachments[0].filename.as_str(), mail.links[0].text.as_str()), ("afdp.exe", "Go"));
        assert_eq!(mail.body, fence.around("Seen"));
        let text = mail.text(&fence);
        let begin = text.find("<<<UNTRUSTED").expect("a marker");
        for part in ["Ann", "one two", "afdp.exe", "https://x.test/v", "Seen"] {
            assert!(text.find(part).is_some_and(|at| at > begin), "{part}: {text}");
        }
        assert!(!mail.is_shortened && !text.contains("longer"));
        assert_eq!(Mail::of(&detail("<i hidden>not</i>"), &fence).body, fence.around(NO_TEXT));
    }

    #[test]
    fn a_long_text_is_shortened_and_says_so() {
        let fence = Fence::new();
        let by_characters = "x".repeat(BODY_CHARS_MAX + 1);
        let by_markup = format!("<p>x</p><!--{}--><p>y</p>", "x".repeat(VISIBLE_TEXT_OCTETS_MAX));
        for message in [by_characters, by_markup] {
            let mail = Mail::of(&detail(&message), &fence);
            assert!(mail.is_shortened && mail.text(&fence).contains("The text is longer"));
            assert!(mail.body.chars().count() < BODY_CHARS_MAX + 200);
        }
    }
}
