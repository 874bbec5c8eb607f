//! How much speaks for a candidate: its form, its look, and the words around it.
//!
//! Each observation gives or takes points. The constants are all the weights that there are.

use super::POINTS_SHOWN;
use super::candidate::{Candidate, Form};
use super::label::{LABEL_CERTAIN, NEAR_OCTETS, last_word};
use super::lexicon::{Hit, LEXICON};
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
/// No word is known, so that what is in both is all that there is.
const SUBJECT_SAME_UNKNOWN: i32 = 3;
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
const WORDS: i32 = -9;
/// From these points on the words around a candidate leave no doubt, if it is alone or a colon leads to it. Then it may
/// be of small letters, or of letters alone.
const LABEL_SURE: i32 = 4;
/// The subject is about something to save money with, and the candidate has letters.
const PROMOTION: i32 = -9;
/// The mail is about a meeting.
const MEETING: i32 = -6;
/// A candidate with its points.
#[derive(Clone, Debug)]
pub(super) struct Scored {
    pub(super) code: String,
    pub(super) points: i32,
}

/// What is known of a mail before its candidates are looked at.
pub(super) struct Mail {
    /// The points of what the subject says.
    subject_points: i32,
    purpose: i32,
    /// Whether any word for codes is in the mail.
    has_label: bool,
    /// Whether no word of it is known.
    is_unknown: bool,
    is_promotion: bool,
    is_meeting: bool,
    /// Whether something in the body is named that is no code.
    has_other: bool,
}

impl Mail {
    pub(super) fn of(subject_hits: &[Hit], body_hits: &[Hit]) -> Self {
        let all = || subject_hits.iter().chain(body_hits);
        let any = |sense: Sense| all().any(|hit| hit.sense == sense);
        let count = all().filter(|hit| hit.is_purpose()).count();
        let is_unknown = all().all(|hit| matches!(hit.sense, Sense::Press | Sense::Nothing));
        Self {
            subject_points: subject_points(subject_hits),
            purpose: match count {
                0 if is_unknown => 0,
                0 => NO_PURPOSE,
                count => (i32::try_from(count).unwrap_or(PURPOSE_MAX) * PURPOSE).min(PURPOSE_MAX),
            },
            has_label: all().any(Hit::is_code),
            is_unknown,
            is_promotion: subject_hits.iter().any(|hit| hit.sense == Sense::Promotion),
            is_meeting: any(Sense::Meeting),
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
    /// The candidates with their points, if these are those of the subject.
    pub(super) fn scored(&self, mail: &Mail, subject: &[Candidate]) -> Vec<Scored> {
        let mut found = Vec::new();
        for (index, candidate) in self.candidates.iter().enumerate() {
            if let Some(points) = self.bound(candidate) {
                found.push(Scored { code: candidate.code.clone(), points });
            } else if !self.is_in_quote(candidate) {
                let is_same = subject.iter().any(|it| it.code == candidate.code);
                if !mail.has_label && !self.is_used(candidate) && !self.needs_no_label(candidate, mail, is_same) {
                    continue;
                }
                let same = if mail.is_unknown { SUBJECT_SAME_UNKNOWN } else { SUBJECT_SAME };
                let points = self.points(index, mail) + if is_same { same } else { 0 };
                found.push(Scored { code: candidate.code.clone(), points });
            }
        }
        found
    }

    fn points(&self, index: usize, mail: &Mail) -> i32 {
        let candidate = &self.candidates[index];
        let is_alone = self.is_alone(candidate);
        let label = self.label(index, is_alone);
        let look = self.page.look(candidate.start);
        let emphasis = i32::from(look.is_large || look.is_spaced) * LARGE + i32::from(look.is_bold) * BOLD;
        let purpose = if mail.subject_points >= 0 && self.is_declared(candidate, mail.has_other) {
            mail.purpose.max(0) + DECLARED
        } else {
            mail.purpose
        };
        let is_led = self.is_led(candidate);
        let is_sure = label >= LABEL_SURE && (is_alone || is_led);
        let stands_out = is_alone || emphasis > 0 || is_sure;
        let form = match candidate.form {
            Form::Digits if candidate.code.len() == 6 => FORM[0],
            Form::Digits => FORM[1],
            Form::Mixed => FORM[2],
            Form::Small => FORM[2] + if stands_out { 0 } else { SMALL },
            Form::Letters => FORM[3] + if candidate.is_grouped || is_sure { 0 } else { LETTERS },
            Form::Words => FORM[3] + if is_sure { 0 } else { WORDS },
        };
        let is_year = candidate.code.len() == 4 && !candidate.is_grouped && matches!(&candidate.code[..2], "19" | "20");
        let has_hash = self.page.text[..candidate.start].ends_with('#');
        let rules = [
            (is_alone || is_led && mail.is_unknown, ALONE),
            (is_year, YEAR),
            (has_hash, HASH),
            (mail.is_promotion && candidate.form != Form::Digits, PROMOTION),
            (mail.is_meeting, MEETING),
        ];
        form + label + emphasis.min(EMPHASIS_MAX) + mail.subject_points + purpose + sum(rules)
    }

    /// Whether a number stands out so much that no word needs to say that it is a code.
    fn needs_no_label(&self, candidate: &Candidate, mail: &Mail, is_same: bool) -> bool {
        let look = self.page.look(candidate.start);
        let is_alone = self.is_alone(candidate);
        let is_shown = is_alone && (look.is_large || look.is_spaced) && !mail.is_unknown;
        let is_repeated = is_same && (is_alone || mail.is_unknown && self.is_led(candidate));
        candidate.form == Form::Digits && (is_shown || is_repeated)
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
        let is_with = || {
            let word = before.strip_suffix(' ').and_then(last_word);
            word.is_some_and(|word| LEXICON.others("use").contains(word))
        };
        let follows = || {
            let after = self.hits_in(candidate.end, candidate.end + NEAR_OCTETS);
            after.iter().any(|hit| hit.is_purpose() && !matches!(hit.sense, Sense::Caution | Sense::Denial))
        };
        candidate.form == Form::Digits && (near.iter().any(is_led_to) || is_with() && follows())
    }

    /// The points of a line such as `@example.test #482913`; `None` if the candidate is in no such line.
    fn bound(&self, candidate: &Candidate) -> Option<i32> {
        let (start, _) = self.line(self.line_of(candidate.start));
        let before = &self.page.text[start..candidate.start];
        let domain = before.strip_prefix('@')?.strip_suffix(" #")?;
        (domain.len() < 254 && domain.contains('.') && !domain.contains(' ')).then_some(BOUND)
    }
}

/// The points of the rules that hold.
pub(super) fn sum<const COUNT: usize>(rules: [(bool, i32); COUNT]) -> i32 {
    rules.into_iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum()
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
