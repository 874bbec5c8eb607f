//! What a mail must be like, and whether it is.

use regex::Regex;

use super::host::Host;
use super::mail::{Mail, Text};
use super::name::NamePattern;
use super::nearest;
use super::selector::{CssSelector, Search};
use crate::client::EmailDetail;

/// The most values that a finding has.
const FOUND_MAX: usize = 5;
/// What is shown of a body whose size or time is over the bounds.
const NOT_JUDGED: &str = "(could not be judged: the body is too large, or there was no time)";

/// One thing that a mail must fulfil.
#[derive(Clone, Debug)]
pub(super) enum Assertion {
    /// The sender contains this, in any case.
    From(String),
    /// The subject contains this, in any case.
    Subject(String),
    /// The text that a person reads matches.
    Text(Regex),
    /// The HTML has an element that the selector matches.
    HtmlHas(CssSelector),
    /// A link leads to the host or below it.
    LinkHost(Host),
    /// A file has a name like this.
    Attachment(NamePattern),
    /// There is a one-time code that is certain.
    Code,
}

/// Whether an assertion holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Yes,
    No,
    /// The mail could not be judged within the bounds.
    Unsure,
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// Whether an assertion holds of a mail, and what the mail has in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// The assertion in words.
    pub(super) expected: String,
    pub(super) holds: Holds,
    /// What `found` is called: `found`, or `nearest` if there is more.
    pub(super) label: &'static str,
    /// Texts from outside, empty if the assertion holds.
    pub(super) found: Vec<String>,
}

impl Assertion {
    /// Judges a mail.
    pub(super) fn judge(&self, mail: &Mail<'_>) -> Finding {
        let (holds, found) = self.compared(mail);
        let label = if matches!(self, Self::Text(_) | Self::HtmlHas(_)) { "nearest" } else { "found" };
        let mut found = if holds == Holds::Yes { Vec::new() } else { found };
        if found.len() > FOUND_MAX {
            let more = found.len() - FOUND_MAX;
            found.truncate(FOUND_MAX);
            found.push(format!("(and {more} more)"));
        }
        Finding { expected: self.to_string(), holds, label, found }
    }

    fn compared(&self, mail: &Mail<'_>) -> (Holds, Vec<String>) {
        let EmailDetail { email, attachments, codes, .. } = mail.detail;
        let (holds, found) = match self {
            Self::From(part) => (contains(&email.from, part), vec![quoted(&email.from)]),
            Self::Subject(part) => (contains(&email.subject, part), vec![quoted(&email.subject)]),
            Self::Text(regex) => return in_text(regex, mail),
            Self::HtmlHas(_) if !mail.has_html() => (false, vec!["(the mail has no HTML)".to_owned()]),
            Self::HtmlHas(selector) => match selector.search(&email.message, mail.html) {
                Search::Found => (true, Vec::new()),
                Search::Missing(like) => (false, like),
                Search::Unfinished => return (Holds::Unsure, vec![NOT_JUDGED.to_owned()]),
            },
            Self::LinkHost(host) => {
                let hosts = mail.link_hosts();
                (hosts.iter().any(|it| host.covers(it)), or_none(hosts.iter().map(ToString::to_string).collect()))
            }
            Self::Attachment(name) => {
                let names = attachments.iter().map(|attachment| quoted(&attachment.filename)).collect();
                (attachments.iter().any(|attachment| name.matches(&attachment.filename)), or_none(names))
            }
            Self::Code => (!codes.is_empty(), vec!["(no code that is certain)".to_owned()]),
        };
        (holds.into(), found)
    }
}

fn in_text(regex: &Regex, mail: &Mail<'_>) -> (Holds, Vec<String>) {
    match mail.text() {
        Some(Text { text, .. }) if regex.is_match(text) => (Holds::Yes, Vec::new()),
        Some(Text { text, is_whole: true }) => (Holds::No, nearest::lines(text, regex.as_str())),
        _ => (Holds::Unsure, vec![NOT_JUDGED.to_owned()]),
    }
}

impl std::fmt::Display for Assertion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::From(part) => write!(f, "sender contains {}", quoted(part)),
            Self::Subject(part) => write!(f, "subject contains {}", quoted(part)),
            Self::Text(regex) => write!(f, "text matches /{regex}/"),
            Self::HtmlHas(selector) => write!(f, "HTML has {selector}"),
            Self::LinkHost(host) => write!(f, "a link leads to {host} or below"),
            Self::Attachment(name) => write!(f, "an attachment is named {}", quoted(&name.to_string())),
            Self::Code => f.write_str("there is a one-time code"),
        }
    }
}

/// Whether `text` contains `part` in any case.
fn contains(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

fn or_none(found: Vec<String>) -> Vec<String> {
    if found.is_empty() { vec!["(none)".to_owned()] } else { found }
}
