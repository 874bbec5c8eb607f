//! Which elements are in which ones, where tags alone do not say it.

use std::collections::BTreeMap;

use super::sheet::Sheet;
use super::step;
use super::style::{Element, Style};
use crate::mime::limits::{DEPTH_MAX, SEARCHED_MAX};

/// The elements that are in every page, with or without a tag.
const ROOTS: [&str; 2] = ["html", "body"];
/// The most names of elements that are counted without being read. Nobody nests more kinds.
const INNER_NAMES_MAX: usize = 64;
/// The most elements that go on after what they were in.
const CUT_MAX: usize = 8;
/// How many octets of their attributes are read again, for each octet of HTML. A tag counts for some.
const CUT_OCTETS_PER_OCTET: usize = 8;

/// The open elements of a page.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    sheet: Sheet,
    /// The open elements, the outermost first: always `html` and `body`, as in browsers.
    open: Vec<Element<'a>>,
    /// How many more of each name are open that are not in `open`: too deep ones, and those in [`is_skipped`] ones.
    inner: BTreeMap<String, usize>,
    /// How many cells of tables are open, except too deep ones.
    cells: usize,
    /// Elements such as `b` whose surroundings ended before them, each with the number of cells around it. They go on
    /// at the next text in that cell.
    cut: Vec<(usize, Element<'a>)>,
    /// How many octets of the attributes of such elements are still read again.
    cut_octets_left: usize,
}

impl<'a> Tree<'a> {
    pub(super) fn of(sheet: Sheet, octets: usize) -> Self {
        let (open, inner, cut) = (Vec::new(), BTreeMap::new(), Vec::new());
        let mut tree = Self { sheet, open, inner, cells: 0, cut, cut_octets_left: CUT_OCTETS_PER_OCTET * octets };
        for name in ROOTS {
            tree.push_implied(name);
        }
        tree
    }

    pub(super) fn style(&self) -> Style {
        self.open.last().map(|element| element.style).unwrap_or_default()
    }

    pub(super) fn element(&mut self, name: String, attributes: &'a str) -> Element<'a> {
        // As in browsers, what is nested too deep is beside what it is in.
        let depth = self.open.len().min(DEPTH_MAX - 1);
        Element::within(&self.open[..depth], name, attributes, &mut self.sheet)
    }

    pub(super) fn push(&mut self, element: Element<'a>) {
        if self.open.len() >= DEPTH_MAX - 1 {
            self.count_inner(&element.name);
            self.open.truncate(DEPTH_MAX - 1);
        } else if is_cell(&element.name) {
            self.cells += 1;
        }
        self.open.push(element);
    }

    fn push_implied(&mut self, name: &str) {
        let element = self.element(name.to_owned(), "");
        self.push(element);
    }

    fn count_inner(&mut self, name: &str) {
        if self.inner.len() < INNER_NAMES_MAX {
            *self.inner.entry(name.to_owned()).or_default() += 1;
        }
    }

    /// Whether a start tag opens nothing that matters, since it is in an element that shows none of its content or has
    /// no content itself.
    pub(super) fn skips(&mut self, name: &str, attributes: &str) -> bool {
        // Elsewhere the slash counts for nothing.
        let is_whole = attributes.strip_suffix('/').is_some_and(|rest| {
            rest.is_empty() || rest.ends_with(|c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\''))
        });
        match self.open.last().map_or("", |around| &around.name) {
            "select" if matches!(name, "select" | "input" | "textarea") => {
                self.cut_off(self.open.len() - 1);
                name == "select"
            }
            around if is_skipped(around) => {
                if !is_whole && !is_void(name) {
                    self.count_inner(name);
                }
                true
            }
            _ => is_whole && (matches!(name, "math" | "svg") || self.position("math", |_| false).is_some()),
        }
    }

    /// Whether an end tag ends nothing that is in `open`.
    pub(super) fn skips_end(&mut self, name: &str) -> bool {
        let around = self.open.last().map_or("", |around| &around.name);
        if let Some(count) = self.inner.get_mut(name).filter(|count| **count > 0) {
            *count -= 1;
            if self.open.len() == DEPTH_MAX && (around == name || !is_skipped(around)) {
                self.cut_off(DEPTH_MAX - 1);
            }
            return true;
        }
        around == "select" && !matches!(name, "select" | "table" | "tbody" | "td" | "tfoot" | "th" | "thead" | "tr")
            || self.inner.len() >= INNER_NAMES_MAX && around != name
    }

    /// Ends the open elements from `index` on.
    fn cut_off(&mut self, index: usize) {
        if index >= DEPTH_MAX - 1 {
            // Which style the text after it has is not known, since only one element that deep is.
            if let Some(last) = self.open.get_mut(DEPTH_MAX - 1) {
                last.name.clear();
                last.style.is_hidden = true;
            }
            return;
        }
        self.inner.clear();
        let ended = self.open.split_off(index);
        self.cells -= ended.iter().take(DEPTH_MAX - 1 - index).filter(|it| is_cell(&it.name)).count();
        let cells = self.cells;
        self.cut.truncate(self.cut.partition_point(|(of, _)| *of <= cells));
        let mut kept = self.cut.iter().rev().take_while(|(of, _)| *of == cells).count();
        let mut was_seen = true;
        for (at, element) in ended.into_iter().enumerate() {
            if is_cell(&element.name) {
                break;
            }
            let is_seen = element.style.is_seen();
            // The first ones are kept, what hides, and up to three of each kind, as in browsers.
            let alike = || self.cut.iter().rev().take(kept).filter(|(_, it)| is_alike(it, &element)).count();
            if at > 0
                && is_formatting(&element.name)
                && (kept < CUT_MAX || was_seen && !is_seen || !element.attributes.is_empty() && alike() < 3)
            {
                self.cut.push((cells, element));
                kept += 1;
            }
            was_seen = is_seen;
        }
    }

    /// Begins again what was cut off with what it was in, as browsers do.
    pub(super) fn resume(&mut self) {
        let first = self.cut.partition_point(|(cells, _)| *cells < self.cells);
        for (_, element) in self.cut.split_off(first) {
            self.push_again(element);
        }
    }

    /// Opens an element that was open in another one.
    fn push_again(&mut self, mut element: Element<'a>) {
        step(1);
        let octets = 8 + element.attributes.len();
        if let Some(left) = self.cut_octets_left.checked_sub(octets) {
            self.cut_octets_left = left;
            element = self.element(element.name, element.attributes);
        } else {
            let is_doubtful = !element.style.is_seen() || !element.attributes.is_empty();
            element.style = self.style();
            element.style.is_hidden |= is_doubtful;
        }
        self.push(element);
    }

    /// Ends an element such as `b` before the blocks in it, which go on, as in browsers.
    fn lift(&mut self, index: usize) {
        let mut is_in_block = false;
        for element in self.open.split_off(index).into_iter().skip(1) {
            is_in_block |= is_block(&element.name);
            if is_in_block || is_formatting(&element.name) {
                self.push_again(element);
            }
        }
    }

    /// Gives the attributes of a tag to the element that is open without it. Whether nothing is left to do.
    pub(super) fn restyle_root(&mut self, name: &str, attributes: &'a str) -> bool {
        let first = usize::from(name == "body");
        if attributes.trim_ascii().is_empty() {
            return true;
        }
        let is_new = self.open[first].attributes.is_empty();
        for at in (first..ROOTS.len()).filter(|_| is_new) {
            let attributes = if at == first { attributes } else { self.open[at].attributes };
            self.open[at] = Element::within(&self.open[..at], ROOTS[at].to_owned(), attributes, &mut self.sheet);
        }
        is_new && self.open.len() == ROOTS.len()
    }

    /// Ends the element that an end tag of this name ends.
    pub(super) fn close(&mut self, name: &str) {
        if self.end_cut(name) {
            return;
        }
        // Text after these is still in them.
        let index = if is_root(name) { None } else { self.position(name, |it| bounds(name, it)) };
        let Some(index) = index else { return };
        if is_formatting(name)
            && self.open.len() < DEPTH_MAX
            && self.open[index..].iter().any(|element| is_block(&element.name))
        {
            self.lift(index);
        } else {
            self.cut_off(index);
        }
    }

    /// Ends an element that would have gone on.
    fn end_cut(&mut self, name: &str) -> bool {
        let mut cut = self.cut.iter().enumerate().rev().take_while(|(_, (cells, _))| *cells == self.cells);
        let found = cut.find(|(_, (_, element))| element.name == name).map(|(at, _)| at);
        found.map(|at| self.cut.remove(at)).is_some()
    }

    /// Hides what is in folded details from now on.
    pub(super) fn hide_folded(&mut self) {
        self.open.last_mut().into_iter().for_each(|around| around.style.hide_folded());
    }

    /// The innermost open element of this name, not beyond one that `is_bound`.
    fn position(&mut self, name: &str, is_bound: impl Fn(&str) -> bool) -> Option<usize> {
        let lowest = self.open.len().saturating_sub(SEARCHED_MAX);
        for index in (lowest..self.open.len()).rev() {
            step(1);
            let found = self.open[index].name.as_str();
            if found == name {
                return Some(index);
            }
            if is_bound(found) {
                return None;
            }
        }
        None
    }

    /// Ends the elements that a start tag ends without an end tag.
    pub(super) fn end_implied(&mut self, name: &str) {
        let index = match name {
            "td" | "th" => self
                .position("td", |found| found == "table" || found == "th")
                .or_else(|| self.position("th", |found| found == "table" || found == "td")),
            "tr" => self.position("tr", |found| found == "table"),
            "tbody" | "thead" | "tfoot" => {
                ["tbody", "thead", "tfoot"].iter().find_map(|group| self.position(group, |found| found == "table"))
            }
            "li" => self.position("li", |found| found == "ul" || found == "ol"),
            "option" => self.position("option", is_block),
            "body" => self.position("head", |_| false),
            _ if is_block(name) => self.position("p", |found| matches!(found, "td" | "th" | "table" | "div")),
            _ => None,
        };
        if let Some(index) = index {
            self.cut_off(index);
        }
    }

    /// Opens the elements that a start tag opens without a tag of their own.
    pub(super) fn begin_implied(&mut self, name: &str) {
        let is_in = |reader: &Self, names: &[&str]| reader.open.last().is_some_and(|it| names.contains(&&*it.name));
        if (name == "tr" || is_cell(name)) && is_in(self, &["table"]) {
            self.push_implied("tbody");
        }
        if is_cell(name) && is_in(self, &["tbody", "thead", "tfoot"]) {
            self.push_implied("tr");
        }
        if name == "a" {
            self.end_cut(name);
        }
        if !is_block(name) && !is_cell(name) && !matches!(name, "col" | "colgroup") {
            self.resume();
        }
    }
}

pub(super) fn is_root(name: &str) -> bool {
    ROOTS.contains(&name)
}

/// Whether the end tag of an element does not end what is around an open element of another name.
fn bounds(name: &str, open: &str) -> bool {
    match name {
        "table" => false,
        "td" | "th" | "tr" | "tbody" | "thead" | "tfoot" => open == "table",
        _ if is_formatting(name) => matches!(open, "table" | "td" | "th"),
        _ => matches!(open, "table" | "td" | "th") || !is_block(name) && is_block(open),
    }
}

/// Whether an element goes on in the next one if what it is in ends before it.
fn is_formatting(name: &str) -> bool {
    matches!(name, "a" | "b" | "big" | "em" | "font" | "i" | "s" | "small" | "strong" | "u")
}

/// Whether two elements have the same tags. Long ones have not.
fn is_alike(one: &Element<'_>, other: &Element<'_>) -> bool {
    one.attributes.len() <= 256 && one.name == other.name && one.attributes == other.attributes
}

fn is_cell(name: &str) -> bool {
    matches!(name, "td" | "th")
}

/// Whether the elements in an element are not read. It shows none of them, and many of them have no end tag.
fn is_skipped(name: &str) -> bool {
    matches!(name, "select" | "svg")
}

/// Whether an element has line breaks before and after it.
#[rustfmt::skip]
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address" | "article" | "aside" | "blockquote" | "body" | "caption" | "center" | "dd" | "details" | "dialog"
            | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "h1" | "h2" | "h3"
            | "h4" | "h5" | "h6" | "header" | "hr" | "html" | "legend" | "li" | "main" | "nav" | "ol" | "p" | "pre"
            | "section" | "summary" | "table" | "tbody" | "tfoot" | "thead" | "tr" | "ul"
    )
}

/// Whether an element has no content and no end tag.
#[rustfmt::skip]
pub(super) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area" | "base" | "br" | "col" | "embed" | "hr" | "img" | "input" | "link" | "meta" | "param" | "source" | "track"
            | "wbr"
    )
}
