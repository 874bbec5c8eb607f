//! `tempmail status`: the state of the service.

use serde_json::{Map, Value, json};

use super::Context;
use super::output::{self, Format};
use crate::client::{Client, Transport};
use crate::error::{Error, Exit};

/// The fields that are always shown.
const FIELDS: [&str; 11] = [
    "acceptsMail",
    "version",
    "startedAt",
    "smtpListen",
    "httpListen",
    "dataDir",
    "retentionSeconds",
    "maxMessageOctets",
    "domains.active",
    "store.emails",
    "store.mailboxes",
];
/// Those that are shown where they say something: no zero, no empty list, no null and no false.
const FIELDS_IF_ANY: [&str; 15] = [
    "store.diskOctets",
    "cause",
    "smtpsListen",
    "lmtpListen",
    "httpsListen",
    "metricsListen",
    "mxHosts",
    "tls.notAfter",
    "tls.isExpired",
    "tls.fault",
    "domains.deactivated",
    "cluster.keyspace",
    "cluster.livingNodes",
    "cluster.leads",
    "panics",
];

/// Show where the service listens, what it keeps and its limits
///
/// Exit code 6 if no daemon runs or it does not accept mail now. JSON has every field too, except what only a reading of all
/// rows of mail tells.
/// Through --server without a token only what is public: whether it is ready, and how many domains are active.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail status
  tempmail status --all
  tempmail status --quiet > /dev/null || echo 'it does not receive mail'
  tempmail status --json | jq '.store.emails'
  tempmail status --server https://mail.example.org")]
pub(super) struct Status {
    /// Every field, with the counters of SMTP and of the store; reads all rows of mail
    #[arg(long)]
    all: bool,
}

impl Status {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        if !client.is_administrator() {
            return public(cx, client).await;
        }
        let mut status = client.status().await?;
        // A service that cannot read its rows now still has a status.
        if self.all
            && let Ok(stats) = client.store_stats().await
        {
            status.store.extend(stats);
        }
        let whole = json!(status);
        let is_whole = self.all || matches!(cx.style.of_list(), Format::Json | Format::Ndjson);
        let mut shown = if is_whole { whole } else { chosen(&whole) };
        if let (Transport::InProcess(_), Some(fields)) = (client.transport(), shown.as_object_mut()) {
            // The store would take mail, but nobody listens.
            fields.insert("acceptsMail".to_owned(), false.into());
        }
        cx.print(output::document(cx.style, &shown, cx.now()))?;
        if let Transport::InProcess(local) = client.transport() {
            return Err(Error::new(Exit::Unavailable, format!("no daemon runs on {}", local.shown))
                .hint("start `tempmail serve` to receive mail"));
        }
        match (status.accepts_mail, status.cause) {
            (Some(false), cause) => {
                let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
                Err(Error::new(Exit::Unavailable, format!("the service accepts no mail now{cause}"))
                    .hint("its log says more"))
            }
            _ => Ok(Exit::Ok),
        }
    }
}

/// The fields that matter, by their names with dots.
fn chosen(whole: &Value) -> Value {
    let field = |name: &&'static str| Some((*name, name.split('.').try_fold(whole, |value, part| value.get(part))?));
    let has_value = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        value => *value != json!(0),
    };
    let always = FIELDS.iter().filter_map(field);
    let if_any = FIELDS_IF_ANY.iter().filter_map(field).filter(|(_, value)| has_value(value));
    let chosen: Map<String, Value> =
        always.chain(if_any).map(|(name, value)| (name.to_owned(), value.clone())).collect();
    Value::Object(chosen)
}

async fn public(cx: &Context, client: &Client) -> Result<Exit, Error> {
    let is_ready = client.ready().await?;
    let active = client.active_domains().await?.len();
    let status = json!({ "server": client.transport().shown(), "ready": is_ready, "domains": { "active": active } });
    cx.print(output::document(cx.style, &status, cx.now()))?;
    if is_ready {
        cx.hint("the rest is the administrator's; see --token-file");
        return Ok(Exit::Ok);
    }
    Err(Error::new(Exit::Unavailable, "the service is not ready").hint("its log says why"))
}
