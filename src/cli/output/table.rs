//! Tables that fit the terminal: of results with one line per row, of text with as many lines as it needs.

use comfy_table::{
    Attribute, Cell as TableCell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Row as TableRow, Table,
    Width, presets,
};

use super::{Cell, Row, Style};
use crate::model::Timestamp;

/// A table with a heading; nothing at all for no rows.
pub(super) fn render<R: Row>(style: Style, rows: &[R], now: Timestamp) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(R::HEADINGS.iter().map(|heading| paint(style, heading)));
    if style.is_colored {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    for row in rows {
        let mut cells = TableRow::from(row.cells().iter().map(|cell| shown(style, cell, now)).collect::<Vec<_>>());
        cells.max_height(1);
        table.add_row(cells);
    }
    match style.width {
        Some(width) => {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            constrain::<R>(&mut table, width);
        }
        None => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    let last = R::HEADINGS.len().saturating_sub(1);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index == last { 0 } else { 2 }));
    }
    table.trim_fmt() + "\n"
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

/// The key column keeps its content, as long as a third of the terminal is left for the rest.
fn constrain<R: Row>(table: &mut Table, width: u16) {
    let widest = table.column_max_content_widths().get(R::KEY).copied().unwrap_or(0);
    let constraint = if widest <= width - width / 3 {
        ColumnConstraint::ContentWidth
    } else {
        ColumnConstraint::UpperBoundary(Width::Fixed(width - width / 3))
    };
    if let Some(column) = table.column_mut(R::KEY) {
        column.set_constraint(constraint);
    }
}

fn paint(style: Style, heading: &str) -> TableCell {
    let cell = TableCell::new(heading);
    if style.is_colored { cell.add_attribute(Attribute::Bold) } else { cell }
}

fn shown(style: Style, cell: &Cell, now: Timestamp) -> TableCell {
    let shown = TableCell::new(cell.in_table(now));
    match cell {
        Cell::Number(_) => shown.set_alignment(CellAlignment::Right),
        Cell::State(_, is_good) if style.is_colored => shown.fg(if *is_good { Color::Green } else { Color::Red }),
        _ => shown,
    }
}
