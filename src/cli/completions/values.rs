//! Values that only the service knows.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::globals::Globals;
use super::super::ids::{self, IdOrPart};
use super::super::output::short_id;
use super::candidate::Candidate;
use super::cursor::Wanted;
use super::kind::Kind;
use crate::client::{
    ALL_MAIL, BRIEF, Client, ClientError, Destination, List, MAIL, MAILBOXES, Query, WEBHOOKS, running,
};
use crate::error::Error;
use crate::model::{Address, WebhookId};

/// The most mails or addresses that are offered, the newest.
const NEWEST_MAX: u64 = 50;

/// The values of these kinds. A kind that cannot be listed has none.
///
/// Asks a service that runs and opens no store. What only an administrator may list is asked of a service that takes the
/// caller for one.
pub(super) async fn look_up(wanted: &Wanted, env: &BTreeMap<String, String>) -> Vec<Candidate> {
    let mut found = Vec::new();
    let Ok(Some(client)) = client(wanted, env) else { return found };
    for kind in &wanted.kinds {
        found.extend(of_service(*kind, &client, wanted).await.unwrap_or_default());
    }
    found
}

/// The client of the service that the flags before the cursor and the environment name, if it runs.
fn client(wanted: &Wanted, env: &BTreeMap<String, String>) -> Result<Option<Client>, Error> {
    let text = |flag: &str| wanted.flag(flag).map(str::to_owned);
    let globals = Globals {
        server: text("server"),
        token_file: wanted.flag("token-file").map(Into::into),
        data_dir: wanted.flag("data-dir").map(Into::into),
        config: wanted.flag("config").map(Into::into),
        ..Globals::default()
    };
    let target = globals.target(env)?;
    // A token that anybody could read on its way is for a command that warns of it.
    if matches!(&target, Destination::Server(server, access) if access.token.is_some() && server.is_exposed()) {
        return Ok(None);
    }
    Ok(running(&target)?.map(Client::new))
}

async fn of_service(kind: Kind, client: &Client, wanted: &Wanted) -> Result<Vec<Candidate>, Error> {
    Ok(match kind {
        Kind::Address => addresses(client, &wanted.typed).await?,
        Kind::Domain => domains(client).await?,
        Kind::Mail => mails(client, wanted).await?,
        Kind::Event => events(client, wanted).await?,
        Kind::Webhook if client.is_administrator() => webhooks(client, &wanted.typed).await?,
        _ => Vec::new(),
    })
}

/// The addresses that got mail last, and what is typed before an `@` at each active domain.
async fn addresses(client: &Client, typed: &str) -> Result<Vec<Candidate>, ClientError> {
    let mut found = Vec::new();
    if client.is_administrator() {
        let mailboxes = newest(client, MAILBOXES, Vec::new()).await?;
        found.extend(mailboxes.iter().map(|mailbox| {
            let mails = if mailbox["messages"] == 1 { "mail" } else { "mails" };
            Candidate::new(text(mailbox, "address"), format!("{} {mails}", mailbox["messages"]))
        }));
    }
    if let Some((local, _)) = typed.split_once('@').filter(|(local, _)| !local.is_empty()) {
        let domains = client.get::<Vec<String>>("/api/domains/active", &[]).await?.into_iter();
        let missing = domains.map(|domain| Candidate::new(format!("{local}@{domain}"), ""));
        let missing: Vec<_> = missing.filter(|one| found.iter().all(|known| known.value != one.value)).collect();
        found.extend(missing);
    }
    Ok(found)
}

/// The newest rows of a list.
async fn newest(client: &Client, list: List, query: Query) -> Result<Vec<Value>, ClientError> {
    let page = client.pages(list, query, Some(NEWEST_MAX)).next(u64::MAX).await?;
    Ok(page.map(|page| page.rows).unwrap_or_default())
}

fn text(row: &Value, member: &str) -> String {
    row[member].as_str().unwrap_or_default().to_owned()
}

/// The id of a row, with two members that describe it.
fn described(row: &Value, id: &str, members: [&str; 2]) -> (String, String) {
    (text(row, id), members.map(|member| text(row, member)).join("  "))
}

async fn domains(client: &Client) -> Result<Vec<Candidate>, ClientError> {
    let domains: Vec<Value> = client.get("/api/domains", &[]).await?;
    Ok(domains.iter().map(|domain| Candidate::new(text(domain, "domain"), text(domain, "status"))).collect())
}

/// The mail of the address before the cursor; without one the newest of all addresses, for the administrator.
async fn mails(client: &Client, wanted: &Wanted) -> Result<Vec<Candidate>, ClientError> {
    let address = wanted.operands.iter().find_map(|operand| operand.parse::<Address>().ok());
    let mails = if let Some(address) = address {
        let query = vec![("to", Some(address.to_string())), ("fields", Some(BRIEF.to_owned()))];
        newest(client, MAIL, query).await?
    } else if client.is_administrator() {
        newest(client, ALL_MAIL, Vec::new()).await?
    } else {
        Vec::new()
    };
    Ok(by_id(mails.iter().map(|mail| described(mail, "id", ["from", "subject"])).collect(), &wanted.typed))
}

async fn webhooks(client: &Client, typed: &str) -> Result<Vec<Candidate>, ClientError> {
    let webhooks = client.pages(WEBHOOKS, Vec::new(), None).rows(usize::MAX).await?;
    Ok(by_id(webhooks.iter().map(|webhook| described(webhook, "id", ["recipient", "url"])).collect(), typed))
}

/// The events in the log of the webhook before the cursor.
async fn events(client: &Client, wanted: &Wanted) -> Result<Vec<Candidate>, Error> {
    let webhook = wanted.operands.first().and_then(|operand| operand.parse::<IdOrPart<WebhookId>>().ok());
    let Some(webhook) = webhook.filter(|_| client.is_administrator()) else { return Ok(Vec::new()) };
    let path = format!("/api/admin/webhooks/{}/deliveries", ids::webhook(client, &webhook).await?);
    let deliveries: Vec<Value> = client.get(&path, &[]).await?;
    let mut events: Vec<(String, String)> = Vec::new();
    for event in deliveries.iter().map(|delivery| described(delivery, "event", ["at", "result"])) {
        if events.iter().all(|(known, _)| *known != event.0) {
            events.push(event);
        }
    }
    Ok(by_id(events, &wanted.typed))
}

/// Ids with their descriptions: their ends, as tables show them, and whole where the beginning of one is typed.
fn by_id(found: Vec<(String, String)>, typed: &str) -> Vec<Candidate> {
    let offered = |(id, description): (String, String)| {
        let short = short_id(&id);
        let is_beginning = !typed.is_empty() && id.starts_with(typed) && !short.starts_with(typed);
        Candidate::new(if is_beginning { id } else { short }, description)
    };
    found.into_iter().map(offered).collect()
}
