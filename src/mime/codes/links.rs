//! The links that a reader would press, and what they are for.

use std::collections::HashSet;

use url::Url;

use super::address::{URL_OCTETS_MAX, address, has_secret, is_personal, names_secret, parts_and_codes, trimmed};
use super::lexicon::{Hit, LEXICON, has};
use super::page::{Anchor, Page};
use super::read::{Read, ends_sentence, has_sentence_end};
use super::score::sum;
use super::words::Sense;
use super::{Link, LinkKind, POINTS_SHOWN, POINTS_SURE, confidence};

/// The longest text of a link that is shown, in octets.
const TEXT_OCTETS_MAX: usize = 200;
/// The most addresses in the text that are looked at.
const BARE_MAX: usize = 1_000;
/// How much of an address is looked at, in octets.
const PATH_OCTETS_MAX: usize = 500;
/// How far the words before an address count, in octets and lines.
const CONTEXT_OCTETS: usize = 300;
const CONTEXT_LINES: usize = 3;
/// How many phrases before or after an address count.
const CONTEXT_HITS_MAX: usize = 16;

/// The points of a link in the field List-Unsubscribe.
const FIELD: i32 = 15;

/// The kinds in the order in which they are looked at. If two are as likely, the first one counts.
const KINDS: [(LinkKind, Sense); 5] = [
    (LinkKind::Unsubscribe, Sense::Unsubscribe),
    (LinkKind::Reset, Sense::Reset),
    (LinkKind::Invite, Sense::Invite),
    (LinkKind::Verification, Sense::Verify),
    (LinkKind::SignIn, Sense::SignIn),
];

/// The links of a page with their points, if the subject says this.
pub(super) fn links<'a>(read: &'a Read<'_>, subject: &'a [Hit]) -> Vec<(Link, i32)> {
    let says = |sense| has(read.hits, sense) || has(subject, sense);
    let mut all = read.hits.iter().chain(subject);
    let mail = Mail {
        subject,
        codes: read.candidates.iter().map(|candidate| candidate.code.as_str()).collect(),
        is_no_invitation: says(Sense::Meeting) || !says(Sense::Invite) && all.any(|hit| hit.sense != Sense::Press),
        is_about_secrets: says(Sense::Caution) || says(Sense::OneTime),
    };
    let bare = bare(read.page);
    let all = read.page.anchors.iter().chain(&bare);
    let said: Vec<Said<'_>> = all.filter_map(|anchor| Said::of(anchor, read, &mail)).collect();
    let mut secret = said.iter().filter(|it| it.is_personal && !has(it.own, Sense::Unsubscribe)).map(|it| &it.url);
    let only = secret.next().filter(|first| secret.all(|url| url == *first));
    said.iter().filter_map(|it| it.scored(only == Some(&it.url))).collect()
}

/// Where anchors and the addresses in the text lead, in the order of the page.
pub(super) fn addresses(page: &Page) -> Vec<Url> {
    let bare = bare(page);
    let mut all: Vec<&Anchor> = page.anchors.iter().chain(&bare).collect();
    all.sort_by_key(|anchor| anchor.start);
    all.into_iter().filter_map(|anchor| address(&anchor.target)).collect()
}

/// The links of the field List-Unsubscribe (RFC 2369).
pub(super) fn of_field(value: &str) -> Vec<(Link, i32)> {
    let targets = value.split('<').skip(1).filter_map(|rest| rest.split('>').next());
    let link = |url: Url| {
        let kind = LinkKind::Unsubscribe;
        (Link { url: url.into(), kind, confidence: confidence(FIELD), text: String::new() }, FIELD)
    };
    targets.take(8).filter_map(address).map(link).collect()
}

/// The addresses in the text outside anchors.
fn bare(page: &Page) -> Vec<Anchor> {
    let mut found: Vec<Anchor> = Vec::new();
    let mut anchors = page.anchors.iter().peekable();
    for (start, _) in page.lower.match_indices("http").take(BARE_MAX) {
        while anchors.next_if(|anchor| anchor.end <= start).is_some() {}
        // What is within an address is read only once.
        let is_read = found.last().is_some_and(|last| start < last.end);
        if is_read || anchors.peek().is_some_and(|anchor| anchor.start <= start) {
            continue;
        }
        let is_of_address = |octet: &u8| octet.is_ascii_graphic() && !b"<>\"`{}|\\^".contains(octet);
        let rest = &page.text[start..];
        let length = rest.bytes().take(URL_OCTETS_MAX + 1).take_while(is_of_address).count();
        let target = trimmed(&rest[..length]).to_owned();
        found.push(Anchor { start, end: start + target.len(), target, is_button: false });
    }
    found
}

/// Whether some hit says a kind.
fn says_kind(hits: &[Hit]) -> bool {
    KINDS.iter().any(|(_, sense)| has(hits, *sense))
}

/// What a mail says about all of its links.
struct Mail<'a> {
    subject: &'a [Hit],
    /// What has the form of a code. In an address it is for one reader.
    codes: HashSet<&'a str>,
    /// Whether the mail is about a meeting, to which it invites anyway, or its words are known and say nothing like it.
    is_no_invitation: bool,
    /// Whether anything is said about secrets, such as a one-time code.
    is_about_secrets: bool,
}

/// What is said about a link.
struct Said<'a> {
    mail: &'a Mail<'a>,
    anchor: &'a Anchor,
    url: Url,
    /// What is written on it, unless that is its address.
    text: &'a str,
    /// What its text says, what the words around it say, and what its address says.
    own: &'a [Hit],
    context: &'a [Hit],
    address: Vec<Hit>,
    /// Whether its text is its address, or says nothing.
    needs_context: bool,
    has_secret: bool,
    names_secret: bool,
    is_personal: bool,
    /// Whether its text or its address is for whom did not ask for the mail, and whether the sentence before it is.
    is_refusal: bool,
    is_denied: bool,
    /// Whether nothing else is in its line.
    is_alone_in_line: bool,
}

impl<'a> Said<'a> {
    fn of(anchor: &'a Anchor, read: &'a Read<'_>, mail: &'a Mail<'_>) -> Option<Self> {
        let url = address(&anchor.target)?;
        let lower = read.page.lower.get(anchor.start..anchor.end)?.trim_start();
        let is_address = ["http://", "https://", "www."].iter().any(|start| lower.starts_with(start));
        let text = if is_address { "" } else { read.page.text.get(anchor.start..anchor.end)?.trim() };
        let own = read.hits_in(anchor.start, anchor.end);
        let needs_context = text.is_empty() || has(own, Sense::Press) && !says_kind(own) && !has(own, Sense::Other);
        let path = url[url::Position::BeforePath..].to_ascii_lowercase();
        let (has_secret, names_secret) = (has_secret(&url), names_secret(&url));
        let address = LEXICON.in_address(&path[..path.floor_char_boundary(PATH_OCTETS_MAX)]);
        let has_code = || parts_and_codes(url.as_str()).any(|(part, _)| mail.codes.contains(part));
        let is_refusal = has(own, Sense::Denial) || has(&address, Sense::Denial);
        Some(Self {
            mail,
            anchor,
            text,
            own: if needs_context { &[] } else { own },
            context: if needs_context { context(anchor, read) } else { &[] },
            is_refusal,
            address,
            needs_context,
            has_secret,
            names_secret,
            is_personal: !is_refusal && (has_secret || names_secret || is_personal(&url) || has_code()),
            is_denied: is_denied(anchor, read),
            is_alone_in_line: read.is_alone(anchor.end - lower.len(), anchor.end),
            url,
        })
    }

    /// The link with its most likely kind and its points; `None` if too little speaks for any.
    fn scored(&self, is_only: bool) -> Option<(Link, i32)> {
        let scored = KINDS.map(|(kind, sense)| (kind, self.points(kind, sense, is_only)));
        let likely = scored.into_iter().filter(|(_, points)| *points >= POINTS_SHOWN);
        let (kind, points) = likely.min_by_key(|(_, points)| -points)?;
        // What is confirmed may be what the subject or the address says.
        let subject = self.mail.subject;
        let is_reset = (has(subject, Sense::Reset) || has(&self.address, Sense::Reset)) && !has(subject, Sense::Verify);
        let kind = if kind == LinkKind::Verification && is_reset { LinkKind::Reset } else { kind };
        let text = self.text[..self.text.floor_char_boundary(TEXT_OCTETS_MAX)].to_owned();
        Some((Link { url: self.url.to_string(), kind, confidence: confidence(points), text }, points.min(POINTS_SURE)))
    }

    /// The points of a kind; none if it is not possible.
    fn points(&self, kind: LinkKind, sense: Sense, is_only: bool) -> i32 {
        let (own, context) = (has(self.own, sense), has(self.context, sense));
        let (address, is_in_subject) = (has(&self.address, sense), has(self.mail.subject, sense));
        // The only thing that is said is the subject, and this is the one link for a reader alone.
        let is_silent = self.own.is_empty() && self.context.is_empty() && (self.has_secret || self.needs_context);
        let is_alone =
            is_in_subject && is_only && is_silent && self.is_alone_in_line && !has(self.mail.subject, Sense::Other);
        let is_said = own || context || address || is_alone;
        if kind == LinkKind::Unsubscribe {
            return if is_said { 9 } else { 0 };
        }
        // Whoever did not change a password resets it, if there is nothing else to press.
        let is_remedy = kind == LinkKind::Reset && own && address && self.has_secret && is_only;
        let is_for_others = self.is_refusal || self.is_denied && !is_in_subject && !is_remedy;
        // As in `Unsubscribe from invitations`.
        let is_end = self.own.first().is_some_and(|hit| hit.sense == Sense::Unsubscribe);
        if !is_said || is_for_others || is_end || !self.has_reason(kind, sense, own, is_in_subject) {
            return 0;
        }
        // Unknown words say nothing against an address that says so much, but a login may lead to anything.
        let says_little = self.needs_context || self.own.is_empty() && address && self.names_secret;
        let is_open = is_alone || says_little && (kind != LinkKind::SignIn || self.text.is_empty());
        sum([
            (own, 6),
            (context, 6),
            (address, 5),
            (is_in_subject, 2),
            (is_alone, 4),
            (self.anchor.is_button, 1),
            (self.has_secret, 4),
            (self.is_personal && !self.has_secret, 2),
            (!own && !context && !is_open, -2),
            // The address says one thing, and the text another one.
            (!own && !context && !is_in_subject && (says_kind(self.own) || says_kind(self.context)), -2),
            (has(self.own, Sense::Other) || has(self.own, Sense::Promotion), -6),
        ])
    }

    /// Whether the address may be one of this kind.
    fn has_reason(&self, kind: LinkKind, sense: Sense, own: bool, is_in_subject: bool) -> bool {
        let is_said = own || has(self.context, sense) && has(&self.address, sense);
        let resets = self.address.iter().filter(|hit| hit.sense == Sense::Reset).count();
        match kind {
            // Each newsletter has a link to its login.
            LinkKind::SignIn => {
                let is_expected = is_in_subject || has(self.mail.subject, Sense::OneTime);
                self.names_secret || self.has_secret && self.mail.is_about_secrets || self.is_personal && is_expected
            }
            // A site's name in the text leads to its front page.
            LinkKind::Invite => {
                let is_page = self.url.path() != "/" || self.url.query().is_some();
                (own || is_page) && !self.mail.is_no_invitation
            }
            // Everybody can ask for a new password at an address such as `/password/reset`.
            LinkKind::Reset if resets > 1 && has(self.context, Sense::Reset) && !is_in_subject => true,
            // An address alone, without a secret, is a page for everybody.
            _ => self.is_personal || is_said && (is_in_subject || self.url.query().is_some()),
        }
    }
}

/// Whether the sentence before a link is for whom did not ask for the mail.
fn is_denied(anchor: &Anchor, read: &Read<'_>) -> bool {
    let before = read.hits_in(anchor.start.saturating_sub(CONTEXT_OCTETS), anchor.start);
    let denial = before.iter().rfind(|hit| hit.sense == Sense::Denial);
    // A later sentence that says what the link is for is for everybody.
    let said = before.iter().rfind(|hit| says_kind(std::slice::from_ref(hit))).map_or(0, |hit| hit.start);
    let is_in_sentence = |hit: &Hit| {
        let between = read.page.text[hit.end.min(anchor.start)..anchor.start].trim_end();
        let is_over = ends_sentence(between) || said > hit.end && has_sentence_end(&read.page.text[hit.end..said]);
        between.ends_with(['?', '\u{ff1f}', '\u{61f}']) || !is_over
    };
    denial.is_some_and(is_in_sentence)
}

/// The phrases behind a link in its sentence.
fn behind<'a>(anchor: &Anchor, read: &'a Read<'_>) -> &'a [Hit] {
    let text = &read.page.text[anchor.end..read.page.text.floor_char_boundary(anchor.end + CONTEXT_OCTETS)];
    let end = text.find(['.', '!', '?', '\n', '\t', '\u{3002}']).unwrap_or(text.len());
    read.hits_in(anchor.end, anchor.end + end)
}

/// The phrases that lead to a link: those of its line before it, else behind it, else of the lines above.
fn context<'a>(anchor: &Anchor, read: &'a Read<'_>) -> &'a [Hit] {
    let from = read.page.text.ceil_char_boundary(anchor.start.saturating_sub(CONTEXT_OCTETS));
    let mut end = anchor.start;
    for line in read.page.text[from..anchor.start].rsplit('\n').take(CONTEXT_LINES) {
        // What is said before another address is said about that one.
        if end < anchor.start && line.contains("://") {
            break;
        }
        let hits = read.hits_in(end - line.len(), end);
        let hits = &hits[hits.len().saturating_sub(CONTEXT_HITS_MAX)..];
        if says_kind(hits) {
            return hits;
        }
        let after = if end == anchor.start { behind(anchor, read) } else { &[] };
        if says_kind(after) {
            return after;
        }
        end = (end - line.len()).saturating_sub(1);
    }
    &[]
}
