//! `tempmail address`: the private inboxes that the user holds.

use clap::Subcommand;
use serde_json::{Value, json};

use super::new::Terms;
use super::output::{Column, Kind};
use super::removal::Removal;
use super::{Context, listing};
use crate::client::{ClientError, LEASES, Method};
use crate::error::{Error, Exit};
use crate::model::Address;

const COLUMNS: [Column; 5] = [
    Kind::Text.column("ADDRESS", "address"),
    Kind::Time.column("EXPIRES", "expiresAt").rank(1),
    Kind::Length.column("IDLE", "idleSeconds").rank(4),
    Kind::Number.column("MAILS LEFT", "messagesLeft").rank(2),
    Kind::Length.column("KEEPS", "keepSeconds").rank(3),
];

/// List, prolong and end your private inboxes
///
/// `tempmail new --private` makes one. One key opens all that you have at a service.
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  tempmail new --private
  tempmail address list
  tempmail address prolong ann@example.org --for 7d
  tempmail address end ann@example.org
  tempmail address key")]
pub(super) enum Addresses {
    /// List your private inboxes at this service
    ///
    /// In a pipe each is a line of five fields separated by tabs: address, when it expires, after how many seconds without a
    /// reader it ends earlier, how many mails it still takes, for how many seconds a mail is kept. What has no bound is empty.
    #[command(
        visible_alias = "ls",
        after_help = "\
Examples:
  tempmail address list
  tempmail address ls -o id
  tempmail address ls --json | jq -r '.addresses[].expiresAt'"
    )]
    List,
    Prolong(Prolong),
    End(End),
    /// Print the key of your private inboxes at this service
    ///
    /// Whoever has it reads their mail, so show it to nobody. The page in a browser takes it under `Key`, and a command on
    /// another machine from --token-file or `TEMPMAIL_TOKEN`.
    #[command(after_help = "\
Examples:
  tempmail address key
  (umask 077 && tempmail address key > key.txt)
  tempmail --token-file key.txt address list")]
    Key,
}

impl Addresses {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        match self {
            Self::List => list(cx).await,
            Self::Prolong(prolong) => prolong.run(cx).await,
            Self::End(end) => end.run(cx).await,
            Self::Key => key(cx).await,
        }
    }
}

async fn list(cx: &Context) -> Result<(), Error> {
    let answer = cx.client().await?.leases().await?;
    let rows = listing::rows(&answer["addresses"])?;
    cx.list(&COLUMNS, rows, &answer)?;
    if rows.is_empty() {
        cx.hint("you have no private inbox here; `tempmail new --private` makes one");
    }
    Ok(())
}

async fn key(cx: &Context) -> Result<(), Error> {
    let client = cx.client().await?;
    // A key whose inboxes have ended opens nothing.
    let opens = client.leases().await?["addresses"] != json!([]);
    match client.transport().token() {
        Some(key) if opens => cx.answer(&json!({ "key": key.expose() }), key.expose()),
        _ => Err(Error::new(Exit::NotFound, "you have no private inbox here, and so no key")
            .hint("`tempmail new --private` makes one")),
    }
}

/// Change how long a private inbox is yours
///
/// What is not given stays as it is.
#[derive(clap::Args, Debug)]
#[command(
    group(clap::ArgGroup::new("terms").args(["lasting", "idle", "messages", "keep"]).multiple(true).required(true)),
    // The one that clap makes is wider than a terminal.
    override_usage = "tempmail address prolong <--for|--idle|--messages|--keep> <ADDR>",
    after_help = "\
Examples:
  tempmail address prolong ann@example.org --for 24h
  tempmail address prolong ann@example.org --messages 10 --keep 2d
  tempmail address prolong ann@example.org --idle none"
)]
pub(super) struct Prolong {
    /// The address
    #[arg(value_name = "ADDR")]
    address: Address,

    #[command(flatten)]
    terms: Terms,
}

impl Prolong {
    async fn run(self, cx: &Context) -> Result<(), Error> {
        let mut body = json!({});
        self.terms.add_to(&mut body);
        let client = cx.client().await?;
        let lease = client.call::<Value>(Method::PATCH, LEASES, &query(&self.address), Some(body)).await;
        let lease = lease.map_err(unheld)?;
        cx.list(&COLUMNS, std::slice::from_ref(&lease), &lease)
    }
}

/// End a private inbox, and delete its mail
///
/// Nobody else gets the address for some time. Asks on a terminal, and needs --yes without one. In a pipe the result is a line
/// of two fields separated by a tab: the address, and the number of its deleted mails.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "rm",
    after_help = "\
Examples:
  tempmail address end ann@example.org
  tempmail address ls -o id | xargs -n 1 tempmail address end --yes"
)]
pub(super) struct End {
    /// The address
    #[arg(value_name = "ADDR")]
    address: Address,

    #[command(flatten)]
    removal: Removal,
}

impl End {
    async fn run(self, cx: &Context) -> Result<(), Error> {
        let (address, removal) = (self.address, self.removal);
        removal.must_ask(cx, "ending an inbox")?;
        let client = cx.client().await?;
        removal.agreed(cx, &format!("End {address} and delete its mail?"), "ended").await?;
        let deleted = if removal.dry_run {
            // To change nothing needs the same right as to end it.
            client.call::<Value>(Method::PATCH, LEASES, &query(&address), Some(json!({}))).await.map_err(unheld)?;
            client.newest(&address, 1).await?.total
        } else {
            client.delete(LEASES, &query(&address)).await.map_err(unheld)?
        };
        let columns = [Kind::Text.column("ADDRESS", "address"), Kind::Number.column("MAILS", "deleted")];
        removal.show(cx, &columns, &[json!({ "address": address.to_string(), "deleted": deleted })], Ok(()))
    }
}

/// Why nothing is done with an address.
fn unheld(error: ClientError) -> Error {
    error.or_find_by("`tempmail address list` shows yours")
}

fn query(address: &Address) -> [(&'static str, Option<String>); 1] {
    [("address", Some(address.to_string()))]
}
