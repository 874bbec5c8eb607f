//! How much speaks for a candidate: its form, its look, and the words around it.
//!
//! Each observation gives or takes points. The constants are all the weights that there are.

use super::POINTS_SHOWN;
use super::candidate::{Candidate, Form, candidates};
use super::lexicon::{CONNECTING, Hit, is_bounded_letter};
use super::page::Page;
use super::words::Sense;

/// The points of a code of six digits, of another number or in groups, of letters and digits, and of letters.
const FORM: [i32; 4] = [3, 2, 2, 0];
/// A word for codes right before the candidate, as in `code: 482913`, farther before it, or in an earlier sentence.
const LABEL_NEXT: i32 = 5;
const LABEL_IN_LINE: i32 = 3;
const LABEL_IN_TEXT: i32 = 1;
/// The word is one for one-time codes alone, or has such a word before it, as in `login code`.
const LABEL_CERTAIN: i32 = 1;
/// A word for codes behind the candidate, as in `482913 is your code`.
const LABEL_AFTER: i32 = 4;
/// A word for codes one, two or three lines above, and in the line below.
const LABEL_ABOVE: [i32; 3] = [4, 3, 2];
const LABEL_BELOW: i32 = 3;
/// A word before the label says of what it is a code, and that is nothing for people to type.
const LABEL_FOREIGN: i32 = -3;
/// No word for codes is there, but what to do with the candidate, as in `482913 to sign in`.
const USED: i32 = 2;
/// The candidate is alone in its line or cell, large, bold or in capitals with gaps.
const ALONE: i32 = 2;
const LARGE: i32 = 2;
const BOLD: i32 = 1;
const EMPHASIS_MAX: i32 = 3;
/// The subject has a word for codes, or the same candidate.
const SUBJECT_LABEL: i32 = 2;
const SUBJECT_SAME: i32 = 2;
/// The mail says what codes are for, or how to treat them: for each such phrase, up to the most.
const PURPOSE: i32 = 1;
const PURPOSE_MAX: i32 = 2;
/// A line such as `@example.test #482913`, which programs read.
const BOUND: i32 = 12;
/// The candidate is named as something else, or is about money to save.
const OTHER: i32 = -9;
const PROMOTION: i32 = -9;
/// The subject is about an order or the like, and has no word for codes.
const SUBJECT_OTHER: i32 = -3;
/// Nothing in the mail says what a code would be for.
const NO_PURPOSE: i32 = -5;
/// The candidate could be a year, or has a `#` before it as numbers of orders have.
const YEAR: i32 = -4;
const HASH: i32 = -7;
/// Small letters and digits that do not stand out.
const SMALL: i32 = -5;
const LETTERS: i32 = -2;
/// How far from a candidate the words of its line count, in octets.
const NEAR_OCTETS: usize = 24;
const LINE_OCTETS: usize = 160;
const USED_OCTETS: usize = 6;
/// How far after a word such as `order` a number belongs to it, in octets.
const OTHER_OCTETS: usize = 16;

/// A candidate with its points.
#[derive(Clone, Debug)]
pub(super) struct Scored {
    pub(super) code: String,
    pub(super) points: i32,
}

/// What is known of a mail before its candidates are looked at.
pub(super) struct Mail<'a> {
    pub(super) subject_hits: &'a [Hit],
    pub(super) purpose: i32,
    /// Whether any word for codes is in the mail.
    pub(super) has_label: bool,
}

impl<'a> Mail<'a> {
    pub(super) fn of(subject_hits: &'a [Hit], body_hits: &[Hit]) -> Self {
        let all = || subject_hits.iter().chain(body_hits);
        let count = all().filter(|hit| hit.is_purpose()).count();
        Self {
            subject_hits,
            purpose: if count == 0 {
                NO_PURPOSE
            } else {
                (i32::try_from(count).unwrap_or(PURPOSE_MAX) * PURPOSE).min(PURPOSE_MAX)
            },
            has_label: all().any(Hit::is_code),
        }
    }

    fn subject_points(&self) -> i32 {
        let any = |is: fn(&Hit) -> bool| self.subject_hits.iter().any(is);
        let has_other = || any(|hit| hit.sense == Sense::Other) && !any(Hit::is_purpose);
        match any(Hit::is_code) {
            true => SUBJECT_LABEL,
            false if has_other() => SUBJECT_OTHER,
            false => 0,
        }
    }
}

/// A page with the phrases in it.
pub(super) struct Read<'a> {
    pub(super) page: &'a Page,
    pub(super) hits: &'a [Hit],
    /// The positions of the lines' starts, and the length of the text.
    lines: Vec<usize>,
    candidates: Vec<Candidate>,
}

impl<'a> Read<'a> {
    pub(super) fn of(page: &'a Page, hits: &'a [Hit]) -> Self {
        let ends = page.text.bytes().enumerate().filter(|(_, octet)| *octet == b'\n').map(|(at, _)| at + 1);
        let mut lines: Vec<usize> = std::iter::once(0).chain(ends).collect();
        lines.push(page.text.len() + 1);
        Self { page, hits, lines, candidates: candidates(page) }
    }

    /// The candidates with their points, and the number of phrases that were looked at.
    pub(super) fn scored(&self, mail: &Mail<'_>, subject: &[Scored]) -> (Vec<Scored>, usize) {
        let mut work = 0;
        let mut found = Vec::new();
        for (index, candidate) in self.candidates.iter().enumerate() {
            if let Some(points) = self.bound(candidate) {
                found.push(Scored { code: candidate.code.clone(), points });
            } else if mail.has_label && !self.is_in_quote(candidate) {
                let same = if subject.iter().any(|it| it.code == candidate.code) { SUBJECT_SAME } else { 0 };
                let points = self.points(index, mail, &mut work) + same;
                found.push(Scored { code: candidate.code.clone(), points });
            }
        }
        (found, work)
    }

    fn points(&self, index: usize, mail: &Mail<'_>, work: &mut usize) -> i32 {
        let candidate = &self.candidates[index];
        let is_alone = self.is_alone(candidate);
        let label = self.label(index, is_alone, mail, work);
        let look = self.page.look(candidate.start);
        let emphasis = i32::from(look.is_large || look.is_spaced) * LARGE + i32::from(look.is_bold) * BOLD;
        let stands_out = is_alone || emphasis > 0;
        let form = match candidate.form {
            Form::Digits if candidate.code.len() == 6 => FORM[0],
            Form::Digits => FORM[1],
            Form::Mixed => FORM[2],
            Form::Small => FORM[2] + if stands_out { 0 } else { SMALL },
            Form::Letters => FORM[3] + if candidate.is_grouped { 0 } else { LETTERS },
        };
        let is_year = candidate.code.len() == 4 && !candidate.is_grouped && matches!(&candidate.code[..2], "19" | "20");
        let has_hash = self.page.text[..candidate.start].ends_with('#');
        form + label
            + if is_alone { ALONE } else { 0 }
            + emphasis.min(EMPHASIS_MAX)
            + mail.subject_points()
            + mail.purpose
            + if is_year { YEAR } else { 0 }
            + if has_hash { HASH } else { 0 }
    }

    /// The line of a position, as an index.
    fn line_of(&self, position: usize) -> usize {
        self.lines.partition_point(|start| *start <= position).saturating_sub(1)
    }

    /// The line with this index, without its end.
    fn line(&self, index: usize) -> (usize, usize) {
        (self.lines[index], self.lines[index + 1] - 1)
    }

    /// Whether nothing else is in the line or cell of a candidate but marks.
    fn is_alone(&self, candidate: &Candidate) -> bool {
        let (start, end) = self.line(self.line_of(candidate.start));
        let end = end.max(candidate.end);
        let text = &self.page.text;
        let near_start = text.ceil_char_boundary(start.max(candidate.start.saturating_sub(LINE_OCTETS)));
        let near_end = text.floor_char_boundary(end.min(candidate.end + LINE_OCTETS));
        let before = text[near_start..candidate.start].rsplit('\t').next().unwrap_or_default();
        let after = text[candidate.end..near_end].split(['\t', '\n']).next().unwrap_or_default();
        !before.chars().chain(after.chars()).any(char::is_alphanumeric)
    }

    /// Whether a candidate is in the history of a mail or in a line about copyright.
    fn is_in_quote(&self, candidate: &Candidate) -> bool {
        let (start, end) = self.line(self.line_of(candidate.start));
        let line = &self.page.lower[start..self.page.lower.floor_char_boundary(end.min(start + LINE_OCTETS))];
        self.page.look(candidate.start).is_quoted
            || line.starts_with('>')
            || line.contains('\u{a9}')
            || line.contains("copyright")
            || line.contains("all rights reserved")
    }

    /// The points of a line such as `@example.test #482913`; `None` if the candidate is in no such line.
    fn bound(&self, candidate: &Candidate) -> Option<i32> {
        let (start, _) = self.line(self.line_of(candidate.start));
        let before = &self.page.text[start..candidate.start];
        let domain = before.strip_prefix('@')?.strip_suffix(" #")?;
        (domain.len() < 254 && domain.contains('.') && !domain.contains(' ')).then_some(BOUND)
    }

    /// The hits that begin within `start..end`.
    fn hits_in(&self, start: usize, end: usize) -> &[Hit] {
        let from = self.hits.partition_point(|hit| hit.start < start);
        let to = self.hits.partition_point(|hit| hit.start < end);
        &self.hits[from..to.max(from)]
    }

    /// The points of the words that name a candidate.
    fn label(&self, index: usize, is_alone: bool, mail: &Mail<'_>, work: &mut usize) -> i32 {
        let candidate = &self.candidates[index];
        let line = self.line_of(candidate.start);
        let (start, end) = self.line(line);
        let near_start = start.max(candidate.start.saturating_sub(LINE_OCTETS));
        let near_end = end.min(candidate.end + LINE_OCTETS);
        let before = self.hits_in(near_start, candidate.start);
        let after = self.hits_in(candidate.end, near_end);
        *work += before.len() + after.len();
        if before.iter().chain(after).any(|hit| hit.sense == Sense::Promotion) {
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
            return LABEL_AFTER
                + self.certainty(self.hits_in(candidate.end, near_end), code, candidate.end, mail).max(0);
        }
        let of_lines = if is_alone || before.is_empty() { self.label_of_lines(index, line, is_alone, work) } else { 0 };
        let is_near = |hit: &Hit| {
            let gap = if hit.end <= candidate.start {
                candidate.start - hit.end
            } else {
                hit.start.saturating_sub(candidate.end)
            };
            gap <= USED_OCTETS
        };
        let is_used = || before.iter().chain(after).any(|hit| hit.is_purpose() && is_near(hit));
        if of_lines == 0 && is_used() { USED } else { of_lines }
    }

    /// Whether a word such as `order` names the candidate behind it. After a word for codes it must be right before it.
    fn names(&self, other: &Hit, candidate: &Candidate, is_strict: bool) -> bool {
        let between = &self.page.text[other.end.min(candidate.start)..candidate.start];
        let has_words = || between.chars().any(char::is_alphanumeric);
        between.len() <= OTHER_OCTETS && !(is_strict && (between.len() > 3 || has_words()))
    }

    /// Whether a word such as `order` is right before the word for codes.
    fn is_of_other(before: &[Hit], code: &Hit) -> bool {
        before.iter().any(|hit| hit.sense == Sense::Other && hit.end + 1 == code.start)
    }

    /// The points of the word before a label, in a line that begins at `start`.
    fn certainty(&self, hits: &[Hit], code: &Hit, start: usize, mail: &Mail<'_>) -> i32 {
        const GAP_OCTETS: usize = 12;
        let is_near = |hit: &&Hit| hit.start < code.start && hit.end + GAP_OCTETS >= code.start;
        if code.sense == Sense::OneTime || hits.iter().filter(is_near).any(Hit::is_purpose) {
            return LABEL_CERTAIN;
        }
        let before = self.page.lower[start..code.start].strip_suffix(' ').unwrap_or_default();
        // `Your store code` is less foreign than `Store code`.
        let mut words = before.rsplit(' ').take(3);
        if mail.subject_points() <= 0 && last_word(before).is_some() && !words.any(is_connecting) {
            LABEL_FOREIGN
        } else {
            0
        }
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
    fn label_of_lines(&self, index: usize, line: usize, is_alone: bool, work: &mut usize) -> i32 {
        for (distance, points) in LABEL_ABOVE.into_iter().enumerate() {
            let Some(above) = line.checked_sub(distance + 1) else { break };
            let (start, end) = self.line(above);
            let hits = self.hits_in(start.max(end.saturating_sub(2 * LINE_OCTETS)), end);
            *work += hits.len();
            let is_taken = self.is_taken(index, start);
            if hits.iter().any(|hit| hit.sense == Sense::Promotion) {
                return PROMOTION;
            }
            if !is_taken && hits.iter().any(Hit::is_code) {
                return if is_alone { points } else { points - 1 };
            }
            let is_label = end - start <= 2 * OTHER_OCTETS && distance == 0;
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
            if hits.iter().any(Hit::is_code) && !self.is_before_next(index, end) {
                return LABEL_BELOW;
            }
        }
        0
    }
}

/// The word at the end of a text; `None` if it ends with a mark, or has no blanks between words.
fn last_word(text: &str) -> Option<&str> {
    let word = text.rsplit(|c: char| !is_bounded_letter(c)).next().unwrap_or_default();
    Some(word).filter(|word| !word.is_empty())
}

fn is_connecting(word: &str) -> bool {
    word.len() < 24 && CONNECTING.contains(&format!(" {word} "))
}

fn has_sentence_end(text: &str) -> bool {
    [". ", "! ", "? ", "\u{3002}"].iter().any(|end| text.contains(end))
}

/// The best candidates, each code once, without those far behind the best.
pub(super) fn best(scored: Vec<Scored>) -> Vec<Scored> {
    const BEHIND_MAX: i32 = 3;
    let scored = first(scored);
    let most = scored.first().map_or(0, |it| it.points);
    let is_good = |it: &Scored| it.points >= POINTS_SHOWN && it.points + BEHIND_MAX >= most;
    scored.into_iter().take_while(is_good).collect()
}

/// The first candidates by their points, each code once.
pub(super) fn first(mut scored: Vec<Scored>) -> Vec<Scored> {
    scored.sort_by_key(|it| -it.points);
    let mut first: Vec<Scored> = Vec::new();
    for it in scored {
        if first.len() < super::CODES_MAX && !first.iter().any(|other| other.code == it.code) {
            first.push(it);
        }
    }
    first
}
