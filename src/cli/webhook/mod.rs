//! `tempmail webhook`: the URLs that events are sent to.
//!
//! ```text
//! attempts   their log, events again, a sample event       secret   what payloads are signed with
//! listen     events to a receiver on this machine, without a registration
//! ```

mod attempts;
mod listen;
mod secret;

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Value, json};
use uuid::Uuid;

use super::ids::{Id, Of, WEBHOOKS_PER_PAGE};
use super::listing::Listing;
use super::output::{Column, Kind, short_id};
use super::removal::{Removal, deleted};
use super::{Context, listing};
use crate::client::{Client, ClientError, WEBHOOKS, text};
use crate::error::{Error, Exit};
use crate::model::{Address, DomainName};

/// What to do about an id that no webhook has.
const LISTED_BY: &str = "`tempmail webhook list ADDR` lists those of an address";
const PATH: &str = "/api/webhooks";
const ADMINISTRATORS: &str = "/api/admin/webhooks";
/// Those of an address have the first eight columns.
const COLUMNS: [Column; 10] = [
    Kind::Id.column("ID", "id"),
    Kind::State.column("STATUS", "status").rank(1),
    Kind::Text.column("URL", "url"),
    Kind::Flag("signed", "unsigned").column("SIGNED", "signed").rank(8),
    Kind::Time.column("SUCCESS", "lastDeliveryAt").rank(5),
    Kind::Number.column("FAILED", "failures").rank(3),
    Kind::Number.column("DROPPED", "dropped").rank(7),
    Kind::Text.column("REASON", "disabledReason").rank(4),
    Kind::Text.column("ADDRESS", "recipient").rank(2),
    Kind::Text.column("CLIENT", "registeredBy").rank(6),
];

/// Send mail to a URL as it arrives, by POST and with a signature
///
/// Each delivery carries the header webhook-id, which does not change between attempts; with a secret also X-Webhook-Signature and
/// webhook-signature. Revision 1 of the interface has no webhooks.
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  tempmail webhook add hello@example.test https://hooks.example/mail \\
    --secret-file secret.txt
  tempmail webhook list hello@example.test
  tempmail webhook deliveries 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b
  tempmail webhook listen hello@example.test \\
    --forward-to http://localhost:3000/mail")]
pub(super) enum Webhook {
    Add(Add),
    List(List),
    Remove(Remove),
    /// Show the delivery log of a webhook, newest first
    ///
    /// It has the last 100 attempts. In a pipe each is a line of nine fields separated by tabs: time, event, number of the attempt,
    /// result (delivered, retry or `given_up`), status of the answer, milliseconds, what failed, time of the next attempt, the
    /// beginning of the answer. For the administrator.
    #[command(after_help = "\
Examples:
  tempmail webhook deliveries 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b
  tempmail webhook deliveries 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --limit 5
  tempmail webhook deliveries 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --json \\
    | jq '.[0].response'")]
    Deliveries {
        /// The id of the webhook, or its end
        #[arg(value_name = "ID")]
        id: Id,

        /// Attempts at most
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    Replay(attempts::Replay),
    /// Send a sample event to a webhook now and show the attempt
    ///
    /// It is made once and not repeated. Exit code 8 when the receiver did not answer with a status of 200 to 299. For the
    /// administrator.
    #[command(after_help = "\
Examples:
  tempmail webhook test 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b
  tempmail webhook test 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --json | jq .status")]
    Test {
        /// The id of the webhook, or its end
        #[arg(value_name = "ID")]
        id: Id,
    },
    Listen(listen::Listen),
}

impl Webhook {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let done = match self {
            Self::Add(add) => add.run(cx).await,
            Self::List(list) => list.run(cx).await,
            Self::Remove(remove) => remove.run(cx).await,
            Self::Deliveries { id, limit } => attempts::deliveries(cx, &id, limit).await,
            Self::Replay(replay) => replay.run(cx).await,
            Self::Test { id } => attempts::test(cx, &id).await,
            Self::Listen(listen) => listen.run(cx).await,
        };
        done.map_err(explained)
    }
}

/// The error of an operation on webhooks: a service without them says so.
fn explained(error: Error) -> Error {
    let is = |code| error.cause().downcast_ref::<ClientError>().is_some_and(|refused| refused.is(code));
    if is("unknown_path") {
        return Error::new(Exit::NotFound, "this service has no webhooks: it runs revision 1 of the interface")
            .hint("the administrator can start it with --revision 2; `tempmail webhook listen` works without");
    }
    if is("not_found") { error.hint(LISTED_BY) } else { error }
}

/// Send mail for an address to a URL as it arrives
///
/// The same address, URL and secret again give the same webhook, active again if it was disabled; another secret makes another one. In a pipe the result
/// is a line of two fields separated by a tab: id, and the word ok.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail webhook add hello@example.test https://hooks.example/mail
  tempmail webhook add hello@example.test https://hooks.example/mail \\
    --secret-file secret.txt
  openssl rand -hex 32 | tee secret.txt \\
    | tempmail webhook add hello@example.test https://hooks.example/ \\
    --secret-file -")]
pub(super) struct Add {
    /// The address to monitor
    #[arg(value_name = "ADDR")]
    address: Address,

    /// Where events are sent: http or https
    #[arg(value_name = "URL")]
    url: String,

    /// File with the secret that payloads are signed with, - for standard input; one final line end is no part of it
    #[arg(long, value_name = "FILE|-")]
    secret_file: Option<PathBuf>,
}

impl Add {
    async fn run(self, cx: &Context) -> Result<(), Error> {
        let mut body = json!({ "recipient": self.address.to_string(), "url": self.url });
        if let Some(path) = &self.secret_file {
            body["secret"] = json!(secret::read(cx, path)?);
        }
        let client = cx.client().await?;
        let (added, is_new) = client.post(PATH, body).await?;
        let columns = [Kind::Text.column("ID", "id"), Kind::State.column("STATUS", "status")];
        cx.list(&columns, std::slice::from_ref(&added), &added)?;
        if !is_new {
            cx.hint("it was registered before; if it was disabled, it is active again");
        } else if client.is_administrator() {
            cx.hint(&format!("try it with `tempmail webhook test {}`", text(&added, "id")));
        }
        Ok(())
    }
}

/// List the webhooks of an address, or of all addresses
///
/// Only the administrator sees whole URLs, and the webhooks of all addresses. In a pipe each webhook is a line of eight
/// fields separated by tabs: id, status, URL, signed or unsigned, last success, failures since then, events dropped
/// because too many were pending or it was disabled, why it is disabled. Without an address two more follow: its address,
/// and who registered it (an address of IPv4 or a /64 of IPv6; empty for the administrator).
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "ls",
    after_help = "\
Examples:
  tempmail webhook list hello@example.test
  tempmail webhook ls hello@example.test --json \\
    | jq '.[] | select(.status == \"disabled\")'
  tempmail webhook ls hello@example.test -o id | xargs tempmail webhook rm --yes
  tempmail webhook ls --all --origin https://hooks.example"
)]
pub(super) struct List {
    /// The address; without it the webhooks of all addresses, for the administrator
    #[arg(value_name = "ADDR")]
    address: Option<Address>,

    /// All of them, however many there are
    #[arg(long, conflicts_with = "address")]
    all: bool,

    /// Only those of the scheme, host and port of this URL
    #[arg(long, value_name = "URL", conflicts_with = "address")]
    origin: Option<String>,

    /// Only those of addresses of this domain
    #[arg(long, value_name = "DOMAIN", conflicts_with = "address")]
    domain: Option<DomainName>,
}

impl List {
    async fn run(self, cx: &Context) -> Result<(), Error> {
        if let Some(address) = &self.address {
            let none = format!("there is no webhook of {address}; `tempmail webhook add` registers one");
            let query = [("recipient", Some(address.to_string()))];
            return listing::whole(cx, PATH, &query, &COLUMNS[..8], &none).await;
        }
        let listing = Listing {
            list: WEBHOOKS,
            query: vec![("origin", self.origin), ("domain", self.domain.map(|domain| domain.to_string()))],
            columns: &COLUMNS,
            page: None,
            limit: None,
            all: self.all,
            page_size: WEBHOOKS_PER_PAGE,
            order: "first",
            prepare: |_| {},
        };
        if listing.print(cx, cx.client().await?).await? == 0 {
            cx.hint("there is no webhook; `tempmail webhook add` registers one");
        }
        Ok(())
    }
}

/// Delete webhooks together with their pending events
///
/// Asks on a terminal, and needs --yes without one. In a pipe each id is a line of two fields separated by a tab: the id, and
/// 1 if it was deleted; with --origin there is one line, of the origin and how many were deleted. --origin and --dry-run
/// are for the administrator.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "rm",
    after_help = "\
Examples:
  tempmail webhook remove 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b
  tempmail webhook rm 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --yes
  tempmail webhook rm --origin https://hooks.example --dry-run
  tempmail webhook rm --origin https://hooks.example --yes"
)]
pub(super) struct Remove {
    /// The id of a webhook, or its end; several may follow
    #[arg(value_name = "ID", required_unless_present = "origin", conflicts_with = "origin")]
    ids: Vec<Id>,

    /// All of the scheme, host and port of this URL
    #[arg(long, value_name = "URL")]
    origin: Option<String>,

    #[command(flatten)]
    removal: Removal,
}

impl Remove {
    async fn run(self, cx: &Context) -> Result<(), Error> {
        self.removal.must_ask(cx, "deleting webhooks")?;
        let client = cx.client().await?;
        let ids = Of::Webhooks.whole(client, &self.ids).await?;
        let what = match (&self.origin, ids.as_slice()) {
            (Some(origin), _) => format!("all webhooks of {origin}, with their secrets"),
            (None, [id]) => format!("the webhook {}, with its secret", short_id(&id.to_string())),
            (None, ids) => format!("{} webhooks, with their secrets", ids.len()),
        };
        self.removal.agreed(cx, &format!("Delete {what} and pending events?"), "deleted").await?;
        let mut rows = Vec::new();
        let done = self.carry_out(client, &ids, &mut rows).await;
        let columns = [Kind::Text.column("ID", "id"), Kind::Number.column("DELETED", "deleted")];
        self.removal.show(cx, &columns, &rows, done)?;
        match rows.iter().find(|row| self.origin.is_none() && deleted(row) == 0) {
            Some(row) => {
                let cause = format!("there is no webhook {}", text(row, "id"));
                Err(Error::new(Exit::NotFound, cause).hint(LISTED_BY))
            }
            None => Ok(()),
        }
    }

    /// A row for the origin or for each id, up to the first failure, with how many webhooks went or would go.
    async fn carry_out(&self, client: &Client, ids: &[Uuid], rows: &mut Vec<Value>) -> Result<(), ClientError> {
        let is_dry = self.removal.dry_run;
        let query = vec![("origin", self.origin.clone())];
        let pages = client.pages(WEBHOOKS, query, Some(WEBHOOKS_PER_PAGE));
        let there = if is_dry { pages.rows(usize::MAX).await? } else { Vec::new() };
        let of_origin = self.origin.iter().map(|origin| (ADMINISTRATORS, "origin", origin.clone()));
        let of_ids = ids.iter().map(|id| (PATH, "id", id.to_string()));
        for (path, parameter, what) in of_origin.chain(of_ids) {
            let count = match parameter {
                _ if !is_dry => client.delete(path, &[(parameter, Some(what.clone()))]).await?,
                "origin" => there.len() as u64,
                _ => there.iter().any(|webhook| webhook["id"] == what).into(),
            };
            rows.push(json!({ "id": what, "deleted": count }));
        }
        Ok(())
    }
}
