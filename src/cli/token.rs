//! `tempmail token`: what remote callers show to be the administrator.

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Subcommand;
use serde_json::{Value, json};

use super::ids::{self, Id};
use super::output::{Column, Kind};
use super::removal::deleted;
use super::span::Moment;
use super::{Context, STANDARD, listing};
use crate::client::{Method, text};
use crate::error::{Error, Exit};
use crate::model::{Scope, TokenName};
use crate::unfinished::Unfinished;

const PATH: &str = "/api/admin/tokens";
const COLUMNS: [Column; 6] = [
    Kind::Text.column("NAME", "name"),
    Kind::Text.column("SCOPE", "scope").rank(3),
    Kind::State.column("STATUS", "status").rank(1),
    Kind::Time.column("CREATED", "createdAt").rank(4),
    Kind::Time.column("EXPIRES", "expiresAt").rank(2),
    Kind::Id.column("ID", "id"),
];
const LIFE: RangeInclusive<Duration> = Duration::from_mins(1)..=Duration::from_hours(3650 * 24);

/// Give out tokens for the administrator's operations over HTTP
///
/// A caller sends a token as `Authorization: Bearer TOKEN`. This program reads it from --token-file or `TEMPMAIL_TOKEN`.
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  tempmail token new --name ci --scope read --expires 90d --out token.txt
  tempmail token list
  tempmail token revoke ci
  tempmail --server https://mail.example.org --token-file token.txt status")]
pub(super) enum Token {
    New(New),
    /// List the tokens, without the tokens themselves
    ///
    /// In a pipe each token is a line of six fields separated by tabs: name, scope, status, when it was created, when it
    /// expires, id. The token of `TEMPMAIL_ADMIN_TOKEN` is not among them.
    #[command(
        visible_alias = "ls",
        after_help = "\
Examples:
  tempmail token list
  tempmail token ls --json | jq -r '.[] | select(.status == \"expired\").name'"
    )]
    List,
    /// Make a token invalid at once
    #[command(
        visible_alias = "rm",
        after_help = "\
Examples:
  tempmail token revoke ci
  tempmail token rm 9f86d081884c7d65"
    )]
    Revoke {
        /// Name or id of the token, or the end of its id
        #[arg(value_name = "TOKEN")]
        token: String,
    },
}

impl Token {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        match self {
            Self::New(new) => new.run(cx).await,
            Self::List => {
                listing::whole(cx, PATH, &[], &COLUMNS, "there is no token; `tempmail token new` makes one").await
            }
            Self::Revoke { token } => revoke(cx, token).await,
        }
    }
}

/// Create a token and print it, this once
///
/// The service keeps only a hash of it. With --json the output has the other fields as well.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail token new --name laptop --out token.txt
  tempmail token new --name ci --scope read --expires 90d
  tempmail token new --name ci --json | jq -r .token")]
pub(super) struct New {
    /// Name of the token: letters, digits and the characters . _ -
    #[arg(long, value_name = "NAME")]
    name: TokenName,

    /// Until when it is valid: how long from now, 1m to 3650d, or a time such as 2027-01-31T12:00:00Z [default: until it is revoked]
    #[arg(long, value_name = "TIME")]
    expires: Option<Moment>,

    /// What its bearer may do: admin for everything, read for reading alone
    #[arg(long, value_name = "SCOPE", default_value_t)]
    scope: Scope,

    /// Write the token into this new file, which only you can read, instead of printing it; - prints it
    #[arg(short = 'O', long, value_name = "FILE|-")]
    out: Option<PathBuf>,
}

impl New {
    async fn run(self, cx: &Context) -> Result<(), Error> {
        let mut body = json!({ "name": self.name, "scope": self.scope });
        if let Some(moment) = self.expires {
            let now = cx.now();
            let life = moment.ahead(now).since(now);
            if !LIFE.contains(&life) {
                return Err(Error::usage("--expires: a token is valid for 1m to 3650d from now"));
            }
            body["expiresInSeconds"] = life.as_secs().into();
        }
        let client = cx.client().await?;
        // A file that can't be written is said before there is a token.
        let out = self.out.filter(|file| file.as_os_str() != STANDARD);
        let begun = out.as_deref().map(begin).transpose()?;
        let (mut created, _) = client.post(PATH, body).await?;
        let token = text(&created, "token").to_owned();
        if token.is_empty() {
            return Err(Error::new(Exit::Unavailable, "the service does not answer with a token"));
        }
        let (Some(mut begun), Some(file)) = (begun, out) else {
            cx.answer(&created, &token)?;
            cx.hint("keep it now: the service has only its hash and cannot show it again");
            return Ok(());
        };
        if let Err(error) = begun.write(format!("{token}\n").as_bytes()).and_then(|()| begun.finish()) {
            // Nobody has it, so nobody may.
            client.delete(PATH, &[("id", Some(text(&created, "id").to_owned()))]).await?;
            return Err(unwritten(&file, &error));
        }
        cx.hint(&format!("the token is in {}; the service cannot show it again", file.display()));
        created["token"] = Value::Null;
        cx.answer(&created, &file.display().to_string())
    }
}

/// Begins a file that is not there yet.
fn begin(file: &Path) -> Result<Unfinished, Error> {
    if file.symlink_metadata().is_ok() {
        let cause = format!("{} is there already", file.display());
        return Err(Error::new(Exit::Conflict, cause).hint("name another file"));
    }
    Unfinished::beside(file).map_err(|error| unwritten(file, &error))
}

fn unwritten(file: &Path, error: &io::Error) -> Error {
    Error::new(Exit::Failure, format!("{}: {error}", file.display()))
}

/// Revokes the token with this name or id, or a part of the id.
async fn revoke(cx: &Context, token: String) -> Result<(), Error> {
    let client = cx.client().await?;
    let tokens: Vec<Value> = client.get(PATH, &[]).await?;
    // The service takes a whole name or id, the name first. It knows no parts.
    let is_whole = tokens.iter().any(|known| known["name"] == *token || known["id"] == *token);
    let id = match token.parse() {
        Ok(Id::Part(part)) if !is_whole => ids::token(tokens, &part)?,
        _ => token.clone(),
    };
    let answer: Value = client.call(Method::DELETE, PATH, &[("id", Some(id))], None).await?;
    if deleted(&answer) == 0 {
        return Err(Error::new(Exit::NotFound, format!("there is no token {token}"))
            .hint("`tempmail token list` shows the tokens"));
    }
    cx.answer(&answer, &token)
}
