//! What a mail must be like, for `wait` and `expect`.

use serde_json::Value;
use url::Url;

use super::output::visible;
use super::{read, removed};
use crate::client::{Mail, WaitQuery, text};
use crate::mime;
use crate::model::{Address, DomainName};

/// The most characters of a value that are shown.
const VALUE_CHARS_MAX: usize = 120;
/// The most values that are shown in place of one that is not there.
const VALUES_MAX: usize = 5;
/// The kinds of links that a mail is sent for, and any of them.
const KINDS: [&str; 5] = ["any", "verification", "sign_in", "reset", "invite"];

/// What a mail must be like. All of it must hold.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Wanted {
    /// The sender of the mail contains this, in any case
    #[arg(long, value_name = "TEXT")]
    from: Vec<String>,

    /// The subject contains this, in any case
    #[arg(long, value_name = "TEXT")]
    subject: Vec<String>,

    /// The text that a person reads contains this, in any case
    #[arg(long, value_name = "TEXT", value_parser = removed::no_pattern)]
    pub(super) text: Vec<String>,

    /// The name of a file in the mail contains this, in any case
    #[arg(long, value_name = "TEXT", value_parser = removed::no_pattern)]
    pub(super) attachment: Vec<String>,

    /// A link in the mail leads to this host, or to one below it
    #[arg(long, value_name = "HOST", value_parser = host)]
    link_host: Vec<String>,

    /// The sender is proven to be of this domain, or of one below it; asks DNS, see sender-verdicts
    #[arg(long, value_name = "DOMAIN")]
    pub(super) verified: Option<DomainName>,

    /// The mail has this: a file, a one-time code, or a link to verify, sign in, reset or accept
    #[arg(long, value_name = "WHAT", value_parser = ["attachment", "code", "link"], conflicts_with_all = ["code", "link"])]
    has: Option<String>,

    /// The mail has a one-time code that is certain, which is printed alone
    #[arg(long, conflicts_with = "link")]
    pub(super) code: bool,

    /// The mail has a link to press, of this kind if one is given, whose address is printed alone
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "any", value_parser = KINDS)]
    pub(super) link: Option<String>,
}

impl Wanted {
    /// The question for such mail to `to`. The service knows one sender and one subject, and no kinds of links, so
    /// [`Wanted::lacks`] must judge its answers.
    pub(super) fn query(&self, to: &Address, since: Option<String>) -> WaitQuery {
        let has = match (self.code, &self.link) {
            (true, _) => Some("code".to_owned()),
            (false, Some(_)) => Some("link".to_owned()),
            (false, None) => self.has.clone(),
        };
        let (from, subject) = (self.from.first().cloned(), self.subject.first().cloned());
        WaitQuery { to: to.clone(), since, from, subject, has }
    }

    /// What is printed of a mail in place of it: its best code, or its best link of the kind.
    pub(super) fn alone<'a>(&self, mail: &'a Mail) -> Option<&'a str> {
        match &self.link {
            Some(kind) => link(mail, kind),
            None => mail.code().filter(|_| self.code),
        }
    }

    /// What a mail lacks, a line for each that is safe to show. Nothing if the mail is as wanted.
    pub(super) fn lacks(&self, mail: &Mail) -> Vec<String> {
        let mut lacks = without("sender", mail.text("from"), &self.from);
        lacks.extend(without("subject", mail.text("subject"), &self.subject));
        if !self.text.is_empty() {
            lacks.extend(without("text", &read::text(mail), &self.text));
        }
        let names: Vec<&str> = mail.list("attachments").iter().map(|attachment| text(attachment, "filename")).collect();
        let unnamed = self.attachment.iter().filter(|part| !names.iter().any(|name| contains(name, part)));
        lacks.extend(unnamed.map(|part| format!("no file is named {}, but {}", quoted(part), listed(&names))));
        lacks.extend(self.lacking_hosts(mail));
        lacks.extend(self.unproven(mail));
        let is_lacking = match self.has.as_deref() {
            Some("attachment") => names.is_empty(),
            Some("code") => mail.code().is_none(),
            Some(_) => link(mail, "any").is_none(),
            None => (self.code || self.link.is_some()) && self.alone(mail).is_none(),
        };
        if is_lacking {
            lacks.push(format!("there is no {}", self.what()));
        }
        lacks
    }

    fn lacking_hosts(&self, mail: &Mail) -> Vec<String> {
        if self.link_host.is_empty() {
            return Vec::new();
        }
        let mut hosts: Vec<String> = Vec::new();
        for url in mime::addresses(mail.text("message")) {
            let host = host_of(&url);
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let is_below = |host: &String, wanted: &str| {
            host.strip_suffix(wanted).is_some_and(|front| front.is_empty() || front.ends_with('.'))
        };
        let lacking = self.link_host.iter().filter(|wanted| !hosts.iter().any(|host| is_below(host, wanted)));
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        lacking.map(|wanted| format!("no link leads to {wanted}, but {}", listed(&hosts))).collect()
    }

    fn unproven(&self, mail: &Mail) -> Option<String> {
        let wanted = self.verified.as_ref().filter(|wanted| !mail.is_verified(wanted.as_str()))?;
        let found = mail.authentication();
        let found = if found.is_empty() { "its sender was not checked" } else { found };
        Some(format!("it is not proven to be of {wanted}: {}", quoted(found)))
    }

    /// What `--code`, `--link` or `--has` asks for, in words.
    pub(super) fn what(&self) -> &'static str {
        match (self.code, self.has.as_deref()) {
            (true, _) | (_, Some("code")) => "code that is certain",
            (_, Some("attachment")) => "attachment",
            _ => "such link that is certain",
        }
    }
}

/// The address of the best link of a kind, or of any kind but `unsubscribe`.
fn link<'a>(mail: &'a Mail, kind: &str) -> Option<&'a str> {
    let is_wanted = |of_link: &Value| if kind == "any" { of_link != "unsubscribe" } else { of_link == kind };
    let mut urls = mail.list("links").iter().filter(|link| is_wanted(&link["kind"])).map(|link| text(link, "url"));
    urls.find(|url| !url.is_empty())
}

/// The host that a link is to lead to, in the form that URLs have: a name in A-labels, or an address.
fn host(text: &str) -> Result<String, String> {
    let host = url::Host::parse(text).map(|host| host.to_string().trim_end_matches('.').to_owned());
    host.ok()
        .filter(|host| !host.is_empty())
        .ok_or_else(|| "give a host alone, such as app.example.test, without https://, port and path".to_owned())
}

fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().trim_end_matches('.').to_owned()
}

/// A line for each of `parts` that `text` does not contain.
fn without(name: &str, text: &str, parts: &[String]) -> Vec<String> {
    let lacking = parts.iter().filter(|part| !contains(text, part));
    lacking.map(|part| format!("its {name} does not contain {}: {}", quoted(part), quoted(text))).collect()
}

/// Whether `text` contains `part` in any case.
fn contains(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

/// Some of the values that are there instead.
fn listed(values: &[&str]) -> String {
    if values.is_empty() {
        return "there is none".to_owned();
    }
    let shown: Vec<String> = values.iter().take(VALUES_MAX).map(|value| quoted(value)).collect();
    let more = values.len().saturating_sub(VALUES_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", shown.join(", "))
}

/// A text from outside on one line, not too long and between quotation marks.
pub(super) fn quoted(text: &str) -> String {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let line = words.join(" ");
    let end = line.char_indices().nth(VALUE_CHARS_MAX).map(|(end, _)| end);
    let cut = visible::line(&line[..end.unwrap_or(line.len())]).into_owned();
    if end.is_some() { format!("\"{cut}…\"") } else { format!("\"{cut}\"") }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        wanted: Wanted,
    }

    fn lacks(args: &[&str]) -> Vec<String> {
        let html =
            "<p>Hi</p><a href='https://evil.test/v'>Go</a> https://www.other.test/x <a href='http://127.0.0.1'>x</a>";
        let mail = Mail(json!({
            "id": "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b", "recipient": "hello@example.test", "from": "no-reply@app.test",
            "subject": "Welcome\u{1b}[2J", "message": html, "receivedAt": "2023-11-14 22:13:20",
            "bodyText": "Hi,\nyour code is 48291.", "attachments": [{"index": 1, "filename": "a\n  ok.pdf"}],
            "links": [{"url": "https://x.test/u", "kind": "unsubscribe", "confidence": 1.0, "text": ""}],
            "authentication": {"summary": "sent by mail.app.test, proven", "verified": "mail.app.test"},
        }));
        let args = [&["x"], args].concat();
        Line::try_parse_from(args).map_err(|error| error.to_string()).expect("flags").wanted.lacks(&mail)
    }

    #[test]
    fn what_a_mail_lacks_is_said_with_what_is_there() {
        let holding =
            ["--from", "APP.test", "--text", "CODE is 48291", "--attachment", "OK.PDF", "--has", "attachment"];
        assert_eq!(lacks(&holding), [""; 0]);
        assert_eq!(lacks(&["--verified", "APP.test"]), [""; 0]);
        for (args, said) in [
            (&["--subject", "your code"][..], "its subject does not contain \"your code\": \"Welcome␛[2J\""),
            (&["--text", "is 482913"], "its text does not contain \"is 482913\": \"Hi, your code is 48291.\""),
            (&["--attachment", "invoice"], "no file is named \"invoice\", but \"a ok.pdf\""),
            (
                &["--link-host", "app.test"],
                "no link leads to app.test, but \"evil.test\", \"www.other.test\", \"127.0.0.1\"",
            ),
            (
                &["--verified", "il.app.test"],
                "it is not proven to be of il.app.test: \"sent by mail.app.test, proven\"",
            ),
            (&["--code"], "there is no code that is certain"),
            (&["--link"], "there is no such link that is certain"),
            (&["--has", "link"], "there is no such link that is certain"),
        ] {
            assert_eq!(lacks(args), [said], "{args:?}");
        }
    }

    #[test]
    fn a_host_covers_itself_and_what_is_below_it() {
        for (name, is_there) in [
            ("other.test", true),
            ("WWW.other.test.", true),
            ("her.test", false),
            ("a.www.other.test", false),
            ("127.0.0.1", true),
            ("0.0.1", false),
            ("bücher.test", false),
        ] {
            assert_eq!(lacks(&["--link-host", name]).is_empty(), is_there, "{name}");
        }
        for text in ["https://app.test", "app.test/path", "app.test:80", "", ".", "a b"] {
            assert!(host(text).is_err(), "{text}");
        }
        assert_eq!(host("bücher.test"), Ok("xn--bcher-kva.test".to_owned()));
    }

    #[test]
    fn a_long_value_is_cut() {
        assert_eq!(quoted(&"é".repeat(500)), format!("\"{}…\"", "é".repeat(VALUE_CHARS_MAX)));
    }
}
