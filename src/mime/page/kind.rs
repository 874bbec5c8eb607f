//! What is known of elements by their names.

/// The kind of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    Table,
    /// A part of a table, with rows in it.
    Section,
    Row,
    Cell,
    /// With an empty line before and after it.
    Paragraph,
    /// Another element with line breaks before and after it.
    Block,
    /// It goes on in the next element if what it is in ends before it.
    Formatting,
    /// Without content and without an end tag, or none that matters.
    Void,
    /// It has a language of its own for what is in it.
    Drawing,
    /// Browsers show what is in it to nobody, or only in place of what they can't show.
    Unshown,
    #[default]
    Inline,
}

impl Kind {
    /// The kind of an element with this name in lower case.
    #[rustfmt::skip]
    pub(super) fn of(name: &str) -> Self {
        match name {
            "td" | "th" => Self::Cell,
            "tr" => Self::Row,
            "table" => Self::Table,
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => Self::Paragraph,
            "a" | "b" | "big" | "code" | "em" | "font" | "i" | "nobr" | "s" | "small" | "strike" | "strong" | "tt"
                | "u" => Self::Formatting,
            "br" | "img" | "hr" | "area" | "base" | "col" | "embed" | "head" | "input" | "link" | "meta" | "param" | "source"
                | "track" | "wbr" => Self::Void,
            "div" | "address" | "article" | "aside" | "blockquote" | "body" | "caption" | "center" | "dd" | "details" | "dialog"
                | "dl" | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "header" | "html" | "li" | "main"
                | "nav" | "ol" | "pre" | "section" | "summary" | "ul" => Self::Block,
            "tbody" | "thead" | "tfoot" => Self::Section,
            "math" | "svg" => Self::Drawing,
            "applet" | "audio" | "canvas" | "meter" | "object" | "progress" | "select" | "template" | "video" => {
                Self::Unshown
            }
            _ => Self::Inline,
        }
    }

    /// Whether an element has line breaks before and after it.
    pub(super) fn is_block(self) -> bool {
        matches!(self, Self::Table | Self::Section | Self::Row | Self::Paragraph | Self::Block)
    }

    /// Whether nothing in an element is shown, whatever styles say.
    pub(super) fn is_unshown(self) -> bool {
        matches!(self, Self::Drawing | Self::Unshown)
    }

    /// How deep a part of a table is in it.
    pub(super) fn level(self) -> Option<usize> {
        match self {
            Self::Table => Some(0),
            Self::Section => Some(1),
            Self::Row => Some(2),
            Self::Cell => Some(3),
            _ => None,
        }
    }
}
