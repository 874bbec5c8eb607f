//! `tempmail address`: the private addresses that the user holds.

use clap::Subcommand;
use serde_json::{Value, json};

use super::new::Terms;
use super::output::{Column, Kind};
use super::removal::Removal;
use super::{Context, listing};
use crate::client::{ClientError, LEASES, Method};
use crate::error::Error;
use crate::model::Address;

const COLUMNS: [Column; 5] = [
    Kind::Text.column("ADDRESS", "address"),
    Kind::Time.column("EXPIRES", "expiresAt").rank(1),
    Kind::Length.column("IDLE", "idleSeconds").rank(4),
    Kind::Number.column("MAILS LEFT", "messagesLeft").rank(2),
    Kind::Length.column("KEEPS", "keepSeconds").rank(3),
];

/// List, prolong and end the private addresses that you hold
///
/// `tempmail new --private` makes one.
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  tempmail new --private
  tempmail address list
  tempmail address prolong ann@example.org --for 7d
  tempmail address end ann@example.org")]
pub(super) enum Addresses {
    /// List your private addresses at this service
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
}

impl Addresses {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        match self {
            Self::List => list(cx).await,
            Self::Prolong(prolong) => prolong.run(cx).await,
            Self::End(end) => end.run(cx).await,
        }
    }
}

async fn list(cx: &Context) -> Result<(), Error> {
    let client = cx.client().await?;
    let answer = match client.get(LEASES, &[]).await {
        // Who never made one bears no key.
        Err(error) if error.is("token_required") => json!({ "addresses": [] }),
        answer => answer?,
    };
    let rows = listing::rows(&answer["addresses"])?;
    cx.list(&COLUMNS, rows, &answer)?;
    if rows.is_empty() {
        cx.hint("you hold no private address here; `tempmail new --private` makes one");
    }
    Ok(())
}

/// Change how long an address is yours
///
/// What is not given stays as it is.
#[derive(clap::Args, Debug)]
#[command(
    group(clap::ArgGroup::new("terms").args(["lasting", "idle", "messages", "keep"]).multiple(true).required(true)),
    after_help = "\
Examples:
  tempmail address prolong ann@example.org --for 24h
  tempmail address prolong ann@example.org --messages 10 --keep 2d"
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

/// End a private address, and delete its mail
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
        removal.must_ask(cx, "ending an address")?;
        let client = cx.client().await?;
        removal.agreed(cx, &format!("End {address} and delete its mail?"), "ended").await?;
        let deleted = if removal.dry_run {
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
