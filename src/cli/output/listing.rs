//! A list that is printed a page at a time, so that a long one needs memory for one page.

use serde::Serialize;
use serde_json::{Map, Value};

use super::columns::{Columns, ID_DIGITS_OF_PAGES};
use super::{Cell, Format, Row, Style, json_line, list, visible};
use crate::model::Timestamp;

/// A list of which some pages may have been printed.
#[derive(Debug)]
pub struct Listing {
    style: Style,
    /// The member of the JSON object that has the rows.
    member: &'static str,
    columns: Option<Columns>,
    is_begun: bool,
}

impl Listing {
    /// A list without any row yet. In JSON it is an object whose `member` has the rows.
    pub const fn new(style: Style, member: &'static str) -> Self {
        Self { style, member, columns: None, is_begun: false }
    }

    /// The text of the next rows.
    pub fn page<R: Row>(&mut self, rows: &[R], now: Timestamp) -> String {
        match self.style.of_list() {
            Format::Table => self.table(rows, now),
            Format::Json => rows.iter().map(|row| self.element(row)).collect(),
            // The other forms have a line per row, whatever stands before.
            _ => list(self.style, rows, &(), now),
        }
    }

    /// The text behind the last row; `members` are the other ones of the JSON object.
    pub fn end(mut self, members: &Map<String, Value>) -> String {
        if self.style.of_list() != Format::Json {
            return String::new();
        }
        let mut text = if self.is_begun { "\n  ]".to_owned() } else { self.beginning() + "]" };
        for (name, value) in members {
            text.push_str(",\n");
            let member = indented(&Map::from_iter([(name.clone(), value.clone())]), 0);
            text.push_str(member.trim_start_matches("{\n").trim_end_matches("\n}"));
        }
        text + "\n}\n"
    }

    fn table<R: Row>(&mut self, rows: &[R], now: Timestamp) -> String {
        let cells: Vec<Vec<Cell>> = rows.iter().map(Row::cells).collect();
        let mut text = String::new();
        let columns = match &self.columns {
            Some(columns) => columns,
            None if cells.is_empty() => return text,
            None => {
                let columns = Columns::of::<R>(self.style, &cells, ID_DIGITS_OF_PAGES, now);
                text = columns.heading::<R>(self.style, &cells);
                self.columns.insert(columns)
            }
        };
        text.extend(cells.iter().map(|row| columns.row(self.style, row, now)));
        text
    }

    fn element(&mut self, row: &impl Serialize) -> String {
        let before = if self.is_begun { ",\n".to_owned() } else { self.beginning() + "\n" };
        before + &indented(row, 4)
    }

    fn beginning(&mut self) -> String {
        self.is_begun = true;
        format!("{{\n  \"{}\": [", self.member)
    }
}

/// Indented JSON, every line behind so many blanks. No text in JSON has a line end of its own.
fn indented(value: &impl Serialize, blanks: usize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| json_line(&()));
    let blanks = " ".repeat(blanks);
    let lines: Vec<String> = visible::json(&text).lines().map(|line| format!("{blanks}{line}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct Line {
        id: String,
    }

    impl Row for Line {
        const HEADINGS: &'static [&'static str] = &["ID", "WORD"];

        fn cells(&self) -> Vec<Cell> {
            vec![Cell::Id(self.id.clone()), Cell::Text("word".to_owned())]
        }

        fn id(&self) -> String {
            self.id.clone()
        }
    }

    fn shown(style: Style, pages: &[usize]) -> String {
        let mut listing = Listing::new(style, "lines");
        let page = |of: &usize| -> Vec<Line> {
            (0..*of).map(|n| Line { id: format!("0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a{n:02x}") }).collect()
        };
        let mut text: String = pages.iter().map(|of| listing.page(&page(of), Timestamp::from_millis(0))).collect();
        text.push_str(&listing.end(json!({"total": 7, "next": null}).as_object().expect("object")));
        text
    }

    #[test]
    fn the_pages_of_a_list_are_one_json_text() {
        let style = Style { is_terminal: false, is_colored: false, width: None, format: Some(Format::Json) };
        for pages in [&[][..], &[0], &[1], &[2, 0, 1]] {
            let value: Value = serde_json::from_str(&shown(style, pages)).expect("JSON");
            assert_eq!(value["lines"].as_array().map(Vec::len), Some(pages.iter().sum()), "{value}");
            assert_eq!((&value["total"], &value["next"]), (&7.into(), &Value::Null));
        }
        assert_eq!(shown(style, &[0]), "{\n  \"lines\": [],\n  \"next\": null,\n  \"total\": 7\n}\n");
    }

    #[test]
    fn the_pages_of_a_table_have_one_heading() {
        let style = Style { is_terminal: true, is_colored: false, width: Some(80), format: None };
        assert_eq!(
            shown(style, &[1, 2]),
            "ID            WORD\n1c5d9e0f2a00  word\n1c5d9e0f2a00  word\n1c5d9e0f2a01  word\n"
        );
        assert_eq!(shown(style, &[0]), "");
    }
}
