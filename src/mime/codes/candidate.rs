//! What in a page has the form of a code, whatever it means.

use super::free::stands_free;
use super::lexicon::{LEXICON, is_address, is_bounded_letter};
use super::page::Page;

/// The most candidates of a page.
const CANDIDATES_MAX: usize = 300;
/// The fewest and the most digits and letters of a code, the most of one in groups that has letters, and of words.
const SIGNS_MIN: usize = 4;
const SIGNS_MAX: usize = 8;
const GROUPED_SIGNS_MAX: usize = 12;
const LONG_SIGNS_MAX: usize = 40;
/// The signs of the groups of an account but its last one.
const ACCOUNT_SIGNS: usize = 4;

/// What a code is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Digits,
    /// Capital letters and digits, or groups of them.
    Mixed,
    /// Small letters and digits, or uneven groups, which many other things have.
    Small,
    /// Capital letters alone, or letters whose case changes again and again.
    Letters,
    /// Words of small letters joined by hyphens, or signs in a form that names have too.
    Words,
}

/// A piece of a page with the form of a code.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The code as a person would type it.
    pub(super) code: String,
    pub(super) form: Form,
    /// Whether it is written in groups or sign by sign.
    pub(super) is_grouped: bool,
}

impl Candidate {
    /// Whether it has digits, and is no word before a number.
    pub(super) fn is_of_signs(&self) -> bool {
        matches!(self.form, Form::Digits | Form::Mixed) && !self.may_be_word()
    }

    /// Whether it may be a word, alone or before a number, as vouchers have it.
    pub(super) fn may_be_word(&self) -> bool {
        let word = self.code.trim_end_matches(|c: char| c.is_ascii_digit());
        word.len() >= 3 && word.bytes().all(|octet| octet.is_ascii_alphabetic())
    }
}

/// The candidates of a page in their order. What is in addresses is none.
pub(super) fn candidates(page: &Page) -> Vec<Candidate> {
    let octets = page.text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(distance) = octets[at..].iter().position(u8::is_ascii_alphanumeric) {
        let (candidate, end) = read(page, run(octets, at + distance));
        found.extend(candidate.filter(|candidate| stands_free(&page.text, candidate.start, candidate.end)));
        if found.len() == CANDIDATES_MAX {
            break;
        }
        // What belongs to a longer number is not read again from its middle.
        at = end;
    }
    found
}

/// The start and end of letters and digits of ASCII.
type Run = (usize, usize);
/// The form of what is written in runs.
type FormOf = fn(&[&str]) -> Option<Form>;

fn run(octets: &[u8], start: usize) -> Run {
    (start, start + octets[start..].iter().take_while(|octet| octet.is_ascii_alphanumeric()).count())
}

/// The runs from `first` on that separators join, as long as they fit; none if nothing is joined.
fn joined(text: &str, first: Run, separators: &[u8], is_fit: impl Fn(&Run) -> bool) -> Vec<Run> {
    let octets = text.as_bytes();
    let next = |&(_, end): &Run| {
        let is_joined = octets.get(end).is_some_and(|octet| separators.contains(octet));
        (is_joined && octets.get(end + 1).is_some_and(u8::is_ascii_alphanumeric)).then(|| run(octets, end + 1))
    };
    let Some(second) = next(&first) else { return Vec::new() };
    let all = std::iter::once(first).chain(std::iter::successors(Some(second), next));
    all.inspect(|(start, end)| super::step(end - start)).take_while(is_fit).collect()
}

/// Reads what begins with a run: the candidate, and where it ends or the next one may begin.
fn read(page: &Page, run: Run) -> (Option<Candidate>, usize) {
    let text = page.text.as_str();
    if LEXICON.others("joined").contains(text.get(run.0..=run.1).unwrap_or_default()) {
        return (None, run.1);
    }
    if is_address(&text[run.0..]) {
        return (None, run.0 + text[run.0..].bytes().take_while(u8::is_ascii_graphic).count());
    }
    let is_digits = |&(start, end): &Run| text[start..end].bytes().all(|octet| octet.is_ascii_digit());
    let separator = text[run.1..].bytes().next().filter(|octet| b" \t\n".contains(octet));
    let is_sign = |&(start, end): &Run| {
        let is_end =
            if separator == Some(b' ') { !text[end..].starts_with(is_bounded_letter) } else { ends_cell(&text[end..]) };
        end - start == 1 && is_end
    };
    let signs = joined(text, run, separator.as_slice(), is_sign);
    let parts = joined(text, run, b"-_", |_| true);
    // Groups in cells fill their row.
    let starts_row = run.0 == 0 || text[..run.0].ends_with('\n');
    let row = if starts_row { joined(text, run, b"\t", is_digits) } else { Vec::new() };
    let is_row = row.last().is_some_and(|&(_, end)| !text[end..].starts_with(|c| c != '\n'));
    // An account may begin with letters, as in `RF71 9070 0320 044`, and then its groups but the last have four signs.
    let is_account_group = |&(start, end): &Run| end - start == ACCOUNT_SIGNS;
    let may_be_account = is_account_group(&run) && form(&text[run.0..run.1]) == Some(Form::Mixed);
    let is_group = |group: &Run| is_digits(group) || *group == run && may_be_account;
    let groups = if is_row { row } else { joined(text, run, b" ", is_group) };
    // Two groups with a dot between them are a price unless they are alone in their line.
    let dotted = joined(text, run, b".", |group| is_digits(group) && group.1 - group.0 == 3);
    let is_cell = |&(_, end): &Run| ends_cell(&text[end..]) && (run.0 == 0 || text[..run.0].ends_with(['\n', '\t']));
    let (runs, glue, form_of): (_, _, FormOf) = if signs.len() >= SIGNS_MIN {
        (signs, "", |signs| form(&signs.concat()))
    } else if !parts.is_empty() {
        (parts, "-", form_of_parts)
    } else if is_digits(&run) && groups.len() >= 2
        || groups.len() > 2 && groups.iter().rev().skip(1).all(is_account_group)
    {
        (groups, "", if is_digits(&run) { form_of_groups } else { |_| None })
    } else if !dotted.is_empty() {
        let is_price = dotted.len() != 2 || !is_cell(&dotted[1]);
        (dotted, "", if is_price { |_| None } else { form_of_groups })
    } else if form(&text[run.0..run.1]).is_none() {
        // Most runs are words.
        return (None, run.1);
    } else {
        (vec![run], "", |run| form(run[0]))
    };
    let (start, end) = (run.0, runs[runs.len() - 1].1);
    let written: Vec<&str> = runs.iter().map(|&(start, end)| &text[start..end]).collect();
    let signs_max = if glue.is_empty() { SIGNS_MAX } else { GROUPED_SIGNS_MAX };
    let is_seen = page.look(start).is_bold || ends_cell(text[end..].trim_start_matches('.'));
    let has_number = written.len() > 1 && text[start..end].contains(|c: char| c.is_ascii_digit());
    let is_possible = |form: &Form| match form {
        Form::Words => (is_seen || has_number) && written.concat().len() <= LONG_SIGNS_MAX,
        _ => (SIGNS_MIN..=signs_max).contains(&written.concat().len()),
    };
    let is_long = written.len() == 1 && end - start > SIGNS_MAX && written[0].contains(char::is_lowercase);
    let form = form_of(&written).filter(|_| !is_long || is_random(written[0]));
    let candidate = form.map(|form| if is_long { Form::Words } else { form }).filter(is_possible).map(|form| {
        let is_number = written.iter().all(|part| part.bytes().all(|octet| octet.is_ascii_digit()));
        let code = if glue == "-" && !is_number { text[start..end].to_owned() } else { written.concat() };
        Candidate { start, end, code, form, is_grouped: written.len() > 1 }
    });
    (candidate, end)
}

/// Whether a line or cell ends where a text goes on so.
fn ends_cell(text: &str) -> bool {
    text.is_empty() || text.starts_with(['\n', '\t'])
}

/// The form of groups of digits.
fn form_of_groups(groups: &[&str]) -> Option<Form> {
    // The last one may be shorter, as in `482 913 07`.
    let (last, others) = groups.split_last()?;
    let is_even = others.iter().all(|group| group.len() == groups[0].len()) && last.len() <= groups[0].len();
    match groups.concat().len() {
        6.. if is_even => Some(Form::Digits),
        // As in `48 29` and `482 9130`.
        4..=7 if groups.len() == 2 && groups.iter().all(|group| group.len() >= 2) => Some(Form::Small),
        _ => None,
    }
}

/// The form of two or more parts with hyphens between them, if they have that of a code.
fn form_of_parts(parts: &[&str]) -> Option<Form> {
    let (first, second, whole) = (parts[0], parts[1], parts.concat());
    let (last, others) = parts.split_last()?;
    let is_begun_even = others.iter().all(|part| part.len() == first.len());
    let is_even = is_begun_even && last.len() == first.len();
    let has_only = |part: &str, is: fn(&u8) -> bool| part.as_bytes().iter().all(is);
    // A token that a machine chose, as in base64url (RFC 4648 section 5).
    let is_token = || whole.contains(char::is_lowercase) && parts.iter().any(|it| is_random(it));
    // Words, and a number behind them, as in `amber-fox-42` and `amber-7c1`.
    let is_word = |part: &&str| (3..=10).contains(&part.len()) && has_only(part, u8::is_ascii_lowercase);
    let is_long = (3..=4).contains(&parts.len()) || parts.len() == 2 && is_even && first.len() >= 5;
    let is_number = (2..=4).contains(&last.len()) && last.contains(|c: char| c.is_ascii_digit());
    let is_named = others.iter().all(is_word) && (is_long && is_word(last) || is_number && !is_even);
    if is_named || !is_even && whole.len() > GROUPED_SIGNS_MAX && is_token() {
        return Some(Form::Words);
    }
    let form = form(&whole)?;
    // As in `G-482913`.
    let is_prefixed =
        parts.len() == 2 && (first.len() <= 3 && second.len() >= SIGNS_MIN) && has_only(first, u8::is_ascii_uppercase);
    let is_ended = is_begun_even && last.len() < first.len() && (parts.len() > 2 || form == Form::Mixed);
    let is_nearly_even = (parts.len(), first.len(), second.len()) == (2, 3, 4);
    let is_code = match form {
        Form::Mixed if is_prefixed => true,
        // As in `482-913-07`, `HT82-QM`, `507-4831` and `519-774X`.
        Form::Digits | Form::Mixed if is_ended || is_nearly_even => return Some(Form::Small),
        Form::Digits => {
            let is_no_date = first.len() >= 3 || parts.len() == 3 && first > "12" && second > "12";
            is_even && is_no_date && whole.len() <= SIGNS_MAX + 1
        }
        _ => is_even,
    };
    Some(form).filter(|_| is_code)
}

/// The form of letters and digits; `None` for words.
fn form(signs: &str) -> Option<Form> {
    let octets = signs.as_bytes();
    let has = |is: fn(&u8) -> bool| octets.iter().any(is);
    let is_hexadecimal =
        || (6..=8).contains(&octets.len()) && octets.iter().all(|o| o.is_ascii_digit() || matches!(o, b'a'..=b'f'));
    let capitals = changes(signs, u8::is_ascii_uppercase);
    let may_be_name = || signs.starts_with(char::is_uppercase) && !is_random(signs);
    match (has(u8::is_ascii_digit), has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase)) {
        // A mask such as `XXXX4471`.
        _ if signs.starts_with("XX") => None,
        (true, false, false) => Some(Form::Digits),
        (true, false, true) => Some(Form::Mixed),
        // `30min` and `page12` are no codes.
        (true, true, _) if changes(signs, u8::is_ascii_digit) > 1 || is_hexadecimal() => Some(Form::Small),
        (false, false, true) => Some(Form::Letters),
        // A name such as `YouTube` changes its case less often.
        (_, true, true) if capitals >= 4 => Some(Form::Letters),
        (has_digit, true, true) if octets.len() >= 6 && (has_digit || !may_be_name()) => Some(Form::Words),
        _ => None,
    }
}

/// Whether nobody chose these signs: nobody can say them, their parts are short, or they change very often.
pub(super) fn is_random(signs: &str) -> bool {
    let is_unspeakable = |run: &str| run.len() >= 2 && !run.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let is_short = |it: &&[u8]| it[0].is_ascii_uppercase() && !it[1..].iter().all(u8::is_ascii_lowercase);
    signs.split(|c: char| !c.is_ascii_lowercase()).any(is_unspeakable)
        || signs.as_bytes().windows(3).filter(is_short).count() >= 2
        || changes(signs, u8::is_ascii_digit) + changes(signs, u8::is_ascii_uppercase) >= 6
}

/// How often signs of a kind begin or end in a text.
pub(super) fn changes(text: &str, is: fn(&u8) -> bool) -> usize {
    text.as_bytes().windows(2).filter(|pair| is(&pair[0]) != is(&pair[1])).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<String> {
        candidates(&Page::of_text(text)).into_iter().map(|candidate| candidate.code).collect()
    }

    #[test]
    fn codes_are_read_as_a_person_types_them() {
        for (text, expected) in [
            ("482913", "482913"),
            ("482 913", "482913"),
            ("482-913.", "482913"),
            ("12 34 56", "123456"),
            ("1234 5678", "12345678"),
            ("640 229 17", "64022917"),
            ("OTP = 482913", "482913"),
            ("4 8 2 9 1 3", "482913"),
            ("4\n8\n2\n9", "4829"),
            ("48 29 Ms Jones", "4829"),
            ("482 9130", "4829130"),
            ("519-774X", "519-774X"),
            ("HT82-QM", "HT82-QM"),
            ("482-913-07", "48291307"),
            ("UNL-73Q18", "UNL-73Q18"),
            ("the code amber-fox-42 on it", "amber-fox-42"),
            ("9NB4-77QX-K1", "9NB4-77QX-K1"),
            ("code: amber-fox-42", "amber-fox-42"),
            ("G-482913", "G-482913"),
            ("AB12-CD34", "AB12-CD34"),
            ("WDJB-MJHT", "WDJB-MJHT"),
            ("dq7-r4m-k2x", "dq7-r4m-k2x"),
            ("7XK2Q", "7XK2Q"),
            ("888eed", "888eed"),
            ("kVtRmqZe", "kVtRmqZe"),
            ("gePf91", "gePf91"),
            ("Code: vjPCw_voRv8C3sZ-kfl8P6", "vjPCw_voRv8C3sZ-kfl8P6"),
            ("The code:\n\u{2026}4829130", "4829130"),
            ("code: copper-lantern-otter", "copper-lantern-otter"),
            ("(482913)", "482913"),
            ("**482913**", "482913"),
            ("验证码482913，", "482913"),
            ("code:482913", "482913"),
            ("482913 try it now", "482913"),
            ("482913 Ms Jones", "482913"),
        ] {
            assert_eq!(codes(text), [expected], "{text}");
        }
    }

    #[test]
    fn what_belongs_to_something_else_is_no_candidate() {
        for text in [
            "1,482.50",
            "€ 4829",
            "4829 €",
            "$4829",
            "EUR 4829",
            "12:30:1200",
            "2026-01-31",
            "31.01.2026",
            "01/31/2026",
            "+49 69 7104 9922",
            "0300 123 4567",
            "4829 1034 2200 1234",
            "RF71 9070 0320 0441",
            "****4471",
            "**** 4471",
            "`otp = 482913`",
            "...7730",
            "Meeting-Notes_Final-Draft",
            "xxxx4471",
            "XXXX4471",
            "482913%",
            "https://x.test/482913",
            "a482913@x.test",
            "302-1188422",
            "1.482.913",
            "5000 points",
            "2026年",
            "4829円",
            "sign-in",
            "utf8",
            "YouTube",
            "1600feet",
            "a state-of-the-art phone",
            "30min",
            "00340434161094015902",
            "4829130123",
            "one-time",
            "4829 TRY",
            "4829 ms",
            "10000 Points",
            "É4829",
            "#a1b2c3/4829",
        ] {
            assert_eq!(codes(text), [""; 0], "{text}");
        }
    }
}
