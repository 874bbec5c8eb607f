//! Tables on a terminal, with one line per row where no column is broken.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Table};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::Style;
use super::column::{Column, GAP, Kind};
use crate::model::Timestamp;

/// Text keeps as much room as this, or the column is left out.
const TEXT_WIDTH_MIN: usize = 18;
/// What stands around a state. These characters have no width, and none of them is left in text from outside.
const GOOD: char = '\u{2061}';
const BAD: char = '\u{2062}';
const DOUBTFUL: char = '\u{206a}';
const END: char = '\u{2063}';
/// A character that no text has: but for prose a cell is broken or cut anywhere.
const NEVER: char = '\u{2064}';

/// A table with a heading; nothing at all for no rows.
pub(super) fn render(style: Style, columns: &[Column], rows: &[Value], now: Timestamp) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let (columns, is_tight) = chosen(style, columns, rows, now);
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_truncation_indicator("…").set_delimiter(NEVER);
    if let Some(width) = style.width {
        table.set_width(width).set_content_arrangement(ContentArrangement::Dynamic);
    }
    let is_broken = columns.iter().any(|column| matches!(column.kind, Kind::Prose | Kind::Whole));
    let line = |cells: Vec<String>| {
        let mut row = Row::from(cells);
        if !is_broken {
            row.max_height(1);
        }
        row
    };
    table.set_header(line(columns.iter().map(|column| column.heading.to_owned()).collect()));
    for row in rows {
        table.add_row(line(columns.iter().map(|column| cell(column, row, style, now)).collect()));
    }
    for (index, (of_table, column)) in table.column_iter_mut().zip(&columns).enumerate() {
        of_table.set_padding((0, if index + 1 < columns.len() { GAP } else { 0 }));
        if column.kind == Kind::Number {
            of_table.set_cell_alignment(CellAlignment::Right);
        }
        if column.kind == Kind::Prose {
            of_table.set_delimiter(' ');
        }
        match (column.kind, column.width) {
            (Kind::Text, Some(width @ ColumnConstraint::Absolute(_))) => of_table.set_constraint(width),
            (Kind::Text, Some(width)) if is_tight => of_table.set_constraint(width),
            (Kind::Text | Kind::Prose | Kind::Whole, _) => of_table,
            _ => of_table.set_constraint(ColumnConstraint::ContentWidth),
        };
    }
    let mut lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines[0] = style.paint("1", &lines[0]);
    let text = lines.join("\n") + "\n";
    text.replace(GOOD, "\u{1b}[32m")
        .replace(BAD, "\u{1b}[31m")
        .replace(DOUBTFUL, "\u{1b}[33m")
        .replace(END, "\u{1b}[0m")
}

/// The columns that the terminal has room for, and whether some text is longer than its room.
fn chosen(style: Style, columns: &[Column], rows: &[Value], now: Timestamp) -> (Vec<Column>, bool) {
    let widest = |column: &Column| {
        let widths = rows.iter().map(|row| column.in_table(row, style, now).width());
        widths.max().unwrap_or(0).max(column.heading.width())
    };
    let least = |(column, widest): &(Column, usize)| match column.kind {
        Kind::Text | Kind::Prose | Kind::Whole => (*widest).min(TEXT_WIDTH_MIN),
        _ => *widest,
    };
    let has_value = |column: &&Column| column.rank == 0 || rows.iter().any(|row| column.has_value(row));
    let mut chosen: Vec<(Column, usize)> =
        columns.iter().filter(has_value).map(|column| (*column, widest(column))).collect();
    let room = style.width.map_or(usize::MAX, |width| usize::from(width + GAP));
    let gap = usize::from(GAP);
    while chosen.iter().map(|column| least(column) + gap).sum::<usize>() > room {
        let highest = chosen.iter().map(|(column, _)| column.rank).max().filter(|rank| *rank > 0);
        let Some(index) = chosen.iter().rposition(|(column, _)| Some(column.rank) == highest) else { break };
        chosen.remove(index);
    }
    let is_tight = chosen.iter().map(|(_, widest)| widest + gap).sum::<usize>() > room;
    (chosen.into_iter().map(|(column, _)| column).collect(), is_tight)
}

fn cell(column: &Column, row: &Value, style: Style, now: Timestamp) -> String {
    let text = column.in_table(row, style, now);
    if style.is_colored && column.kind == Kind::State {
        let begin = match column.is_good(row) {
            Some(true) => GOOD,
            Some(false) => BAD,
            None => DOUBTFUL,
        };
        return format!("{begin}{text}{END}");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Format, lines, list};
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
    const PIPE: Style = Style { is_terminal: false, is_colored: false, width: None, format: None };
    const TERMINAL: Style = Style { is_terminal: true, is_colored: false, width: Some(80), format: None };
    const COLUMNS: [Column; 4] = [
        Kind::Id.column("ID", "id"),
        Kind::Time.column("RECEIVED", "receivedAt").rank(1),
        Kind::State.column("STATUS", "status").rank(2),
        Kind::Text.column("SUBJECT", "subject"),
    ];

    fn rows(subject: &str) -> [Value; 2] {
        let id = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b";
        [
            json!({"id": id, "status": "active", "receivedAt": "2023-11-14 22:10:00", "subject": subject}),
            json!({"id": "b", "status": "disabled", "receivedAt": null, "subject": ""}),
        ]
    }

    fn shown(style: Style, subject: &str) -> String {
        list(style, &COLUMNS, &rows(subject), &json!(rows(subject)), NOW)
    }

    #[test]
    fn a_pipe_gets_tab_separated_lines() {
        let id = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b";
        let expected = format!("{id}\t2023-11-14T22:10:00Z\tactive\ta b  c\nb\t\tdisabled\t\n");
        assert_eq!(shown(PIPE, "a\tb\r\nc"), expected);
        assert_eq!(lines(TERMINAL, &COLUMNS, &rows("a\tb\r\nc")), expected);
    }

    #[test]
    fn a_terminal_gets_a_table_that_fits_it() {
        let subject = "a very long subject that goes on and on, far beyond the right edge of the terminal";
        for width in [20, 40, 60, 80, 200] {
            let table = shown(Style { width: Some(width), ..TERMINAL }, subject);
            let widest = table.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
            assert!(widest <= usize::from(width), "{width}:\n{table}");
            assert_eq!(table.lines().count(), 3, "{table}");
            assert!(table.starts_with("ID"), "{table}");
        }
        let table = shown(TERMINAL, subject);
        assert!(table.contains("9e0f2a3b  3 min ago  active    a very long subject"), "{table}");
        assert!(table.lines().any(|line| line.ends_with('…') && line.chars().count() > 75), "{table}");
        let narrow = shown(Style { width: Some(20), ..TERMINAL }, subject);
        assert_eq!(narrow, "ID        SUBJECT\n9e0f2a3b  a very lo…\nb\n");
    }

    #[test]
    fn text_is_cut_by_its_width() {
        let style = Style { width: Some(10), ..TERMINAL };
        for (text, cut) in [
            ("plain", "plain"),
            ("漢字かな交じり文 です", "漢字かな…"),
            (
                "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}",
                "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}…",
            ),
        ] {
            let table = list(style, &[Kind::Text.column("T", "t")], &[json!({"t": text})], &Value::Null, NOW);
            assert_eq!(table.lines().nth(1), Some(cut));
        }
    }

    #[test]
    fn sentences_go_on_below_their_beginning() {
        let columns = [Kind::Text.column("A", "a"), Kind::Prose.column("FOUND", "found")];
        for found in ["one two three four five", "漢字漢字漢字 漢字漢字漢字"] {
            let within = |width| {
                let row = json!({"a": "x", "found": found});
                list(Style { width, ..TERMINAL }, &columns, &[row], &Value::Null, NOW)
            };
            assert_eq!(within(None), format!("A  FOUND\nx  {found}\n"));
            let table = within(Some(24));
            assert!(table.lines().all(|line| line.width() <= 24), "{table}");
            let lines: Vec<&str> = table.lines().collect();
            assert!(lines.len() == 3 && lines[2].starts_with("   "), "{table}");
            let words: Vec<&str> = table.split_whitespace().skip(3).collect();
            assert_eq!(words.join(" "), found);
        }
    }

    #[test]
    fn a_table_shows_control_characters_and_never_emits_them() {
        let table = shown(TERMINAL, "\u{1b}[2J\r\nx\u{2063}");
        assert!(table.contains("␛[2J␍␊x<U+2063>"), "{table}");
        assert!(!table.contains('\u{1b}'));
    }

    #[test]
    fn colours_are_used_when_asked_for() {
        let colored = shown(Style { is_colored: true, ..TERMINAL }, "s");
        assert!(colored.contains("\u{1b}[32mactive\u{1b}[0m    s\n"), "{colored:?}");
        assert!(colored.contains("\u{1b}[31mdisabled\u{1b}[0m"), "{colored:?}");
        assert!(!shown(TERMINAL, "s").contains('\u{1b}'));
    }

    #[test]
    fn an_empty_list_prints_nothing_but_json() {
        for format in [Format::Table, Format::Tsv, Format::Ndjson, Format::Id] {
            assert_eq!(list(Style { format: Some(format), ..PIPE }, &COLUMNS, &[], &json!([]), NOW), "", "{format:?}");
        }
        let style = Style { format: Some(Format::Json), ..PIPE };
        assert_eq!(list(style, &COLUMNS, &[], &json!([]), NOW), "[]\n");
    }

    #[test]
    fn each_form_shows_the_same_rows() {
        let of = |format| shown(Style { format: Some(format), ..PIPE }, "s\u{9b}");
        assert_eq!(of(Format::Id), "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b\nb\n");
        assert_eq!(of(Format::Ndjson).lines().count(), 2);
        assert!(of(Format::Ndjson).contains(r#""receivedAt":"2023-11-14 22:10:00","subject":"s\u009b""#));
        let json: Value = serde_json::from_str(&of(Format::Json)).expect("json");
        assert_eq!(json[1]["id"], "b");
    }
}
