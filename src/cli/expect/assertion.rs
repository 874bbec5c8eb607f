//! What a mail must be like, and whether it is.

use super::host::Host;
use super::mail::Mail;
use super::nearest;
use crate::client::EmailDetail;

/// The most values that a finding has.
const FOUND_MAX: usize = 5;

/// One thing that a mail must fulfil.
#[derive(Clone, Debug)]
pub(super) enum Assertion {
    /// The sender contains this, in any case.
    From(String),
    /// The subject contains this, in any case.
    Subject(String),
    /// The text that a person reads contains this, in any case.
    Text(String),
    /// A link leads to the host or below it.
    LinkHost(Host),
    /// The name of a file contains this, in any case.
    Attachment(String),
    /// There is a one-time code that is certain.
    Code,
}

/// Whether an assertion holds of a mail, and what the mail has in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// The assertion in words.
    pub(super) expected: String,
    pub(super) holds: bool,
    /// What `found` is called: `found`, or `nearest` if there is more.
    pub(super) label: &'static str,
    /// Texts from outside, empty if the assertion holds.
    pub(super) found: Vec<String>,
}

impl Assertion {
    /// Judges a mail.
    pub(super) fn judge(&self, mail: &Mail<'_>) -> Finding {
        let (holds, found) = self.compared(mail);
        let label = if matches!(self, Self::Text(_)) { "nearest" } else { "found" };
        let mut found = if holds { Vec::new() } else { found };
        if found.len() > FOUND_MAX {
            let more = found.len() - FOUND_MAX;
            found.truncate(FOUND_MAX);
            found.push(format!("(and {more} more)"));
        }
        Finding { expected: self.to_string(), holds, label, found }
    }

    fn compared(&self, mail: &Mail<'_>) -> (bool, Vec<String>) {
        let EmailDetail { email, attachments, codes, .. } = mail.detail;
        match self {
            Self::From(part) => (contains(&email.from, part), vec![quoted(&email.from)]),
            Self::Subject(part) => (contains(&email.subject, part), vec![quoted(&email.subject)]),
            Self::Text(part) => (contains(mail.text(), part), nearest::lines(mail.text(), part)),
            Self::LinkHost(host) => {
                let hosts = mail.link_hosts();
                (hosts.iter().any(|it| host.covers(it)), or_none(hosts.iter().map(ToString::to_string).collect()))
            }
            Self::Attachment(part) => {
                let names = attachments.iter().map(|attachment| quoted(&attachment.filename)).collect();
                (attachments.iter().any(|attachment| contains(&attachment.filename, part)), or_none(names))
            }
            Self::Code => (!codes.is_empty(), vec!["(no code that is certain)".to_owned()]),
        }
    }
}

impl std::fmt::Display for Assertion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::From(part) => write!(f, "sender contains {}", quoted(part)),
            Self::Subject(part) => write!(f, "subject contains {}", quoted(part)),
            Self::Text(part) => write!(f, "text contains {}", quoted(part)),
            Self::LinkHost(host) => write!(f, "a link leads to {host} or below"),
            Self::Attachment(part) => write!(f, "the name of an attachment contains {}", quoted(part)),
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
