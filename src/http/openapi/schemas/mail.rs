//! Emails.

use serde_json::{Value, json};

use crate::http::openapi::schema::{
    Member, count, flag, list, object, or_null, reference, text, time, uuid, whole, word,
};
use crate::mime::codes::{CODE_KIND, CONFIDENCE_MIN, LinkKind};

pub(super) fn schemas() -> Vec<Member> {
    vec![
        ("MessagePage", message_page()),
        ("ListedEmail", listed_email()),
        ("Message", message()),
        ("Head", head()),
        ("NamedAddress", named_address()),
        ("Header", header()),
        ("Attachment", attachment()),
        ("OneTimeCode", code()),
        ("Link", link()),
        ("Envelope", envelope()),
        (
            "Submitted",
            object(
                "The Emails that a message became.",
                [("emails", list("One for each address.", reference("SubmittedEmail")))],
                [],
            ),
        ),
        (
            "SubmittedEmail",
            object(
                "A new Email.",
                [("id", uuid("Its id.")), ("recipient", text("The address.", "hello@example.test"))],
                [],
            ),
        ),
        ("AllMessagesPage", page_of("emails", "NewestEmail")),
        ("NewestEmail", newest_email()),
        ("MailboxPage", page_of("mailboxes", "Mailbox")),
        ("Mailbox", mailbox()),
    ]
}

fn size() -> Member {
    ("size", count("The size as received, in octets."))
}

fn expires_at() -> Member {
    ("expiresAt", time("When it is removed."))
}

/// The fields of an Email in every answer.
fn email() -> Vec<Member> {
    [newest(), vec![("message", text(MESSAGE, "<p>Hello</p>"))]].concat()
}

const MESSAGE: &str = "The HTML body as the sender wrote it, which may be hostile. For plain text only, \
                       the text escaped. Empty if there is neither.";

/// The fields that an Email has without its content.
fn newest() -> Vec<Member> {
    vec![
        ("id", uuid("Whoever knows it can read and delete the Email.")),
        ("recipient", text("The envelope's recipient.", "hello@example.test")),
        (
            "from",
            text(
                "The address in the header field From, or else the envelope's sender; may be empty.",
                "shop@example.org",
            ),
        ),
        ("subject", text("The subject; may be empty.", "Welcome")),
        ("receivedAt", time("When it was received.")),
    ]
}

fn listed_email() -> Value {
    let more = [size(), expires_at(), ("attachmentCount", count("How many attachments it has."))];
    object(
        "An Email in a list. `id`, `recipient`, `from`, `subject`, `message` and `receivedAt` are always there, \
         unless the parameter `fields` names others.",
        [],
        email().into_iter().chain(more),
    )
}

fn message_page() -> Value {
    object(
        "A page of an address's mail.",
        [("emails", list("Newest first.", reference("ListedEmail"))), ("limit", whole("The size of the page.", 1))],
        [
            ("total", count("How many Emails there are; with a filter, how many of the scanned ones passed it.")),
            ("page", whole("The number of the page; absent with a cursor.", 1)),
            ("pages", count("How many pages there are; absent with a cursor.")),
            ("scanned", count("With a filter: how many Emails were looked at.")),
            ("complete", flag("With a filter: whether all Emails were looked at.")),
            ("nextCursor", text("With a cursor: that of the next page, if there is one.", "1f")),
        ],
    )
}

fn message() -> Value {
    let details = [
        ("bodyText", text("The plain text body; may be empty.", "Hello")),
        ("header", reference("Head")),
        ("headers", list("The header fields in their order, decoded.", reference("Header"))),
        ("attachments", list("The attachments.", reference("Attachment"))),
        ("codes", list("One-time codes in the mail, the best first. At most 5.", reference("OneTimeCode"))),
        (
            "links",
            list(
                "Links that a reader would press, the best first, those to unsubscribe last. At most 10.",
                reference("Link"),
            ),
        ),
        size(),
        expires_at(),
        ("envelope", reference("Envelope")),
    ];
    object("An Email with all its details.", email().into_iter().chain(details), [])
}

fn head() -> Value {
    let named = |what: &str| list(what, reference("NamedAddress"));
    object(
        "Who wrote the message to whom, and when, as its header says.",
        [
            ("from", named("The authors.")),
            ("to", named("The recipients.")),
            ("cc", named("Further recipients.")),
            ("replyTo", named("Where answers go.")),
            ("messageId", text("The Message-ID without its angle brackets; may be empty.", "a1@example.org")),
            (
                "date",
                text("UTC, `YYYY-MM-DD HH:MM:SS`; empty if there is none that can be read.", "2026-01-31 12:00:00"),
            ),
        ],
        [],
    )
}

fn named_address() -> Value {
    object(
        "An address with the name of its owner.",
        [("name", text("The name; may be empty.", "Ann")), ("address", text("The address.", "ann@example.org"))],
        [],
    )
}

fn header() -> Value {
    object("A header field.", [("name", text("Its name.", "Subject")), ("value", text("Its value.", "Welcome"))], [])
}

fn attachment() -> Value {
    object(
        "An attachment.",
        [
            ("index", count("Its number in the message.")),
            ("filename", text("Its name as the sender wrote it; may be empty.", "bill.pdf")),
            ("contentType", text("Its media type as the sender wrote it.", "application/pdf")),
            ("size", count("Its decoded size in octets.")),
        ],
        [],
    )
}

fn confidence() -> Member {
    let confidence = json!({
        "type": "number",
        "minimum": CONFIDENCE_MIN,
        "maximum": 1,
        "description": "How likely the finding is right. What is less likely than the minimum is left out.",
    });
    ("confidence", confidence)
}

fn code() -> Value {
    object(
        "A one-time code in a mail.",
        [
            ("code", text("The code as a person would type it.", "482913")),
            ("kind", word("What it is for.", &[CODE_KIND])),
            confidence(),
        ],
        [],
    )
}

fn link() -> Value {
    object(
        "A link in a mail, or in its field List-Unsubscribe.",
        [
            ("url", text("Its address, `http` or `https`.", "https://example.org/verify?token=x")),
            ("kind", word("What it is for.", &LinkKind::ALL.map(LinkKind::as_str))),
            confidence(),
            ("text", text("What is written on it; may be empty.", "Verify email")),
        ],
        [],
    )
}

fn envelope() -> Value {
    object(
        "The envelope, without other recipients.",
        [
            ("reversePath", text("The envelope's sender; empty for a bounce.", "bounces@example.org")),
            ("client", text("The IP address of the sending server.", "192.0.2.1")),
            ("helo", text("The name that the sending server gave.", "mail.example.org")),
            ("protocol", text("The protocol (RFC 3848).", "ESMTPS")),
        ],
        [],
    )
}

fn newest_email() -> Value {
    object("An Email without its content.", newest().into_iter().chain([size(), expires_at()]), [])
}

fn mailbox() -> Value {
    object(
        "An address that has mail.",
        [
            ("address", text("The address as the newest Email has it.", "hello@example.test")),
            ("messages", count("How many Emails it has.")),
            ("newest", time("When the newest Email was received.")),
            ("octets", count("The size of its mail in octets.")),
        ],
        [],
    )
}

/// A page of all mail.
fn page_of(entries: &'static str, schema: &str) -> Value {
    object(
        "A page of the mail of all addresses.",
        [
            (entries, list("The entries.", reference(schema))),
            ("total", or_null(count("How many there are; null for those of one domain."))),
            ("limit", whole("The size of the page.", 1)),
            ("next", or_null(text("The value of `after` for the next page; null at the end.", "1f"))),
        ],
        [],
    )
}
