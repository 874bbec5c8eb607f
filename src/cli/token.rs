//! `tempmail token`: what remote callers show to be the administrator.

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Subcommand;
use serde_json::{Value, json};

use super::ids::{self, Part};
use super::output::Column;
use super::{Context, STANDARD};
use crate::client::{Client, Method};
use crate::config::value;
use crate::error::{Error, Exit};
use crate::model::{Scope, TokenName};
use crate::unfinished::Unfinished;

const PATH: &str = "/api/admin/tokens";
const COLUMNS: [Column; 6] = [
    Column::text("NAME", "name"),
    Column::text("SCOPE", "scope").rank(2),
    Column::state("STATUS", "status"),
    Column::time("CREATED", "createdAt").rank(3),
    Column::time("EXPIRES", "expiresAt").rank(1),
    Column::id("ID", "id"),
];
const LIFE: RangeInclusive<Duration> = Duration::from_mins(1)..=Duration::from_hours(3650 * 24);

/// Give out tokens for the administrator's operations over HTTP
///
/// A caller sends a token as `Authorization: Bearer TOKEN`. This program reads it from --token-file or `TEMPMAIL_TOKEN`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail token new --name ci --scope read --expires 90d --out token.txt
  tempmail token list
  tempmail token revoke ci
  tempmail --server https://mail.example.org --token-file token.txt status")]
pub(super) struct Token {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    New(New),
    List(List),
    Revoke(Revoke),
}

impl Token {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        match self.verb {
            Verb::New(new) => new.run(cx, client).await,
            Verb::List(List {}) => list(cx, client).await,
            Verb::Revoke(revoke) => revoke.run(cx, client).await,
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
struct New {
    /// Name of the token: letters, digits and the characters . _ -
    #[arg(long, value_name = "NAME")]
    name: TokenName,

    /// How long it is valid, 1m to 3650d [default: until it is revoked]
    #[arg(long, value_name = "DURATION", value_parser = value::duration(LIFE))]
    expires: Option<Duration>,

    /// What its bearer may do: admin for everything, read for reading alone
    #[arg(long, value_name = "SCOPE", default_value_t)]
    scope: Scope,

    /// Write the token into this new file, which only you can read, instead of printing it; - prints it
    #[arg(short = 'O', long, value_name = "FILE|-")]
    out: Option<PathBuf>,
}

impl New {
    async fn run(self, cx: &Context, client: &Client) -> Result<Exit, Error> {
        // A file that can't be written is said before there is a token.
        let out = self.out.filter(|file| file.as_os_str() != STANDARD);
        let out = out
            .map(|file| new_file(&file).map(|begun| (begun, file.clone())).map_err(|error| unwritten(&file, &error)));
        let out = out.transpose()?;
        let mut body = json!({ "name": self.name, "scope": self.scope });
        if let Some(life) = self.expires {
            body["expiresInSeconds"] = life.as_secs().into();
        }
        let mut created: Value = client.call(Method::POST, PATH, &[], Some(body)).await?;
        let Some(token) = created["token"].as_str().map(str::to_owned) else {
            return Err(Error::new(Exit::Unavailable, "the service does not answer with a token"));
        };
        if let Some((mut begun, file)) = out {
            if let Err(error) = begun.write(format!("{token}\n").as_bytes()).and_then(|()| begun.finish()) {
                // Nobody has it, so nobody may.
                let id = created["id"].as_str().map(str::to_owned);
                client.call::<Value>(Method::DELETE, PATH, &[("id", id)], None).await?;
                return Err(unwritten(&file, &error));
            }
            cx.hint(&format!("the token is in {}; the service cannot show it again", file.display()));
            created["token"] = Value::Null;
            return cx.answer(&created, &file.display().to_string()).map(|()| Exit::Ok);
        }
        cx.answer(&created, &token)?;
        cx.hint("keep it now: the service has only its hash and cannot show it again");
        Ok(Exit::Ok)
    }
}

/// Begins a file that is not there yet.
fn new_file(file: &Path) -> io::Result<Unfinished> {
    if file.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    Unfinished::beside(file)
}

fn unwritten(file: &Path, error: &io::Error) -> Error {
    let file = file.display();
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Error::new(Exit::Conflict, format!("{file} is there already")).hint("name another file")
        }
        _ => Error::new(Exit::Failure, format!("{file}: {error}")),
    }
}

/// List the tokens, without the tokens themselves
///
/// In a pipe each token is a line of six fields separated by tabs: name, scope, status, when it was created, when it
/// expires, id. The token of `TEMPMAIL_ADMIN_TOKEN` is not among them.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "ls",
    after_help = "\
Examples:
  tempmail token list
  tempmail token ls --json | jq -r '.[] | select(.status == \"expired\").name'"
)]
struct List {}

async fn list(cx: &Context, client: &Client) -> Result<Exit, Error> {
    let tokens: Vec<Value> = client.get(PATH, &[]).await?;
    cx.list(&COLUMNS, &tokens, &json!(tokens))?;
    if tokens.is_empty() {
        cx.hint("there is no token; `tempmail token new` makes one");
    }
    Ok(Exit::Ok)
}

/// Make a token invalid at once
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "rm",
    after_help = "\
Examples:
  tempmail token revoke ci
  tempmail token rm 9f86d081884c7d65"
)]
struct Revoke {
    /// Name or id of the token, or the end of its id
    #[arg(value_name = "TOKEN")]
    token: String,
}

impl Revoke {
    async fn run(self, cx: &Context, client: &Client) -> Result<Exit, Error> {
        let tokens: Vec<Value> = client.get(PATH, &[]).await?;
        let is_named = |token: &&Value| token["name"] == *self.token || token["id"] == *self.token;
        let named = tokens.iter().filter(is_named).count();
        if named > 1 {
            return Err(Error::usage(format!("{} is the id of one token and the name of another", self.token))
                .hint("revoke each by what only it has, as `tempmail token list` shows it"));
        }
        let id = match self.token.parse::<Part>() {
            Ok(part) if named == 0 => ids::token(tokens, &part)?,
            _ => self.token.clone(),
        };
        let answer: Value = client.call(Method::DELETE, PATH, &[("id", Some(id))], None).await?;
        if answer["deleted"] == 0 {
            return Err(Error::new(Exit::NotFound, format!("there is no token {}", self.token))
                .hint("`tempmail token list` shows the tokens"));
        }
        cx.answer(&answer, &self.token)?;
        Ok(Exit::Ok)
    }
}
