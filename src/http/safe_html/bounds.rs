//! Whether HTML can be sanitised with little time and memory.
//!
//! A parser of HTML copies elements that were not closed, so a short text can become a huge tree. It also compares each
//! attribute of an element with all others. So the text is parsed once into nothing, and the nodes are counted.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{ByteTendril, StrTendril, TendrilSink};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, local_name, ns, parse_fragment};

/// The most elements and comments. Long newsletters have some thousands.
pub(super) const NODES_MAX: usize = 20_000;
/// The deepest nesting of elements. Browsers stop at about 500.
pub(super) const DEPTH_MAX: usize = 256;
/// The most attributes of one element.
pub(super) const ATTRIBUTES_MAX: usize = 100;
/// The most octets in the attributes of all elements.
const ATTRIBUTE_OCTETS_MAX: usize = 2 * 1024 * 1024;
/// How many octets are parsed between two looks at the counts and the clock.
const PIECE_OCTETS: usize = 128;

/// Whether the tree of `html` is within the bounds, and was parsed before `is_late` was true.
pub(super) fn permit(html: &str, is_late: impl Fn() -> bool) -> bool {
    let context = QualName::new(None, ns!(html), local_name!("div"));
    let counts = Rc::<Counts>::default();
    // As ammonia parses it, so that its tree has as many nodes.
    let parser = parse_fragment(Counter(Rc::clone(&counts)), ParseOpts::default(), context, Vec::new(), false);
    let mut parser = parser.from_utf8();
    for piece in html.as_bytes().chunks(PIECE_OCTETS) {
        if is_late() || counts.are_exceeded() {
            return false;
        }
        parser.process(ByteTendril::from_slice(piece));
    }
    parser.finish();
    !is_late() && !counts.are_exceeded()
}

#[derive(Debug, Default)]
struct Counts {
    nodes: Cell<usize>,
    attribute_octets: Cell<usize>,
    attributes_max: Cell<usize>,
    depth_max: Cell<usize>,
}

impl Counts {
    fn are_exceeded(&self) -> bool {
        self.nodes.get() > NODES_MAX
            || self.attribute_octets.get() > ATTRIBUTE_OCTETS_MAX
            || self.attributes_max.get() > ATTRIBUTES_MAX
            || self.depth_max.get() > DEPTH_MAX
    }

    fn add(&self, attributes: &[Attribute]) {
        let octets: usize = attributes.iter().map(|it| it.name.local.len() + it.value.len()).sum();
        self.nodes.update(|nodes| nodes + 1);
        self.attribute_octets.update(|sum| sum + octets);
        self.attributes_max.update(|max| max.max(attributes.len()));
    }
}

/// A tree that keeps only the counts.
#[derive(Debug)]
struct Counter(Rc<Counts>);

#[derive(Debug)]
struct Node {
    name: QualName,
    /// How many elements it is in. Too small for one that the parser moved deeper, which the counts of nodes bound.
    depth: Cell<usize>,
}

impl Counter {
    fn node(&self, attributes: &[Attribute], name: QualName) -> Rc<Node> {
        self.0.add(attributes);
        Rc::new(Node { name, depth: Cell::new(0) })
    }

    fn nameless(&self) -> Rc<Node> {
        self.node(&[], QualName::new(None, ns!(), local_name!("")))
    }

    fn place(&self, child: &NodeOrText<Rc<Node>>, depth: usize) {
        if let NodeOrText::AppendNode(node) = child {
            node.depth.set(depth);
            self.0.depth_max.update(|max| max.max(depth));
        }
    }
}

impl TreeSink for Counter {
    type Handle = Rc<Node>;
    type Output = ();
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) {}

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Rc<Node> {
        self.nameless()
    }

    fn elem_name<'a>(&'a self, target: &'a Rc<Node>) -> ExpandedName<'a> {
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Rc<Node> {
        self.node(&attributes, name)
    }

    fn create_comment(&self, _: StrTendril) -> Rc<Node> {
        self.nameless()
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Rc<Node> {
        self.nameless()
    }

    fn append(&self, parent: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        // The element that holds the whole text is not of the text.
        let is_root = parent.name.local.is_empty();
        self.place(&child, if is_root { 0 } else { parent.depth.get() + 1 });
    }

    fn append_based_on_parent_node(&self, element: &Rc<Node>, _: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.place(&child, element.depth.get());
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Rc<Node>) -> Rc<Node> {
        Rc::clone(target)
    }

    fn same_node(&self, one: &Rc<Node>, other: &Rc<Node>) -> bool {
        Rc::ptr_eq(one, other)
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.place(&child, sibling.depth.get());
    }

    fn add_attrs_if_missing(&self, _: &Rc<Node>, attributes: Vec<Attribute>) {
        self.0.add(&attributes);
    }

    fn remove_from_parent(&self, _: &Rc<Node>) {}

    fn reparent_children(&self, _: &Rc<Node>, _: &Rc<Node>) {}
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn copies_of_elements_that_were_not_closed_count() {
        let mut html = String::from("<p>");
        for number in 0..200 {
            let _ = write!(html, "<b a{number}>");
        }
        assert!(permit(&html, || false));
        html.push_str(&"<p>x".repeat(100));
        assert!(!permit(&html, || false), "each paragraph has a copy of 200 elements");
    }

    #[test]
    fn values_that_are_copied_count() {
        let open = format!("<p><b title={}>", "x".repeat(10_000));
        assert!(permit(&open, || false));
        assert!(!permit(&format!("{open}{}", "<p>x".repeat(1_000)), || false));
    }

    #[test]
    fn a_nesting_is_measured_before_anything_is_built() {
        for open in ["<div>", "<select><option>", "<table><tr><td>", "<svg><g>"] {
            let permitted = DEPTH_MAX / open.matches('<').count();
            assert!(permit(&open.repeat(permitted / 2), || false), "{open}");
        }
        assert!(permit(&"<p>x</p><br><i>y</i>".repeat(DEPTH_MAX), || false));
        assert!(permit(&"<div>".repeat(DEPTH_MAX), || false));
        assert!(!permit(&"<div>".repeat(DEPTH_MAX + 1), || false));
        assert!(!permit(&"<table><tr><td>".repeat(DEPTH_MAX / 2), || false));
    }

    #[test]
    fn the_time_ends_the_count() {
        let looks = Cell::new(0);
        let is_late = || {
            looks.update(|looks| looks + 1);
            looks.get() > 3
        };
        assert!(!permit(&"<p>".repeat(10_000), is_late));
        assert_eq!(looks.get(), 4);
    }
}
