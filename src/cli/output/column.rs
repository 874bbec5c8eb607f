//! The columns of a list: which member of a row each shows, and how.

use std::time::Duration;

use comfy_table::{ColumnConstraint, Width};
use serde_json::Value;

use super::{Style, plain, time, visible};
use crate::model::Timestamp;

/// Columns of the terminal between two columns of a table.
pub(super) const GAP: u16 = 2;
/// The digits of an id that a table shows.
const ID_DIGITS: usize = 8;
/// Words of a state that is as it should be.
const GOOD: [&str; 3] = ["active", "ok", "delivered"];

/// The word of a state that may be as it should be.
const DOUBTFUL: &str = "warning";

/// What a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text from outside, which a narrow table cuts.
    Text,
    /// Sentences, which a narrow table breaks at blanks.
    Prose,
    /// Text that says nothing if it is cut. A narrow table breaks it anywhere.
    Whole,
    /// An id, by which `-o id` names the row. A table on a terminal shows its end.
    Id,
    /// A number, aligned to the right in a table.
    Number,
    /// A number of seconds; in a table with their unit.
    Length,
    /// A time in the interface's form; in a table its distance from now.
    Time,
    /// A word that says good or bad.
    State,
    /// The words for yes and no.
    Flag(&'static str, &'static str),
}

/// A column of a list.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub(super) heading: &'static str,
    /// The member of a row.
    field: &'static str,
    pub(super) kind: Kind,
    /// Where a table is too narrow, the column with the highest rank goes first. One with rank 0 stays. Those with a rank are
    /// left out where no row has a value.
    pub(super) rank: u8,
    pub(super) width: Option<ColumnConstraint>,
}

impl Kind {
    /// The column with this heading, which shows a member of each row.
    pub const fn column(self, heading: &'static str, field: &'static str) -> Column {
        Column { heading, field, kind: self, rank: 0, width: None }
    }
}

impl Column {
    /// The column goes before those with a lower rank where a table is too narrow.
    #[must_use]
    pub const fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// The column takes at most this part of a table's width.
    #[must_use]
    pub const fn percent(self, most: u16) -> Self {
        Self { width: Some(ColumnConstraint::UpperBoundary(Width::Percentage(most))), ..self }
    }

    /// The column takes this width, whatever it has.
    #[must_use]
    pub const fn exactly(self, width: u16) -> Self {
        Self { width: Some(ColumnConstraint::Absolute(Width::Fixed(width + GAP))), ..self }
    }

    /// The column that names a row: the one with its id, else the first.
    pub(super) fn naming(columns: &[Self]) -> &Self {
        columns.iter().find(|column| column.kind == Kind::Id).unwrap_or(&columns[0])
    }

    /// The value in a tab-separated line.
    pub(super) fn in_tsv(&self, row: &Value) -> String {
        let text = self.plain(row);
        if self.kind == Kind::Time { time::rfc3339(&text) } else { visible::field(&text) }
    }

    /// The value in a table.
    pub(super) fn in_table(&self, row: &Value, style: Style, now: Timestamp) -> String {
        let text = self.plain(row);
        match self.kind {
            Kind::Time if text.is_empty() => "-".to_owned(),
            Kind::Time => time::distance(&text, now),
            Kind::Length => text.parse().map(Duration::from_secs).map(time::duration).unwrap_or_default(),
            // Where no person looks, an id is whole.
            Kind::Id if style.is_terminal => short_id(&text),
            _ => visible::line(&text).into_owned(),
        }
    }

    /// Whether a row has a value.
    pub(super) fn has_value(&self, row: &Value) -> bool {
        !self.plain(row).is_empty()
    }

    /// Whether the word of a row says good; `None` between good and bad.
    pub(super) fn is_good(&self, row: &Value) -> Option<bool> {
        let word = self.plain(row);
        (word != DOUBTFUL).then(|| GOOD.contains(&word.as_str()))
    }

    fn plain(&self, row: &Value) -> String {
        match (&row[self.field], self.kind) {
            (Value::Bool(value), Kind::Flag(yes, no)) => if *value { yes } else { no }.to_owned(),
            (value, _) => plain(value, ","),
        }
    }
}

/// The end of an id, as a table shows it. The end, since an id of a mail begins with its time: the ids of a minute begin alike.
pub fn short_id(id: &str) -> String {
    let digits = id.replace('-', "");
    if digits.len() >= ID_DIGITS && digits.bytes().all(|octet| octet.is_ascii_hexdigit()) {
        digits[digits.len() - ID_DIGITS..].to_owned()
    } else {
        visible::line(id).into_owned()
    }
}
