//! How results are shown: a table on a terminal, tab-separated lines in a pipe, JSON, or ids alone.

mod columns;
mod document;
mod hidden;
mod listing;
pub mod pager;
mod paragraph;
mod progress;
mod table;
pub mod time;
pub mod visible;

use std::fmt::Write as _;

use clap::ValueEnum;
use serde::Serialize;

use crate::model::Timestamp;

pub use columns::{Narrow, short_ids};
pub use document::document;
pub use listing::Listing;
pub use paragraph::hanging;
pub use progress::{Bar, Spinner};

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// The answer of the HTTP interface, indented.
    Json,
    /// One JSON object per line.
    Ndjson,
    /// Tab-separated lines without a header, times in RFC 3339, tabs and line ends of a value as blanks.
    Tsv,
    /// Ids or names alone, one per line.
    Id,
}

/// What standard output is, and how it is to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether the output goes to a terminal.
    pub is_terminal: bool,
    /// Whether to colour.
    pub is_colored: bool,
    /// Columns that fit; `None`: no bound.
    pub width: Option<u16>,
    /// The form that the user asked for.
    pub format: Option<Format>,
}

impl Style {
    /// The form in effect for a list.
    pub fn of_list(self) -> Format {
        self.format.unwrap_or(if self.is_terminal { Format::Table } else { Format::Tsv })
    }

    /// The form in effect for a single thing shown to people: piped, too, unless another is asked for.
    pub fn of_document(self) -> Format {
        self.format.unwrap_or(Format::Table)
    }

    /// `text` in an SGR attribute, if colours are on.
    pub fn paint(self, sgr: &str, text: &str) -> String {
        if self.is_colored { format!("\u{1b}[{sgr}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// One value in a line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Text from outside.
    Text(String),
    /// An id; a table shows its end.
    Id(String),
    /// A number, aligned to the right in a table.
    Number(u64),
    /// A time in the interface's form; in a table its distance from now.
    Time(Option<String>),
    /// A word that says good or bad.
    State(String, bool),
}

impl Cell {
    /// The value in a tab-separated line.
    pub fn in_tsv(&self) -> String {
        match self {
            Self::Text(text) | Self::Id(text) | Self::State(text, _) => visible::field(text),
            Self::Number(number) => number.to_string(),
            Self::Time(at) => at.as_deref().map(time::rfc3339).unwrap_or_default(),
        }
    }

    /// The value in a table.
    pub fn in_table(&self, now: Timestamp) -> String {
        match self {
            Self::Text(text) | Self::Id(text) | Self::State(text, _) => visible::line(text).into_owned(),
            Self::Number(number) => number.to_string(),
            Self::Time(at) => at.as_deref().map_or_else(|| "-".to_owned(), |at| time::distance(at, now)),
        }
    }
}

/// Something that is a line of a list.
pub trait Row: Serialize {
    /// The headings of a table, in the order of [`Row::cells`].
    const HEADINGS: &'static [&'static str];

    /// How a table gives way where the terminal is too narrow, in this order.
    const NARROW: &'static [Narrow] = &[];

    /// The values.
    fn cells(&self) -> Vec<Cell>;

    /// What identifies it.
    fn id(&self) -> String;
}

/// A list in the form of `style`; `whole` is what `--json` shows.
pub fn list<R: Row>(style: Style, rows: &[R], whole: &impl Serialize, now: Timestamp) -> String {
    match style.of_list() {
        Format::Table => table::render(style, rows, now),
        Format::Json => json(whole),
        Format::Ndjson => rows.iter().map(json_line).collect(),
        Format::Tsv => rows.iter().map(tsv_line).collect(),
        Format::Id => rows.iter().map(|row| visible::field(&row.id()) + "\n").collect(),
    }
}

/// A value as indented JSON with a final line end.
pub fn json(value: &impl Serialize) -> String {
    // The values are made of strings, numbers and maps with string keys, which always serialize.
    visible::json(&serde_json::to_string_pretty(value).unwrap_or_default()) + "\n"
}

/// A value as one line of JSON.
pub fn json_line(value: &impl Serialize) -> String {
    visible::json(&serde_json::to_string(value).unwrap_or_default()) + "\n"
}

fn tsv_line<R: Row>(row: &R) -> String {
    let fields: Vec<String> = row.cells().iter().map(Cell::in_tsv).collect();
    fields.join("\t") + "\n"
}

/// Names and values, one pair per line: aligned for people, tab-separated otherwise.
pub fn pairs(style: Style, pairs: &[(&str, Cell)], now: Timestamp) -> String {
    let mut out = String::new();
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, cell) in pairs {
        let line = if style.of_list() == Format::Table {
            let label = style.paint("1", &format!("{name:width$}"));
            writeln!(out, "{label}  {}", cell.in_table(now))
        } else {
            writeln!(out, "{name}\t{}", cell.in_tsv())
        };
        // Writing to a String does not fail.
        let _ = line;
    }
    out
}

/// A number of mails in words.
pub(super) fn mails(count: u64) -> String {
    if count == 1 { "1 mail".to_owned() } else { format!("{count} mails") }
}

#[cfg(test)]
mod tests;
