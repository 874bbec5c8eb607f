//! How results are shown: a table on a terminal, tab-separated lines in a pipe, JSON, or ids alone.

mod column;
mod document;
pub mod pager;
mod progress;
mod table;
pub mod time;
pub mod visible;

use std::borrow::Cow;

use clap::ValueEnum;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::model::Timestamp;

pub use column::{Column, Kind, short_id};
pub use document::document;
pub use progress::{Bar, Spinner};

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// The answer of the HTTP interface on one line, with the values that were sent; of several answers one object.
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

    /// Whether what is shown is chosen for the reader: JSON has everything.
    pub fn is_chosen(self) -> bool {
        !matches!(self.of_list(), Format::Json | Format::Ndjson)
    }

    /// `text` in an SGR attribute, if colours are on.
    pub fn paint(self, sgr: &str, text: &str) -> String {
        if self.is_colored { format!("\u{1b}[{sgr}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// A list in the form of `style`; `whole` is what JSON shows.
pub fn list(style: Style, columns: &[Column], rows: &[Value], whole: &Value, now: Timestamp) -> String {
    match style.of_list() {
        Format::Table => table::render(style, columns, rows, now),
        Format::Json => json(whole),
        _ => lines(style, columns, rows),
    }
}

/// Rows in a form that has a line for each, whatever stands before.
pub fn lines(style: Style, columns: &[Column], rows: &[Value]) -> String {
    let line = |row: &Value| match style.of_list() {
        Format::Json | Format::Ndjson => json(row),
        Format::Id => Column::naming(columns).in_tsv(row) + "\n",
        Format::Table | Format::Tsv => {
            let fields: Vec<String> = columns.iter().map(|column| column.in_tsv(row)).collect();
            fields.join("\t") + "\n"
        }
    };
    rows.iter().map(line).collect()
}

/// A value as one line of JSON. Characters that would steer a terminal are `\u` escapes.
pub fn json(value: &Value) -> String {
    visible::json(&value.to_string()) + "\n"
}

/// A line cut to the columns that fit, with an ellipsis where it is longer.
pub fn cut(line: &str, width: Option<u16>) -> Cow<'_, str> {
    let room = width.map_or(usize::MAX, usize::from);
    if line.width() <= room {
        return line.into();
    }
    let ends = line.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|end| line[..*end].width() < room).last().unwrap_or(0);
    format!("{}…", line[..end].trim_end()).into()
}

/// A value as text: nothing for null, and the items of a list with this between them.
fn plain(value: &Value, between: &str) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(|item| plain(item, between)).collect::<Vec<_>>().join(between),
        value => value.to_string(),
    }
}

/// A number of mails in words.
pub(super) fn mails(count: u64) -> String {
    if count == 1 { "1 mail".to_owned() } else { format!("{count} mails") }
}
