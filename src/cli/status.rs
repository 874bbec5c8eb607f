//! `tempmail status`: what the service is and how it does.

use std::time::Duration;

use serde_json::{Value, json};

use super::Context;
use super::output::{self, Cell, Format, Style, time};
use crate::client::{Client, Transport};
use crate::error::{Error, Exit};
use crate::model::Timestamp;

/// Show where the service listens, what it keeps and its limits
///
/// Through --server without a token only what is public: whether it is ready, and how many domains are active.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail status
  tempmail status --json | jq '.store.emails'
  tempmail status --server https://mail.example.org")]
pub(super) struct Status {}

impl Status {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        if !client.is_administrator() {
            return public(cx, client).await;
        }
        let status = client.status().await?;
        if matches!(client.transport(), Transport::InProcess(_)) {
            cx.hint("no daemon runs; start `tempmail serve` to receive mail");
        }
        cx.print(shown(cx.style, &json!(status), cx.now()))?;
        Ok(Exit::Ok)
    }
}

async fn public(cx: &Context, client: &Client) -> Result<Exit, Error> {
    let is_ready = client.ready().await?;
    let active = client.active_domains().await?.len();
    let status = json!({ "server": client.transport().shown(), "ready": is_ready, "domains": { "active": active } });
    cx.print(shown(cx.style, &status, cx.now()))?;
    if is_ready {
        cx.hint("the rest is the administrator's; see --token-file");
        return Ok(Exit::Ok);
    }
    Err(Error::new(Exit::Unavailable, "the service is not ready").hint("its log says why"))
}

/// The fields of the answer, by their own names, those of inner objects after a dot.
fn shown(style: Style, status: &Value, now: Timestamp) -> String {
    match style.of_list() {
        Format::Json => return output::json(status),
        Format::Ndjson => return output::json_line(status),
        Format::Table | Format::Tsv | Format::Id => {}
    }
    let is_for_people = style.of_list() == Format::Table;
    let mut fields = Vec::new();
    flatten("", status, &mut fields);
    let pairs: Vec<(&str, Cell)> =
        fields.iter().map(|(name, value)| (name.as_str(), cell(name, value, is_for_people))).collect();
    output::pairs(style, &pairs, now)
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

/// People get lengths of time and sizes in their units, programs the plain numbers.
fn cell(name: &str, value: &Value, is_for_people: bool) -> Cell {
    match value {
        Value::Number(number) => match number.as_u64() {
            Some(seconds) if is_for_people && name.ends_with("Seconds") => {
                Cell::Text(time::duration(Duration::from_secs(seconds)))
            }
            Some(octets) if is_for_people && name.ends_with("Octets") => Cell::Text(time::size(octets)),
            Some(number) => Cell::Number(number),
            None => Cell::Text(number.to_string()),
        },
        Value::String(text) if name.ends_with("At") => Cell::Time(Some(text.clone())),
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
            shown(style(true), &status, now),
            "retentionSeconds  2 h\nsmtpListen        127.0.0.1:2525 [::1]:2525\nstartedAt         -\n\
             store.emails      3\nstore.liveOctets  2 KB\n"
        );
        assert_eq!(
            shown(style(false), &status, now),
            "retentionSeconds\t7200\nsmtpListen\t127.0.0.1:2525 [::1]:2525\nstartedAt\t\nstore.emails\t3\nstore.liveOctets\t2048\n"
        );
    }
}
