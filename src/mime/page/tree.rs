//! Which elements are in which ones, where tags alone do not say it.
//!
//! Where browsers are not followed, an element ends later than in them, so that what it hides stays hidden. If what is
//! around it hides, its text is not seen any more either.

use super::sheet::Sheet;
use super::step;
use super::style::{Element, Style, is_unshown};
use crate::mime::limits::{DEPTH_MAX, WORK_OCTETS_MIN, WORK_PER_OCTET};

/// The elements that are in every page, with or without a tag.
const ROOTS: [&str; 2] = ["html", "body"];
/// The most elements that go on after what they were in.
const CUT_MAX: usize = 16;
/// The work for an element.
const ELEMENT_WORK: usize = 16;

/// The open elements of a page.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    sheet: Sheet,
    /// The open elements, the outermost first: always `html` and `body`, as in browsers.
    open: Vec<Element<'a>>,
    /// The open elements that no tag in them ends but their own, the outermost first: always `html`.
    scopes: Vec<Scope<'a>>,
    /// How much more work is done.
    work_left: usize,
    /// Whether it is not known any more what is in what.
    is_lost: bool,
}

/// A table, a cell, or an element that shows nothing that is in it.
#[derive(Debug, Default)]
struct Scope<'a> {
    /// The index of the element.
    index: usize,
    /// The index of the table that it is, or is a cell of.
    table: Option<usize>,
    /// Elements such as `b` whose surroundings ended before them. They go on at the next text. Those of a table are in
    /// the scope around it.
    cut: Vec<Element<'a>>,
}

impl<'a> Tree<'a> {
    pub(super) fn of(sheet: Sheet, octets: usize) -> Self {
        let work_left = WORK_PER_OCTET * (octets + WORK_OCTETS_MIN);
        let mut tree = Self { sheet, open: Vec::new(), scopes: vec![Scope::default()], work_left, is_lost: false };
        for name in ROOTS {
            tree.push_new(name, "");
        }
        tree
    }

    /// Whether nothing more can be said to be seen.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost || self.sheet.is_spent()
    }

    /// Whether all work is done that the HTML may ask for.
    pub(super) fn is_spent(&self) -> bool {
        self.sheet.is_spent() || self.work_left == 0
    }

    /// Hides all that follows where it is not known any more what is in what, if the element of this tag is not seen.
    pub(super) fn hide_within(&mut self, name: String, attributes: &'a str) {
        let is_seen = is_void(&name) || self.element(name, attributes).style.is_seen();
        self.open.last_mut().into_iter().for_each(|last| last.style.is_hidden |= !is_seen);
    }

    pub(super) fn style(&self) -> Style {
        let mut style = self.open.last().map(|element| element.style).unwrap_or_default();
        // Text in a table that is in no cell is moved before the table.
        if let Some(table) = self.scope().table.filter(|table| *table == self.scope().index) {
            style.is_hidden |= !style.is_seen_in(&self.open[table - 1].style);
        }
        style
    }

    /// The element that a tag opens in the innermost one.
    pub(super) fn element(&mut self, name: String, attributes: &'a str) -> Element<'a> {
        self.work(ELEMENT_WORK);
        Element::within(&self.open, name, attributes, &mut self.sheet)
    }

    pub(super) fn push(&mut self, element: Element<'a>) {
        let index = self.open.len();
        self.is_lost |= index >= DEPTH_MAX;
        let name = element.name.as_str();
        let table = match name {
            "table" => Some(index),
            "template" => None,
            // A part of a table ends the others, as it ends a cell.
            _ if is_cell(name) || is_unshown(name) && !is_drawing(name) => self.scope().table,
            _ => None,
        };
        if table.is_some_and(|_| name == "table" || is_cell(name)) || is_unshown(name) {
            self.scopes.push(Scope { index, table, cut: Vec::new() });
        }
        self.open.push(element);
    }

    fn push_new(&mut self, name: &str, attributes: &'a str) {
        let element = self.element(name.to_owned(), attributes);
        self.push(element);
    }

    fn scope(&self) -> &Scope<'a> {
        &self.scopes[self.scopes.len() - 1]
    }

    /// The elements that go on at the next text.
    fn cut(&mut self) -> &mut Vec<Element<'a>> {
        let scope = self.scope();
        let at = self.scopes.len() - if scope.table == Some(scope.index) { 2 } else { 1 };
        &mut self.scopes[at].cut
    }

    fn hide_rest(&mut self) {
        self.is_lost = true;
        self.open.last_mut().into_iter().for_each(|last| last.style.is_hidden = true);
    }

    /// Passes over the content of an element that is no markup. In a drawing it is.
    pub(super) fn pass_over(&mut self, content: &str) {
        self.is_lost |= self.is_in_drawing() && content.contains('<');
    }

    fn is_in_drawing(&self) -> bool {
        is_drawing(&self.open[self.scope().index].name)
    }

    /// Ends and opens what a start tag ends and opens without a tag. Whether the tag counts.
    pub(super) fn begin(&mut self, name: &str, attributes: &'a str) -> bool {
        if is_root(name) {
            self.restyle_root(name, attributes);
            return false;
        }
        let is_drawn = !is_block(name) && !is_formatting(name) && !is_unshown(name) && name != "span";
        if self.is_in_drawing() && is_drawn {
            return false;
        }
        if matches!(name, "plaintext" | "frameset") {
            // What follows is no markup, or not shown at all.
            self.hide_rest();
        }
        match name {
            "table" if self.scope().table == Some(self.scope().index) => self.cut_off(self.scope().index),
            "option" if self.open[self.open.len() - 1].name == name => self.cut_off(self.open.len() - 1),
            "li" | "dd" | "dt" => self.end_implied(name, |it| matches!(it, "p" | "div")),
            "a" => self.cut().retain(|element| element.name != name),
            _ => {}
        }
        if let Some(level) = level(name).filter(|level| *level > 0) {
            return self.begin_part(level);
        }
        if is_block(name) {
            if matches!(name, "caption" | "form" | "table") {
                // These do not always end a paragraph.
                self.position("p", false, |_| false);
            } else {
                self.end_implied("p", |_| false);
            }
        } else if !matches!(name, "col" | "colgroup") {
            self.resume();
        }
        true
    }

    /// Makes place in a table for a part of it. Browsers too ignore one that is in no table.
    fn begin_part(&mut self, level: usize) -> bool {
        let Some(table) = self.scope().table else {
            // Which of the elements around end with the table around all is not known.
            self.is_lost |= self.scopes.len() > 1;
            return false;
        };
        for (at, implied) in ["tbody", "tr"].iter().enumerate().take(level - 1) {
            let at = at + 1;
            if self.open.get(table + at).is_none_or(|it| self::level(&it.name) != Some(at)) {
                self.cut_off(table + at);
                self.push_new(implied, "");
            }
        }
        self.cut_off(table + level);
        true
    }

    /// Ends an element of this name that has no end tag, if it has only elements in it that may end so, too.
    fn end_implied(&mut self, name: &str, ends: fn(&str) -> bool) {
        let bounds = |open: &str| !is_formatting(open) && open != "span" && !ends(open);
        if let Some(index) = self.position(name, true, bounds) {
            self.cut_off(index);
        }
    }

    /// Ends the open elements from `index` on.
    fn cut_off(&mut self, index: usize) {
        if index >= self.open.len() {
            return;
        }
        let ended = self.open.split_off(index);
        self.scopes.truncate(self.scopes.partition_point(|scope| scope.index < index));
        let has = |is: fn(&str) -> bool| ended.iter().any(|element| is(&element.name));
        if has(is_unshown) && has(is_formatting) {
            // Which of them go on depends on what they are in.
            self.hide_rest();
        }
        let cut = self.cut();
        for element in ended.into_iter().take_while(|it| !is_cell(&it.name)).skip(1) {
            let is_alike = |it: &&Element<'_>| it.name == element.name && it.attributes == element.attributes;
            // Browsers too know up to three of each kind.
            if is_formatting(&element.name) && cut.iter().filter(is_alike).count() < 3 {
                cut.push(element);
            }
        }
        self.is_lost |= self.cut().len() > CUT_MAX;
    }

    /// Begins again what was cut off with what it was in, as browsers do.
    pub(super) fn resume(&mut self) {
        for element in std::mem::take(self.cut()) {
            self.work(element.attributes.len());
            self.push_new(&element.name, element.attributes);
        }
    }

    /// Counts work. Nobody needs as much as there may be.
    fn work(&mut self, count: usize) {
        step(1);
        let left = self.work_left.checked_sub(count);
        self.is_lost |= left.is_none();
        self.work_left = left.unwrap_or_default();
    }

    /// Gives the attributes of a tag to the element that is open without it.
    fn restyle_root(&mut self, name: &str, attributes: &'a str) {
        let index = usize::from(name == "body");
        if self.open[index].attributes.is_empty() && !attributes.trim_ascii().is_empty() {
            self.open[index].attributes = attributes;
            self.restyle(index);
        }
    }

    /// Finds out again how the open elements from `index` on look.
    fn restyle(&mut self, index: usize) {
        for at in index..self.open.len() {
            let Element { name, attributes, .. } = &self.open[at];
            let (name, attributes) = (name.clone(), *attributes);
            self.work(ELEMENT_WORK + attributes.len());
            self.open[at] = Element::within(&self.open[..at], name, attributes, &mut self.sheet);
        }
    }

    /// Ends the element that an end tag of this name ends.
    pub(super) fn close(&mut self, name: &str) {
        if let Some(level) = level(name) {
            let index = self.scope().table.map(|table| table + level);
            let index = index.filter(|index| self.open.get(*index).is_some_and(|it| it.name == name));
            self.cut_off(index.unwrap_or(usize::MAX));
            return;
        }
        // One that would have gone on.
        if let Some(at) = self.cut().iter().rposition(|element| element.name == name) {
            self.cut().remove(at);
            return;
        }
        let Some(index) = self.position(name, true, |open| bounds(name, open)) else { return };
        if is_formatting(name) && self.open[index..].iter().any(|element| is_block(&element.name)) {
            // As in browsers, the blocks in it go on.
            self.open.remove(index);
            self.restyle(index);
        } else {
            self.cut_off(index);
        }
    }

    /// The innermost open element of this name in the scope, not beyond one that `is_bound`.
    fn position(&mut self, name: &str, is_certain: bool, is_bound: impl Fn(&str) -> bool) -> Option<usize> {
        let lowest = self.scope().index.max(ROOTS.len());
        self.open.last().filter(|last| last.may_be_in(name))?;
        let mut is_certain = is_certain;
        for index in (lowest..self.open.len()).rev() {
            let found = self.open[index].name.as_str();
            if found == name {
                // In browsers it may end here, and text after it is only seen if it is seen in both cases.
                let around = self.open[index - 1].style;
                if let Some(last) = self.open.last_mut().filter(|_| !is_certain) {
                    last.style.is_hidden |= !last.style.is_seen_in(&around);
                }
                self.work(self.open.len() - index);
                return Some(index).filter(|_| is_certain);
            }
            is_certain &= !is_bound(found);
        }
        self.work(self.open.len() - lowest);
        None
    }
}

/// Whether an element has a language of its own for what is in it.
pub(super) fn is_drawing(name: &str) -> bool {
    matches!(name, "math" | "svg")
}

/// Whether a tag with these attributes ends with a slash that is not in a value.
pub(super) fn is_self_closed(attributes: &str) -> bool {
    let before = attributes.strip_suffix('/');
    before.is_some_and(|it| {
        it.is_empty() || it.ends_with(['"', '\'']) || it.ends_with(' ') && !it.trim_end().ends_with('=')
    })
}

fn is_root(name: &str) -> bool {
    ROOTS.contains(&name)
}

/// How deep a part of a table is in it.
fn level(name: &str) -> Option<usize> {
    match name {
        "table" => Some(0),
        "tbody" | "thead" | "tfoot" => Some(1),
        "tr" => Some(2),
        "td" | "th" => Some(3),
        _ => None,
    }
}

fn is_cell(name: &str) -> bool {
    level(name) == Some(3)
}

/// Whether the end tag of an element does not end what is around an open element of another name.
fn bounds(name: &str, open: &str) -> bool {
    let is_bound = match name {
        "li" => matches!(open, "ul" | "ol"),
        "form" => is_block(open),
        _ => !is_formatting(name) && !is_block(name) && (is_block(open) || open == "span"),
    };
    is_bound || matches!(open, "button" | "marquee")
}

/// Whether an element goes on in the next one if what it is in ends before it.
fn is_formatting(name: &str) -> bool {
    matches!(name, "a" | "b" | "big" | "code" | "em" | "font" | "i" | "nobr" | "s" | "small" | "strike" | "strong")
        || matches!(name, "tt" | "u")
}

/// Whether an element has line breaks before and after it.
#[rustfmt::skip]
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address" | "article" | "aside" | "blockquote" | "body" | "caption" | "center" | "dd" | "details" | "dialog"
            | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "h1" | "h2" | "h3"
            | "h4" | "h5" | "h6" | "header" | "hr" | "html" | "li" | "main" | "nav" | "ol" | "p" | "pre"
            | "section" | "summary" | "table" | "tbody" | "tfoot" | "thead" | "tr" | "ul"
    )
}

/// Whether an element has no content and no end tag, or none that matters.
#[rustfmt::skip]
pub(super) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area" | "base" | "br" | "col" | "embed" | "head" | "hr" | "img" | "input" | "link" | "meta" | "param" | "source"
            | "track" | "wbr"
    )
}
