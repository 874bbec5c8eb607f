//! What in a page has the form of a code, whatever it means.

use super::free::stands_free;
use super::lexicon::is_bounded_letter;
use super::page::Page;

/// The most candidates of a page.
const CANDIDATES_MAX: usize = 300;
/// The fewest and the most digits and letters of a code.
const SIGNS_MIN: usize = 4;
const SIGNS_MAX: usize = 8;
/// The most signs of a code that has letters too.
const MIXED_SIGNS_MAX: usize = 12;

/// What a code is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Digits,
    /// Capital letters and digits, or groups of them.
    Mixed,
    /// Small letters and digits, which many other things have.
    Small,
    /// Capital letters alone, or letters whose case changes again and again.
    Letters,
    /// Words of small letters, joined by hyphens.
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

/// The candidates of a page in their order.
pub(super) fn candidates(page: &Page) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut runs = Runs { text: &page.text, at: 0 };
    while let Some(run) = runs.next() {
        if found.len() == CANDIDATES_MAX {
            break;
        }
        let (candidate, end) = read(&page.text, run);
        // What belongs to a longer number is not read again from its middle.
        runs.at = runs.at.max(end);
        found.extend(candidate.filter(|candidate| stands_free(&page.text, candidate)));
    }
    found
}

/// The runs of letters and digits of ASCII, with their positions.
struct Runs<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Runs<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let octets = self.text.as_bytes();
        let start = self.at + octets[self.at..].iter().position(u8::is_ascii_alphanumeric)?;
        self.at = run_end(octets, start);
        Some((start, self.at))
    }
}

fn run_end(octets: &[u8], start: usize) -> usize {
    start + octets[start..].iter().take_while(|octet| octet.is_ascii_alphanumeric()).count()
}

/// The runs from `first` on that `separators` join, at most `count_max` and one more.
fn joined(text: &str, first: (usize, usize), separators: &[u8], count_max: usize) -> Vec<(usize, usize)> {
    let octets = text.as_bytes();
    let mut runs = vec![first];
    while let Some(&(_, end)) = runs.last().filter(|_| runs.len() <= count_max) {
        let is_joined = octets.get(end).is_some_and(|octet| separators.contains(octet));
        let start = end + 1;
        if !is_joined || !octets.get(start).is_some_and(u8::is_ascii_alphanumeric) {
            break;
        }
        runs.push((start, run_end(octets, start)));
    }
    runs
}

/// Reads what begins with a run: the candidate, and where it ends or the next one may begin.
fn read(text: &str, run: (usize, usize)) -> (Option<Candidate>, usize) {
    let join = |runs: &[(usize, usize)], glue: &str| {
        runs.iter().map(|&(start, end)| &text[start..end]).collect::<Vec<_>>().join(glue)
    };
    let grouped = |runs: &[(usize, usize)], code: String, form| {
        let (start, end) = (runs[0].0, runs[runs.len() - 1].1);
        (Some(Candidate { start, end, code, form, is_grouped: true }), end)
    };
    if run.1 - run.0 == 1 {
        let signs = joined(text, run, b" \t\n", 2 * SIGNS_MAX);
        let is_letter_of_word = |end: usize| text[end..].chars().next().is_some_and(is_bounded_letter);
        let count = signs.iter().take_while(|(start, end)| end - start == 1 && !is_letter_of_word(*end)).count();
        let signs = without_numbers(text, &signs[..count]);
        let count = signs.len();
        if count >= SIGNS_MIN {
            let code = join(&signs[..count], "");
            let form = form(&code).filter(|form| count <= SIGNS_MAX && *form != Form::Small);
            return match form {
                Some(form) => grouped(&signs[..count], code, form),
                None => (None, signs[count - 1].1),
            };
        }
    }
    let parts = joined(text, run, b"-", 4);
    let end = parts[parts.len() - 1].1;
    if is_of_words(text, &parts) {
        return grouped(&parts, join(&parts, "-"), Form::Words);
    }
    if parts.len() > 1 {
        return match of_parts(&parts.iter().map(|&(start, end)| &text[start..end]).collect::<Vec<_>>()) {
            Some(Form::Digits) => grouped(&parts, join(&parts, ""), Form::Digits),
            Some(form) => grouped(&parts, join(&parts, "-"), form),
            None => (None, end),
        };
    }
    let is_digits = |&(start, end): &(usize, usize)| text[start..end].bytes().all(|octet| octet.is_ascii_digit());
    if is_digits(&run) {
        let mut groups = joined(text, run, b" ", 6);
        let count = groups.iter().take_while(|group| is_digits(group)).count();
        groups.truncate(count);
        if groups.len() > 1 {
            let end = groups[groups.len() - 1].1;
            let length = run.1 - run.0;
            let is_even = groups.iter().all(|(start, end)| end - start == length) && length <= 4;
            let is_code = is_even && (6..=SIGNS_MAX).contains(&(groups.len() * length));
            return if is_code { grouped(&groups, join(&groups, ""), Form::Digits) } else { (None, end) };
        }
    }
    if let Some(end) = dotted_end(text, run) {
        let groups = [run, (run.1 + 1, end)];
        return grouped(&groups, join(&groups, ""), Form::Digits);
    }
    let code = &text[run.0..run.1];
    let form = form(code).filter(|form| {
        let most = if *form == Form::Mixed { SIGNS_MAX + 2 } else { SIGNS_MAX };
        (SIGNS_MIN..=most).contains(&code.len())
    });
    let candidate =
        form.map(|form| Candidate { start: run.0, end: run.1, code: code.to_owned(), form, is_grouped: false });
    (candidate, run.1)
}

/// The signs of a code without the numbers of their places, if these are 1, 2, 3 and so on before all signs or each one.
fn without_numbers(text: &str, signs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let half = signs.len() / 2;
    let are_numbers = |numbers: &[(usize, usize)]| {
        let mut places = numbers.iter().enumerate();
        places.all(|(place, &(start, end))| text[start..end].parse() == Ok(place + 1))
    };
    let each = |first: usize| signs.iter().skip(first).step_by(2).copied().collect::<Vec<_>>();
    match signs.len().is_multiple_of(2) && half >= SIGNS_MIN {
        true if are_numbers(&signs[..half]) => signs[half..].to_vec(),
        true if are_numbers(&each(0)) => each(1),
        _ => signs.to_vec(),
    }
}

/// The end of two groups of three digits with a dot between them, which are a price unless they are alone in their line.
fn dotted_end(text: &str, run: (usize, usize)) -> Option<usize> {
    let octets = text.as_bytes();
    let is_group =
        |start: usize| octets.get(start..start + 3).is_some_and(|group| group.iter().all(u8::is_ascii_digit));
    let is_bound = |octet: Option<&u8>| octet.is_none_or(|octet| matches!(octet, b'\n' | b'\t'));
    let end = run.1 + 4;
    let is_alone = is_bound(run.0.checked_sub(1).and_then(|at| octets.get(at))) && is_bound(octets.get(end));
    let is_dotted = run.1 - run.0 == 3 && is_group(run.0) && octets.get(run.1) == Some(&b'.') && is_group(run.1 + 1);
    (is_dotted && is_alone).then_some(end)
}

/// The form of parts with hyphens between them, if they have that of a code.
fn of_parts(parts: &[&str]) -> Option<Form> {
    let total: usize = parts.iter().map(|part| part.len()).sum();
    let is_even = parts.iter().all(|part| part.len() == parts[0].len());
    let whole = parts.concat();
    if total < SIGNS_MIN {
        return None;
    }
    match form(&whole)? {
        Form::Digits => {
            let is_long = parts[0].len() >= 3 && total <= SIGNS_MAX + 1;
            (is_even && (is_long || is_of_pairs(parts))).then_some(Form::Digits)
        }
        // A prefix such as in `G-482913`.
        Form::Mixed if parts.len() == 2 && parts[0].len() <= 3 && total <= SIGNS_MAX + 2 => {
            let is_prefix = parts[0].bytes().all(|octet| octet.is_ascii_uppercase());
            let is_number = parts[1].len() >= SIGNS_MIN && parts[1].bytes().all(|octet| octet.is_ascii_digit());
            // As in `519-774X`.
            let is_nearly_even =
                parts[0].len() == 3 && parts[1].len() == 4 && parts[0].bytes().all(|octet| octet.is_ascii_digit());
            (is_even || is_nearly_even || is_prefix && is_number).then_some(Form::Mixed)
        }
        _ if !is_even || !(3..=6).contains(&parts[0].len()) || total > MIXED_SIGNS_MAX => None,
        form => Some(form),
    }
}

/// Whether these are three words of small letters or two of one length, with nothing behind them, and before them nothing
/// or a colon.
fn is_of_words(text: &str, parts: &[(usize, usize)]) -> bool {
    let is_word = |&(start, end): &(usize, usize)| {
        (3..=10).contains(&(end - start)) && text[start..end].bytes().all(|octet| octet.is_ascii_lowercase())
    };
    let length = |index: usize| parts[index].1 - parts[index].0;
    let is_many = parts.len() == 3 || parts.len() == 4 || parts.len() == 2 && length(0) >= 5 && length(0) == length(1);
    let before = text[..parts[0].0].trim_end_matches(' ');
    is_many
        && parts.iter().all(is_word)
        && (before.is_empty() || before.ends_with(['\n', '\t', ':', '\u{ff1a}']))
        && text[parts[parts.len() - 1].1..].chars().next().is_none_or(|c| matches!(c, '\n' | '\t'))
}

/// Whether these are three pairs of digits that are no date.
fn is_of_pairs(parts: &[&str]) -> bool {
    let is_month = |part: &str| part <= "12";
    parts.len() == 3 && parts[0].len() == 2 && !is_month(parts[0]) && !is_month(parts[1])
}

/// The form of letters and digits; `None` for words.
fn form(signs: &str) -> Option<Form> {
    let octets = signs.as_bytes();
    let has = |is: fn(&u8) -> bool| octets.iter().any(is);
    if octets.iter().all(|octet| *octet == octets[0]) && !octets[0].is_ascii_digit() {
        return None;
    }
    let (digits, small, capital) = (has(u8::is_ascii_digit), has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase));
    match (digits, small, capital) {
        (true, false, false) => Some(Form::Digits),
        // A mask such as `XXXX4471`.
        (true, false, true) if signs.starts_with("XX") => None,
        (true, false, true) => Some(Form::Mixed),
        (true, true, _) => {
            let letters = signs.trim_matches(|c: char| c.is_ascii_digit());
            // `30min` and `page12` are no codes.
            let is_word = letters.bytes().all(|octet| octet.is_ascii_alphabetic())
                && (signs.starts_with(letters) || signs.ends_with(letters));
            (!is_word || is_hexadecimal(octets)).then_some(Form::Small)
        }
        (false, false, true) => Some(Form::Letters),
        // A name such as `YouTube` changes its case less often.
        (false, true, true) => {
            let is_change = |pair: &&[u8]| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase();
            (octets.windows(2).filter(is_change).count() >= 4).then_some(Form::Letters)
        }
        _ => None,
    }
}

/// Whether these are six to eight digits of a hexadecimal number, some of them letters.
fn is_hexadecimal(octets: &[u8]) -> bool {
    let digits = octets.iter().filter(|octet| octet.is_ascii_digit()).count();
    (6..=8).contains(&octets.len())
        && (2..=octets.len() - 2).contains(&digits)
        && octets.iter().all(|octet| matches!(octet, b'0'..=b'9' | b'a'..=b'f'))
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
            ("4 8 2 9 1 3", "482913"),
            ("4\n8\n2\n9", "4829"),
            ("1 2 3 4 5 6\n4 8 2 9 1 3", "482913"),
            ("1 4 2 8 3 2 4 9", "4829"),
            ("519-774X", "519-774X"),
            ("G-482913", "G-482913"),
            ("AB12-CD34", "AB12-CD34"),
            ("WDJB-MJHT", "WDJB-MJHT"),
            ("dq7-r4m-k2x", "dq7-r4m-k2x"),
            ("7XK2Q", "7XK2Q"),
            ("888eed", "888eed"),
            ("kVtRmqZe", "kVtRmqZe"),
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
            "****4471",
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
