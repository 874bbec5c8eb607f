//! Settings of several values: one text for clap, a list for the program.

use crate::value::ValueError;

/// What precedes each value of a list in the one text that it becomes; commas stay what they are. No source may have it.
pub(super) const MARK: char = '\u{1f}';

/// Several values as one text.
pub(super) fn joined(values: &[String]) -> String {
    values.iter().flat_map(|value| [MARK.to_string(), value.clone()]).collect()
}

/// The values of [`joined`].
pub(super) fn values(text: &str) -> impl Iterator<Item = &str> {
    text.split(MARK).skip(1)
}

/// The same text, or none where `none` is the only value: for settings whose default is not empty.
pub(super) fn unless_none(text: &str) -> &str {
    if values(text).eq(["none"]) { "" } else { text }
}

/// Reads any number of values, each kept once.
pub(super) fn list<T: PartialEq>(
    item: impl Fn(&str) -> Result<T, ValueError> + Clone,
) -> impl Fn(&str) -> Result<Vec<T>, ValueError> + Clone {
    move |text| {
        let mut all = Vec::new();
        for value in values(text) {
            let parsed = item(value)?;
            if !all.contains(&parsed) {
                all.push(parsed);
            }
        }
        Ok(all)
    }
}

/// Reads any number of values, each kept once; `none` alone is none of them.
pub(super) fn list_or_none<T: PartialEq>(
    item: impl Fn(&str) -> Result<T, ValueError> + Clone,
) -> impl Fn(&str) -> Result<Vec<T>, ValueError> + Clone {
    let list = list(item);
    move |text| list(unless_none(text))
}
