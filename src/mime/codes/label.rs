//! The words that name a candidate: before it, behind it, and in the lines around it.

use super::candidate::{Candidate, Form};
use super::lexicon::{Hit, LEXICON, is_bounded_letter};
use super::read::{Read, ends_sentence, has_sentence_end};
use super::score::Mail;
use super::words::Sense;

/// A word for codes right before the candidate, as in `code: 482913`, farther before it, or in an earlier sentence.
const LABEL_NEXT: i32 = 5;
const LABEL_IN_LINE: i32 = 3;
const LABEL_IN_TEXT: i32 = 1;
/// The word is one for one-time codes alone, or has such a word before it, as in `login code`.
pub(super) const LABEL_CERTAIN: i32 = 1;
/// A word for codes behind the candidate, as in `482913 is your code`.
const LABEL_AFTER: i32 = 4;
/// A word for codes one, two or three lines above, and in the line below.
const LABEL_ABOVE: [i32; 3] = [4, 3, 2];
const LABEL_BELOW: i32 = 3;
/// A word before the label says of what it is a code, and that is nothing for people to type.
const LABEL_FOREIGN: i32 = -3;
/// No word for codes is there, but what to do with the candidate, as in `482913 to sign in`.
const USED: i32 = 2;
/// The candidate is named as something else, or is about money to save.
const OTHER: i32 = -9;
const PROMOTION: i32 = -9;
/// How far from a candidate the words of its line count, in octets.
pub(super) const NEAR_OCTETS: usize = 24;
pub(super) const LINE_OCTETS: usize = 160;
const USED_OCTETS: usize = 6;
/// The longest line that is a label for the line below.
const LABEL_SIGNS_MAX: usize = 32;
/// How far after a word such as `order` a number belongs to it, in octets.
const OTHER_OCTETS: usize = 16;

impl Read<'_> {
    /// The points of the words that name a candidate.
    pub(super) fn label(&self, index: usize, is_alone: bool, mail: &Mail) -> i32 {
        let candidate = &self.candidates[index];
        let line = self.line_of(candidate.start);
        let (start, end) = self.line(line);
        let text = &self.page.text;
        let near_start = text.floor_char_boundary(start.max(candidate.start.saturating_sub(LINE_OCTETS)));
        let near_end = text.ceil_char_boundary(end.clamp(candidate.end, candidate.end + LINE_OCTETS));
        let before = self.hits_in(near_start, candidate.start);
        let after = self.hits_in(candidate.end, near_end);
        // What takes some percent off has letters.
        let is_share = || candidate.form != Form::Digits && text[near_start..near_end].contains('%');
        if before.iter().chain(after).any(|hit| hit.sense == Sense::Promotion) || is_share() {
            return PROMOTION;
        }
        let code = before.iter().rposition(Hit::is_code);
        let other = before.iter().rev().find(|hit| hit.sense == Sense::Other);
        let other = other.filter(|hit| self.names(hit, candidate, code.is_some()));
        match code.map(|position| &before[position]).filter(|code| !self.is_taken(index, code.end)) {
            Some(code) if other.is_some_and(|other| other.start > code.start) => return OTHER,
            // An `order code` is none.
            Some(code) if Self::is_of_other(before, code) => return OTHER,
            Some(code) => return self.label_before(code, candidate) + self.certainty(before, code, start, mail),
            None if other.is_some() => return OTHER,
            None => {}
        }
        if let Some(code) = after.iter().find(|hit| hit.is_code() || hit.sense == Sense::Other)
            && code.is_code()
            && !self.is_before_next(index, code.end + NEAR_OCTETS)
            && !has_sentence_end(&self.page.text[candidate.end..code.start.max(candidate.end)])
        {
            return self.label_after(candidate, code)
                + self.certainty(self.hits_in(candidate.end, near_end), code, candidate.end, mail).max(0);
        }
        let of_lines = if is_alone || !before.iter().any(Hit::is_code) {
            self.label_of_lines(index, line, is_alone, mail)
        } else {
            0
        };
        let is_near = |hit: &Hit| {
            let gap = if hit.end <= candidate.start {
                candidate.start - hit.end
            } else {
                hit.start.saturating_sub(candidate.end)
            };
            gap <= USED_OCTETS
        };
        let is_near_purpose = || before.iter().chain(after).any(|hit| hit.is_purpose() && is_near(hit));
        match of_lines {
            0 if self.is_used(candidate) => LABEL_AFTER,
            0 if is_near_purpose() => USED,
            points => points,
        }
    }

    /// Whether a line says of a number that it is a code, and nothing else, as in `Code: 482913` or `482913 is your code`.
    pub(super) fn is_declared(&self, candidate: &Candidate, mail: &Mail) -> bool {
        let (start, end) = self.line(self.line_of(candidate.start));
        if candidate.form != Form::Digits || candidate.start - start > LINE_OCTETS {
            return false;
        }
        let end = end.clamp(candidate.end, candidate.end + LINE_OCTETS);
        let before = self.page.lower[start..candidate.start].trim_end();
        let after = &self.page.lower[candidate.end..self.page.lower.floor_char_boundary(end)];
        let is_first = |hits: &[Hit], start: Option<usize>| {
            hits.iter()
                .find(|hit| hit.is_code() || hit.sense == Sense::Other)
                .filter(|hit| hit.is_code() && !self.is_of_foreign(hit))
                .is_some_and(|hit| start.is_none_or(|start| hit.start == start))
        };
        let is_labelled = before.ends_with([':', '\u{ff1a}']) && !after.contains(char::is_alphanumeric);
        is_labelled && !mail.has_other && is_first(self.hits_in(start, candidate.start), Some(start))
            || before.is_empty() && begins_with_two(after) && is_first(self.hits_in(candidate.end, end), None)
    }

    /// Whether a word such as `order` names the candidate behind it. After a word for codes it must be right before it.
    fn names(&self, other: &Hit, candidate: &Candidate, is_strict: bool) -> bool {
        let between = &self.page.text[other.end.min(candidate.start)..candidate.start];
        let has = |is: fn(char) -> bool| between.contains(is);
        // A number between them has the name.
        let is_named = between.len() <= OTHER_OCTETS && !has(|c| c.is_ascii_digit());
        is_named && !(is_strict && (between.len() > 3 || has(char::is_alphanumeric)))
    }

    /// Whether a word such as `order` is right before the word for codes.
    fn is_of_other(before: &[Hit], code: &Hit) -> bool {
        before.iter().any(|hit| hit.sense == Sense::Other && hit.end + 1 == code.start)
    }

    /// The points of the word before a label, in a line that begins at `start`.
    fn certainty(&self, hits: &[Hit], code: &Hit, start: usize, mail: &Mail) -> i32 {
        const GAP_OCTETS: usize = 12;
        let is_near = |hit: &&Hit| {
            let is_before = hit.start < code.start && hit.end + GAP_OCTETS >= code.start;
            is_before || hit.start >= code.end && hit.start <= code.end + GAP_OCTETS
        };
        if code.sense == Sense::OneTime || hits.iter().filter(is_near).any(Hit::is_purpose) {
            return LABEL_CERTAIN;
        }
        let lower = &self.page.lower;
        let from = lower.ceil_char_boundary(start.max(code.start.saturating_sub(LINE_OCTETS)));
        let before = lower[from..code.start].strip_suffix(' ').unwrap_or_default();
        // `Your store code` is less foreign than `Store code`.
        let words = before.rsplit(' ').inspect(|word| super::step(word.len()));
        let has_foreign = last_word(before).is_some() && !words.take(3).any(is_connecting);
        let is_foreign = has_foreign || self.is_of_foreign(code);
        if mail.subject_points <= 0 && is_foreign { LABEL_FOREIGN } else { 0 }
    }

    /// Whether the words behind a word for codes say of what it is one, as in `código de producto`.
    fn is_of_foreign(&self, code: &Hit) -> bool {
        let after = &self.page.lower[code.end..self.page.lower.floor_char_boundary(code.end + LINE_OCTETS)];
        let mut words = after.split([' ', '\n', '\t', ':']).inspect(|word| super::step(word.len())).skip(1);
        let is_purpose = || self.hits_in(code.end, code.end + NEAR_OCTETS).iter().any(Hit::is_purpose);
        words.next().is_some_and(|word| LEXICON.others("of").contains(word))
            && words.next().and_then(last_word).is_some_and(|word| !is_connecting(word))
            && !is_purpose()
    }

    /// The points of a word for codes behind a candidate in its line.
    fn label_after(&self, candidate: &Candidate, code: &Hit) -> i32 {
        let between = &self.page.lower[candidate.end..code.start.max(candidate.end)];
        let word = between.split(|c: char| !is_bounded_letter(c)).find(|word| !word.is_empty()).unwrap_or_default();
        // Other words begin a text about something else.
        let is_led_to = word.is_empty() || is_connecting(word) || between.len() <= NEAR_OCTETS;
        if is_led_to { LABEL_AFTER } else { LABEL_IN_TEXT }
    }

    /// The points of a word for codes before a candidate in its line.
    fn label_before(&self, code: &Hit, candidate: &Candidate) -> i32 {
        let between = &self.page.lower[code.end.min(candidate.start)..candidate.start];
        let named = self.hits_in(candidate.start.saturating_sub(NEAR_OCTETS), candidate.start);
        // A verb such as `is` leads to the code even from farther away.
        let last_word = last_word(between.trim_end());
        let near_octets = if last_word.is_some_and(is_connecting) { 2 * NEAR_OCTETS } else { NEAR_OCTETS };
        let is_led_to = match last_word {
            None => true,
            Some(word) => is_connecting(word) || named.iter().any(|hit| hit.is_purpose() || hit.is_code()),
        };
        if has_sentence_end(between) {
            LABEL_IN_TEXT
        } else if between.len() <= near_octets && is_led_to
            || between.trim_end().ends_with([':', '\u{ff1a}', '"', '(', '[', '*'])
        {
            LABEL_NEXT
        } else {
            LABEL_IN_LINE
        }
    }

    /// Whether an earlier candidate stands between a label's end and this one, which is not named as something else.
    fn is_taken(&self, index: usize, label_end: usize) -> bool {
        const LOOKED_AT_MAX: usize = 8;
        let earlier = self.candidates[..index].iter().rev().take(LOOKED_AT_MAX);
        earlier.take_while(|earlier| earlier.start >= label_end).any(|earlier| {
            if earlier.form == Form::Letters && !earlier.is_grouped {
                return false;
            }
            let from = earlier.start.saturating_sub(2 * OTHER_OCTETS);
            let named = self.hits_in(from, earlier.start);
            !named.iter().any(|hit| hit.sense == Sense::Other && self.names(hit, earlier, true))
        })
    }

    /// Whether a later candidate stands between this one and a label's start.
    fn is_before_next(&self, index: usize, label_start: usize) -> bool {
        self.candidates.get(index + 1).is_some_and(|next| next.start < label_start)
    }

    /// The points of the words in the lines above and below.
    fn label_of_lines(&self, index: usize, line: usize, is_alone: bool, mail: &Mail) -> i32 {
        let candidate = &self.candidates[index];
        // A line of text that goes on belongs to the label, but not a new sentence such as one with an address.
        let from = self.line(line).0.max(candidate.start.saturating_sub(LINE_OCTETS));
        let from = self.page.text.ceil_char_boundary(from);
        let starts_late = !is_alone && self.page.text[from..candidate.start].contains(char::is_alphanumeric);
        for (distance, points) in LABEL_ABOVE.into_iter().enumerate() {
            let Some(above) = line.checked_sub(distance + 1) else { break };
            let (start, end) = self.line(above);
            let hits = self.hits_in(start.max(end.saturating_sub(2 * LINE_OCTETS)), end);
            let is_taken = self.is_taken(index, start) || starts_late && ends_sentence(&self.page.text[start..end]);
            if hits.iter().any(|hit| hit.sense == Sense::Promotion) {
                return PROMOTION;
            }
            if let Some(code) = hits.iter().rfind(|hit| hit.is_code()).filter(|_| !is_taken) {
                let foreign = self.certainty(hits, code, start, mail).min(0);
                return foreign + if is_alone { points } else { points - 1 };
            }
            let is_short = || self.page.text[start..end].chars().nth(LABEL_SIGNS_MAX).is_none();
            let is_label = distance == 0 && is_short();
            if is_label && is_alone && hits.iter().any(|hit| hit.sense == Sense::Other) {
                return OTHER;
            }
            if is_taken {
                break;
            }
        }
        if line + 2 < self.lines.len() && is_alone {
            let (start, end) = self.line(line + 1);
            let hits = self.hits_in(start, end.min(start + LINE_OCTETS));
            if hits.iter().any(|hit| hit.sense == Sense::Promotion) {
                return PROMOTION;
            }
            return match hits.iter().find(|hit| hit.is_code() || hit.sense == Sense::Other) {
                Some(hit) if hit.is_code() && !self.is_before_next(index, end) => LABEL_BELOW,
                Some(hit) if hit.sense == Sense::Other && hit.start <= start + OTHER_OCTETS => OTHER,
                _ => 0,
            };
        }
        0
    }
}

/// The word at the end of a text; `None` if it ends with a mark, or has no blanks between words.
pub(super) fn last_word(text: &str) -> Option<&str> {
    let word = text.rsplit(|c: char| !is_bounded_letter(c)).next().unwrap_or_default();
    Some(word).filter(|word| !word.is_empty())
}

/// Whether two connecting words begin what follows a candidate, as in ` is your code`.
fn begins_with_two(after: &str) -> bool {
    let mut words = after.split(' ');
    words.next() == Some("") && words.by_ref().take(2).filter(|word| is_connecting(word)).count() == 2
}

fn is_connecting(word: &str) -> bool {
    LEXICON.others("connecting").contains(word)
}
