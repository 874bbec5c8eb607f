//! How much speaks for a candidate: its form, its look, and the words around it.
//!
//! Each observation gives or takes points. The constants are all the weights that there are.

use super::POINTS_SHOWN;
use super::candidate::{Candidate, Form, candidates};
use super::label::{LABEL_CERTAIN, LINE_OCTETS, NEAR_OCTETS};
use super::lexicon::Hit;
use super::page::Page;
use super::words::Sense;

/// The points of a code of six digits, of another number or in groups, of letters and digits, and of letters.
const FORM: [i32; 4] = [3, 2, 2, 0];
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
/// The subject is about an order or the like, and has no word for codes.
const SUBJECT_OTHER: i32 = -3;
/// Nothing in the mail says what a code would be for.
const NO_PURPOSE: i32 = -5;
/// A line says nothing but that this is a code. Then nothing needs to say what for.
const DECLARED: i32 = 2;
/// The candidate could be a year, or has a `#` before it as numbers of orders have.
const YEAR: i32 = -4;
const HASH: i32 = -7;
/// Small letters and digits that do not stand out.
const SMALL: i32 = -5;
const LETTERS: i32 = -2;
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
    /// Whether something in the body is named that is no code.
    pub(super) has_other: bool,
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
            has_other: body_hits.iter().any(|hit| hit.sense == Sense::Other),
        }
    }

    pub(super) fn subject_points(&self) -> i32 {
        let any = |is: fn(&Hit) -> bool| self.subject_hits.iter().any(is);
        let has_other = || any(|hit| hit.sense == Sense::Other) && !any(Hit::is_purpose);
        let is_one_time = |hit: &Hit| hit.sense == Sense::OneTime;
        match any(Hit::is_code) {
            true if any(is_one_time) => SUBJECT_LABEL + LABEL_CERTAIN,
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
    pub(super) lines: Vec<usize>,
    pub(super) candidates: Vec<Candidate>,
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
            } else if (mail.has_label || self.is_used(candidate)) && !self.is_in_quote(candidate) {
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
        let purpose = if mail.subject_points() >= 0 && self.is_declared(candidate, mail) {
            mail.purpose.max(0) + DECLARED
        } else {
            mail.purpose
        };
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
            + purpose
            + if is_year { YEAR } else { 0 }
            + if has_hash { HASH } else { 0 }
    }

    /// Whether a word such as `enter` leads to a number, or `use` does and its purpose follows.
    pub(super) fn is_used(&self, candidate: &Candidate) -> bool {
        const LED_OCTETS: usize = 16;
        let before = &self.page.lower[..candidate.start];
        let near = self.hits_in(candidate.start.saturating_sub(2 * LED_OCTETS), candidate.start);
        let is_led_to = |hit: &Hit| {
            let between = &before[hit.end.min(before.len())..];
            hit.sense == Sense::Enter && between.len() <= LED_OCTETS && !between.contains(['.', '\n', ','])
        };
        let follows = || {
            let after = self.hits_in(candidate.end, candidate.end + NEAR_OCTETS);
            self.page.lower[candidate.end..].starts_with(" to ")
                && after.iter().any(|hit| hit.is_purpose() && !matches!(hit.sense, Sense::Caution | Sense::Denial))
        };
        candidate.form == Form::Digits && (near.iter().any(is_led_to) || before.ends_with("use ") && follows())
    }

    /// The line of a position, as an index.
    pub(super) fn line_of(&self, position: usize) -> usize {
        self.lines.partition_point(|start| *start <= position).saturating_sub(1)
    }

    /// The line with this index, without its end.
    pub(super) fn line(&self, index: usize) -> (usize, usize) {
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
    pub(super) fn hits_in(&self, start: usize, end: usize) -> &[Hit] {
        let from = self.hits.partition_point(|hit| hit.start < start);
        let to = self.hits.partition_point(|hit| hit.start < end);
        &self.hits[from..to.max(from)]
    }
}

/// The best candidates, each code once, without those far behind the best.
pub(super) fn best(scored: Vec<Scored>) -> Vec<Scored> {
    const BEHIND_MAX: i32 = 2;
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
