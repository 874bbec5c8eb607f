//! The words that name a candidate: before it, behind it, and in the lines around it.

use super::candidate::{Candidate, Form};
use super::lexicon::{Hit, LEXICON, has, is_bounded_letter};
use super::read::{COLONS, LINE_OCTETS, Read, ends_sentence, has_sentence_end, last_sentence};
use super::words::Sense;

/// A word for codes right before the candidate, as in `code: 482913`, farther before it, or in an earlier sentence.
const LABEL_NEXT: i32 = 5;
pub(super) const LABEL_IN_LINE: i32 = 3;
const LABEL_IN_TEXT: i32 = 1;
/// The word is one for one-time codes alone, or has such a word beside it, as in `login code`.
const LABEL_CERTAIN: i32 = 1;
/// A word for codes behind the candidate, as in `482913 is your code`, or one such as `enter` before it.
const LABEL_AFTER: i32 = 4;
/// A word for codes one, two or three lines above, and in the line below.
const LABEL_ABOVE: [i32; 3] = [4, 3, 2];
const LABEL_BELOW: i32 = 2;
/// A word beside the label says of what it is a code, and that is nothing for people to type.
const LABEL_FOREIGN: i32 = -3;
/// The candidate is named as something else, or is about money to save.
const OTHER: i32 = -9;
const PROMOTION: i32 = -9;
/// How far from a candidate the words of its line count, in signs.
const NEAR_SIGNS: usize = 40;
/// How far a word such as `enter` leads to a candidate, in signs.
const LED_SIGNS: usize = 64;
/// The longest line that is a label for the line below.
const LABEL_SIGNS_MAX: usize = 32;
/// How far after a word such as `order` a number belongs to it, in signs.
const OTHER_SIGNS: usize = 16;

impl Read<'_> {
    /// The points of the words that name a candidate.
    pub(super) fn label(&self, index: usize, is_alone: bool) -> i32 {
        let candidate = &self.candidates[index];
        let line = self.line_of(candidate.start);
        let (start, end) = self.line(line);
        let text = &self.page.text;
        let near_start = text.floor_char_boundary(start.max(candidate.start.saturating_sub(LINE_OCTETS)));
        let near_end = text.ceil_char_boundary(end.clamp(candidate.end, candidate.end + LINE_OCTETS));
        let before = self.hits_in(near_start, candidate.start);
        let after = self.hits_in(candidate.end, near_end);
        if has(before, Sense::Promotion) || has(after, Sense::Promotion) {
            return PROMOTION;
        }
        let code = before.iter().rfind(|hit| hit.is_code());
        if self.is_other(before, code, candidate) {
            return OTHER;
        }
        if let Some(code) = code {
            return self.label_before(code, candidate) + self.certainty(before, code, start);
        }
        let is_of_next = |code: &Hit| self.is_before_next(index, self.behind(code.end, NEAR_SIGNS));
        let is_of_same_sentence = |code: &Hit| !has_sentence_end(&text[candidate.end..code.start.max(candidate.end)]);
        match first_name(after).filter(|hit| hit.is_code() && !is_of_next(hit) && is_of_same_sentence(hit)) {
            Some(code) => LABEL_AFTER + self.certainty(after, code, candidate.end).max(0),
            None => match self.label_of_lines(index, line, is_alone) {
                0 => self.use_of(candidate),
                points => points,
            },
        }
    }

    /// Whether a line says of a number that it is a code, and nothing else, as in `Code: 482913` or `482913 is your code`.
    pub(super) fn is_declared(&self, candidate: &Candidate, has_other: bool) -> bool {
        let (start, end) = self.line(self.line_of(candidate.start));
        if candidate.form != Form::Digits || candidate.start - start > LINE_OCTETS {
            return false;
        }
        let lower = &self.page.lower;
        let end = end.clamp(candidate.end, candidate.end + LINE_OCTETS);
        let (before, after) = (&lower[start..candidate.start], &lower[candidate.end..lower.floor_char_boundary(end)]);
        let code = |start: usize, end: usize| {
            first_name(self.hits_in(start, end)).filter(|hit| hit.is_code() && !self.is_of_foreign(hit))
        };
        if before.is_empty() {
            let mut words = after.split(' ').skip(1).take(2);
            return words.all(is_connecting) && code(candidate.end, end).is_some();
        }
        let is_labelled = before.trim_end().ends_with(COLONS) && !after.contains(char::is_alphanumeric);
        is_labelled && !has_other && code(start, candidate.start).is_some_and(|hit| hit.start == start)
    }

    /// Whether the words before a candidate say that it is something else than the code of the last word for one: a refusal in
    /// its sentence, or a word such as `order`.
    fn is_other(&self, before: &[Hit], code: Option<&Hit>, candidate: &Candidate) -> bool {
        let between = |hit: &Hit| &self.page.text[hit.end.min(candidate.start)..candidate.start];
        let is_said = |hit: &Hit| !has_sentence_end(between(hit));
        // No comma is between a word and its code, as in `If you asked for no code, call us at 482913`.
        let is_next = |code: &Hit| !between(code).contains(',') && self.label_before(code, candidate) == LABEL_NEXT;
        // Such as whom to call if it was somebody else.
        let is_denial = |hit: &Hit| hit.sense == Sense::Denial && is_said(hit);
        // `OTP number: 482913` is about a number of nothing else.
        let is_led = |code: &Hit| code.sense == Sense::OneTime && self.is_led(candidate);
        let names = |other: &Hit| {
            self.names(other, candidate, code.is_some_and(is_said))
                && code.is_none_or(|code| other.start > code.start && !(other.start <= code.end + 1 && is_led(code)))
        };
        before.iter().any(is_denial) && !code.is_some_and(is_next)
            || before.iter().rfind(|hit| hit.sense == Sense::Other).is_some_and(names)
    }

    /// Whether a word such as `order` names the candidate behind it. Beside a word for codes it must be right before it.
    fn names(&self, other: &Hit, candidate: &Candidate, is_strict: bool) -> bool {
        let between = &self.page.text[other.end.min(candidate.start)..candidate.start];
        // A number between them has the name, and what is in brackets is the name of a sender.
        let is_free = |c: char| c.is_ascii_digit() || matches!(c, ']' | '\u{3011}');
        let is_named = between.chars().nth(OTHER_SIGNS).is_none() && !between.contains(is_free);
        is_named && !(is_strict && (between.len() > 3 || between.contains(char::is_alphanumeric)))
    }

    /// The points of the words beside a label, in a text that begins at `start`.
    fn certainty(&self, hits: &[Hit], code: &Hit, start: usize) -> i32 {
        let (from, to) = (self.before(code.start, NEAR_SIGNS), self.behind(code.end, NEAR_SIGNS));
        let is_said = |hit: &Hit| !has_sentence_end(&self.page.text[hit.end.min(code.start)..code.start]);
        let is_before = |hit: &Hit| hit.start < code.start && hit.end >= from && is_said(hit);
        let is_beside = |hit: &Hit| is_before(hit) || (code.end..=to).contains(&hit.start);
        if code.sense == Sense::OneTime || hits.iter().any(|hit| hit.is_purpose() && is_beside(hit)) {
            return LABEL_CERTAIN;
        }
        let lower = &self.page.lower;
        let from = lower.ceil_char_boundary(start.max(code.start.saturating_sub(LINE_OCTETS)));
        let before = last_sentence(&lower[from..code.start]).trim_end_matches(' ');
        // `Your store code` and `Dein Ladencode` are less foreign than `Store code`.
        let mut words = before.rsplit(' ').inspect(|word| super::step(word.len())).take(3);
        let is_named = last_word(before).is_some() && !words.any(is_connecting);
        let is_foreign = is_named || self.is_of_foreign(code);
        if is_foreign { LABEL_FOREIGN } else { 0 }
    }

    /// Whether the words behind a word for codes say of what it is one, as in `código de producto`.
    fn is_of_foreign(&self, code: &Hit) -> bool {
        let after = &self.page.lower[code.end..self.page.lower.floor_char_boundary(code.end + LINE_OCTETS)];
        let mut words = after.split([' ', '\n', '\t', ':']).inspect(|word| super::step(word.len())).skip(1);
        words.next().is_some_and(|word| LEXICON.others("of").contains(word))
            && words.next().and_then(last_word).is_some_and(|word| !is_connecting(word))
            && !self.hits_in(code.end, self.behind(code.end, NEAR_SIGNS)).iter().any(Hit::is_purpose)
    }

    /// The points of a word for codes before a candidate in its line.
    fn label_before(&self, code: &Hit, candidate: &Candidate) -> i32 {
        let between = &self.page.lower[code.end.min(candidate.start)..candidate.start];
        let written = between.trim_end();
        // A verb such as `is` leads to the code.
        let is_near = between.chars().nth(NEAR_SIGNS).is_none() && last_word(written).is_none_or(is_connecting);
        match has_sentence_end(between) {
            true => LABEL_IN_TEXT,
            false if is_near || written.ends_with(COLONS) || written.ends_with(['"', '(', '[', '*']) => LABEL_NEXT,
            false => LABEL_IN_LINE,
        }
    }

    /// The points of words that lead to a number: such as `enter` before or behind it, `use` if its purpose follows, or its
    /// purpose, as in `Verification: 482913`.
    fn use_of(&self, candidate: &Candidate) -> i32 {
        if !matches!(candidate.form, Form::Digits | Form::Mixed) {
            return 0;
        }
        let (start, end) = (candidate.start, candidate.end);
        let before = self.hits_in(self.before(start, LED_SIGNS), start);
        let after = self.hits_in(end, self.behind(end, NEAR_SIGNS));
        let is_joined = |from: usize, to: usize| !self.page.text[from.min(to)..to].contains(['.', '\n', ',']);
        let leads = |hit: &&Hit| is_joined(hit.end, start) && !has(self.hits_in(hit.end, start), Sense::Other);
        let is_entered = before.iter().filter(leads).any(|hit| hit.sense == Sense::Enter)
            || after.iter().any(|hit| hit.sense == Sense::Enter && is_joined(end, hit.start));
        let word = self.page.lower[..start].strip_suffix(' ').and_then(last_word);
        let is_with = || word.is_some_and(|word| LEXICON.others("use").contains(word));
        if before.last().is_some_and(|hit| hit.sense == Sense::Enter && start <= hit.end + 1) {
            return LABEL_NEXT;
        }
        if is_entered || is_with() && after.iter().any(Hit::is_purpose) {
            return LABEL_AFTER;
        }
        let is_next = self.is_led(candidate) || word.is_some_and(is_connecting);
        let is_purpose =
            |hit: &Hit| matches!(hit.sense, Sense::Verify | Sense::SignIn) && hit.end >= self.before(start, NEAR_SIGNS);
        if is_next && before.iter().filter(leads).any(is_purpose) { LABEL_IN_LINE } else { 0 }
    }

    /// Whether a later candidate stands between this one and a position.
    fn is_before_next(&self, index: usize, position: usize) -> bool {
        self.candidates.get(index + 1).is_some_and(|next| next.start < position)
    }

    /// The points of the words in the lines above and below.
    fn label_of_lines(&self, index: usize, line: usize, is_alone: bool) -> i32 {
        let (candidate, text) = (&self.candidates[index], &self.page.text);
        // A line of text that goes on belongs to the label, but not a new sentence such as one with an address.
        let from = self.line(line).0.max(candidate.start.saturating_sub(LINE_OCTETS));
        let starts_late =
            !is_alone && text[text.ceil_char_boundary(from)..candidate.start].contains(char::is_alphanumeric);
        for (above, points) in (0..line).rev().zip(LABEL_ABOVE) {
            let (start, end) = self.line(above);
            let hits = self.hits_in(start.max(end.saturating_sub(2 * LINE_OCTETS)), end);
            if has(hits, Sense::Promotion) {
                return PROMOTION;
            }
            let is_ended = starts_late && ends_sentence(&text[start..end]);
            if let Some(code) = hits.iter().rfind(|hit| hit.is_code() && !is_ended) {
                return points - i32::from(!is_alone) + self.certainty(hits, code, start).min(0);
            }
            let is_label = above + 1 == line
                && text[start..end].chars().nth(LABEL_SIGNS_MAX).is_none()
                && !text[start..end].contains(|c: char| c.is_ascii_digit());
            if is_label && is_alone && has(hits, Sense::Other) {
                return OTHER;
            }
            let said = hits.iter().rfind(|hit| matches!(hit.sense, Sense::Enter | Sense::Other));
            if above + 1 == line && is_alone && said.is_some_and(|hit| hit.sense == Sense::Enter) {
                return LABEL_IN_LINE;
            }
        }
        if line + 2 >= self.lines.len() || !is_alone {
            return 0;
        }
        let (start, end) = self.line(line + 1);
        match first_name(self.hits_in(start, end.min(start + LINE_OCTETS))) {
            Some(hit) if hit.is_code() => LABEL_BELOW,
            Some(hit) if hit.start <= self.behind(start, OTHER_SIGNS) => OTHER,
            _ => 0,
        }
    }
}

/// The first word for codes, or for something that is no code.
fn first_name(hits: &[Hit]) -> Option<&Hit> {
    hits.iter().find(|hit| hit.is_code() || hit.sense == Sense::Other)
}

/// The word at the end of a text; `None` if it ends with a mark, or has no blanks between words.
fn last_word(text: &str) -> Option<&str> {
    let word = text.rsplit(|c: char| !is_bounded_letter(c)).next().unwrap_or_default();
    Some(word).filter(|word| !word.is_empty())
}

fn is_connecting(word: &str) -> bool {
    LEXICON.others("connecting").contains(word)
}
