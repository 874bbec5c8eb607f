//! Reading and deleting the mail of an address.

use super::operation::Operation;
use super::schema::{address, count, reference, text, uuid, with, word};
use super::{page_number, page_size};
use crate::http::problem::Code;

/// What reading an Email can fail with.
const READING: &[Code] = &[Code::RoleAddress, Code::EmailDamaged, Code::Busy, Code::StoreUnavailable];

/// What waiting for mail can fail with.
const WAITING: &[Code] = &[Code::TooManyWaitingForClient, Code::TooManyWaiting, Code::Stopping];

pub(super) fn operations() -> Vec<Operation> {
    vec![
        list(),
        submission(),
        wait(),
        stream(),
        Operation::get("/api/mail/messages/{id}", "getMessage", "Read one mail with all its details")
            .closable()
            .id_in_path(uuid("The id of the Email."))
            .json(200, "The Email.", reference("Message"))
            .fails(READING),
        Operation::get("/api/mail/messages/{id}/raw", "getRawMessage", "Read one mail as it was received")
            .about("The fields Return-Path and Received come first, then the octets exactly as received.")
            .closable()
            .id_in_path(uuid("The id of the Email."))
            .answer(200, "The message.", "message/rfc822", super::octets())
            .fails(READING),
        Operation::get("/api/mail/messages/{id}/html", "getHtml", "Read one mail in a browser")
            .about(
                "The HTML body, or the text as HTML, made safe: no script runs, and nothing is loaded from elsewhere. \
                 HTML that exceeds a bound is shown as its text.",
            )
            .closable()
            .id_in_path(uuid("The id of the Email."))
            .takes("remote", word("Whether images from elsewhere are loaded.", &["0", "1", "false", "true"]))
            .takes(
                "links",
                word("`shown`: links lead first to the page for people, which shows where they lead.", &["shown"]),
            )
            .answer(200, "The page.", "text/html", super::plain_text())
            .fails(READING)
            .fails(&[Code::BooleanInvalid, Code::TextInvalid]),
        Operation::get("/api/mail/messages/{id}/text", "getText", "Read the text of one mail")
            .closable()
            .id_in_path(uuid("The id of the Email."))
            .answer(200, "The text.", "text/plain", super::plain_text())
            .fails(READING),
        Operation::get("/api/mail/messages/{id}/attachments/{index}", "getAttachment", "Save an attachment")
            .about(
                "Its type is that of the mail if browsers run nothing in it, and `application/octet-stream` otherwise.",
            )
            .closable()
            .id_in_path(uuid("The id of the Email."))
            .also_in_path("index", count("The `index` of the attachment."))
            .answer(200, "The octets.", "*/*", super::octets())
            .fails(READING),
        delete(),
    ]
}

/// Pages of mail.
fn list() -> Operation {
    let list = Operation::get("/api/mail/messages", "listMessages", "List the mail of an address, newest first")
        .about(
            "An address that never received mail has an empty list. \
             A page past the end has no `emails` and true totals.\n\n\
             `cursor` and `page` exclude each other. An empty `cursor` begins a walk that shows each Email once, \
             even if others arrive meanwhile.",
        )
        .closable()
        .needs("to", address("The address."))
        .takes("page", page_number())
        .takes("limit", page_size())
        .takes("cursor", text("Empty, or `nextCursor` of the last answer.", ""))
        .takes("fields", fields())
        .json(200, "A page.", reference("MessagePage"))
        .fails(READING)
        .fails(&[Code::PageInvalid, Code::LimitInvalid, Code::CursorInvalid, Code::FieldsInvalid])
        .fails(&[Code::AddressInvalid, Code::ParametersConflict]);
    filtered(list)
}

/// Deletions.
fn delete() -> Operation {
    let delete = Operation::delete("/api/mail/delete", "deleteMessages", "Delete mail of an address, or by id")
        .about(
            "Either `to` or `id` must be given, and not both. An unknown id and an empty address are no errors. \
             With `to`, filters say which Emails to delete.",
        )
        .closable()
        .takes("to", address("The address."))
        .takes("id", ids())
        .takes("cursor", text("With `to`, only Emails that a walk has not shown yet: the `nextCursor` of a list.", ""))
        .json(200, "How many were deleted.", reference("Deleted"))
        .fails(READING)
        .fails(&[Code::AddressInvalid, Code::IdInvalid, Code::ParameterMissing, Code::ParametersConflict])
        .fails(&[Code::CursorInvalid, Code::StorageFull]);
    filtered(delete)
}

/// Waiting for mail.
fn wait() -> Operation {
    let since = "Only mail received at this time or later, or mail after the Email with this id.";
    let timeout = "How long to wait, in seconds. A longer time than 300 is taken as 300.";
    Operation::get("/api/mail/wait", "waitForMessage", "Wait for mail of an address")
        .about(
            "Answers at once if mail passes already: with the oldest such Email of the address. Otherwise it answers as \
             soon as one arrives.",
        )
        .closable()
        .needs("to", address("The address."))
        .takes("timeout", with(with(count(timeout), "default", 30), "minimum", 0))
        .takes("since", text(since, "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b"))
        .takes("from", text("Only mail whose sender's address contains this text, without regard to case.", "shop"))
        .takes("subject", text("Only mail whose subject contains this text, without regard to case.", "welcome"))
        .takes("has", word("Only mail that has this.", &["attachment", "code", "link"]))
        .json(200, "The Email.", reference("Message"))
        .empty(204, "No mail passed in time.")
        .fails(READING)
        .fails(&[Code::AddressInvalid, Code::TimeInvalid, Code::TimeoutInvalid, Code::FilterInvalid, Code::IdInvalid])
        .fails(WAITING)
}

/// A stream of events.
fn stream() -> Operation {
    let last = "The `id` of the last event, of a client that comes back and cannot send the field Last-Event-ID.";
    let events = text("Events by the HTML standard, section 9.2.", "");
    Operation::get("/api/mail/stream", "streamEvents", "Follow the mail of an address, or of all")
        .about(
            "Events are `email.received` (the fields of an Email in a list, without `message` and `attachmentCount`), \
             `email.deleted` and `email.expired` (`id` and `recipient`), and `reset`: then events were missed, and the \
             list must be read again. Without `to` the stream is the administrator's, and that of a token.",
        )
        .closable()
        .takes("to", address("The address."))
        .takes("lastEventId", text(last, "5f2c1a90-1b"))
        .takes_field("Last-Event-ID", text("The `id` of the last event, of a client that comes back.", "5f2c1a90-1b"))
        .answer(200, "The events.", "text/event-stream", events)
        .fails(&[Code::AddressInvalid, Code::Unauthorized, Code::RoleAddress, Code::StoreUnavailable])
        .fails(WAITING)
}

/// The administrator's way into inboxes.
fn submission() -> Operation {
    let to =
        super::schema::list("The address, on an active domain. It may appear up to 100 times.", address("An address."));
    Operation::post("/api/mail/messages", "submitMessage", "Put a message into inboxes, without SMTP")
        .about("All addresses get it, or none. It is durable when the answer is sent.")
        .closable()
        .administrators()
        .needs("to", with(with(to, "minItems", 1), "maxItems", 100))
        .takes("from", text("The envelope's sender. Without it, the null sender.", "shop@example.org"))
        .body_of("message/rfc822", super::octets())
        .json(201, "The message is stored.", reference("Submitted"))
        .fails(&[Code::AddressInvalid, Code::DomainUnknown, Code::MailboxFull, Code::StoreUnavailable])
        .fails(&[Code::StorageFull])
}

/// The operation with the filters of Emails.
fn filtered(operation: Operation) -> Operation {
    let time = |what: &str| text(&format!("{what} `YYYY-MM-DD HH:MM:SS` in UTC, or RFC 3339."), "2026-01-31 12:00:00");
    operation
        .takes("from", text("Only mail whose sender's address contains this text, without regard to case.", "shop"))
        .takes("subject", text("Only mail whose subject contains this text, without regard to case.", "welcome"))
        .takes("since", time("Only mail received at this time or later."))
        .takes("until", time("Only mail received before this time."))
        .takes(
            "has",
            word("Only mail that has this. `link` is any but one to unsubscribe.", &crate::http::mail::filter::had()),
        )
        .fails(&[Code::TimeInvalid, Code::FilterInvalid])
}

/// The ids of a deletion. The parameter appears once for each.
fn ids() -> serde_json::Value {
    let ids = super::schema::list("The id of an Email. It may appear up to 100 times.", uuid("An id."));
    with(with(ids, "minItems", 1), "maxItems", 100)
}

fn fields() -> serde_json::Value {
    let name = crate::email::Fields::names().join("|");
    let list = text("The fields of each Email to show, with commas between them.", "id,from,subject,receivedAt");
    with(list, "pattern", format!("^({name})(,({name}))*$"))
}
