//! How much speaks for a candidate: its form, its look, and the words around it.
//!
//! Each observation gives or takes points. Their numbers stand beside what is observed.

use std::collections::{HashMap, HashSet};

use super::address::parts_and_codes;
use super::candidate::{Candidate, Form, is_random};
use super::label::LABEL_IN_LINE;
use super::lexicon::{Hit, LEXICON, has};
use super::read::{LINE_OCTETS, Read};
use super::words::Sense;
use super::{Link, POINTS_SHOWN};

/// A line such as `@example.test #482913`, which programs read.
const BOUND: i32 = 12;
/// From these points on the words around a candidate leave no doubt, if it is alone or a colon leads to it.
const LABEL_SURE: i32 = 4;
/// How many points a code may have less than the best one.
const BEHIND_MAX: i32 = 2;

/// The marks that end a quotation.
const QUOTE_ENDS: [char; 4] = ['"', '\u{201c}', '\u{201d}', '\u{bb}'];

/// A candidate with its points.
#[derive(Clone, Debug)]
pub(super) struct Scored {
    pub(super) code: String,
    pub(super) points: i32,
}

/// What is known of a mail before its candidates are looked at.
pub(super) struct Mail<'a> {
    /// What is in the addresses of its links, and whether it is named as a code there.
    in_links: HashMap<&'a str, bool>,
    /// The points of what the subject says, and of what codes are for.
    subject_points: i32,
    purpose: i32,
    /// Whether no word of it is known.
    is_unknown: bool,
    is_promotion: bool,
    /// Whether anything in the mail is to save money with, or is a share.
    has_promotion: bool,
    is_meeting: bool,
    /// Whether its subject says what one-time codes are for.
    is_about: bool,
    /// Whether something in the body is named that is no code.
    has_other: bool,
    /// Whether the body has more than one number that may be a code.
    has_several: bool,
    /// Whether it says to enter a code, or how to treat it.
    is_explained: bool,
}

impl<'a> Mail<'a> {
    pub(super) fn of(head: &Read<'_>, read: &Read<'_>, links: &'a [(Link, i32)]) -> Self {
        let (subject, body) = (head.hits, read.hits);
        let all = || subject.iter().chain(body);
        let is_unknown = all().all(|hit| matches!(hit.sense, Sense::Press | Sense::Nothing));
        let mut in_links = HashMap::new();
        for (part, is_code) in links.iter().flat_map(|(link, _)| parts_and_codes(&link.url)) {
            *in_links.entry(part).or_default() |= is_code;
        }
        let mut numbers = read.candidates.iter().filter(|it| it.is_of_signs()).map(|it| it.code.as_str());
        let one = numbers.next();
        Self {
            in_links,
            subject_points: subject_points(subject, body),
            purpose: match all().filter(|hit| hit.is_purpose()).take(2).count() {
                0 if is_unknown => 0,
                0 => -3,
                1 => 1,
                _ => 2,
            },
            is_unknown,
            is_promotion: has(subject, Sense::Promotion),
            has_promotion: all().any(|hit| hit.sense == Sense::Promotion)
                || [head, read].iter().any(|it| it.page.text.contains('%')),
            is_about: [Sense::Verify, Sense::SignIn, Sense::Reset].iter().any(|it| has(subject, *it)),
            is_meeting: all().any(|hit| hit.sense == Sense::Meeting),
            has_other: has(body, Sense::Other),
            has_several: numbers.any(|it| one != Some(it)),
            is_explained: all().any(|hit| matches!(hit.sense, Sense::Enter | Sense::Caution)),
        }
    }
}

/// The points of what a subject says.
fn subject_points(hits: &[Hit], body: &[Hit]) -> i32 {
    if hits.iter().any(Hit::is_code) {
        2 + i32::from(has(hits, Sense::OneTime))
    } else if has(hits, Sense::Other) && !hits.iter().any(Hit::is_purpose) && !has(body, Sense::Enter) {
        -3
    } else {
        0
    }
}

impl Read<'_> {
    /// The candidates with their points, if these are those of the subject.
    pub(super) fn scored(&self, mail: &Mail<'_>, subject: &[Candidate]) -> Vec<Scored> {
        let points = |(index, candidate): (usize, &Candidate)| {
            let is_same = subject.iter().any(|it| it.code == candidate.code);
            let points = self.bound(candidate).or_else(|| self.points(index, mail, is_same))?;
            Some(Scored { code: candidate.code.clone(), points })
        };
        self.candidates.iter().enumerate().filter_map(points).collect()
    }

    /// The points of a candidate; `None` if it is quoted, or neither its look nor a word says that it may be a code.
    fn points(&self, index: usize, mail: &Mail<'_>, is_same: bool) -> Option<i32> {
        let candidate = &self.candidates[index];
        let look = self.page.look(candidate.start);
        let is_large = look.is_large || look.is_spaced;
        let (is_alone, is_led) = (self.is_alone(candidate.start, candidate.end), self.is_led(candidate));
        let is_repeated = is_same && (is_alone || is_led && mail.is_unknown);
        let label = self.label(index, is_alone);
        let stands_out = candidate.is_of_signs() && (is_repeated || is_alone && is_large && !mail.is_unknown);
        let in_link = mail.in_links.get(candidate.code.as_str()).copied();
        // A number in a link may be a stranger's, and words of small letters name a page.
        let is_sign = |it: u8| it.is_ascii_digit() || it.is_ascii_uppercase();
        let is_in_link = in_link.is_some() && candidate.form != Form::Digits && candidate.code.bytes().any(is_sign);
        let is_named = label != 0 || in_link == Some(true) || mail.subject_points > 0 || stands_out;
        let near = self.hits_in(candidate.start.saturating_sub(LINE_OCTETS), candidate.end);
        let is_known = candidate.form == Form::Letters && near.iter().any(|hit| hit.end > candidate.start);
        if !is_named || is_known || self.is_in_quote(candidate) {
            return None;
        }
        let is_sure = label >= LABEL_SURE && (is_alone || is_led);
        let is_seen = label > LABEL_SURE || is_alone || is_large || look.is_bold;
        let is_declared = mail.subject_points >= 0 && self.is_declared(candidate, mail.has_other);
        let is_year = candidate.code.len() == 4 && ("199".."204").contains(&&candidate.code[..3]);
        // Nobody can say such letters.
        let is_unspeakable = is_random(&candidate.code.to_ascii_lowercase());
        let (before, after) = (&self.page.text[..candidate.start], &self.page.text[candidate.end..]);
        // Amid a sentence a word may say for what thing with such a name the code is.
        let is_led_to = || {
            let from = self.page.lower.floor_char_boundary(candidate.start.saturating_sub(LINE_OCTETS));
            let word = self.page.lower[from..candidate.start].trim_end().rsplit(' ').next().unwrap_or_default();
            let is_next = near.iter().any(|hit| hit.is_code() && hit.end + 1 >= candidate.start);
            is_next || LEXICON.others("is").contains(word) || !after.starts_with(' ')
        };
        let form = match candidate.form {
            Form::Digits if candidate.code.len() == 6 => 3,
            Form::Digits | Form::Mixed => 2,
            Form::Small if is_seen => 2,
            Form::Small => -3,
            Form::Letters if candidate.is_grouped => 1,
            Form::Letters if is_sure && is_alone => 0,
            Form::Letters if label > LABEL_SURE + 1 && is_unspeakable => 0,
            Form::Letters => -2,
            Form::Words if is_sure && is_alone || (is_led || look.is_bold) && label > LABEL_SURE || is_in_link => 0,
            Form::Words if candidate.is_grouped && label > LABEL_SURE + 1 && is_led_to() => 0,
            Form::Words => -9,
        };
        // A line that says nothing but that this is a code needs not say what for.
        let purpose = if is_declared { mail.purpose.max(0) + 2 } else { mail.purpose };
        // Such as `SUMMER25`.
        let is_doubtful = mail.purpose < 2
            || !mail.is_explained
            || label <= LABEL_SURE + 1 && mail.subject_points <= 0 && !mail.is_about;
        let may_be_voucher =
            mail.has_promotion && (is_doubtful || !is_unspeakable) || candidate.form == Form::Mixed && is_doubtful;
        let is_amid = !is_alone && !is_large;
        let rules = [
            (is_large, 3),
            (look.is_bold, 2),
            (is_alone || is_led && (mail.is_unknown || mail.subject_points > 0), 2),
            (is_same && mail.is_unknown, 4),
            (is_in_link, 5),
            (is_year, -4),
            // As numbers of orders have it.
            (before.ends_with('#'), -7),
            // What somebody says that a mail says, as in `"Your code is 482913"`.
            (before.ends_with(' ') && after.starts_with(QUOTE_ENDS), -5),
            (mail.is_promotion && candidate.form != Form::Digits, -9),
            (candidate.may_be_word() && may_be_voucher, -9),
            (mail.is_meeting, -6),
            // Lists and receipts have many numbers, of which one is near such words by chance.
            (is_amid && mail.has_several && !mail.is_explained, -2),
            (is_amid && label < LABEL_IN_LINE, -1),
        ];
        Some(form + label + mail.subject_points + purpose + sum(rules))
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

/// The best candidates, each code once, without those far behind the best. All numbers among them are of one length, since
/// others beside a code are the ends of cards and accounts.
pub(super) fn best(scored: Vec<Scored>) -> Vec<Scored> {
    let mut scored = first(scored);
    let Some(Scored { code, points }) = scored.first().cloned() else { return scored };
    let is_number = |code: &str| code.bytes().all(|octet| octet.is_ascii_digit());
    let is_alike = |it: &Scored| it.code.len() == code.len() || !is_number(&it.code) || !is_number(&code);
    scored.retain(|it| it.points >= POINTS_SHOWN && it.points + BEHIND_MAX >= points && is_alike(it));
    scored
}

/// The first candidates by their points, each code once.
pub(super) fn first(mut scored: Vec<Scored>) -> Vec<Scored> {
    scored.sort_by_key(|it| -it.points);
    let mut seen = HashSet::new();
    scored.retain(|it| seen.insert(it.code.clone()));
    scored.truncate(super::CODES_MAX);
    scored
}
