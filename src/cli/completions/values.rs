//! Values that only the service knows.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap_complete::engine::CompletionCandidate;
use serde_json::Value;

use super::super::ids::Of;
use super::super::output::short_id;
use super::super::{Globals, STANDARD, Streams};
use super::candidate::candidate;
use crate::client::{self, Client, ClientError, Destination, KeyFile, LEASES, MAILBOXES, choose, is_running};
use crate::error::Error;

/// The most mails or addresses that are offered, the newest.
const NEWEST_MAX: usize = 50;
/// The most pages of addresses that are looked through.
const PAGES_MAX: usize = 10;

/// What the values of an argument are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
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
    kind: Values,
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
    if let Destination::Local(sources) = &target
        && !is_running(sources)?
    {
        return Ok(Vec::new());
    }
    let client = Client::new(choose(&target)?);
    if client.transport().token().is_none()
        && let Some(file) = KeyFile::of(env, client.transport())
    {
        client.transport().bear(file.key().unwrap_or_default());
    }
    Ok(match kind {
        Values::Address => addresses(&client, typed).await?,
        Values::Domain => domains(&client).await?,
        Values::Mail => {
            // That of the first address among the words.
            let address = words.iter().find_map(|word| word.parse().ok());
            ids(&client, Of::Mail(address.as_ref()), typed).await?
        }
        Values::Webhook => ids(&client, Of::Webhooks, typed).await?,
        Values::Help | Values::File | Values::Directory => Vec::new(),
    })
}

/// The caller's own addresses, those that got mail last, and what is typed before an `@` at each active domain.
async fn addresses(client: &Client, typed: &str) -> Result<Vec<CompletionCandidate>, ClientError> {
    let mut found = own_addresses(client, typed).await;
    let mut add = |more: Vec<CompletionCandidate>| {
        for one in more {
            if found.iter().all(|known| known.get_value() != one.get_value()) {
                found.push(one);
            }
        }
    };
    if client.is_administrator() {
        add(newest_addresses(client, typed).await?);
    }
    if let Some((local, _)) = typed.split_once('@').filter(|(local, _)| !local.is_empty()) {
        let domains = client.get::<Vec<String>>("/api/domains/active", &[]).await?.into_iter();
        add(domains.map(|domain| candidate(format!("{local}@{domain}"), "")).collect());
    }
    Ok(found)
}

/// The private inboxes of the caller's key. One that has lapsed is for a command to say.
async fn own_addresses(client: &Client, typed: &str) -> Vec<CompletionCandidate> {
    if !client.transport().token().is_some_and(|token| token.is_key()) {
        return Vec::new();
    }
    let Ok(own) = client.get::<Value>(LEASES, &[]).await else {
        client.transport().bear(None);
        return Vec::new();
    };
    let addresses = own["addresses"].as_array().into_iter().flatten().map(|lease| text(lease, "address"));
    addresses.filter(|address| address.starts_with(typed)).map(|address| candidate(address, "private")).collect()
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
        if found.len() >= NEWEST_MAX {
            break;
        }
    }
    Ok(found)
}

fn text(row: &Value, member: &str) -> String {
    client::text(row, member).to_owned()
}

async fn domains(client: &Client) -> Result<Vec<CompletionCandidate>, ClientError> {
    let domains: Vec<Value> = client.get("/api/domains", &[]).await?;
    Ok(domains.iter().map(|domain| candidate(text(domain, "domain"), &text(domain, "status"))).collect())
}

/// Ids with what describes them: their ends, as tables show them, and whole where the beginning of one is typed.
async fn ids(client: &Client, of: Of<'_>, typed: &str) -> Result<Vec<CompletionCandidate>, ClientError> {
    if !of.can_be_listed(client) {
        return Ok(Vec::new());
    }
    let [id, members @ ..] = of.members();
    let offered = |row: &Value| {
        let (id, description) = (text(row, id), members.map(|member| text(row, member)).join("  "));
        let short = short_id(&id);
        let is_beginning = !typed.is_empty() && id.starts_with(typed) && !short.starts_with(typed);
        candidate(if is_beginning { id } else { short }, &description)
    };
    Ok(of.rows(client, NEWEST_MAX).await?.iter().map(offered).collect())
}
