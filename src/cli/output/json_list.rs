//! A list in JSON that is printed a page at a time, so that a long one needs memory for one page.

use serde_json::Value;

use super::json;

/// A JSON object whose first member is a list, of which some rows may have been printed.
#[derive(Debug)]
pub struct JsonList {
    /// The member that has the rows.
    member: &'static str,
    is_begun: bool,
}

impl JsonList {
    /// A list without any row yet.
    pub const fn new(member: &'static str) -> Self {
        Self { member, is_begun: false }
    }

    /// The text of the next rows.
    pub fn rows(&mut self, rows: &[Value]) -> String {
        rows.iter().map(|row| self.row(row)).collect()
    }

    /// The text behind the last row, with the other members.
    pub fn end(self, members: &Value) -> String {
        let end = if self.is_begun { "\n  ]".to_owned() } else { self.beginning() + "]" };
        let whole = json(members);
        match whole.strip_prefix('{') {
            Some(members) if members.starts_with('\n') => format!("{end},{members}"),
            _ => end + "\n}\n",
        }
    }

    fn row(&mut self, row: &Value) -> String {
        let mut text = if self.is_begun { ",".to_owned() } else { self.beginning() };
        self.is_begun = true;
        // No text in JSON has a line end of its own.
        for line in json(row).lines() {
            text.push_str("\n    ");
            text.push_str(line);
        }
        text
    }

    fn beginning(&self) -> String {
        format!("{{\n  \"{}\": [", self.member)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_pages_of_a_list_are_one_json_text() {
        for members in [json!({}), json!({"total": 7, "next": null})] {
            for pages in [&[][..], &[0], &[1], &[2, 0, 1]] {
                let mut list = JsonList::new("lines");
                let page = |of: &usize| -> Vec<Value> { (0..*of).map(|n| json!({"n": n, "texts": ["a"]})).collect() };
                let mut text: String = pages.iter().map(|of| list.rows(&page(of))).collect();
                text.push_str(&list.end(&members));
                let rows: Vec<Value> = pages.iter().flat_map(page).collect();
                let mut whole = json!({ "lines": rows });
                whole.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
                assert_eq!(text, super::json(&whole));
            }
        }
    }
}
