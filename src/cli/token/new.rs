//! `tempmail token new`

use std::ops::RangeInclusive;
use std::time::Duration;

use super::super::Context;
use super::super::output::{self, Format};
use crate::client::NewToken;
use crate::config::value;
use crate::error::{Error, Exit};
use crate::model::{Scope, TokenName};

/// Create a token and print it, this once
///
/// The service keeps only a hash of it. With --json the output has the other fields as well.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail token new --name laptop > token.txt
  tempmail token new --name ci --scope read --expires 90d
  tempmail token new --name ci --json | jq -r .token")]
pub(super) struct New {
    /// Name of the token: letters, digits and the characters . _ -
    #[arg(long, value_name = "NAME")]
    name: TokenName,

    /// How long it is valid, 1m to 3650d [default: until it is revoked]
    #[arg(long, value_name = "DURATION", value_parser = value::duration(LIFE))]
    expires: Option<Duration>,

    /// What its bearer may do: admin for everything, read for reading alone
    #[arg(long, value_name = "SCOPE", default_value_t)]
    scope: Scope,
}

const LIFE: RangeInclusive<Duration> = Duration::from_mins(1)..=Duration::from_hours(3650 * 24);

impl New {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let Self { name, expires, scope } = self;
        let new = NewToken { name, scope, expires_in_seconds: expires.map(|life| life.as_secs()) };
        let created = cx.client().await?.add_token(&new).await?;
        let Some(token) = created.token() else {
            return Err(Error::new(Exit::Unavailable, "the service does not answer with a token"));
        };
        cx.print(match cx.style.format {
            Some(Format::Json) => output::json(&created),
            Some(Format::Ndjson) => output::json_line(&created),
            _ => format!("{token}\n"),
        })?;
        cx.hint("keep it now: the service has only its hash and cannot show it again");
        Ok(Exit::Ok)
    }
}
