//! One-time codes and links in a mail: what a person would type or press.
//!
//! ```text
//! words       the words by language             lexicon               finds them in a page
//! read        a page with both, by line         candidate, free       what has the form of a code, and stands free
//! score       the points of a candidate         label                 those of the words around it
//! links       links and their kinds             address               of a page, with a secret or a code in it
//! ```
//!
//! There is no model behind it. Each observation is worth some points, and the points of all make the confidence. The
//! search is pure and total. Its time is linear in the octets of the mail that it reads, and these are bounded.

mod address;
mod candidate;
mod free;
mod label;
mod lexicon;
mod links;
mod read;
mod score;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashSet;

use memchr::memmem;
use serde::Serialize;
use url::Url;

use super::limits::VISIBLE_TEXT_OCTETS_MAX;
use super::{Message, page, step};
use lexicon::LEXICON;
use page::Page;
use read::Read;
use score::{Mail, Scored};

/// The confidence from which a finding is an answer. What is less likely is not reported at all.
///
/// A wrong code costs whoever waits for it more than no code.
pub const CONFIDENCE_MIN: f64 = 0.5;
/// What codes are for, as answers name it: to prove who one is, once.
pub const CODE_KIND: &str = "otp";
/// The most codes of a mail.
pub const CODES_MAX: usize = 5;
/// The most links of a mail.
pub const LINKS_MAX: usize = 10;

/// The points of a finding that is reported, and those of one that is certain.
const POINTS_SHOWN: i32 = 8;
const POINTS_SURE: i32 = 16;
/// The most points of what the body names as something else, even if it stands out.
const POINTS_OTHER_MAX: i32 = 5;
/// The points of a code that is only in the address of a link.
const POINTS_IN_LINK: i32 = 9;

/// A code that a person would type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Code {
    /// In ASCII, without the blanks and hyphens of a number in groups; at most 43 octets. Hyphens between letters stay.
    pub code: String,
    /// What it is for: [`CODE_KIND`].
    pub kind: &'static str,
    /// From [`CONFIDENCE_MIN`] to 1, with two decimal places.
    pub confidence: f64,
}

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// It confirms an address, an account or a subscription.
    Verification,
    /// It signs in whoever opens it.
    SignIn,
    /// It leads to a new password.
    Reset,
    /// It accepts an invitation.
    Invite,
    /// It ends a subscription.
    Unsubscribe,
}

impl LinkKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Verification, Self::SignIn, Self::Reset, Self::Invite, Self::Unsubscribe];

    /// The name in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verification => "verification",
            Self::SignIn => "sign_in",
            Self::Reset => "reset",
            Self::Invite => "invite",
            Self::Unsubscribe => "unsubscribe",
        }
    }
}

/// A link that a person would press.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// The address that a browser opens, `http` or `https`; at most 4,096 octets of ASCII.
    pub url: String,
    /// What it is for.
    pub kind: LinkKind,
    /// From [`CONFIDENCE_MIN`] to 1, with two decimal places.
    pub confidence: f64,
    /// What is written on it, at most 200 octets; empty if that is its address or nothing.
    pub text: String,
}

/// The codes and links of a mail, the best first. Links to unsubscribe come last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// At most [`CODES_MAX`].
    pub codes: Vec<Code>,
    /// At most [`LINKS_MAX`], each address once.
    pub links: Vec<Link>,
    /// What has the form of a code and some sign of one, but is too unlikely for an answer; at most [`CODES_MAX`].
    pub doubtful: Vec<String>,
}

impl Findings {
    /// The best code.
    pub fn code(&self) -> Option<&Code> {
        self.codes.first()
    }

    /// The best link that the mail was sent for, which is none to unsubscribe.
    pub fn link(&self) -> Option<&Link> {
        self.links.first().filter(|link| link.kind != LinkKind::Unsubscribe)
    }
}

/// The codes and links of a message.
pub fn findings(message: &Message<'_>) -> Findings {
    // The subject of an answer says what an older message was about.
    let subject = Page::of_line(Some(message.subject()).filter(|it| !is_answer(it)).unwrap_or_default());
    let html = Page::of_html(without_history(message.html()));
    let (said, html_hits) = (LEXICON.hits(&subject), LEXICON.hits(&html));
    let (head, body) = (Read::of(&subject, &said), Read::of(&html, &html_hits));
    let mut links = links::links(&body, &said);
    let mail = Mail::of(&head, &body, &links);
    let mut codes = body.scored(&mail, &head.candidates);
    // What the body calls something else is no code in the subject either.
    let is_other = |it: &Scored| codes.iter().any(|other| other.code == it.code && other.points <= POINTS_OTHER_MAX);
    let mut of_subject = head.scored(&mail, &[]);
    of_subject.retain(|it| !is_other(it));
    codes.extend(of_subject);
    // HTML of images alone often has a text beside it that says more.
    let is_wanted = score::best(codes.clone()).is_empty() || links.is_empty();
    let plain = if is_wanted { message.plain_text() } else { String::new() };
    if !plain.is_empty() {
        let text = Page::of_text(without_history(&plain));
        let hits = LEXICON.hits(&text);
        let read = Read::of(&text, &hits);
        codes.extend(read.scored(&Mail::of(&head, &read, &links), &head.candidates));
        if links.is_empty() {
            links = links::links(&read, &said);
        }
    }
    let fields = message.headers().iter().filter(|(name, _)| name.eq_ignore_ascii_case("list-unsubscribe"));
    links.extend(fields.flat_map(|(_, value)| links::of_field(value)));
    ranked(codes, best_links(links))
}

/// The answers among what was found.
fn ranked(codes: Vec<Scored>, links: Vec<Link>) -> Findings {
    let doubtful = score::first(codes.clone()).into_iter().filter(|it| (1..POINTS_SHOWN).contains(&it.points));
    let doubtful = doubtful.map(|it| it.code).collect();
    let mut codes = score::best(codes);
    if codes.is_empty() {
        codes.extend(code_in_links(&links));
    }
    let code = |it: Scored| Code { code: it.code, kind: CODE_KIND, confidence: confidence(it.points) };
    Findings { codes: codes.into_iter().map(code).collect(), links, doubtful }
}

/// The text of the HTML body `html` as its reader sees it, of its first [`VISIBLE_TEXT_OCTETS_MAX`] octets.
///
/// Text that the mail's own styles hide is left out, and so are comments, scripts and characters without a width. Lines end
/// with LF; no line is empty. Digits and letters of ASCII that were written in another form are in ASCII.
pub fn visible_text(html: &str) -> String {
    Page::of_html(html).text
}

/// Where the links of the HTML body `html` lead that its reader sees, in their order: `http` and `https` only.
///
/// Addresses in the text are among them. At most 2,000 are given, of the first [`VISIBLE_TEXT_OCTETS_MAX`] octets.
pub fn addresses(html: &str) -> Vec<Url> {
    links::addresses(&Page::of_html(html))
}

/// The first number that a link has as a code in its address.
fn code_in_links(links: &[Link]) -> Option<Scored> {
    let wanted = links.iter().filter(|link| link.kind != LinkKind::Unsubscribe);
    let is_number = |part: &str| (4..=8).contains(&part.len()) && part.bytes().all(|octet| octet.is_ascii_digit());
    let mut parts = wanted.flat_map(|link| address::parts_and_codes(&link.url));
    let (code, _) = parts.find(|(part, is_code)| *is_code && is_number(part))?;
    Some(Scored { code: code.to_owned(), points: POINTS_IN_LINK })
}

/// Each address once with its most points, the best first and those to unsubscribe last.
fn best_links(mut links: Vec<(Link, i32)>) -> Vec<Link> {
    links.sort_by_key(|(link, points)| (link.kind == LinkKind::Unsubscribe, -points));
    let mut seen = HashSet::new();
    links.retain(|(link, _)| seen.insert(link.url.clone()));
    links.into_iter().map(|(link, _)| link).take(LINKS_MAX).collect()
}

/// Whether a subject is that of an answer, and so belongs to an older message.
fn is_answer(subject: &str) -> bool {
    let subject = subject.trim_start().to_lowercase();
    LEXICON.others("reply").iter().any(|mark| subject.starts_with(mark))
}

/// The message before the older message that some programs append.
fn without_history(body: &str) -> &str {
    let body = &body[..body.floor_char_boundary(VISIBLE_TEXT_OCTETS_MAX)];
    let marks = LEXICON.others("history").iter();
    let end = marks.filter_map(|mark| memmem::find(body.as_bytes(), mark.as_bytes())).min().unwrap_or(body.len());
    &body[..end]
}

/// The confidence of a finding with these points.
fn confidence(points: i32) -> f64 {
    let share = f64::from(points.clamp(0, POINTS_SURE)) / f64::from(POINTS_SURE);
    (share * 100.0).round() / 100.0
}
