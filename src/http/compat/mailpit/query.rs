//! The language of searches: words and filters, all of which a message must fulfil.

use std::cell::LazyCell;
use std::sync::Arc;

use crate::http::compat::refusal::Refusal;
use crate::http::compat::window::FormQuery;
use crate::http::problem::{Code, Problem};
use crate::mime::{Message, NamedAddress};
use crate::model::StoredEmail;

/// The most words and filters of a search.
const TERMS_MAX: usize = 20;
/// Filters of the original that are not offered here, each with its colon.
const UNSUPPORTED: [&str; 7] = ["tag:", "is:", "has:", "after:", "before:", "larger:", "smaller:"];
/// The header fields whose text is searched for words.
const SEARCHED_FIELDS: [&str; 7] = ["From", "Subject", "To", "Cc", "Bcc", "Reply-To", "Return-Path"];

/// A search. Without terms every message is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::http::compat) struct Search(Arc<[Term]>);

/// One word or filter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    /// Whether a message must not fulfil it.
    is_excluded: bool,
    filter: Filter,
}

/// What one term asks for. Texts are in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Filter {
    From(String),
    To(String),
    Cc(String),
    Bcc(String),
    ReplyTo(String),
    /// Any of the five before.
    Addressed(String),
    Subject(String),
    MessageId(String),
    HasAttachment,
    /// Somewhere in the header fields that people read, the body, or the names of attachments.
    Text(String),
}

impl Search {
    /// The search in the parameter `query`, which must not be empty.
    pub(super) fn required(query: &FormQuery) -> Result<Self, Refusal> {
        match query.get("query")? {
            "" => Err(Problem::new(Code::ParameterMissing, "Error: no search query").into()),
            text => Ok(Self::parse(text)?),
        }
    }

    /// The search in the parameter `query`, or the one that finds every message.
    pub(super) fn optional(query: &FormQuery) -> Result<Self, Refusal> {
        Ok(Self::parse(query.get("query")?)?)
    }

    fn parse(text: &str) -> Result<Self, Problem> {
        let terms = words(text).into_iter().filter_map(|word| Term::parse(&word).transpose());
        let terms: Vec<Term> = terms.collect::<Result<_, _>>()?;
        if terms.len() > TERMS_MAX {
            return Err(Problem::new(Code::FilterInvalid, format!("a search has at most {TERMS_MAX} words")));
        }
        Ok(Self(terms.into()))
    }

    /// Whether it finds a message.
    pub(in crate::http::compat) fn is_met(&self, email: &StoredEmail, message: &Message<'_>) -> bool {
        // Several words are searched in one text.
        let text = LazyCell::new(|| searched(message));
        self.0.iter().all(|term| term.filter.is_met(email, message, &text) != term.is_excluded)
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
        Ok(Filter::parse(&text)?.map(|filter| Self { is_excluded, filter }))
    }
}

impl Filter {
    fn parse(text: &str) -> Result<Option<Self>, Problem> {
        type Named = (&'static str, fn(String) -> Filter);
        const NAMED: [Named; 7] = [
            ("from:", Filter::From),
            ("to:", Filter::To),
            ("cc:", Filter::Cc),
            ("bcc:", Filter::Bcc),
            ("reply-to:", Filter::ReplyTo),
            ("addressed:", Filter::Addressed),
            ("message-id:", Filter::MessageId),
        ];
        if let Some((part, filter)) = NAMED.iter().find_map(|(name, filter)| Some((text.strip_prefix(name)?, filter))) {
            let part = plain(part);
            return Ok((!part.is_empty()).then(|| filter(part)));
        }
        if let Some(part) = text.strip_prefix("subject:") {
            return Ok((!part.is_empty()).then(|| Self::Subject(part.to_owned())));
        }
        if text == "has:attachment" || text == "has:attachments" {
            return Ok(Some(Self::HasAttachment));
        }
        if let Some(name) = UNSUPPORTED.iter().find(|name| text.starts_with(**name)) {
            let detail = format!(
                "the search filter '{name}' is not supported; supported are from:, to:, cc:, bcc:, reply-to:, \
                 addressed:, subject:, message-id:, has:attachment, and words"
            );
            return Err(Problem::new(Code::FilterInvalid, detail));
        }
        Ok(Some(Self::Text(plain(text))))
    }

    fn is_met(&self, email: &StoredEmail, message: &Message<'_>, text: &str) -> bool {
        let head = message.head();
        match self {
            Self::From(part) => names(&head.from, part),
            Self::To(part) => names(&head.to, part),
            Self::Cc(part) => names(&head.cc, part),
            Self::Bcc(part) => names(&hidden(email, message), part),
            Self::ReplyTo(part) => names(&head.reply_to, part),
            Self::Addressed(part) => [&head.from, &head.to, &head.cc, &head.reply_to, &hidden(email, message)]
                .iter()
                .any(|all| names(all, part)),
            Self::Subject(part) => message.subject().to_lowercase().contains(part),
            Self::MessageId(part) => head.message_id.to_lowercase().contains(part),
            Self::HasAttachment => message.attachments().iter().any(super::message::is_attached),
            Self::Text(part) => text.contains(part),
        }
    }
}

/// The recipients of Bcc and those that no field names.
fn hidden(email: &StoredEmail, message: &Message<'_>) -> Vec<NamedAddress> {
    let hidden = super::summary::Address::hidden(email, message).into_iter();
    hidden.map(|one| NamedAddress { name: String::new(), address: one.address.to_owned() }).collect()
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

/// Whether the name or the address of anybody contains `part`, which is in lower case.
fn names(all: &[NamedAddress], part: &str) -> bool {
    all.iter().any(|one| one.address.to_lowercase().contains(part) || plain(&one.name).contains(part))
}

/// The words of a search. Quotation marks hold blanks together.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut is_quoted) = (vec![String::new()], false);
    for c in text.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            c if c.is_whitespace() && !is_quoted => words.push(String::new()),
            c => words.iter_mut().next_back().into_iter().for_each(|word| word.push(c)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<(bool, Filter)> {
        let search = Search::parse(text).expect(text);
        search.0.iter().map(|term| (term.is_excluded, term.filter.clone())).collect()
    }

    #[test]
    fn a_search_is_words_and_filters() {
        let text = |text: &str| Filter::Text(text.to_owned());
        assert_eq!(
            terms("to:Ann@X.test subject:\"Your Code\" !from:spam \"two words\" -no"),
            [
                (false, Filter::To("ann@x.test".into())),
                (false, Filter::Subject("your code".into())),
                (true, Filter::From("spam".into())),
                (false, text("two words")),
                (true, text("no")),
            ]
        );
        assert_eq!(terms("http://a.test/x foo:bar"), [(false, text("http://a.test/x")), (false, text("foo:bar"))]);
        assert_eq!(terms("  - ! to: \"\" <>"), []);
        assert_eq!(terms("has:attachments"), [(false, Filter::HasAttachment)]);
    }

    #[test]
    fn a_filter_that_is_not_offered_is_refused_by_name() {
        for text in ["tag:x", "is:unread", "-IS:read", "after:2026-01-01", "x larger:1M", "has:inline"] {
            assert_eq!(Search::parse(text).expect_err(text).code(), Code::FilterInvalid, "{text}");
        }
        assert!(Search::parse(&"a ".repeat(TERMS_MAX + 1)).is_err());
    }
}
