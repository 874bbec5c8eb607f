//! How much speaks for a candidate: its form, its look, and the words around it.
//!
//! Each observation gives or takes points. The constants are all the weights that there are.

use super::POINTS_SHOWN;
use super::candidate::{Candidate, Form};
use super::label::{LABEL_CERTAIN, NEAR_OCTETS};
use super::lexicon::Hit;
use super::read::Read;
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
pub(super) struct Mail {
    /// The points of what the subject says.
    pub(super) subject_points: i32,
    pub(super) purpose: i32,
    /// Whether any word for codes is in the mail.
    pub(super) has_label: bool,
    /// Whether something in the body is named that is no code.
    pub(super) has_other: bool,
}

impl Mail {
    pub(super) fn of(subject_hits: &[Hit], body_hits: &[Hit]) -> Self {
        let all = || subject_hits.iter().chain(body_hits);
        let count = all().filter(|hit| hit.is_purpose()).count();
        Self {
            subject_points: subject_points(subject_hits),
            purpose: if count == 0 {
                NO_PURPOSE
            } else {
                (i32::try_from(count).unwrap_or(PURPOSE_MAX) * PURPOSE).min(PURPOSE_MAX)
            },
            has_label: all().any(Hit::is_code),
            has_other: body_hits.iter().any(|hit| hit.sense == Sense::Other),
        }
    }
}

/// The points of what a subject says.
fn subject_points(hits: &[Hit]) -> i32 {
    let any = |is: fn(&Hit) -> bool| hits.iter().any(is);
    let has_other = || any(|hit| hit.sense == Sense::Other) && !any(Hit::is_purpose);
    match any(Hit::is_code) {
        true if any(|hit| hit.sense == Sense::OneTime) => SUBJECT_LABEL + LABEL_CERTAIN,
        true => SUBJECT_LABEL,
        false if has_other() => SUBJECT_OTHER,
        false => 0,
    }
}

impl Read<'_> {
    /// The candidates with their points.
    pub(super) fn scored(&self, mail: &Mail, subject: &[Scored]) -> Vec<Scored> {
        let mut found = Vec::new();
        for (index, candidate) in self.candidates.iter().enumerate() {
            if let Some(points) = self.bound(candidate) {
                found.push(Scored { code: candidate.code.clone(), points });
            } else if (mail.has_label || self.is_used(candidate)) && !self.is_in_quote(candidate) {
                let same = if subject.iter().any(|it| it.code == candidate.code) { SUBJECT_SAME } else { 0 };
                let points = self.points(index, mail) + same;
                found.push(Scored { code: candidate.code.clone(), points });
            }
        }
        found
    }

    fn points(&self, index: usize, mail: &Mail) -> i32 {
        let candidate = &self.candidates[index];
        let is_alone = self.is_alone(candidate);
        let label = self.label(index, is_alone, mail);
        let look = self.page.look(candidate.start);
        let emphasis = i32::from(look.is_large || look.is_spaced) * LARGE + i32::from(look.is_bold) * BOLD;
        let purpose = if mail.subject_points >= 0 && self.is_declared(candidate, mail) {
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
            + mail.subject_points
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

    /// The points of a line such as `@example.test #482913`; `None` if the candidate is in no such line.
    fn bound(&self, candidate: &Candidate) -> Option<i32> {
        let (start, _) = self.line(self.line_of(candidate.start));
        let before = &self.page.text[start..candidate.start];
        let domain = before.strip_prefix('@')?.strip_suffix(" #")?;
        (domain.len() < 254 && domain.contains('.') && !domain.contains(' ')).then_some(BOUND)
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
