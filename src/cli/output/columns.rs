//! The columns of a list on a terminal: which are shown, how wide they are, and how many digits of an id.

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::{Cell, Row, Style, visible};
use crate::model::Timestamp;

/// Columns of the terminal between two columns of a list.
const GAP: usize = 2;
/// What a column keeps when nothing else helps.
const WIDTH_MIN: usize = 3;
/// The digits of an id that a list shows at least.
pub(super) const ID_DIGITS: usize = 8;
/// Those in a list of several pages, whose later ids are not known yet: the last group of a UUID.
pub(super) const ID_DIGITS_OF_PAGES: usize = 12;

/// A step by which a list gives way where the terminal is too narrow. It is taken only as far as needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Narrow {
    /// The column is cut down to this width.
    Cut(usize, usize),
    /// The column is left out. A column with such a step is also left out while no row has a value for it.
    Omit(usize),
}

/// How the rows of a list are laid out.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// The width of each column; `None` for one that is left out.
    widths: Vec<Option<usize>>,
    id_digits: usize,
}

impl Columns {
    /// The columns that these rows need, with at least so many digits of an id.
    pub(super) fn of<R: Row>(style: Style, rows: &[Vec<Cell>], id_digits: usize, now: Timestamp) -> Self {
        // Where no person looks, an id is whole.
        let ids = rows.iter().flatten().filter_map(|cell| match cell {
            Cell::Id(id) => Some(id.as_str()),
            _ => None,
        });
        let id_digits = if style.is_terminal { digits_needed(ids, id_digits) } else { usize::MAX };
        let widest = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(|cell| shown(cell, id_digits, now).width()).max().unwrap_or(0);
            widest.max(R::HEADINGS[column].width())
        };
        let widths = (0..R::HEADINGS.len()).map(|column| Some(widest(column))).collect();
        let mut columns = Self { widths, id_digits };
        for step in R::NARROW {
            if let Narrow::Omit(column) = *step
                && rows.iter().filter_map(|row| row.get(column)).all(is_empty)
            {
                columns.widths[column] = None;
            }
        }
        if let Some(width) = style.width {
            columns.narrow(R::NARROW, width.into());
        }
        columns
    }

    fn narrow(&mut self, steps: &[Narrow], width: usize) {
        for step in steps {
            let excess = self.total().saturating_sub(width);
            if excess == 0 {
                return;
            }
            match *step {
                Narrow::Cut(column, least) => self.cut(column, excess, least),
                Narrow::Omit(column) => self.widths[column] = None,
            }
        }
        // Nothing is left but to cut the last columns, and at last to drop them.
        for column in (1..self.widths.len()).rev() {
            self.cut(column, self.total().saturating_sub(width), WIDTH_MIN);
        }
        for column in (1..self.widths.len()).rev() {
            if self.total() > width {
                self.widths[column] = None;
            }
        }
        self.cut(0, self.total().saturating_sub(width), WIDTH_MIN);
    }

    fn cut(&mut self, column: usize, excess: usize, least: usize) {
        if let Some(width) = &mut self.widths[column] {
            *width = (*width).min(least.max(width.saturating_sub(excess)));
        }
    }

    fn total(&self) -> usize {
        let shown = self.widths.iter().flatten();
        shown.clone().sum::<usize>() + GAP * shown.count().saturating_sub(1)
    }

    /// The line of the headings.
    pub(super) fn heading<R: Row>(&self, style: Style, rows: &[Vec<Cell>]) -> String {
        let is_number = |column: usize| {
            rows.first().and_then(|row| row.get(column)).is_some_and(|cell| matches!(cell, Cell::Number(_)))
        };
        let cells = R::HEADINGS.iter().enumerate();
        self.line(cells.map(|(column, heading)| (style.paint("1", "\0"), (*heading).to_owned(), is_number(column))))
    }

    /// The line of a row.
    pub(super) fn row(&self, style: Style, cells: &[Cell], now: Timestamp) -> String {
        self.line(cells.iter().map(|cell| {
            let paint = match cell {
                Cell::State(_, is_good) => style.paint(if *is_good { "32" } else { "31" }, "\0"),
                _ => "\0".to_owned(),
            };
            (paint, shown(cell, self.id_digits, now), matches!(cell, Cell::Number(_)))
        }))
    }

    /// Cells with what stands around their text (as `\0`), the text, and whether it is aligned to the right.
    fn line(&self, cells: impl Iterator<Item = (String, String, bool)>) -> String {
        let mut line = String::new();
        for (width, (paint, text, is_right)) in self.widths.iter().zip(cells) {
            let Some(width) = *width else { continue };
            if !line.is_empty() {
                line.push_str(&" ".repeat(GAP));
            }
            let text = fitted(&text, width);
            let blanks = " ".repeat(width.saturating_sub(text.width()));
            let text = paint.replace('\0', &text);
            line.push_str(&if is_right { blanks + &text } else { text + &blanks });
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

fn is_empty(cell: &Cell) -> bool {
    match cell {
        Cell::Text(text) | Cell::State(text, _) | Cell::Id(text) => text.is_empty(),
        Cell::Time(at) => at.is_none(),
        Cell::Number(_) => false,
    }
}

fn shown(cell: &Cell, id_digits: usize, now: Timestamp) -> String {
    match cell {
        Cell::Id(id) => end_of_id(id, id_digits),
        cell => cell.in_table(now),
    }
}

/// `text` in `width` columns of the terminal; the end of a longer one is `…`.
fn fitted(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (mut fitted, mut used) = (String::new(), 1);
    for grapheme in text.graphemes(true) {
        used += grapheme.width();
        if used > width {
            break;
        }
        fitted.push_str(grapheme);
    }
    fitted.truncate(fitted.trim_end().len());
    fitted.push('…');
    fitted
}

/// The digits of an id without its hyphens; `None` for what is no id of hexadecimal digits.
fn digits(id: &str) -> Option<String> {
    let digits = id.replace('-', "");
    (digits.len() >= ID_DIGITS && digits.bytes().all(|octet| octet.is_ascii_hexdigit())).then_some(digits)
}

/// The ends of ids that tell them apart, as a list of them shows them.
pub fn short_ids<'i>(ids: impl Iterator<Item = &'i str> + Clone) -> Vec<String> {
    let count = digits_needed(ids.clone(), ID_DIGITS);
    ids.map(|id| end_of_id(id, count)).collect()
}

fn end_of_id(id: &str, count: usize) -> String {
    match digits(id) {
        Some(digits) if count < digits.len() => digits[digits.len() - count..].to_owned(),
        _ => visible::line(id).into_owned(),
    }
}

/// How many digits at their ends tell these ids apart.
///
/// The end, since an id of a mail begins with its time: the ids of a minute begin alike.
fn digits_needed<'i>(ids: impl Iterator<Item = &'i str>, least: usize) -> usize {
    // Sorted by their ends, each has the most in common with a neighbour.
    let ends: BTreeSet<Vec<u8>> = ids.filter_map(digits).map(|digits| digits.bytes().rev().collect()).collect();
    let common = ends.iter().zip(ends.iter().skip(1));
    let common = common.map(|(one, other)| one.iter().zip(other).take_while(|(a, b)| a == b).count());
    common.max().map_or(least, |common| least.max(common + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_its_width() {
        for (text, width, cut) in [
            ("plain", 5, "plain"),
            ("plain text", 7, "plain…"),
            ("漢字かな交じり文 です", 10, "漢字かな…"),
            ("漢字", 3, "漢…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} family", 4, "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}…"),
        ] {
            assert_eq!(fitted(text, width), cut);
            assert!(cut.width() <= width, "{cut}");
        }
    }

    #[test]
    fn an_id_shows_as_many_digits_as_tell_it_apart() {
        let one = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b";
        assert_eq!(digits_needed([one, one].into_iter(), 8), 8);
        assert_eq!(digits_needed([one, "0190b6a5-7c3e-7d2f-8a4b-1c5e9e0f2a3b"].into_iter(), 8), 9);
        assert_eq!(digits_needed([one, "0190b6a5-7c3e-7d2f-8a4a-1c5d9e0f2a3b"].into_iter(), 8), 13);
        let two = [one, "0190b6a5-7c3e-7d2f-8a4b-1c5e9e0f2a3b"];
        assert_eq!(short_ids(two.into_iter()), ["d9e0f2a3b", "e9e0f2a3b"]);
        assert_eq!(end_of_id(one, 8), "9e0f2a3b");
        assert_eq!(end_of_id(one, 13), "b1c5d9e0f2a3b");
        assert_eq!(end_of_id("odd\u{1b}", 8), "odd␛");
    }
}
