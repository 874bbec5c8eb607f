//! Tables of results, with one line per row.

use super::columns::{Columns, ID_DIGITS};
use super::{Cell, Row, Style};
use crate::model::Timestamp;

/// A table with a heading; nothing at all for no rows.
pub(super) fn render<R: Row>(style: Style, rows: &[R], now: Timestamp) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let cells: Vec<Vec<Cell>> = rows.iter().map(Row::cells).collect();
    let columns = Columns::of::<R>(style, &cells, ID_DIGITS, now);
    let mut text = columns.heading::<R>(style, &cells);
    text.extend(cells.iter().map(|row| columns.row(style, row, now)));
    text
}
