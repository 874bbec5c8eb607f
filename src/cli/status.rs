//! `tempmail status`: the state of the service.

use serde_json::{Map, Value, json};

use super::Context;
use crate::client::Client;
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
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let client = cx.client().await?;
        if !client.is_administrator() {
            return public(cx, client).await;
        }
        let mut whole = client.status().await?;
        if self.all {
            // A service that cannot read its rows now still has a status.
            if let Ok(stats) = client.get::<Map<String, Value>>("/api/admin/stats", &[]).await
                && let Some(store) = whole["store"].as_object_mut()
            {
                store.extend(stats);
            }
            cx.document(&whole, &whole)?;
        } else {
            cx.document(&chosen(&whole), &whole)?;
        }
        if whole["acceptsMail"] == false {
            let cause = whole["cause"].as_str().map_or_else(String::new, |cause| format!(": {cause}"));
            return Err(Error::new(Exit::Unavailable, format!("the service accepts no mail now{cause}"))
                .hint("its log says more"));
        }
        Ok(())
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

async fn public(cx: &Context, client: &Client) -> Result<(), Error> {
    let is_ready = client.ready().await?;
    let active = client.get::<Vec<String>>("/api/domains/active", &[]).await?.len();
    let public = json!({ "domains": { "active": active }, "ready": is_ready, "server": client.transport().shown() });
    cx.document(&public, &public)?;
    if is_ready {
        cx.hint("the rest is the administrator's; see --token-file");
        return Ok(());
    }
    Err(Error::new(Exit::Unavailable, "the service is not ready").hint("its log says why"))
}
