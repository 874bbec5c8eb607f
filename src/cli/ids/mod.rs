//! Ids as people give them: whole, or a part that only one of them begins or ends with.
//!
//! Tables show the end of an id. Its beginning is taken as well, since other places show an id from its beginning.
//! Whole ids are what the service knows, so this program looks a part up in what the caller may list anyway.
//!
//! ```text
//! emails    within an inbox, or in all mail as the administrator        webhooks    webhooks and their events        tokens
//! ```

mod emails;
mod tokens;
mod webhooks;

use std::str::FromStr;

use crate::error::{Error, Exit};

pub(super) use emails::resolve as emails;
pub(super) use tokens::token;
pub(super) use webhooks::{event, webhook, webhooks};

/// The fewest digits of a part.
const DIGITS_MIN: usize = 4;
/// Ids that an ambiguous part lists at most.
const CANDIDATES_MAX: usize = 8;

/// An id, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum IdOrPart<I> {
    /// The id.
    Whole(I),
    /// What it begins or ends with.
    Part(Part),
}

/// The beginning or the end of an id: hexadecimal digits in lower case, without hyphens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part(String);

impl<I: FromStr> FromStr for IdOrPart<I> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(id) = text.parse() {
            return Ok(Self::Whole(id));
        }
        text.parse().map(Self::Part)
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.replace('-', "").to_ascii_lowercase();
        let is_hexadecimal = digits.bytes().all(|octet| octet.is_ascii_hexdigit());
        // 32 digits would be a whole id, which was not written as one.
        if is_hexadecimal && (DIGITS_MIN..32).contains(&digits.len()) {
            return Ok(Self(digits));
        }
        Err(format!(
            "an id looks like 0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b; its end or beginning is enough, from {DIGITS_MIN} digits on"
        ))
    }
}

/// The search for the one id that a part stands for.
struct Search<'p> {
    part: &'p Part,
    /// Whole ids, each with a line for people.
    found: Vec<(String, String)>,
}

impl<'p> Search<'p> {
    const fn of(part: &'p Part) -> Self {
        Self { part, found: Vec::new() }
    }

    /// Looks at an id; `shown` makes its line.
    fn look_at(&mut self, id: &str, shown: impl FnOnce() -> String) {
        let digits = id.replace('-', "").to_ascii_lowercase();
        let Part(part) = self.part;
        let is_candidate = digits.starts_with(part) || digits.ends_with(part);
        if is_candidate && self.found.len() <= CANDIDATES_MAX && self.found.iter().all(|(known, _)| known != id) {
            self.found.push((id.to_owned(), shown()));
        }
    }

    /// The id; `among` says where it was looked for.
    fn id<I: FromStr<Err: std::error::Error + Send + Sync + 'static>>(self, among: &str) -> Result<I, Error> {
        let Part(part) = self.part;
        match self.found.as_slice() {
            [] => Err(Error::new(Exit::NotFound, format!("no id among {among} begins or ends with {part}"))),
            [(id, _)] => id.parse().map_err(|error| Error::new(Exit::Unavailable, error)),
            several => {
                let mut text = format!("{part} is the beginning or end of several ids:");
                for (_, shown) in several.iter().take(CANDIDATES_MAX) {
                    text.push_str("\n  ");
                    text.push_str(shown);
                }
                if several.len() > CANDIDATES_MAX {
                    text.push_str("\n  and more");
                }
                Err(Error::usage(text).hint("give more digits, or the whole id"))
            }
        }
    }
}

/// Why a caller who may not list all of `what` cannot name one by a part of its id.
fn needs_whole_id(part: &Part, what: &str) -> Error {
    let Part(part) = part;
    Error::usage(format!("{part} is a part of an id, and only the administrator can look through all {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EmailId;

    const ID: &str = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b";

    #[test]
    fn an_id_is_whole_or_a_part() {
        let part = |text: &str| Ok(IdOrPart::<EmailId>::Part(Part(text.to_owned())));
        assert!(matches!(ID.parse(), Ok(IdOrPart::<EmailId>::Whole(_))));
        assert_eq!("2A3B".parse(), part("2a3b"));
        assert_eq!("0190b6a5-7c".parse(), part("0190b6a57c"));
        for bad in ["", "2a3", "wxyz", "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b0", "0190b6a57c3e7d2f8a4b1c5d9e0f2a3b"] {
            assert!(bad.parse::<IdOrPart<EmailId>>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_part_finds_one_id_or_lists_several() {
        let other = ID.replace("0190", "0191");
        let search = |part: &str, ids: &[&str]| {
            let part = Part(part.to_owned());
            let mut search = Search::of(&part);
            for id in ids {
                search.look_at(id, || format!("<{id}>"));
            }
            search.id::<EmailId>("the mail")
        };
        assert_eq!(search("0190", &[ID, &other, ID]).expect("one").to_string(), ID);
        assert_eq!(search("0191b6a5", &[ID, &other]).expect("one").to_string(), other);
        assert_eq!(search("7c3e", &[ID]).expect_err("inside").exit(), Exit::NotFound);
        let error = search("9e0f2a3b", &[ID, &other]).expect_err("two");
        assert_eq!(error.exit(), Exit::Usage);
        assert!(error.to_string().contains(&format!("<{ID}>\n  <{other}>")), "{error}");
    }
}
