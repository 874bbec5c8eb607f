//! `tempmail new`: a fresh address, or a private inbox.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;

use super::Context;
use super::output::time;
use crate::client::{Client, ClientError, text};
use crate::error::{Error, Exit};
use crate::model::{Address, DomainName};
use crate::random::LocalPartPrefix;
use crate::value::{self, ValueError};

/// What can be asked for; the service has bounds of its own.
const LENGTH: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(3650 * 24);

/// Make an address that nobody can guess, or a private inbox
///
/// Prints the address alone. Without --private nothing is created: an address has an inbox as soon as mail arrives, and
/// whoever knows it can read that. The domain is one of the administrator's if there is one.
///
/// The mail of a private inbox can be read only by you and the administrator. Its key is kept in a file that only you can
/// read, and every command uses it by itself. `tempmail address key` shows it.
#[derive(clap::Args, Debug)]
#[command(
    group(
        clap::ArgGroup::new("of_private")
            .args(["address", "lasting", "idle", "messages", "keep"])
            .multiple(true)
            .requires("private")
    ),
    after_help = "\
Examples:
  tempmail new
  tempmail new --domain example.org --prefix signup
  addr=$(tempmail new) && echo \"$addr\" && tempmail inbox \"$addr\"
  tempmail new --private
  tempmail new --private ann@example.org --for 7d --keep 2d
  tempmail new --private --messages 1 --idle 2h"
)]
pub(super) struct New {
    /// The address, with --private; beyond the service's machine only the administrator can choose it
    #[arg(value_name = "ADDRESS", conflicts_with_all = ["domain", "prefix"])]
    address: Option<Address>,

    /// The domain, which must be active
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<DomainName>,

    /// What the address begins with, before a hyphen and random characters
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,

    /// Make a private inbox: only you and the administrator can read its mail
    #[arg(long)]
    private: bool,

    #[command(flatten)]
    terms: Terms,
}

/// How long an inbox is private.
#[derive(clap::Args, Debug)]
pub(super) struct Terms {
    /// How long from now on it is yours, such as 24h or 7d; its mail goes with it [default: lease-for of the service]
    #[arg(id = "lasting", long = "for", value_name = "DURATION", value_parser = length)]
    lasting: Option<Duration>,

    /// End earlier, when nobody has read it for this time; 0 or none for no such end
    #[arg(long, value_name = "DURATION", value_parser = length_or_none)]
    idle: Option<Duration>,

    /// Take so many mails and no more, and end soon after the last of them; 0 or none for any number
    #[arg(long, value_name = "N", value_parser = number_or_none)]
    messages: Option<u32>,

    /// How long each mail is kept [default: as long as the inbox, up to lease-retention-max]
    #[arg(long, value_name = "DURATION", value_parser = length)]
    keep: Option<Duration>,
}

fn length(text: &str) -> Result<Duration, ValueError> {
    value::duration(LENGTH)(text)
}

fn length_or_none(text: &str) -> Result<Duration, ValueError> {
    if is_none(text) { Ok(Duration::ZERO) } else { length(text) }
}

fn number_or_none(text: &str) -> Result<u32, &'static str> {
    if is_none(text) { Ok(0) } else { text.parse().map_err(|_| "it is neither a number nor none") }
}

/// Whether a text takes an end away.
fn is_none(text: &str) -> bool {
    matches!(text, "0" | "none")
}

impl Terms {
    /// Adds them to what the service is asked for.
    pub(super) fn add_to(&self, body: &mut Value) {
        for (member, length) in [("forSeconds", self.lasting), ("idleSeconds", self.idle), ("keepSeconds", self.keep)] {
            if let Some(length) = length {
                body[member] = length.as_secs().into();
            }
        }
        if let Some(messages) = self.messages {
            body["messages"] = messages.into();
        }
    }
}

impl New {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        if let Some(prefix) = &self.prefix {
            prefix.parse::<LocalPartPrefix>().map_err(|error| Error::new(Exit::Usage, format!("--prefix: {error}")))?;
        }
        let client = cx.client().await?;
        if self.private {
            let mut wanted = wanted(self.address.as_ref(), self.domain.as_ref(), self.prefix.as_deref());
            self.terms.add_to(&mut wanted);
            let lease = client.lease(&wanted).await.map_err(unleased)?;
            cx.answer(&lease, text(&lease, "address"))?;
            cx.hint(&said(client, &lease));
            return Ok(());
        }
        let fresh = client.random_address(self.domain.as_ref(), self.prefix.as_deref()).await?;
        cx.answer(&fresh, text(&fresh, "address"))?;
        if fresh["pattern"].is_string() {
            let (pattern, domain) = (text(&fresh, "pattern"), text(&fresh, "domain"));
            cx.hint(&format!(
                "the service takes mail for {pattern}; this address is at {domain}, --domain names another"
            ));
        }
        Ok(())
    }
}

/// What the service is asked for: this address, or one that it makes.
pub(super) fn wanted(address: Option<&Address>, domain: Option<&DomainName>, prefix: Option<&str>) -> Value {
    let members = [
        ("address", address.map(ToString::to_string)),
        ("domain", domain.map(ToString::to_string)),
        ("prefix", prefix.map(str::to_owned)),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?)))).collect()
}

/// Why there is no private inbox. Of a role address nobody can be the holder, not even the administrator.
fn unleased(error: Error) -> Error {
    let is_role = error.cause().downcast_ref::<ClientError>().is_some_and(|refused| refused.is("role_address"));
    if is_role { error.hint("take another one") } else { error }
}

/// Until when and for whom an inbox is private, and where its key is.
fn said(client: &Client, lease: &Value) -> String {
    let until = time::rfc3339(text(lease, "expiresAt"));
    let key = match client.key_file() {
        Some(file) => format!("the key is in {}", file.path().display()),
        None if client.is_administrator() => "the administrator needs no key, and --json shows it".to_owned(),
        None => "it has your key".to_owned(),
    };
    format!("only you and the administrator can read its mail, until {until}; {key}")
}
