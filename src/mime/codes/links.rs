//! The links that a reader would press, and what they are for.

use url::Url;

use super::address::{URL_OCTETS_MAX, address, has_secret, trimmed};
use super::lexicon::{Hit, LEXICON};
use super::page::Page;
use super::read::Read;
use super::words::Sense;
use super::{Link, LinkKind, POINTS_SURE, confidence};

/// The longest text of a link that is shown, in octets.
const TEXT_OCTETS_MAX: usize = 200;
/// The most addresses in the text that are looked at.
const BARE_MAX: usize = 1_000;
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
/// The link is a button, or has a secret in its address.
const BUTTON: i32 = 1;
const SECRET: i32 = 3;
/// Its text says something else.
const SAYS_OTHERWISE: i32 = -2;
/// It is about an order, an appointment or something to buy.
const OTHER: i32 = -6;
/// A sender names few other links so.
const UNSUBSCRIBE: i32 = 9;
/// The field List-Unsubscribe says it.
const FIELD: i32 = 15;

/// The kinds in the order in which they are looked at. If two are as likely, the first one counts.
const KINDS: [(LinkKind, &str); 5] = [
    (LinkKind::Unsubscribe, "in-address.unsubscribe"),
    (LinkKind::Reset, "in-address.reset"),
    (LinkKind::Invite, "in-address.invite"),
    (LinkKind::Verification, "in-address.verification"),
    (LinkKind::SignIn, "in-address.sign-in"),
];

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
}

impl Subject {
    pub(super) fn of(hits: &[Hit]) -> Self {
        let kinds = LinkKind::ALL.into_iter().filter(|kind| says(hits, *kind)).collect();
        Self { kinds, is_other: is_other(hits) }
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
        let own = if self.needs_context { &[][..] } else { read.hits_in(self.start, self.end) };
        let context = if self.needs_context { self.context(read) } else { &[] };
        let path = self.url[url::Position::BeforePath..].to_ascii_lowercase();
        let has_secret = has_secret(&self.url);
        let is_own_other = is_other(own);
        let is_context_other = |kind: LinkKind| {
            let said = context.iter().filter(|hit| kind_of(hit.sense) == Some(kind));
            said.clone().count() > 0
                && said.clone().all(|said| {
                    context
                        .iter()
                        .any(|hit| hit.sense == Sense::Other && said.start < hit.start && hit.start <= said.end + 12)
                })
        };
        let is_denied = self.is_denied(read);
        let mut best: Option<(LinkKind, i32)> = None;
        for (kind, key) in KINDS {
            let is_in_address = is_in_address(cut(&path, 500), key);
            let is_said = says(own, kind) || says(context, kind);
            let is_for_others = is_denied && kind != LinkKind::Unsubscribe && !subject.kinds.contains(&kind);
            let mut points = 0;
            if kind == LinkKind::Unsubscribe {
                points += if says(own, kind) || is_in_address || self.needs_context && says(context, kind) {
                    UNSUBSCRIBE
                } else {
                    0
                };
                points += if is_said && is_in_address { ADDRESS } else { 0 };
            } else if is_said || is_in_address {
                points += if says(own, kind) { TEXT } else { 0 };
                points += if says(context, kind) { CONTEXT } else { 0 };
                points += if is_in_address { ADDRESS } else { 0 };
                points += if subject.kinds.contains(&kind) { SUBJECT } else { 0 };
                points += if self.is_button { BUTTON } else { 0 };
                points += if has_secret { SECRET } else { 0 };
                let says_so = says(own, kind);
                let is_subject_other = subject.is_other && !subject.kinds.contains(&kind);
                points += if !says_so && !self.needs_context { SAYS_OTHERWISE } else { 0 };
                points +=
                    if is_own_other || is_context_other(kind) || is_subject_other && !says_so { OTHER } else { 0 };
            }
            // Each newsletter has a link to its login. An address alone, without a secret, is a page for everybody.
            let is_possible = match kind {
                LinkKind::SignIn => has_secret,
                LinkKind::Verification | LinkKind::Reset => {
                    has_secret || says(own, kind) || says(context, kind) && is_in_address && self.url.query().is_some()
                }
                // A site's name in the text leads to its front page.
                LinkKind::Invite => says(own, kind) || self.url.path() != "/" || self.url.query().is_some(),
                LinkKind::Unsubscribe => true,
            };
            if is_possible
                && !is_for_others
                && points >= super::POINTS_SHOWN
                && best.is_none_or(|(_, most)| points > most)
            {
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

    /// Whether the sentence before the link is for whom did not ask for the mail.
    fn is_denied(&self, read: &Read<'_>) -> bool {
        let text = &read.page.text;
        let before = read.hits_in(self.start.saturating_sub(CONTEXT_OCTETS), self.start);
        let denial = before.iter().rfind(|hit| hit.sense == Sense::Denial);
        denial.is_some_and(|hit| !ends_a_sentence(&text[hit.end.min(self.start)..self.start]))
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

/// Whether a word of this key is in an address, not as the beginning of a longer one that says something else.
fn is_in_address(path: &str, key: &str) -> bool {
    let is_longer = |rest: &str, word: &str| {
        let other = KINDS.iter().filter(|(_, other)| *other != key).flat_map(|(_, other)| LEXICON.others(other));
        other.filter(|other| other.len() > word.len()).any(|other| rest.starts_with(other))
    };
    LEXICON.others(key).any(|word| path.match_indices(word).any(|(at, _)| !is_longer(&path[at..], word)))
}

/// Whether a sentence ends in a text that goes on behind it.
fn ends_a_sentence(text: &str) -> bool {
    [". ", ".\n", "! ", "!\n", "\u{3002}"].iter().any(|end| text.contains(end)) || text.trim_end().ends_with(['.', '!'])
}
