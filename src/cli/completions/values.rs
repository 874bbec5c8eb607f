//! Values that only the service knows.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap_complete::engine::CompletionCandidate;
use serde_json::Value;

use super::super::output::short_id;
use super::super::{Globals, STANDARD, Streams};
use super::candidate::candidate;
use crate::client::{
    self, ALL_MAIL, BRIEF, Client, ClientError, Destination, List, MAIL, MAILBOXES, Query, WEBHOOKS, running,
};
use crate::error::Error;
use crate::model::Address;

/// The most mails or addresses that are offered, the newest.
const NEWEST_MAX: u64 = 50;
/// The most pages of addresses that are looked through.
const PAGES_MAX: usize = 10;

/// What the values of an argument are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What `tempmail help` takes.
    Help,
    File,
    Directory,
    /// This and those that follow are what only the service knows.
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
    // The input of the shell that completes has no token.
    if globals.token_file.iter().chain(&globals.ca_file).any(|file| file.as_os_str() == STANDARD) {
        return Ok(Vec::new());
    }
    let target = globals.target(env, &Arc::new(Streams::closed()))?;
    // A token that anybody could read on its way is for a command that warns of it.
    if matches!(&target, Destination::Server(server, access) if access.token.is_some() && server.is_exposed()) {
        return Ok(Vec::new());
    }
    let Some(client) = running(&target)?.map(Client::new) else { return Ok(Vec::new()) };
    Ok(match kind {
        Kind::Address => addresses(&client, typed).await?,
        Kind::Domain => domains(&client).await?,
        Kind::Mail => mails(&client, words, typed).await?,
        Kind::Webhook if client.is_administrator() => webhooks(&client, typed).await?,
        Kind::Webhook | Kind::Help | Kind::File | Kind::Directory => Vec::new(),
    })
}

/// The addresses that got mail last, and what is typed before an `@` at each active domain.
async fn addresses(client: &Client, typed: &str) -> Result<Vec<CompletionCandidate>, ClientError> {
    let mut found = if client.is_administrator() { newest_addresses(client, typed).await? } else { Vec::new() };
    if let Some((local, _)) = typed.split_once('@').filter(|(local, _)| !local.is_empty()) {
        let domains = client.get::<Vec<String>>("/api/domains/active", &[]).await?.into_iter();
        let missing = domains.map(|domain| candidate(format!("{local}@{domain}"), ""));
        let missing: Vec<_> =
            missing.filter(|one| found.iter().all(|known| known.get_value() != one.get_value())).collect();
        found.extend(missing);
    }
    Ok(found)
}

/// The addresses that begin so and got mail last.
async fn newest_addresses(client: &Client, typed: &str) -> Result<Vec<CompletionCandidate>, ClientError> {
    let (mut found, mut pages) = (Vec::new(), client.pages(MAILBOXES, Vec::new(), Some(u64::MAX)));
    for _ in 0..PAGES_MAX {
        let Some(page) = pages.next(u64::MAX).await? else { break };
        let addresses = page.rows.iter().map(|mailbox| (text(mailbox, "address"), mailbox["messages"].to_string()));
        let begin_so = addresses.filter(|(address, _)| address.starts_with(typed));
        found.extend(begin_so.map(|(address, messages)| {
            let mails = if messages == "1" { "mail" } else { "mails" };
            candidate(address, &format!("{messages} {mails}"))
        }));
        if found.len() as u64 >= NEWEST_MAX {
            break;
        }
    }
    Ok(found)
}

/// The newest rows of a list.
async fn newest(client: &Client, list: List, query: Query) -> Result<Vec<Value>, ClientError> {
    let page = client.pages(list, query, Some(NEWEST_MAX)).next(u64::MAX).await?;
    Ok(page.map(|page| page.rows).unwrap_or_default())
}

fn text(row: &Value, member: &str) -> String {
    client::text(row, member).to_owned()
}

async fn domains(client: &Client) -> Result<Vec<CompletionCandidate>, ClientError> {
    let domains: Vec<Value> = client.get("/api/domains", &[]).await?;
    Ok(domains.iter().map(|domain| candidate(text(domain, "domain"), &text(domain, "status"))).collect())
}

/// The mail of the first address among `words`; without one the newest of all addresses, for the administrator.
async fn mails(client: &Client, words: &[String], typed: &str) -> Result<Vec<CompletionCandidate>, ClientError> {
    let mails = if let Some(address) = words.iter().find_map(|word| word.parse::<Address>().ok()) {
        let query = vec![("to", Some(address.to_string())), ("fields", Some(BRIEF.to_owned()))];
        newest(client, MAIL, query).await?
    } else if client.is_administrator() {
        newest(client, ALL_MAIL, Vec::new()).await?
    } else {
        Vec::new()
    };
    Ok(by_id(&mails, ["from", "subject"], typed))
}

async fn webhooks(client: &Client, typed: &str) -> Result<Vec<CompletionCandidate>, ClientError> {
    let webhooks = client.pages(WEBHOOKS, Vec::new(), None).rows(usize::MAX).await?;
    Ok(by_id(&webhooks, ["recipient", "url"], typed))
}

/// Ids with two members that describe them: their ends, as tables show them, and whole where the beginning of one is typed.
fn by_id(rows: &[Value], members: [&str; 2], typed: &str) -> Vec<CompletionCandidate> {
    let offered = |row: &Value| {
        let id = text(row, "id");
        let description = members.map(|member| text(row, member)).join("  ");
        let short = short_id(&id);
        let is_beginning = !typed.is_empty() && id.starts_with(typed) && !short.starts_with(typed);
        candidate(if is_beginning { id } else { short }, &description)
    };
    rows.iter().map(offered).collect()
}
