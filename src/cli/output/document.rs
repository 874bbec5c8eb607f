//! One result with named fields, such as a status.

use std::time::Duration;

use serde_json::Value;

use super::{Format, Style, json, plain, time, visible};
use crate::model::Timestamp;

/// The room that most values need.
const VALUE_WIDTH: u16 = 20;

/// The fields of an answer that is one thing, by their own names, those of inner objects after a dot: aligned for people,
/// tab-separated for programs. `-o id` shows the first value alone. `whole` is what JSON shows.
pub fn document(style: Style, shown: &Value, whole: &Value, now: Timestamp) -> String {
    let format = style.of_list();
    let mut fields = Vec::new();
    flatten("", shown, &mut fields);
    let widest = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    // Values stand below each other, unless a long name leaves them too little room.
    let width = widest.min(style.width.map_or(usize::MAX, |columns| usize::from(columns.saturating_sub(VALUE_WIDTH))));
    let line = |(name, value): &(String, &Value)| match format {
        Format::Table => {
            format!("{}  {}\n", style.paint("1", &format!("{name:width$}")), for_people(name, value, now))
        }
        _ => format!("{name}\t{}\n", for_programs(name, value)),
    };
    match format {
        Format::Json | Format::Ndjson => json(whole),
        Format::Table | Format::Tsv => fields.iter().map(line).collect(),
        Format::Id => fields.first().map_or_else(String::new, |(name, value)| for_programs(name, value) + "\n"),
    }
}

fn flatten<'v>(prefix: &str, value: &'v Value, fields: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&name, member, fields);
            }
        }
        leaf => fields.push((prefix.to_owned(), leaf)),
    }
}

/// People get lengths of time and sizes in their units, and times as a distance from now.
fn for_people(name: &str, value: &Value, now: Timestamp) -> String {
    match (value, value.as_u64()) {
        (Value::Null, _) => "-".to_owned(),
        (Value::String(text), _) if is_time(name) => time::distance(text, now),
        (_, Some(seconds)) if name.ends_with("Seconds") => time::duration(Duration::from_secs(seconds)),
        (_, Some(octets)) if name == "octets" || name.ends_with("Octets") => time::size(octets),
        _ => visible::line(&plain(value, " ")).into_owned(),
    }
}

fn for_programs(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) if is_time(name) => time::rfc3339(text),
        value => visible::field(&plain(value, " ")),
    }
}

fn is_time(name: &str) -> bool {
    ["At", "oldest", "newest", "notAfter"].iter().any(|end| name.ends_with(end))
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
        let document = |style| document(style, &status, &status, Timestamp::from_millis(0));
        assert_eq!(
            document(style(true)),
            "retentionSeconds  2 h\nstartedAt         -\nsmtpListen        127.0.0.1:2525 [::1]:2525\n\
             store.liveOctets  2 KB\nstore.emails      3\n"
        );
        let narrow = document(Style { width: Some(20), ..style(true) });
        assert!(narrow.starts_with("retentionSeconds  2 h\nstartedAt  -\n"), "{narrow}");
        assert_eq!(
            document(style(false)),
            "retentionSeconds\t7200\nstartedAt\t\nsmtpListen\t127.0.0.1:2525 [::1]:2525\nstore.liveOctets\t2048\nstore.emails\t3\n"
        );
    }
}
