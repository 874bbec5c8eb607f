//! CSS selectors in the HTML of a mail. Strangers write the HTML, so its size and the time are bounded.

use std::fmt;
use std::str::FromStr;

use scraper::{ElementRef, Html, Selector};

use crate::cli::html::{self, HtmlReader};

/// The longest selector, in octets.
const OCTETS_MAX: usize = 1_000;
/// The most elements that are shown in place of the one that is missing.
const LIKE_MAX: usize = 5;
/// The most names of elements that are shown if none is like it.
const NAMES_MAX: usize = 20;

/// A selector that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CssSelector(String);

/// The end of a search.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Search {
    Found,
    /// No element matches. These are elements of its name, or else the names that there are.
    Missing(Vec<String>),
    /// It took too long, or no element matches in the part that is read.
    Unfinished,
}

impl CssSelector {
    /// Whether an element of `html` matches.
    pub(super) fn search(&self, html: &str, reader: &HtmlReader) -> Search {
        let text = self.0.clone();
        match reader.read(html, move |html| searched(html, &text)) {
            Some(Search::Missing(_)) if html::is_cut(html) => Search::Unfinished,
            search => search.unwrap_or(Search::Unfinished),
        }
    }
}

fn searched(html: &str, text: &str) -> Search {
    // It could be read before.
    let Ok(selector) = Selector::parse(text) else { return Search::Missing(Vec::new()) };
    let document = Html::parse_document(html);
    if document.select(&selector).next().is_some() {
        return Search::Found;
    }
    Search::Missing(like(&document, subject(text)))
}

/// The name of the elements that a selector is about: the one in its last part.
fn subject(selector: &str) -> &str {
    let last = selector.rsplit(|c: char| c.is_whitespace() || ">+~,".contains(c)).find(|part| !part.is_empty());
    let last = last.unwrap_or_default();
    &last[..last.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(last.len())]
}

/// The elements of this name, without their content, or else the names that there are.
fn like(document: &Html, name: &str) -> Vec<String> {
    let elements = || document.root_element().descendent_elements();
    let named = elements().filter(|element| element.value().name().eq_ignore_ascii_case(name));
    let like: Vec<String> = named.take(LIKE_MAX).map(tag).collect();
    if !like.is_empty() {
        return like;
    }
    let mut others: Vec<&str> = Vec::new();
    for element in elements() {
        let other = element.value().name();
        if !others.contains(&other) && others.len() < NAMES_MAX {
            others.push(other);
        }
    }
    vec![format!("(the elements are: {})", others.join(", "))]
}

fn tag(element: ElementRef<'_>) -> String {
    let element = element.value();
    let attributes = element.attrs().map(|(name, value)| format!("{name}=\"{value}\""));
    let parts: Vec<String> = std::iter::once(element.name().to_owned()).chain(attributes).collect();
    format!("<{}>", parts.join(" "))
}

impl FromStr for CssSelector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > OCTETS_MAX || Selector::parse(text).is_err() {
            return Err(format!(
                "give a CSS selector of at most {OCTETS_MAX} octets, such as 'a.button[href*=\"verify\"]'"
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for CssSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(selector: &str, html: &str) -> Search {
        let reader = HtmlReader::until(std::time::Instant::now() + html::WITHIN);
        selector.parse::<CssSelector>().expect(selector).search(html, &reader)
    }

    #[test]
    fn an_element_is_found_or_those_like_it_are_shown() {
        let html = "<p>Hi <a class='btn' href='https://app.test/v?a=1&amp;b=2'>Go</a><b>x</b>";
        assert_eq!(search("p > a.btn[href*='/v']", html), Search::Found);
        assert_eq!(
            search("p a.button", html),
            Search::Missing(vec!["<a class=\"btn\" href=\"https://app.test/v?a=1&b=2\">".to_owned()])
        );
        assert_eq!(
            search("img", html),
            Search::Missing(vec!["(the elements are: html, head, body, p, a, b)".to_owned()])
        );
    }

    #[test]
    fn what_is_no_selector_is_refused() {
        for text in ["", "a[", "p >", ":nonsense", "a::before(", &"a".repeat(1_001)] {
            assert!(text.parse::<CssSelector>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_behind_the_part_that_is_read_may_match() {
        let html = " ".repeat(600_000) + "<b>x</b>";
        assert_eq!(search("b", &html), Search::Unfinished);
        assert_eq!(search("b", &format!("<b>{html}")), Search::Found);
    }

    #[test]
    fn hostile_html_ends_the_search_in_time() {
        for html in ["<b>".repeat(150_000), "<div><p a=b>".repeat(40_000), "<table>".repeat(70_000)] {
            assert_ne!(search("b b i", &html), Search::Found);
        }
    }
}
