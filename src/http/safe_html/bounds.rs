//! Whether HTML can be sanitised with little time and memory.
//!
//! A parser of HTML copies elements that were not closed, so a short text can become a huge tree. It also compares each
//! attribute of an element with all others, and what writes the tree is slow with characters that need an escape. So the
//! text is parsed once into nothing, and what the tree would have is counted.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{ByteTendril, StrTendril, TendrilSink};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, local_name, ns, parse_fragment};
use rustix::time::{ClockId, clock_gettime};

/// The most elements and comments. Long newsletters have some thousands.
pub(super) const NODES_MAX: usize = 20_000;
/// The deepest nesting of elements. Browsers stop at about 500.
pub(super) const DEPTH_MAX: usize = 256;
/// The most attributes of one element.
pub(super) const ATTRIBUTES_MAX: usize = 100;
/// The most octets in all text and attributes.
const OCTETS_MAX: usize = 2 * 1024 * 1024;
/// The most characters that may need an escape, times those octets: each such character can cost a look at all octets after
/// it. It takes less than 0.3 s.
const ESCAPE_COST_MAX: usize = 4_000_000_000;
/// How long the parsing may take, in the time of the processor. A busy machine must not change a page.
const WITHIN: Duration = Duration::from_millis(250);
/// How many octets are parsed between two looks at the counts and the clock.
const PIECE_OCTETS: usize = 128;

/// Whether the tree of `html` is within the bounds, and was parsed in time.
pub(super) fn permit(html: &str) -> bool {
    let begun = processor_time();
    let context = QualName::new(None, ns!(html), local_name!("div"));
    // As ammonia parses it, so that its tree has as many nodes.
    let mut parser = parse_fragment(Counter::default(), ParseOpts::default(), context, Vec::new(), false).from_utf8();
    for piece in html.as_bytes().chunks(PIECE_OCTETS) {
        parser.process(ByteTendril::from_slice(piece));
        // An element with many attributes takes long before it can be counted.
        let is_late = processor_time().saturating_sub(begun) > WITHIN;
        if is_late || parser.inner_sink.tokenizer.sink.sink.is_exceeded() {
            return false;
        }
    }
    parser.finish()
}

/// The time that this thread has had on a processor.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// A tree that keeps only its counts. Its output is whether they are within the bounds.
#[derive(Debug, Default)]
struct Counter {
    nodes: Cell<usize>,
    octets: Cell<usize>,
    escapes: Cell<usize>,
    /// Whether an element has too many attributes or is nested too deep.
    has_excess: Cell<bool>,
}

#[derive(Debug)]
struct Node {
    name: QualName,
    /// How many elements it is in. Too small for one that the parser moved deeper, which the counts of nodes bound.
    depth: Cell<usize>,
}

impl Counter {
    fn is_exceeded(&self) -> bool {
        self.has_excess.get()
            || self.nodes.get() > NODES_MAX
            || self.octets.get() > OCTETS_MAX
            || self.escapes.get().saturating_mul(self.octets.get()) > ESCAPE_COST_MAX
    }

    fn node(&self, name: QualName, attributes: &[Attribute]) -> Rc<Node> {
        self.nodes.update(|nodes| nodes + 1);
        self.has_excess.update(|excess| excess || attributes.len() > ATTRIBUTES_MAX);
        for Attribute { name, value } in attributes {
            self.octets.update(|octets| octets + name.local.len());
            self.add(value);
        }
        Rc::new(Node { name, depth: Cell::default() })
    }

    fn nameless(&self) -> Rc<Node> {
        self.node(QualName::new(None, ns!(), local_name!("")), &[])
    }

    /// Counts text. Singly looked at when it is written are `&` and what begins like a no-break space.
    fn add(&self, text: &str) {
        let escapes = text.bytes().filter(|octet| matches!(octet, b'&' | 0xC2)).count();
        self.octets.update(|octets| octets + text.len());
        self.escapes.update(|sum| sum + escapes);
    }

    fn place(&self, child: &NodeOrText<Rc<Node>>, depth: usize) {
        match child {
            NodeOrText::AppendText(text) => self.add(text),
            NodeOrText::AppendNode(node) => {
                node.depth.set(depth);
                self.has_excess.update(|excess| excess || depth > DEPTH_MAX);
            }
        }
    }
}

impl TreeSink for Counter {
    type Handle = Rc<Node>;
    type Output = bool;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> bool {
        !self.is_exceeded()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Rc<Node> {
        self.nameless()
    }

    fn elem_name<'a>(&'a self, target: &'a Rc<Node>) -> ExpandedName<'a> {
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Rc<Node> {
        self.node(name, &attributes)
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
        for attribute in attributes {
            self.add(&attribute.value);
        }
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
        assert!(permit(&html));
        html.push_str(&"<p>x".repeat(100));
        assert!(!permit(&html), "each paragraph has a copy of 200 elements");
    }

    #[test]
    fn values_that_are_copied_count() {
        let open = format!("<p><b title={}>", "x".repeat(10_000));
        assert!(permit(&open));
        assert!(!permit(&format!("{open}{}", "<p>x".repeat(1_000))));
    }

    #[test]
    fn a_nesting_is_measured_before_anything_is_built() {
        for open in ["<div>", "<select><option>", "<table><tr><td>", "<svg><g>"] {
            let permitted = DEPTH_MAX / open.matches('<').count();
            assert!(permit(&open.repeat(permitted / 2)), "{open}");
        }
        assert!(permit(&"<p>x</p><br><i>y</i>".repeat(DEPTH_MAX)));
        assert!(permit(&"<div>".repeat(DEPTH_MAX)));
        assert!(!permit(&"<div>".repeat(DEPTH_MAX + 1)));
        assert!(!permit(&"<table><tr><td>".repeat(DEPTH_MAX / 2)));
    }

    #[test]
    fn characters_that_are_written_slowly_count_with_the_text_around_them() {
        for piece in ["&", "&amp;", "\u{a0}", "\u{a3}", "<b title='&'>x</b>"] {
            assert!(!permit(&piece.repeat(400_000 / piece.len())), "{piece}");
            assert!(permit(&piece.repeat(40_000 / piece.len())), "{piece}");
        }
        assert!(permit(&format!("{}{}", "&nbsp;".repeat(4_000), "<p>word </p>".repeat(19_000))));
    }

    #[test]
    fn the_time_ends_the_count() {
        let html = (0..100_000).fold("<p".to_owned(), |html, number| html + &format!(" a{number}"));
        let begun = processor_time();
        assert!(!permit(&html));
        assert!(processor_time() < begun + Duration::from_secs(5), "one element takes a minute to be read");
    }
}
