//! Finds the phrases of [`words`](super::words) in a page.

use std::sync::LazyLock;

use super::page::Page;
use super::words::{LANGUAGES, Sense};

/// Words that stand between a word for codes and its code, or right before such a word. Another word there may say that
/// the code is none to type, as in `store code`.
pub(super) const CONNECTING: &str = " is are be was to below following follows this that the your our my a an of with use using enter \
    and or digit digits character new unique by one type give need receive paste copy for as in at here ist lautet \
    lauten sind der den dem die dein deinen ihr ihren ihrem folgenden folgender diesen dieser einen mit per als es son \
    este siguiente tu su el la un una con usa est sont le votre ton ce suivant suivante è é il tuo questo seguente sono \
    são o seu esse de je uw deze is zijn jest to var är er on din ditt în este na vaš είναι το це ваш код это есть your ";

/// Phrases that say nothing: what has happened already, many codes, and words that mean something else.
const NOTHING: &str = "hard-code, hard-coded, hardcode, in order to, in order, codes, passcodes, verified, \
    confirmed, activated, validated, approved, authenticated, logged in, signed in, coded, bestätigt, aktiviert, \
    confirmado, confirmada, confirmé, confirmée, confermato, confermata, bevestigd, potwierdzone, potwierdzony, \
    onaylandı, подтвержден, подтверждён, подтверждена, подтверждено";

/// A phrase in a text, with the position of its octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) sense: Sense,
}

impl Hit {
    /// Whether this is a word for codes.
    pub(super) fn is_code(&self) -> bool {
        matches!(self.sense, Sense::Code | Sense::OneTime)
    }

    /// Whether this says what one-time codes are for, or how to treat them.
    pub(super) fn is_purpose(&self) -> bool {
        matches!(
            self.sense,
            Sense::OneTime
                | Sense::Verify
                | Sense::SignIn
                | Sense::Reset
                | Sense::Caution
                | Sense::Denial
                | Sense::Enter
        )
    }
}

#[derive(Clone, Copy, Debug)]
struct Phrase {
    text: &'static str,
    sense: Sense,
    /// Whether the word may go on.
    is_open: bool,
}

/// The number of lists in which phrases are searched by their first three octets.
const LISTS: usize = 2048;

/// The words of all languages. They are the same for every mail, and sorting them takes longer than reading a short one.
pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::new);

/// All phrases, ready for a search in time linear in a text.
pub(super) struct Lexicon {
    /// The longest phrase comes first.
    beginnings: Vec<Vec<Phrase>>,
    /// Phrases of fewer octets.
    short: Vec<Phrase>,
    /// By the last octet.
    endings: Vec<Vec<Phrase>>,
}

impl Lexicon {
    fn new() -> Self {
        let mut lexicon =
            Self { beginnings: vec![Vec::new(); LISTS], short: Vec::new(), endings: vec![Vec::new(); 256] };
        let all = LANGUAGES.iter().flat_map(|words| words.by_sense()).chain([(Sense::Nothing, NOTHING)]);
        for (sense, phrases) in all {
            for written in phrases.split(", ").map(str::trim) {
                let (text, is_open) = (written.trim_end_matches('*'), written.ends_with('*'));
                if let Some(ending) = text.strip_prefix('*') {
                    lexicon.endings[last(ending)].push(Phrase { text: ending, sense, is_open });
                }
                let text = text.trim_start_matches('*');
                let phrases = match list(text.as_bytes()) {
                    Some(list) => &mut lexicon.beginnings[list],
                    None => &mut lexicon.short,
                };
                phrases.push(Phrase { text, sense, is_open });
            }
        }
        for phrases in &mut lexicon.beginnings {
            phrases.sort_by_key(|phrase| usize::MAX - phrase.text.len());
        }
        lexicon
    }

    /// The phrases of a page in their order, and the number of comparisons.
    pub(super) fn hits(&self, page: &Page) -> (Vec<Hit>, usize) {
        let text = page.lower.as_str();
        let (mut hits, mut work, mut at, mut is_in_word) = (Vec::new(), 0, 0, false);
        while let Some(c) = text[at..].chars().next() {
            let is_bounded = is_bounded(c);
            let mut end = at + c.len_utf8();
            if !is_in_word || !is_bounded {
                let phrases = list(&text.as_bytes()[at..]).map_or(&[][..], |list| &self.beginnings[list]);
                work += phrases.len() + self.short.len();
                if let Some(phrase) = phrases.iter().chain(&self.short).find(|phrase| phrase.is_at(text, at)) {
                    end = at + phrase.text.len();
                    hits.push(Hit { start: at, end, sense: phrase.sense });
                }
                let is_read = hits.last().is_some_and(|hit| hit.start == at);
                // A long word can have one phrase at its beginning and another one at its end.
                if let Some((start, phrase)) =
                    self.ending(text, at, &mut work).filter(|(start, _)| !is_read || *start >= end)
                {
                    end = start + phrase.text.len();
                    hits.push(Hit { start, end, sense: phrase.sense });
                }
            }
            is_in_word = text[..end].chars().next_back().is_some_and(is_bounded_letter);
            at = end;
        }
        (hits, work)
    }

    /// The phrase at the end of the word that begins at `start`, and its position.
    fn ending(&self, text: &str, start: usize, work: &mut usize) -> Option<(usize, &Phrase)> {
        const WORD_OCTETS_MAX: usize = 60;
        let window = &text[start..text.floor_char_boundary(start + WORD_OCTETS_MAX)];
        let name = &window[..window.find(|c: char| !is_bounded_letter(c) && c != '-').unwrap_or(window.len())];
        let endings = &self.endings[last(name)];
        *work += 1 + endings.len();
        let longest = endings.iter().filter(|phrase| name.ends_with(phrase.text)).max_by_key(|it| it.text.len());
        longest.map(|phrase| (start + name.len() - phrase.text.len(), phrase))
    }
}

impl Phrase {
    fn is_at(&self, text: &str, at: usize) -> bool {
        let Some(rest) = text[at..].strip_prefix(self.text) else { return false };
        let is_whole = || !rest.chars().next().is_some_and(is_bounded_letter);
        self.is_open || self.text.chars().next_back().is_some_and(|c| !is_bounded_letter(c)) || is_whole()
    }
}

/// The list of the phrases that begin with these octets; `None` if there are fewer than three.
fn list(octets: &[u8]) -> Option<usize> {
    let (first, _) = octets.split_first_chunk::<3>()?;
    Some(first.iter().fold(0, |sum, octet| sum * 31 + usize::from(*octet)) % LISTS)
}

fn last(text: &str) -> usize {
    text.as_bytes().last().copied().map_or(0, usize::from)
}

/// Whether `c` is of a script that has blanks between words.
fn is_bounded(c: char) -> bool {
    c < '\u{590}' || ('\u{1e00}'..='\u{1fff}').contains(&c)
}

/// Whether `c` is a letter of such a script.
pub(super) fn is_bounded_letter(c: char) -> bool {
    is_bounded(c) && c.is_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn senses(text: &str) -> Vec<(String, Sense)> {
        let page = Page::of_line(text);
        let (hits, _) = LEXICON.hits(&page);
        hits.iter().map(|hit| (page.lower[hit.start..hit.end].to_owned(), hit.sense)).collect()
    }

    #[test]
    fn phrases_are_found_in_each_kind_of_script() {
        for (text, expected) in [
            ("Verification code", vec![("verification code", Sense::OneTime)]),
            ("Confirm: code", vec![("confirm", Sense::Verify), ("code", Sense::Code)]),
            ("Ihr Schlüsselcode: Kodex", vec![("code", Sense::Code)]),
            ("Bestätigungscode", vec![("bestätig", Sense::Verify), ("code", Sense::Code)]),
            ("zip code codec", vec![("zip code", Sense::Other)]),
            ("您的验证码是", vec![("验证码", Sense::OneTime)]),
            ("인증번호는", vec![("인증번호", Sense::OneTime)]),
            ("والرمز", vec![("الرمز", Sense::Code)]),
            ("КОД", vec![("код", Sense::Code)]),
            ("code482913", vec![("code", Sense::Code)]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(text, sense)| (text.to_owned(), sense)).collect();
            assert_eq!(senses(text), expected, "{text}");
        }
    }

    #[test]
    fn every_phrase_can_be_found() {
        for (_, phrases) in LANGUAGES.iter().flat_map(|words| words.by_sense()) {
            for phrase in phrases.split(", ").map(str::trim) {
                assert!(phrase.trim_matches('*').chars().count() >= 1, "{phrases}");
                assert_eq!(
                    Page::of_line(phrase.trim_matches('*')).lower,
                    phrase.trim_matches('*'),
                    "not in lower case"
                );
            }
        }
    }
}
