//! One result with named fields, such as a status.

use std::time::Duration;

use serde_json::Value;

use super::{Cell, Format, Style, time};
use crate::model::Timestamp;

/// The fields of an answer that is one thing, by their own names, those of inner objects after a dot.
pub fn document(style: Style, whole: &Value, now: Timestamp) -> String {
    match style.of_list() {
        Format::Json => return super::json(whole),
        Format::Ndjson => return super::json_line(whole),
        Format::Table | Format::Tsv | Format::Id => {}
    }
    let is_for_people = style.of_list() == Format::Table;
    let mut fields = Vec::new();
    flatten("", whole, &mut fields);
    let pairs: Vec<(&str, Cell)> =
        fields.iter().map(|(name, value)| (name.as_str(), cell(name, value, is_for_people))).collect();
    super::pairs(style, &pairs, now)
}

fn flatten(prefix: &str, value: &Value, fields: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&name, member, fields);
            }
        }
        leaf => fields.push((prefix.to_owned(), leaf.clone())),
    }
}

fn is_octets(name: &str) -> bool {
    name == "octets" || name.ends_with("Octets")
}

/// People get lengths of time and sizes in their units, programs the plain numbers.
fn cell(name: &str, value: &Value, is_for_people: bool) -> Cell {
    match value {
        Value::Number(number) => match number.as_u64() {
            Some(seconds) if is_for_people && name.ends_with("Seconds") => {
                Cell::Text(time::duration(Duration::from_secs(seconds)))
            }
            Some(octets) if is_for_people && is_octets(name) => Cell::Text(time::size(octets)),
            Some(number) => Cell::Number(number),
            None => Cell::Text(number.to_string()),
        },
        Value::String(text) if ["At", "oldest", "newest"].iter().any(|end| name.ends_with(end)) => {
            Cell::Time(Some(text.clone()))
        }
        Value::String(text) => Cell::Text(text.clone()),
        Value::Array(items) => {
            let items: Vec<String> =
                items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect();
            Cell::Text(items.join(" "))
        }
        Value::Null => Cell::Time(None),
        other => Cell::Text(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn people_get_units_and_programs_numbers() {
        let status = json!({
            "retentionSeconds": 7200, "startedAt": null, "smtpListen": ["127.0.0.1:2525", "[::1]:2525"],
            "store": {"liveOctets": 2048, "emails": 3},
        });
        let style = |is_terminal| Style { is_terminal, is_colored: false, width: None, format: None };
        let now = Timestamp::from_millis(0);
        assert_eq!(
            document(style(true), &status, now),
            "retentionSeconds  2 h\nsmtpListen        127.0.0.1:2525 [::1]:2525\nstartedAt         -\n\
             store.emails      3\nstore.liveOctets  2 KB\n"
        );
        assert_eq!(
            document(style(false), &status, now),
            "retentionSeconds\t7200\nsmtpListen\t127.0.0.1:2525 [::1]:2525\nstartedAt\t\nstore.emails\t3\nstore.liveOctets\t2048\n"
        );
    }
}
