//! Values that only the service knows.

use std::collections::BTreeMap;

use super::super::globals::Globals;
use super::super::ids::{self, IdOrPart};
use super::super::output::short_ids;
use super::candidate::Candidate;
use super::cursor::Wanted;
use super::kind::Kind;
use crate::client::{AllQuery, Client, ClientError, Destination, Domain, MailFilter, WebhookFilter, running};
use crate::error::Error;
use crate::model::{Address, DomainStatus, WebhookId};

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
    if matches!(&target, Destination::Server(server, Some(_)) if server.is_exposed()) {
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
        let newest = AllQuery { limit: Some(NEWEST_MAX), ..AllQuery::default() };
        let mailboxes = client.mailboxes(&newest).await?.mailboxes;
        found.extend(mailboxes.into_iter().map(|mailbox| {
            let mails = if mailbox.messages == 1 { "mail" } else { "mails" };
            Candidate::new(mailbox.address, format!("{} {mails}", mailbox.messages))
        }));
    }
    if let Some((local, _)) = typed.split_once('@').filter(|(local, _)| !local.is_empty()) {
        let domains = client.active_domains().await?.into_iter();
        let missing = domains.map(|domain| Candidate::new(format!("{local}@{domain}"), ""));
        let missing: Vec<_> = missing.filter(|one| found.iter().all(|known| known.value != one.value)).collect();
        found.extend(missing);
    }
    Ok(found)
}

async fn domains(client: &Client) -> Result<Vec<Candidate>, ClientError> {
    let described = |domain: Domain| match domain.status {
        DomainStatus::Active => Candidate::new(domain.domain, "active"),
        DomainStatus::Deactivated => Candidate::new(domain.domain, "deactivated"),
    };
    Ok(client.domains().await?.into_iter().map(described).collect())
}

/// The mail of the address before the cursor; without one the newest of all addresses, for the administrator.
async fn mails(client: &Client, wanted: &Wanted) -> Result<Vec<Candidate>, ClientError> {
    let address = wanted.operands.iter().find_map(|operand| operand.parse::<Address>().ok());
    let mails: Vec<_> = if let Some(address) = address {
        let batch = client.list_from(&address, "", NEWEST_MAX, &MailFilter::default(), true).await?;
        batch.emails.into_iter().map(|mail| (mail.id, format!("{}  {}", mail.from, mail.subject))).collect()
    } else if client.is_administrator() {
        let newest = AllQuery { limit: Some(NEWEST_MAX), ..AllQuery::default() };
        let mails = client.all_emails(&newest).await?.emails.into_iter();
        mails.map(|mail| (mail.id, format!("{}  {}", mail.from, mail.subject))).collect()
    } else {
        Vec::new()
    };
    Ok(by_id(mails, &wanted.typed))
}

async fn webhooks(client: &Client, typed: &str) -> Result<Vec<Candidate>, ClientError> {
    let webhooks = client.all_webhooks(&WebhookFilter::default()).await?.into_iter();
    let webhooks = webhooks.map(|webhook| (webhook.id, format!("{}  {}", webhook.recipient, webhook.url)));
    Ok(by_id(webhooks.collect(), typed))
}

/// The events in the log of the webhook before the cursor.
async fn events(client: &Client, wanted: &Wanted) -> Result<Vec<Candidate>, Error> {
    let webhook = wanted.operands.first().and_then(|operand| operand.parse::<IdOrPart<WebhookId>>().ok());
    let Some(webhook) = webhook.filter(|_| client.is_administrator()) else { return Ok(Vec::new()) };
    let deliveries = client.deliveries(ids::webhook(client, &webhook).await?, Some(NEWEST_MAX)).await?;
    let mut events: Vec<(String, String)> = Vec::new();
    for delivery in deliveries {
        if events.iter().all(|(event, _)| *event != delivery.event) {
            events.push((delivery.event, format!("{}  {}", delivery.at, delivery.result)));
        }
    }
    Ok(by_id(events, &wanted.typed))
}

/// Ids with their descriptions: their ends, as tables show them, and whole where the beginning of one is typed.
fn by_id(found: Vec<(String, String)>, typed: &str) -> Vec<Candidate> {
    let short = short_ids(found.iter().map(|(id, _)| id.as_str()));
    let offered = |((id, description), short): ((String, String), String)| {
        let is_beginning = !typed.is_empty() && id.starts_with(typed) && !short.starts_with(typed);
        Candidate::new(if is_beginning { id } else { short }, description)
    };
    found.into_iter().zip(short).map(offered).collect()
}
