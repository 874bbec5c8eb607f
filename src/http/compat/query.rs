//! The language of searches: words and filters, all of which a message must fulfil.

use std::cell::LazyCell;

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
/// Filters that ask for a text somewhere, each with its colon.
const WITHIN: [(&str, Within); 8] = [
    ("from:", Within::From),
    ("to:", Within::To),
    ("cc:", Within::Cc),
    ("bcc:", Within::Bcc),
    ("reply-to:", Within::ReplyTo),
    ("addressed:", Within::Addressed),
    ("subject:", Within::Subject),
    ("message-id:", Within::MessageId),
];

/// A search. Without terms every message is found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Search(Vec<Term>);

/// One word or filter.
#[derive(Debug, PartialEq, Eq)]
struct Term {
    /// Whether a message must not fulfil it.
    is_excluded: bool,
    within: Within,
    /// What is searched there, in lower case.
    part: String,
}

/// Where a text is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    From,
    To,
    Cc,
    Bcc,
    ReplyTo,
    /// Any of the five before.
    Addressed,
    Subject,
    MessageId,
    /// The header fields that people read, the body, and the names of attachments.
    All,
    /// Nothing is searched: a message must have an attachment.
    Attachments,
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
        let terms = words(text).into_iter().filter_map(|word| Term::parse(&word).transpose());
        let terms: Vec<Term> = terms.collect::<Result<_, _>>()?;
        if terms.len() > TERMS_MAX {
            return Err(Problem::invalid("query", format!("a search has at most {TERMS_MAX} words")));
        }
        Ok(Self(terms))
    }

    /// Whether it finds a message.
    pub(super) fn is_met(&self, email: &StoredEmail, message: &Message<'_>) -> bool {
        self.is_met_in(email, message, || searched(message))
    }

    /// The same, with all text of the message that is searched for words. It is made only if a word is searched.
    fn is_met_in(&self, email: &StoredEmail, message: &Message<'_>, text: impl FnOnce() -> String) -> bool {
        let text = LazyCell::new(text);
        self.0.iter().all(|term| term.is_met(email, message, &text) != term.is_excluded)
    }
}

impl Term {
    /// The term of a word; `None` if it asks for nothing.
    fn parse(word: &str) -> Result<Option<Self>, Problem> {
        let rest = word.strip_prefix(['-', '!']).filter(|rest| !rest.is_empty());
        let (is_excluded, text) = (rest.is_some(), rest.unwrap_or(word).to_lowercase());
        if !text.chars().any(char::is_alphanumeric) {
            return Ok(None);
        }
        if ["has:attachment", "has:attachments"].contains(&text.as_str()) {
            return Ok(Some(Self { is_excluded, within: Within::Attachments, part: String::new() }));
        }
        if let Some(name) = UNSUPPORTED.iter().find(|name| text.starts_with(**name)) {
            let detail = format!(
                "the search filter '{name}' is not supported; supported are from:, to:, cc:, bcc:, reply-to:, \
                 addressed:, subject:, message-id:, has:attachment, and words"
            );
            return Err(Problem::invalid("query", detail));
        }
        let named = WITHIN.iter().find_map(|(name, within)| Some((*within, text.strip_prefix(name)?)));
        let (within, part) = named.unwrap_or((Within::All, &text));
        let part = if within == Within::Subject { part.to_owned() } else { plain(part) };
        Ok((!part.is_empty()).then_some(Self { is_excluded, within, part }))
    }

    /// Whether a message has what is searched. `text` is all of its text that is searched for words.
    fn is_met(
        &self,
        email: &StoredEmail,
        message: &Message<'_>,
        text: &LazyCell<String, impl FnOnce() -> String>,
    ) -> bool {
        let part = &self.part;
        let head = message.head();
        let addresses = match self.within {
            Within::From => Address::all(&head.from),
            Within::To => Address::all(&head.to),
            Within::Cc => Address::all(&head.cc),
            Within::ReplyTo => Address::all(&head.reply_to),
            Within::Bcc => Address::hidden(email, message),
            Within::Addressed => {
                let named = [&head.from, &head.to, &head.cc, &head.reply_to].map(|all| Address::all(all));
                [named.concat(), Address::hidden(email, message)].concat()
            }
            Within::Subject => return message.subject().to_lowercase().contains(part),
            Within::MessageId => return head.message_id.to_lowercase().contains(part),
            Within::All => return text.contains(part),
            Within::Attachments => return message.attachments().iter().any(is_attached),
        };
        addresses.iter().any(|one| one.address.to_lowercase().contains(part) || plain(one.name).contains(part))
    }
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
    use std::cell::Cell;
    use std::net::Ipv4Addr;

    use super::*;
    use crate::model::{Envelope, Greeting, Listed, Place, Protocol, Subaddressing, Timestamp};
    use crate::random;

    fn email() -> StoredEmail {
        let at = Timestamp::from_millis(0);
        let protocol = Protocol::plain(Greeting::Ehlo);
        let client = Ipv4Addr::LOCALHOST.into();
        let envelope =
            Envelope::new(client, String::new(), protocol, String::new(), &[], Subaddressing::Keep, || unreachable!());
        let id = random::email_id(at);
        let listed = Listed { id, sequence: 1, received_at: at, expires_at: at, size_octets: 0, place: Place([0; 16]) };
        StoredEmail { listed, envelope, raw: bytes::Bytes::new() }
    }

    fn terms(text: &str) -> Vec<(bool, Within, String)> {
        let Search(terms) = Search::parse(text).expect(text);
        terms.into_iter().map(|term| (term.is_excluded, term.within, term.part)).collect()
    }

    #[test]
    fn a_search_is_words_and_filters() {
        assert_eq!(
            terms("to:Ann@X.test subject:\"Your Code\" !from:spam \"two words\" -no"),
            [
                (false, Within::To, "ann@x.test".into()),
                (false, Within::Subject, "your code".into()),
                (true, Within::From, "spam".into()),
                (false, Within::All, "two words".into()),
                (true, Within::All, "no".into()),
            ]
        );
        let words = ["http://a.test/x", "foo:bar"].map(|word| (false, Within::All, word.to_owned()));
        assert_eq!(terms("http://a.test/x foo:bar"), words);
        assert_eq!(terms("  - ! to: \"\" <>"), []);
        assert_eq!(terms("has:attachments"), [(false, Within::Attachments, String::new())]);
    }

    #[test]
    fn text_is_made_once_and_only_where_words_are_searched() {
        let made = |query: &str| {
            let (email, made) = (email(), Cell::new(0));
            let text = || {
                made.set(made.get() + 1);
                "one two".to_owned()
            };
            let message = Message::new(b"Subject: s\r\nTo: ann@x.test\r\n\r\none two");
            assert!(Search::parse(query).expect(query).is_met_in(&email, &message, text), "{query}");
            made.get()
        };
        for query in ["", "to:ann", "to:ann subject:s !from:bob", "!has:attachment", "to:ann !to:bob"] {
            assert_eq!(made(query), 0, "{query}");
        }
        for query in ["one", "one two !three to:ann"] {
            assert_eq!(made(query), 1, "{query}");
        }
    }

    #[test]
    fn a_filter_that_is_not_offered_is_refused_by_name() {
        for text in ["tag:x", "is:unread", "-IS:read", "after:2026-01-01", "x larger:1M", "has:inline"] {
            assert_eq!(Search::parse(text).expect_err(text).code(), Code::ParameterInvalid, "{text}");
        }
        assert!(Search::parse(&"a ".repeat(TERMS_MAX + 1)).is_err());
    }
}
