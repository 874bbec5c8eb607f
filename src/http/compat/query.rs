//! The language of searches: words and filters, all of which a message must fulfil.

use super::message::{Address, is_attached};
use crate::http::{Code, Problem, Query};
use crate::mime::Message;
use crate::model::StoredEmail;

/// The most words and filters of a search.
const TERMS_MAX: usize = 20;
/// Filters of the original that are not offered here, each with its colon.
const UNSUPPORTED: [&str; 7] = ["tag:", "is:", "has:", "after:", "before:", "larger:", "smaller:"];
/// The header fields whose text is searched for words.
const SEARCHED_FIELDS: [&str; 7] = ["From", "Subject", "To", "Cc", "Bcc", "Reply-To", "Return-Path"];
/// Filters that ask for a text somewhere, each with its colon and where it asks.
const FILTERS: [(&str, Texts); 8] = [
    ("from:", |_, message| texts(Address::all(&message.head().from))),
    ("to:", |_, message| texts(Address::all(&message.head().to))),
    ("cc:", |_, message| texts(Address::all(&message.head().cc))),
    ("bcc:", |email, message| texts(Address::hidden(email, message))),
    ("reply-to:", |_, message| texts(Address::all(&message.head().reply_to))),
    ("addressed:", |email, message| FILTERS[..5].iter().flat_map(|(_, texts)| texts(email, message)).collect()),
    ("subject:", |_, message| vec![message.subject()]),
    ("message-id:", |_, message| vec![&message.head().message_id]),
];

/// Texts of a message. One of them must have what a filter asks for.
type Texts = for<'a> fn(&'a StoredEmail, &'a Message<'_>) -> Vec<&'a str>;

/// A search. Without terms every message is found.
#[derive(Debug, Default)]
pub(super) struct Search {
    filters: Vec<(Texts, Term)>,
    /// These are searched in the header fields that people read, the body, and the names of attachments.
    words: Vec<Term>,
}

/// What is searched.
#[derive(Debug, PartialEq, Eq)]
struct Term {
    /// Whether a message must not have it.
    is_excluded: bool,
    /// A [`plain`] text.
    part: String,
}

impl Search {
    /// The search in the parameter `query`, which must not be empty.
    pub(super) fn required(query: &Query) -> Result<Self, Problem> {
        let text = query.get("query")?.filter(|text| !text.trim().is_empty());
        Self::parse(text.ok_or_else(|| Problem::new(Code::ParameterMissing, "Error: no search query"))?)
    }

    /// The search in the parameter `query`, or the one that finds every message.
    pub(super) fn optional(query: &Query) -> Result<Self, Problem> {
        Self::parse(query.get("query")?.unwrap_or_default())
    }

    fn parse(text: &str) -> Result<Self, Problem> {
        let mut search = Self::default();
        let words = words(text);
        if words.len() > TERMS_MAX {
            return Err(Problem::invalid("query", format!("a search has at most {TERMS_MAX} words")));
        }
        words.iter().try_for_each(|word| search.add(word))?;
        Ok(search)
    }

    /// Adds a word or filter, unless it asks for nothing.
    fn add(&mut self, word: &str) -> Result<(), Problem> {
        let rest = word.strip_prefix(['-', '!']).filter(|rest| !rest.is_empty());
        let (is_excluded, text) = (rest.is_some(), rest.unwrap_or(word).to_lowercase());
        if ["has:attachment", "has:attachments"].contains(&text.as_str()) {
            let attached: Texts =
                |_, message| message.attachments().iter().filter(|it| is_attached(it)).map(|_| "").collect();
            self.filters.push((attached, Term { is_excluded, part: String::new() }));
            return Ok(());
        }
        if let Some(name) = UNSUPPORTED.iter().find(|name| text.starts_with(**name)) {
            let detail = format!(
                "the search filter '{name}' is not supported; supported are from:, to:, cc:, bcc:, reply-to:, \
                 addressed:, subject:, message-id:, has:attachment, and words"
            );
            return Err(Problem::invalid("query", detail));
        }
        let filter = FILTERS.iter().find_map(|(name, texts)| Some((*texts, text.strip_prefix(name)?)));
        let term = Term { is_excluded, part: plain(filter.map_or(&text, |(_, part)| part)) };
        match filter {
            _ if term.part.is_empty() || !text.contains(char::is_alphanumeric) => {}
            Some((texts, _)) => self.filters.push((texts, term)),
            None => self.words.push(term),
        }
        Ok(())
    }

    /// Whether it finds a message.
    pub(super) fn is_met(&self, email: &StoredEmail, message: &Message<'_>) -> bool {
        let passes = self.filters.iter().all(|(texts, term)| {
            texts(email, message).into_iter().any(|text| plain(text).contains(&term.part)) != term.is_excluded
        });
        // All the text is made once, and only if it matters.
        if !passes || self.words.is_empty() {
            return passes;
        }
        let text = searched(message);
        self.words.iter().all(|term| text.contains(&term.part) != term.is_excluded)
    }
}

/// The names and addresses in which a filter searches.
fn texts(addresses: Vec<Address<'_>>) -> Vec<&str> {
    addresses.into_iter().flat_map(|Address { name, address }| [name, address]).collect()
}

/// The text in which words are searched.
fn searched(message: &Message<'_>) -> String {
    let is_searched = |name: &str| SEARCHED_FIELDS.iter().any(|field| name.eq_ignore_ascii_case(field));
    let fields = message.headers().iter().filter(|(name, _)| is_searched(name)).map(|(_, value)| value.as_str());
    let names = message.attachments().iter().map(|attachment| attachment.filename.as_str());
    plain(&fields.chain([message.text()]).chain(names).collect::<Vec<_>>().join(" "))
}

/// A text in lower case with single blanks, without the marks that enclose and separate addresses.
fn plain(text: &str) -> String {
    let text = text.replace(['<', '>', '"', ',', ';', '\u{feff}'], " ").to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a search. Quotation marks hold blanks together.
fn words(text: &str) -> Vec<String> {
    let mut is_quoted = false;
    let ends = |c: char| {
        is_quoted ^= c == '"';
        c.is_whitespace() && !is_quoted
    };
    let words = text.split(ends).map(|word| word.replace('"', ""));
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The filters of a search and then its words. A `-` is before those that are excluded.
    fn terms(text: &str) -> Vec<String> {
        let Search { filters, words } = Search::parse(text).expect(text);
        let name = |texts: Texts| FILTERS.iter().find(|(_, known)| std::ptr::fn_addr_eq(*known, texts));
        let filters = filters.into_iter().map(|(texts, term)| (name(texts).map_or("has:", |(name, _)| *name), term));
        let terms = filters.chain(words.into_iter().map(|term| ("", term)));
        terms.map(|(name, term)| format!("{}{name}{}", if term.is_excluded { "-" } else { "" }, term.part)).collect()
    }

    #[test]
    fn a_search_is_words_and_filters() {
        assert_eq!(
            terms("to:Ann@X.test subject:\"Your Code\" \"two words\" !from:spam -no"),
            ["to:ann@x.test", "subject:your code", "-from:spam", "two words", "-no"]
        );
        assert_eq!(terms("http://a.test/x foo:bar"), ["http://a.test/x", "foo:bar"]);
        assert_eq!(terms("  - ! to: \"\" <>"), [""; 0]);
        assert_eq!(terms("to:* subject:\u{2713} *"), ["to:*", "subject:\u{2713}"]);
        assert_eq!(terms("has:attachments"), ["has:"]);
    }

    #[test]
    fn a_filter_that_is_not_offered_is_refused_by_name() {
        for text in ["tag:x", "is:unread", "-IS:read", "after:2026-01-01", "x larger:1M", "has:inline"] {
            assert_eq!(Search::parse(text).expect_err(text).code(), Code::ParameterInvalid, "{text}");
        }
        assert!(Search::parse(&"a ".repeat(TERMS_MAX + 1)).is_err());
    }
}
