//! `tempmail read`: one mail for people.

use std::borrow::Cow;
use std::path::PathBuf;

use serde_json::Value;

use super::attachment;
use super::inbox::MAILS;
use super::one_mail::{self, OneMail};
use super::output::{self, Format, Style, time, visible};
use super::{Context, directory};
use crate::client::{self, Mail};
use crate::error::Error;
use crate::mime;

/// The header fields that a reader needs.
const FIELDS: [&str; 6] = ["From", "To", "Cc", "Reply-To", "Subject", "Date"];

/// Show one mail
///
/// The mail is named by its id or the end of it, or is the newest of an address. HTML is shown as text when there is no plain text.
/// What is longer than the terminal goes through the pager: PAGER, or less.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail read 0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b
  tempmail read 9e0f2a3b
  tempmail read hello@example.test 9e0f2a3b
  tempmail read hello@example.test --latest
  tempmail read hello@example.test --latest --html > mail.html
  tempmail read hello@example.test --latest --raw > mail.eml
  tempmail read hello@example.test --latest --attachment 0 -O invoice.pdf
  tempmail read hello@example.test --latest --save-all attachments
  tempmail read hello@example.test --latest --json | jq -r .bodyText")]
pub(super) struct Read {
    #[command(flatten)]
    mail: OneMail,

    /// The HTML body and nothing else
    #[arg(long, conflicts_with = "raw")]
    html: bool,

    /// The message as received, and nothing else
    #[arg(long)]
    raw: bool,

    /// The octets of the attachment with this number, which `read` shows before its name
    #[arg(long, value_name = "N", conflicts_with_all = ["raw", "html"])]
    attachment: Option<u64>,

    /// Where to write the attachment, - for standard output as without this; a directory takes it under its own name
    ///
    /// A file that is there already is replaced only with --yes.
    #[arg(short = 'O', long, alias = "file", value_name = "FILE|-", requires = "attachment")]
    out: Option<PathBuf>,

    /// Write every attachment into this directory under its own name, made safe, and print where each went
    ///
    /// Nothing is replaced: where a name is taken, none is written.
    #[arg(long, value_name = "DIR", value_parser = directory, conflicts_with_all = ["raw", "html", "attachment"])]
    save_all: Option<PathBuf>,
}

impl Read {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        self.mail.check()?;
        if (self.html || self.raw || self.attachment.is_some() || self.save_all.is_some()) && cx.style.format.is_some()
        {
            return Err(Error::usage("--html, --raw, --attachment and --save-all have a form of their own")
                .hint("leave --output and --json out; -O FILE names a file for an attachment"));
        }
        let client = cx.client().await?;
        let id = self.mail.id(client).await?;
        if let Some(index) = self.attachment {
            return attachment::save(cx, client, id, index, self.out).await;
        }
        if let Some(dir) = &self.save_all {
            return attachment::save_all(cx, client, id, dir).await;
        }
        if self.raw {
            let raw = client.raw(&id).await?;
            return cx.print(visible::octets(&raw, cx.style.is_terminal));
        }
        let mail = client.email(id).await.map_err(one_mail::refused)?;
        if self.html {
            return cx.print(visible::octets(mail.text("message").as_bytes(), cx.style.is_terminal));
        }
        cx.show(&shown(cx, &mail))
    }
}

/// A mail in the form that the flags ask for.
pub(super) fn shown(cx: &Context, mail: &Mail) -> String {
    match cx.style.of_document() {
        Format::Table => page(mail, cx.style),
        Format::Json | Format::Ndjson => output::json(&mail.0),
        Format::Tsv | Format::Id => output::lines(cx.style, &MAILS[..4], std::slice::from_ref(&mail.0)),
    }
}

/// The mail for people: header fields that matter, codes and links, text, attachments.
fn page(mail: &Mail, style: Style) -> String {
    let of_header = |name| {
        mail.header(name).unwrap_or(match name {
            "From" => mail.text("from"),
            "Subject" => mail.text("subject"),
            _ => "",
        })
    };
    let mut fields: Vec<(&str, Cow<'_, str>)> = FIELDS.iter().map(|name| (*name, of_header(name).into())).collect();
    fields.push(("Delivered-To", mail.text("recipient").into()));
    fields.push(("Authentication", mail.authentication().into()));
    fields.push(("Received", time::rfc3339(mail.text("receivedAt")).into()));
    fields.push(("Expires", time::rfc3339(mail.text("expiresAt")).into()));
    fields.push(("Id", mail.id().into()));
    fields.retain(|(_, value)| !value.is_empty());

    fields.extend(mail.list("codes").iter().map(|code| ("Code", client::text(code, "code").into())));
    let wanted = mail.list("links").iter().filter(|link| link["kind"] != "unsubscribe");
    let link = |link| format!("{} ({})", client::text(link, "url"), client::text(link, "kind"));
    fields.extend(wanted.map(|of| ("Link", link(of).into())));

    let label = |name: &str| style.paint("1", &format!("{name}:"));
    let mut lines: Vec<String> =
        fields.iter().map(|(name, value)| format!("{} {}", label(name), visible::line(value))).collect();
    lines.push(String::new());
    lines.push(visible::block(&text(mail)).trim_end().to_owned());
    let attachments = mail.list("attachments");
    if !attachments.is_empty() {
        lines.push(String::new());
        lines.push(label("Attachments"));
        lines.extend(attachments.iter().map(attachment_line));
    }
    lines.join("\n") + "\n"
}

fn attachment_line(attachment: &Value) -> String {
    let [name, kind] = ["filename", "contentType"].map(|member| visible::line(client::text(attachment, member)));
    let name = if name.is_empty() { "(no name)" } else { &name };
    let size = time::size(attachment["size"].as_u64().unwrap_or(0));
    format!("  {}  {name}  {kind}  {size}", client::number(attachment, "index"))
}

/// The body as text. It is made of the HTML where the mail's own text is blank.
pub(super) fn text(mail: &Mail) -> Cow<'_, str> {
    let (own, html) = (mail.text("bodyText"), mail.text("message"));
    if own.trim().is_empty() { mime::to_text(html).into() } else { own.into() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PIPE: Style = Style { is_terminal: false, is_colored: false, width: None, format: None };
    const TERMINAL: Style = Style { is_terminal: true, is_colored: false, width: Some(80), format: None };

    fn detail(message: &str, body_text: &str) -> Mail {
        Mail(json!({
            "id": "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b", "recipient": "hello@example.test", "from": "ann@x.test",
            "subject": "Hi", "message": message, "receivedAt": "2023-11-14 22:13:20", "bodyText": body_text,
            "headers": [{"name": "FROM", "value": "Ann \u{1b}[31m <ann@x.test>"}, {"name": "X-Spam", "value": "no"}],
            "attachments": [{"index": 0, "filename": "a\nb.pdf", "contentType": "application/pdf", "size": 2048}],
            "codes": [{"code": "482\u{7}913", "kind": "otp", "confidence": 0.9}],
            "links": [
                {"url": "https://x.test/v", "kind": "verification", "confidence": 1.0, "text": "Go"},
                {"url": "https://x.test/u", "kind": "unsubscribe", "confidence": 1.0, "text": ""},
            ],
            "size": 5000, "expiresAt": "2023-11-15 00:13:20",
            "authentication": {"summary": "claims to be x.test; not proven", "verified": ""},
        }))
    }

    #[test]
    fn a_page_has_what_matters() {
        let page = page(&detail("<p>x</p>", "one\r\ntwo\u{1b}c"), TERMINAL);
        let expected = "From: Ann \u{241b}[31m <ann@x.test>\nSubject: Hi\nDelivered-To: hello@example.test\n\
            Authentication: claims to be x.test; not proven\n\
            Received: 2023-11-14T22:13:20Z\nExpires: 2023-11-15T00:13:20Z\nId: 0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b\n\
            Code: 482\u{2407}913\nLink: https://x.test/v (verification)\n\n\
            one\ntwo\u{241b}c\n\nAttachments:\n  0  a\u{240a}b.pdf  application/pdf  2 KB\n";
        assert_eq!(page, expected);
    }

    #[test]
    fn html_is_shown_as_text_with_its_links_when_there_is_no_text() {
        let html = "<style>p{}</style><p>Hello <b>you</b> &amp; <a href='https://example.test/confirm'>all</a></p>";
        let page = page(&detail(html, " \n"), PIPE);
        assert!(page.contains("\nHello you & all") && page.contains("https://example.test/confirm"), "{page}");
        assert!(!page.contains("p{}"), "{page}");
    }

    #[test]
    fn deep_html_gives_its_text_and_no_crash() {
        let deep = format!("{}core{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
        assert!(text(&detail(&deep, "")).contains("core"));
    }
}
