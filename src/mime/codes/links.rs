//! The links that a reader would press, and what they are for.

use url::Url;

use super::address::{URL_OCTETS_MAX, address, has_secret, is_personal, names_secret, trimmed};
use super::lexicon::{Hit, LEXICON};
use super::page::Page;
use super::read::{Read, ends_sentence, has_sentence_end};
use super::score::sum;
use super::words::Sense;
use super::{Link, LinkKind, POINTS_SURE, confidence};

/// The longest text of a link that is shown, in octets.
const TEXT_OCTETS_MAX: usize = 200;
/// The most addresses in the text that are looked at.
const BARE_MAX: usize = 1_000;
/// How much of an address is looked at, in octets.
const PATH_OCTETS_MAX: usize = 500;
/// How far the words before an address count, in octets.
const CONTEXT_OCTETS: usize = 300;
/// How many phrases before or after an address count.
const CONTEXT_HITS_MAX: usize = 16;

/// The text of the link says its kind, or its address does.
const TEXT: i32 = 6;
const ADDRESS: i32 = 5;
/// The words around an address, or around a text such as `click here`, say it.
const CONTEXT: i32 = 6;
const SUBJECT: i32 = 2;
/// No words around it say a kind, but the subject does.
const ALONE: i32 = 4;
/// The link is a button, or has a secret in its address.
const BUTTON: i32 = 1;
const SECRET: i32 = 3;
/// A part of its address is at least for one reader alone.
const PERSONAL: i32 = 2;
/// Its text says something else.
const SAYS_OTHERWISE: i32 = -2;
/// It is about an order, an appointment or something to buy.
const OTHER: i32 = -6;
/// A sender names few other links so.
const UNSUBSCRIBE: i32 = 9;
/// The field List-Unsubscribe says it.
const FIELD: i32 = 15;

/// The kinds in the order in which they are looked at. If two are as likely, the first one counts.
const KINDS: [LinkKind; 5] =
    [LinkKind::Unsubscribe, LinkKind::Reset, LinkKind::Invite, LinkKind::Verification, LinkKind::SignIn];

/// A link as found, before its kind is known.
struct Found {
    url: Url,
    text: String,
    start: usize,
    end: usize,
    is_button: bool,
    /// Whether its text is its address, or says nothing.
    needs_context: bool,
}

/// What the subject of a mail says of its links.
pub(super) struct Subject {
    kinds: Vec<LinkKind>,
    /// Whether it names something else.
    is_other: bool,
    /// Whether the mail is about a meeting, to which it invites anyway.
    is_meeting: bool,
}

impl Subject {
    pub(super) fn of(hits: &[Hit], body_hits: &[Hit]) -> Self {
        let is_meeting = body_hits.iter().any(|hit| hit.sense == Sense::Meeting);
        let kinds = LinkKind::ALL.into_iter().filter(|kind| says(hits, *kind)).collect();
        Self { kinds, is_other: is_other(hits), is_meeting }
    }
}

/// The links of a page with their points.
pub(super) fn links(read: &Read<'_>, subject: &Subject) -> Vec<(Link, i32)> {
    let page = read.page;
    let mut found: Vec<Found> = page
        .anchors
        .iter()
        .filter_map(|anchor| {
            let text = page.text.get(anchor.start..anchor.end)?.trim();
            let hits = read.hits_in(anchor.start, anchor.end);
            let is_address = text.starts_with("http://") || text.starts_with("https://") || text.starts_with("www.");
            let says_press = hits.iter().any(|hit| hit.sense == Sense::Press)
                && !hits.iter().any(|hit| kind_of(hit.sense).is_some());
            Some(Found {
                url: address(&anchor.target)?,
                text: cut(text, TEXT_OCTETS_MAX).to_owned(),
                start: anchor.start,
                end: anchor.end,
                is_button: anchor.is_button,
                needs_context: is_address || says_press || text.is_empty(),
            })
        })
        .collect();
    found.extend(bare(page));
    found.into_iter().filter_map(|link| link.scored(read, subject)).collect()
}

/// Where anchors and the addresses in the text lead, in the order of the page.
pub(super) fn addresses(page: &Page) -> Vec<Url> {
    let anchors = page.anchors.iter().filter_map(|anchor| Some((anchor.start, address(&anchor.target)?)));
    let mut all: Vec<(usize, Url)> = anchors.chain(bare(page).into_iter().map(|it| (it.start, it.url))).collect();
    all.sort_by_key(|(start, _)| *start);
    all.into_iter().map(|(_, url)| url).collect()
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
fn bare(page: &Page) -> Vec<Found> {
    let mut found = Vec::new();
    let mut anchors = page.anchors.iter().peekable();
    let mut end = 0;
    for (start, _) in page.lower.match_indices("http").take(BARE_MAX) {
        while anchors.next_if(|anchor| anchor.end <= start).is_some() {}
        if start < end || anchors.peek().is_some_and(|anchor| anchor.start <= start) {
            continue;
        }
        let rest = &page.text[start..];
        let after = &rest["http".len()..];
        let is_address = after.starts_with("://") || after.starts_with(['s', 'S']) && after[1..].starts_with("://");
        let is_of_address = |octet: u8| octet.is_ascii_graphic() && !b"<>\"`{}|\\^".contains(&octet);
        let length = rest.bytes().take(URL_OCTETS_MAX + 1).take_while(|octet| is_of_address(*octet)).count();
        let written = trimmed(&rest[..length]);
        // What is within an address is read only once.
        end = start + written.len();
        let Some(url) = address(written).filter(|_| is_address) else { continue };
        found.push(Found {
            url,
            text: String::new(),
            start,
            end: start + written.len(),
            is_button: false,
            needs_context: true,
        });
    }
    found
}

fn cut(text: &str, octets_max: usize) -> &str {
    &text[..text.floor_char_boundary(octets_max)]
}

fn kind_of(sense: Sense) -> Option<LinkKind> {
    Some(match sense {
        Sense::Verify => LinkKind::Verification,
        Sense::SignIn => LinkKind::SignIn,
        Sense::Reset => LinkKind::Reset,
        Sense::Invite => LinkKind::Invite,
        Sense::Unsubscribe => LinkKind::Unsubscribe,
        _ => return None,
    })
}

/// Whether some hit says the kind.
fn says(hits: &[Hit], kind: LinkKind) -> bool {
    hits.iter().any(|hit| kind_of(hit.sense) == Some(kind))
}

/// Whether something that is no code and no link is named.
fn is_other(hits: &[Hit]) -> bool {
    hits.iter().any(|hit| matches!(hit.sense, Sense::Other | Sense::Promotion))
}

impl Found {
    /// The link with its most likely kind and its points; `None` if too little speaks for any.
    fn scored(self, read: &Read<'_>, subject: &Subject) -> Option<(Link, i32)> {
        let said = Said::of(&self, read, subject);
        let mut best: Option<(LinkKind, i32)> = None;
        for kind in KINDS {
            let points = said.points(kind);
            let is_better = points >= super::POINTS_SHOWN && best.is_none_or(|(_, most)| points > most);
            if is_better && said.is_possible(kind) {
                best = Some((kind, points));
            }
            if best.is_some_and(|(kind, _)| kind == LinkKind::Unsubscribe) {
                break;
            }
        }
        let (kind, points) = best?;
        let points = points.min(POINTS_SURE);
        Some((Link { url: self.url.into(), kind, confidence: confidence(points), text: self.text }, points))
    }

    /// Whether the link, or the sentence before it, is for whom did not ask for the mail.
    fn is_denied(&self, read: &Read<'_>) -> bool {
        let text = &read.page.text;
        let before = read.hits_in(self.start.saturating_sub(CONTEXT_OCTETS), self.start);
        let denial = before.iter().rfind(|hit| hit.sense == Sense::Denial);
        let is_own = read.hits_in(self.start, self.end).iter().any(|hit| hit.sense == Sense::Denial);
        is_own
            || denial.is_some_and(|hit| {
                let between = &text[hit.end.min(self.start)..self.start];
                !has_sentence_end(between) && !ends_sentence(between)
            })
    }

    /// The phrases that lead to the link: those of its line before it, else of the lines above, else those after it.
    fn context<'a>(&self, read: &'a Read<'_>) -> &'a [Hit] {
        let text = &read.page.text;
        let has_kind = |hits: &[Hit]| hits.iter().any(|hit| kind_of(hit.sense).is_some());
        let last = |hits: &'a [Hit]| &hits[hits.len().saturating_sub(CONTEXT_HITS_MAX)..];
        let from = text.ceil_char_boundary(self.start.saturating_sub(CONTEXT_OCTETS));
        let line_start = text[from..self.start].rfind('\n').map_or(from, |at| from + at + 1);
        let before = last(read.hits_in(line_start, self.start));
        if has_kind(before) {
            return before;
        }
        let to = text.floor_char_boundary(self.end + CONTEXT_OCTETS / 2);
        let line_end = text[self.end..to].find('\n').map_or(to, |at| self.end + at);
        let after = read.hits_in(self.end, line_end);
        let after = &after[..after.len().min(CONTEXT_HITS_MAX)];
        if has_kind(after) {
            return after;
        }
        let mut end = line_start;
        for _ in 0..2 {
            let above = text[from..end.saturating_sub(1).max(from)].rfind('\n').map_or(from, |at| from + at + 1);
            let found = last(read.hits_in(above, end));
            // What is said before another address is said about that one.
            if text[above..end].contains("://") {
                break;
            }
            if has_kind(found) {
                return found;
            }
            end = above;
        }
        &[]
    }
}

/// What is said about a link.
struct Said<'a> {
    link: &'a Found,
    subject: &'a Subject,
    /// What its text says, what the words around it say, and what its address says.
    own: &'a [Hit],
    context: &'a [Hit],
    address: Vec<Hit>,
    has_secret: bool,
    names_secret: bool,
    is_personal: bool,
    is_denied: bool,
}

impl<'a> Said<'a> {
    fn of(link: &'a Found, read: &'a Read<'_>, subject: &'a Subject) -> Self {
        let (has_secret, names_secret) = (has_secret(&link.url), names_secret(&link.url));
        let path = link.url[url::Position::BeforePath..].to_ascii_lowercase();
        Self {
            link,
            subject,
            own: if link.needs_context { &[] } else { read.hits_in(link.start, link.end) },
            context: if link.needs_context { link.context(read) } else { &[] },
            address: LEXICON.in_address(cut(&path, PATH_OCTETS_MAX)),
            has_secret,
            names_secret,
            is_personal: has_secret || names_secret || is_personal(&link.url),
            is_denied: link.is_denied(read),
        }
    }

    fn points(&self, kind: LinkKind) -> i32 {
        let (own, context, address) = (says(self.own, kind), says(self.context, kind), says(&self.address, kind));
        let is_in_subject = self.subject.kinds.contains(&kind);
        // The only thing that is said is the subject, and this is the one link for a reader alone.
        let is_alone = self.link.needs_context && self.context.is_empty() && is_in_subject && self.names_secret;
        if !(own || context || address || is_alone) {
            return 0;
        }
        if kind == LinkKind::Unsubscribe {
            return UNSUBSCRIBE + if address && (own || context) { ADDRESS } else { 0 };
        }
        // Unknown words say nothing against an address that says so much.
        let is_unknown = self.own.is_empty() && address && self.names_secret;
        let is_subject_other = self.subject.is_other && !is_in_subject && !own;
        sum([
            (own, TEXT),
            (context, CONTEXT),
            (address, ADDRESS),
            (is_in_subject, SUBJECT),
            (is_alone, ALONE),
            (self.link.is_button, BUTTON),
            (self.has_secret, SECRET),
            (self.is_personal && !self.has_secret, PERSONAL),
            (!own && !self.link.needs_context && !is_unknown, SAYS_OTHERWISE),
            (is_other(self.own) || self.is_of_other(kind) || is_subject_other, OTHER),
        ])
    }

    /// Whether the words around a link of this kind are about something else.
    fn is_of_other(&self, kind: LinkKind) -> bool {
        const GAP_OCTETS: usize = 12;
        let is_followed = |said: &Hit| {
            let range = said.start + 1..=said.end + GAP_OCTETS;
            self.context.iter().any(|hit| hit.sense == Sense::Other && range.contains(&hit.start))
        };
        let mut said = self.context.iter().filter(|hit| kind_of(hit.sense) == Some(kind)).peekable();
        said.peek().is_some() && said.all(is_followed)
    }

    fn is_possible(&self, kind: LinkKind) -> bool {
        let url = &self.link.url;
        let is_in_subject = self.subject.kinds.contains(&kind);
        let is_page = url.path() != "/" || url.query().is_some();
        let has_reason = match kind {
            // Each newsletter has a link to its login.
            LinkKind::SignIn => self.has_secret || self.is_personal && is_in_subject,
            // An address alone, without a secret, is a page for everybody.
            LinkKind::Verification | LinkKind::Reset => {
                let is_told = says(self.context, kind) && says(&self.address, kind) && url.query().is_some();
                self.is_personal || says(self.own, kind) || is_told
            }
            // A site's name in the text leads to its front page.
            LinkKind::Invite => (says(self.own, kind) || is_page) && !self.subject.is_meeting,
            LinkKind::Unsubscribe => return true,
        };
        has_reason && (!self.is_denied || is_in_subject)
    }
}
