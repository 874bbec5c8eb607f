//! Tables: of results with one line per row, of text with as many lines as it needs.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

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

/// A table of text in `width` columns, the first row as its heading; nothing at all for no rows.
pub fn of_text(mut rows: Vec<Vec<String>>, width: u16) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let heading = rows.remove(0);
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).force_no_tty().set_header(heading).add_rows(rows);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    // Names stand in the first column: they stay whole where that leaves room for the rest.
    let longest = table.column_max_content_widths().first().copied().unwrap_or(0);
    if let Some(column) = table.column_mut(0) {
        column.set_constraint(if longest <= width * 2 / 5 {
            ColumnConstraint::ContentWidth
        } else {
            ColumnConstraint::Absolute(Width::Fixed(width * 2 / 5))
        });
    }
    table.trim_fmt() + "\n"
}
