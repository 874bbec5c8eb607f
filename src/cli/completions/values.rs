//! Values that only the service knows.

use std::collections::BTreeMap;

use clap_complete::engine::CompletionCandidate;

use super::super::Globals;
use super::super::output::short_ids;
use super::candidate::candidate;
use crate::client::{AllQuery, Client, ClientError, Destination, MailFilter, WebhookFilter, running};
use crate::error::Error;
use crate::model::{Address, DomainStatus};

/// The most mails or addresses that are offered, the newest.
const NEWEST_MAX: u64 = 50;
/// The most pages of addresses that are looked through.
const PAGES_MAX: usize = 10;

/// What the service is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Address,
    Domain,
    Mail,
    Webhook,
}

/// The values of this kind, for `typed` behind `words`.
///
/// Asks a service that runs and opens no store. What only an administrator may list is asked of a service that takes the
/// caller for one.
pub(super) async fn look_up(
    kind: Kind,
    words: &[String],
    typed: &str,
    globals: &Globals,
    env: &BTreeMap<String, String>,
) -> Result<Vec<CompletionCandidate>, Error> {
    let target = globals.target(env)?;
    // A token that anybody could read on its way is for a command that warns of it.
    if matches!(&target, Destination::Server(server, Some(_)) if server.is_exposed()) {
        return Ok(Vec::new());
    }
    let Some(client) = running(&target)?.map(Client::new) else { return Ok(Vec::new()) };
    Ok(match kind {
        Kind::Address => addresses(&client, typed).await?,
        Kind::Domain => domains(&client).await?,
        Kind::Mail => mails(&client, words, typed).await?,
        Kind::Webhook if client.is_administrator() => webhooks(&client, typed).await?,
        Kind::Webhook => Vec::new(),
    })
}

/// The addresses that got mail last, and what is typed before an `@` at each active domain.
async fn addresses(client: &Client, typed: &str) -> Result<Vec<CompletionCandidate>, ClientError> {
    let mut found = if client.is_administrator() { newest_addresses(client, typed).await? } else { Vec::new() };
    if let Some((local, _)) = typed.split_once('@').filter(|(local, _)| !local.is_empty()) {
        let domains = client.active_domains().await?.into_iter();
        let missing = domains.map(|domain| candidate(format!("{local}@{domain}"), ""));
        let missing: Vec<_> =
            missing.filter(|one| found.iter().all(|known| known.get_value() != one.get_value())).collect();
        found.extend(missing);
    }
    Ok(found)
}

/// The addresses that begin so and got mail last.
async fn newest_addresses(client: &Client, typed: &str) -> Result<Vec<CompletionCandidate>, ClientError> {
    let (mut found, mut query) = (Vec::new(), AllQuery { limit: Some(u64::MAX), ..AllQuery::default() });
    for _ in 0..PAGES_MAX {
        let page = client.mailboxes(&query).await?;
        query.after = page.next().map(str::to_owned);
        let begin_so = page.mailboxes.into_iter().filter(|mailbox| mailbox.address.starts_with(typed));
        found.extend(begin_so.map(|mailbox| {
            let mails = if mailbox.messages == 1 { "mail" } else { "mails" };
            candidate(mailbox.address, &format!("{} {mails}", mailbox.messages))
        }));
        if found.len() as u64 >= NEWEST_MAX || query.after.is_none() {
            break;
        }
    }
    Ok(found)
}

async fn domains(client: &Client) -> Result<Vec<CompletionCandidate>, ClientError> {
    let status = |status| match status {
        DomainStatus::Active => "active",
        DomainStatus::Deactivated => "deactivated",
    };
    let domains = client.domains().await?.into_iter();
    Ok(domains.map(|domain| candidate(domain.domain, status(domain.status))).collect())
}

/// The mail of the first address among `words`; without one the newest of all addresses, for the administrator.
async fn mails(client: &Client, words: &[String], typed: &str) -> Result<Vec<CompletionCandidate>, ClientError> {
    let mails: Vec<_> = if let Some(address) = words.iter().find_map(|word| word.parse::<Address>().ok()) {
        let batch = client.list_from(&address, "", NEWEST_MAX, &MailFilter::default(), true).await?;
        batch.emails.into_iter().map(|mail| (mail.id, format!("{}  {}", mail.from, mail.subject))).collect()
    } else if client.is_administrator() {
        let newest = AllQuery { limit: Some(NEWEST_MAX), ..AllQuery::default() };
        let mails = client.all_emails(&newest).await?.emails.into_iter();
        mails.map(|mail| (mail.id, format!("{}  {}", mail.from, mail.subject))).collect()
    } else {
        Vec::new()
    };
    Ok(by_id(mails, typed))
}

async fn webhooks(client: &Client, typed: &str) -> Result<Vec<CompletionCandidate>, ClientError> {
    let webhooks = client.all_webhooks(&WebhookFilter::default()).await?.into_iter();
    let webhooks = webhooks.map(|webhook| (webhook.id, format!("{}  {}", webhook.recipient, webhook.url)));
    Ok(by_id(webhooks.collect(), typed))
}

/// Ids with their descriptions: their ends, as tables show them, and whole where the beginning of one is typed.
fn by_id(found: Vec<(String, String)>, typed: &str) -> Vec<CompletionCandidate> {
    let short = short_ids(found.iter().map(|(id, _)| id.as_str()));
    let offered = |((id, description), short): ((String, String), String)| {
        let is_beginning = !typed.is_empty() && id.starts_with(typed) && !short.starts_with(typed);
        candidate(if is_beginning { id } else { short }, &description)
    };
    found.into_iter().zip(short).map(offered).collect()
}
