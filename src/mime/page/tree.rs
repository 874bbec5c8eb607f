//! Which elements are in which ones, where tags alone do not say it.
//!
//! Where browsers are not followed, an element ends later than in them, so that what it hides stays hidden. If what is
//! around it hides, its text is not seen any more either.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use super::declarations::Declaration;
use super::kind::Kind;
use super::sheet::Sheet;
use super::style::Style;
use super::tag::Tag;
use crate::limits::{DEPTH_MAX, WORK_OCTETS_MIN, WORK_PER_OCTET};

/// The elements that are in every page, with or without a tag.
const ROOTS: [&str; 2] = ["html", "body"];
/// The most tags that are kept for other elements with the same tag.
const TAGS_MAX: usize = 1_000;
/// The most elements that go on after what they were in.
const CUT_MAX: usize = 16;
/// The work for an element.
const ELEMENT_WORK: usize = 16;

/// The open elements of a page.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    sheet: Sheet,
    /// Tags by their names and attributes. Most mails have the same ones again and again.
    tags: HashMap<(Cow<'a, str>, &'a str), Rc<Tag<'a>>>,
    /// The open elements, the outermost first: always `html` and `body`, as in browsers.
    open: Vec<Element<'a>>,
    /// The open elements that no tag in them ends but their own, the outermost first: always `html`.
    scopes: Vec<Scope<'a>>,
    /// How much more work is done.
    work_left: usize,
    is_lost: bool,
    /// What is declared for the newest element, kept for its memory.
    declared: Vec<Declaration>,
}

/// An open element.
#[derive(Clone, Debug)]
pub(super) struct Element<'a> {
    pub(super) tag: Rc<Tag<'a>>,
    pub(super) style: Style,
    /// A bit for the name of the element, and of each one around it.
    names: u64,
}

/// The bit of a name. Several names have the same.
fn bit(name: &str) -> u64 {
    1 << (name.bytes().fold(0, |sum: u64, octet| (sum * 5 + u64::from(octet)) % 64))
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
    cut: Vec<Rc<Tag<'a>>>,
}

impl<'a> Tree<'a> {
    pub(super) fn of(sheet: Sheet, octets: usize) -> Self {
        let mut tree = Self {
            sheet,
            tags: HashMap::new(),
            open: Vec::new(),
            scopes: vec![Scope::default()],
            work_left: WORK_PER_OCTET * (octets + WORK_OCTETS_MIN),
            is_lost: false,
            declared: Vec::new(),
        };
        for name in ROOTS {
            tree.push_new(name);
        }
        tree
    }

    /// Whether it is not known any more what is in what. Then nothing more is found.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost || self.sheet.is_spent()
    }

    /// Whether all work is done that the HTML may ask for.
    pub(super) fn is_spent(&self) -> bool {
        self.sheet.is_spent() || self.work_left == 0
    }

    /// Hides all that follows where it is not known any more what is in what, if the element of this tag is not seen.
    pub(super) fn hide_within(&mut self, tag: Rc<Tag<'a>>) {
        if tag.kind != Kind::Void && !self.element(tag).style.is_seen() {
            self.hide_rest();
        }
    }

    fn hide_rest(&mut self) {
        self.is_lost = true;
        self.open.last_mut().into_iter().for_each(|last| last.style.is_hidden = true);
    }

    pub(super) fn style(&self) -> Style {
        let mut style = self.last().style;
        // Text in a table that is in no cell is moved before the table.
        if let Some(table) = self.scope().table.filter(|table| *table == self.scope().index) {
            style.is_hidden |= !style.is_seen_in(&self.open[table - 1].style);
        }
        style
    }

    /// The tag with this name in lower case and these attributes.
    pub(super) fn tag(&mut self, name: Cow<'a, str>, attributes: &'a str) -> Rc<Tag<'a>> {
        let key = (name, attributes);
        if let Some(tag) = self.tags.get(&key) {
            return Rc::clone(tag);
        }
        if self.tags.len() == TAGS_MAX {
            self.tags.clear();
        }
        let mut tag = Tag::read(key.0.clone(), attributes);
        tag.selectors = self.sheet.selectors(&tag);
        Rc::clone(self.tags.entry(key).or_insert(Rc::new(tag)))
    }

    /// The element that a tag opens in the innermost one.
    pub(super) fn element(&mut self, tag: Rc<Tag<'a>>) -> Element<'a> {
        self.work(ELEMENT_WORK + tag.style.len());
        let Self { sheet, open, declared, .. } = self;
        sheet.declared(&tag, open, declared);
        let (outer, names) = open.last().map(|last| (last.style, last.names)).unwrap_or_default();
        let mut style = outer.within(&tag, declared);
        style.is_hidden |= sheet.is_spent();
        Element { names: names | bit(&tag.name), tag, style }
    }

    pub(super) fn push(&mut self, element: Element<'a>) {
        let index = self.open.len();
        self.is_lost |= index >= DEPTH_MAX;
        let tag = &element.tag;
        let table = match tag.kind {
            Kind::Table => Some(Some(index)),
            Kind::Cell => self.scope().table.map(Some),
            // A part of a table ends the others, as it ends a cell.
            Kind::Unshown if tag.name != "template" => Some(self.scope().table),
            Kind::Unshown | Kind::Drawing => Some(None),
            _ => None,
        };
        self.scopes.extend(table.map(|table| Scope { index, table, cut: Vec::new() }));
        self.open.push(element);
    }

    fn push_new(&mut self, name: &'static str) {
        let tag = self.tag(name.into(), "");
        let element = self.element(tag);
        self.push(element);
    }

    fn scope(&self) -> &Scope<'a> {
        &self.scopes[self.scopes.len() - 1]
    }

    fn last(&self) -> &Element<'a> {
        &self.open[self.open.len() - 1]
    }

    /// The elements that go on at the next text.
    fn cut(&mut self) -> &mut Vec<Rc<Tag<'a>>> {
        let scope = self.scope();
        let at = self.scopes.len() - if scope.table == Some(scope.index) { 2 } else { 1 };
        &mut self.scopes[at].cut
    }

    /// Passes over the content of an element that is no markup. In a drawing it is.
    pub(super) fn pass_over(&mut self, content: &str) {
        self.is_lost |= self.is_in_drawing() && content.contains('<');
    }

    fn is_in_drawing(&self) -> bool {
        self.open[self.scope().index].tag.kind == Kind::Drawing
    }

    /// Ends and opens what a start tag ends and opens without a tag. Whether the tag counts.
    pub(super) fn begin(&mut self, tag: &Rc<Tag<'a>>) -> bool {
        let name = &*tag.name;
        if ROOTS.contains(&name) {
            self.restyle_root(tag);
            return false;
        }
        if self.is_in_drawing() && matches!(tag.kind, Kind::Inline | Kind::Void | Kind::Cell) && name != "span" {
            return false;
        }
        if matches!(name, "plaintext" | "frameset") {
            // What follows is no markup, or not shown at all.
            self.hide_rest();
        }
        match name {
            "table" if self.scope().table == Some(self.scope().index) => self.cut_off(self.scope().index),
            "li" | "dd" | "dt" => self.end_implied(name, |it| matches!(it, "p" | "div")),
            "a" => self.cut().retain(|tag| tag.name != name),
            _ => {}
        }
        if let Some(level) = tag.kind.level().filter(|level| *level > 0) {
            return self.begin_part(level);
        }
        if matches!(name, "caption" | "form" | "table") {
            // These do not always end a paragraph.
            self.position("p", false, |_| false);
        } else if tag.kind.is_block() {
            self.end_implied("p", |_| false);
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
            if self.open.get(table + at).is_none_or(|it| it.tag.kind.level() != Some(at)) {
                self.cut_off(table + at);
                self.push_new(implied);
            }
        }
        self.cut_off(table + level);
        true
    }

    /// Ends an element of this name that has no end tag, if it has only elements in it that may end so, too.
    fn end_implied(&mut self, name: &str, ends: fn(&str) -> bool) {
        let bounds = |open: &Tag<'_>| open.kind != Kind::Formatting && open.name != "span" && !ends(&open.name);
        if let Some(index) = self.position(name, true, bounds) {
            self.cut_off(index);
        }
    }

    /// Ends the open elements from `index` on.
    fn cut_off(&mut self, index: usize) {
        if index >= self.open.len() {
            return;
        }
        self.scopes.truncate(self.scopes.partition_point(|scope| scope.index < index));
        let has = |is: fn(Kind) -> bool| self.open[index..].iter().any(|element| is(element.tag.kind));
        // Which of them go on depends on what they are in.
        let is_unclear = has(Kind::is_unshown) && has(|kind| kind == Kind::Formatting);
        let ended =
            self.open.drain(index..).map(|element| element.tag).take_while(|tag| tag.kind != Kind::Cell).skip(1);
        let ended: Vec<_> = ended.filter(|tag| tag.kind == Kind::Formatting).collect();
        let cut = self.cut();
        for tag in ended {
            let is_alike = |it: &&Rc<Tag<'a>>| it.name == tag.name && it.attributes == tag.attributes;
            // Browsers too know up to three of each kind.
            if cut.iter().filter(is_alike).count() < 3 {
                cut.push(tag);
            }
        }
        self.is_lost |= self.cut().len() > CUT_MAX;
        if is_unclear {
            self.hide_rest();
        }
    }

    /// Begins again what was cut off with what it was in, as browsers do.
    pub(super) fn resume(&mut self) {
        for tag in std::mem::take(self.cut()) {
            let element = self.element(tag);
            self.push(element);
        }
    }

    /// Counts work. Nobody needs as much as there may be.
    fn work(&mut self, count: usize) {
        let left = self.work_left.checked_sub(count);
        self.is_lost |= left.is_none();
        self.work_left = left.unwrap_or_default();
    }

    /// Gives the attributes of a tag to the element that is open without it.
    fn restyle_root(&mut self, tag: &Rc<Tag<'a>>) {
        let index = usize::from(tag.name == "body");
        if self.open[index].tag.attributes.is_empty() && !tag.attributes.trim_ascii().is_empty() {
            self.open[index].tag = Rc::clone(tag);
            self.restyle(index);
        }
    }

    /// Finds out again how the open elements from `index` on look.
    fn restyle(&mut self, index: usize) {
        for Element { tag, .. } in self.open.split_off(index) {
            let element = self.element(tag);
            self.open.push(element);
        }
    }

    /// Ends the element that an end tag of this name ends.
    pub(super) fn close(&mut self, name: &str) {
        let kind = Kind::of(name);
        if let Some(level) = kind.level() {
            let index = self.scope().table.map(|table| table + level);
            let index = index.filter(|index| self.open.get(*index).is_some_and(|it| it.tag.name == name));
            self.cut_off(index.unwrap_or(usize::MAX));
            return;
        }
        // One that would have gone on.
        if let Some(at) = self.cut().iter().rposition(|tag| tag.name == name) {
            self.cut().remove(at);
            return;
        }
        let Some(index) = self.position(name, true, |open| bounds(name, kind, open)) else { return };
        if kind == Kind::Formatting && self.open[index..].iter().any(|element| element.tag.kind.is_block()) {
            // As in browsers, the blocks in it go on.
            self.open.remove(index);
            self.restyle(index);
        } else {
            self.cut_off(index);
        }
    }

    /// The innermost open element of this name in the scope, not beyond one that `is_bound`.
    fn position(&mut self, name: &str, is_certain: bool, is_bound: impl Fn(&Tag<'_>) -> bool) -> Option<usize> {
        let lowest = self.scope().index.max(ROOTS.len());
        self.open.last().filter(|last| last.names & bit(name) != 0)?;
        let mut is_certain = is_certain;
        for index in (lowest..self.open.len()).rev() {
            let found = &*self.open[index].tag;
            if found.name == name {
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

/// Whether a tag with these attributes ends with a slash that is not in a value.
pub(super) fn is_self_closed(attributes: &str) -> bool {
    let before = attributes.strip_suffix('/');
    before.is_some_and(|it| {
        it.is_empty() || it.ends_with(['"', '\'']) || it.ends_with(' ') && !it.trim_end().ends_with('=')
    })
}

/// Whether the end tag of an element does not end what is around an open element of another name.
fn bounds(name: &str, kind: Kind, open: &Tag<'_>) -> bool {
    let is_bound = match name {
        "li" => matches!(&*open.name, "ul" | "ol"),
        "form" => open.kind.is_block(),
        _ => kind != Kind::Formatting && !kind.is_block() && (open.kind.is_block() || open.name == "span"),
    };
    is_bound || matches!(&*open.name, "button" | "marquee")
}
