//! The Markdown of our guides as text for a terminal.

use std::mem;

use html2text::render::RichAnnotation;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

use super::output::table;

/// `text` laid out for `width` columns, with tables drawn and, if `is_colored`, headings and code marked.
pub(super) fn to_text(text: &str, width: u16, is_colored: bool) -> String {
    let mut tables = Tables { width, ..Tables::default() };
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).flat_map(|event| tables.laid_out(event));
    let mut document = String::new();
    html::push_html(&mut document, events);
    let paint = |tags: &[RichAnnotation], text: &str| if is_colored { painted(tags, text) } else { text.to_owned() };
    let layout = html2text::config::rich().allow_width_overflow();
    // HTML of our own that can't be laid out is shown as it was written.
    layout.coloured(document.as_bytes(), usize::from(width), paint).unwrap_or_else(|_| text.to_owned())
}

/// Replaces each table by preformatted text; html2text breaks the names in narrow columns.
#[derive(Default)]
struct Tables {
    width: u16,
    is_inside: bool,
    rows: Vec<Vec<String>>,
}

impl Tables {
    fn laid_out<'t>(&mut self, event: Event<'t>) -> Vec<Event<'t>> {
        match event {
            Event::Start(Tag::Table(_)) => self.is_inside = true,
            Event::End(TagEnd::Table) => {
                self.is_inside = false;
                let table = table::of_text(mem::take(&mut self.rows), self.width);
                return vec![raw("<pre>"), Event::Text(table.into()), raw("</pre>\n")];
            }
            Event::Start(Tag::TableHead | Tag::TableRow) => self.rows.push(Vec::new()),
            Event::Start(Tag::TableCell) => {
                if let Some(row) = self.rows.last_mut() {
                    row.push(String::new());
                }
            }
            Event::Text(text) | Event::Code(text) if self.is_inside => {
                if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) {
                    cell.push_str(&text);
                }
            }
            // A heading is strong, so that it stands out from text.
            Event::Start(Tag::Heading { .. }) => return vec![event, raw("<strong>")],
            Event::End(TagEnd::Heading(_)) => return vec![raw("</strong>"), event],
            event if !self.is_inside => return vec![event],
            _ => {}
        }
        Vec::new()
    }
}

fn raw(html: &'static str) -> Event<'static> {
    Event::InlineHtml(CowStr::Borrowed(html))
}

fn painted(tags: &[RichAnnotation], text: &str) -> String {
    let sgr = tags.iter().rev().find_map(|tag| match tag {
        RichAnnotation::Strong => Some("1"),
        RichAnnotation::Emphasis => Some("3"),
        RichAnnotation::Link(_) => Some("4"),
        RichAnnotation::Code => Some("36"),
        _ => None,
    });
    sgr.map_or_else(|| text.to_owned(), |sgr| format!("\u{1b}[{sgr}m{text}\u{1b}[0m"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = "# Mail\n\nRead `inbox`, **then** [more](http.md).\n\n| Code | Meaning |\n|---|---|\n| `2` | wrong |\n\n```sh\ntempmail  inbox\n```\n";

    #[test]
    fn headings_tables_and_code_are_laid_out_without_colours() {
        let text = to_text(GUIDE, 40, false);
        assert!(!text.contains('\u{1b}') && !text.contains("|---") && !text.contains("```"), "{text}");
        assert!(text.lines().any(|line| line == "Read inbox, then more."), "{text}");
        assert!(text.lines().any(|line| line.trim().starts_with("2 ") && line.contains("wrong")), "{text}");
        assert!(text.lines().any(|line| line.trim() == "tempmail  inbox"), "{text}");
    }

    #[test]
    fn colours_mark_headings_and_code() {
        let text = to_text(GUIDE, 40, true);
        assert!(text.contains("\u{1b}[1mMail\u{1b}[0m"), "{text}");
        assert!(text.contains("\u{1b}[36minbox\u{1b}[0m"), "{text}");
    }
}
