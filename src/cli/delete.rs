//! `tempmail delete`: deletes mail before it expires.

use std::collections::BTreeSet;
use std::io::{BufRead, Read as _};

use serde::Deserialize;
use serde_json::{Value, json};

use super::ids::{self, IdOrPart, Named, Target};
use super::output::Column;
use super::removal::{HINT, Removal, deleted};
use super::{Context, STANDARD};
use crate::client::{Client, ClientError, Method};
use crate::error::{Error, Exit};
use crate::model::{Address, EmailId};

const PATH: &str = "/api/mail/delete";
const COLUMNS: [Column; 2] = [Column::text("TARGET", "target"), Column::number("MAILS", "deleted")];
/// The most addresses and ids that standard input may name.
const TARGETS_MAX: usize = 100_000;
/// The most ids in one request.
const IDS_MAX: usize = 100;
/// The longest line of standard input in octets; an address has at most 64 + 1 + 253.
const LINE_OCTETS_MAX: u64 = 1_024;

/// Delete mail: all of an address, or single mails by id
///
/// Without a terminal it always needs --yes; on a terminal it asks when more than one mail goes. An address and the
/// number of its deleted mails are a line each.
#[derive(clap::Args, Debug)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true).args(["target", "id"])), after_help = "\
Examples:
  tempmail delete hello@example.test
  tempmail delete hello@example.test --dry-run
  tempmail delete --id 0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b
  tempmail delete hello@example.test --id 9e0f2a3b
  tempmail inbox hello@example.test --all -o id | tempmail delete - --yes")]
pub(super) struct Delete {
    /// An address, or - to read addresses and ids from standard input, one per line
    #[arg(value_name = "ADDR|-")]
    target: Option<String>,

    /// The id of a mail, or its end, which may be one of ADDR; several may follow
    #[arg(long, value_name = "ID", num_args = 1..)]
    id: Vec<IdOrPart<EmailId>>,

    #[command(flatten)]
    removal: Removal,
}

/// What is to go.
type DeleteTarget = Target<EmailId>;

impl Delete {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let removal = self.removal;
        if !removal.dry_run && !cx.globals.yes && self.target.as_deref() == Some(STANDARD) {
            let cause = "deleting what standard input names needs --yes: no question can be answered there";
            return Err(Error::usage(cause).hint(HINT));
        }
        removal.must_ask(cx, "deleting")?;
        let (address, named) = self.named(cx)?;
        let client = cx.client().await?;
        let targets = resolved(client, address.as_ref(), named).await?;
        let question = if removal.dry_run || cx.globals.yes { None } else { question(client, &targets).await? };
        if let Some(question) = question
            && !removal.agreed(cx, &question, "deleted").await?
        {
            return Ok(Exit::Ok);
        }
        let (rows, failure) = carry_out(client, &targets, removal.dry_run).await;
        removal.show(cx, &COLUMNS, &rows)?;
        if let Some(error) = failure {
            return Err(error.into());
        }
        let of_ids = targets.iter().zip(&rows).filter(|(target, _)| matches!(target, DeleteTarget::Email(_)));
        let unknown: Vec<&Value> = of_ids.map(|(_, row)| row).filter(|row| deleted(row) == 0).collect();
        let Some(first) = unknown.first() else { return Ok(Exit::Ok) };
        let others = match unknown.len() - 1 {
            0 => String::new(),
            others => format!(", nor with {others} more of these ids"),
        };
        let first = first["target"].as_str().unwrap_or_default();
        Err(Error::new(Exit::NotFound, format!("there is no mail with the id {first}{others}"))
            .hint("it may have expired or been deleted; `tempmail inbox ADDR` lists what is there"))
    }

    /// Every target, checked before anything is deleted.
    ///
    /// With ids an address is the one that they belong to.
    fn named(&self, cx: &Context) -> Result<(Option<Address>, Vec<Named>), Error> {
        let ids = || self.id.iter().cloned().map(Named::Email).collect();
        match self.target.as_deref() {
            Some(STANDARD) if self.id.is_empty() => Ok((None, read_named(cx.stdin())?)),
            Some(STANDARD) => Err(Error::usage("--id and - say different things").hint("give one of them")),
            Some(address) => {
                let address: Address = address
                    .parse()
                    .map_err(|error| Error::usage(error).hint("give an address, - for standard input, or --id ID"))?;
                let all = vec![Named::Inbox(address.clone())];
                Ok((Some(address), if self.id.is_empty() { all } else { ids() }))
            }
            None => Ok((None, ids())),
        }
    }
}

/// The targets with whole ids.
async fn resolved(client: &Client, address: Option<&Address>, named: Vec<Named>) -> Result<Vec<DeleteTarget>, Error> {
    let ids: Vec<IdOrPart<EmailId>> = named
        .iter()
        .filter_map(|named| match named {
            Named::Email(id) => Some(id.clone()),
            Named::Inbox(_) => None,
        })
        .collect();
    let mut ids = ids::emails(client, address, &ids).await?.into_iter();
    let mut seen = BTreeSet::new();
    let target = |named| match named {
        Named::Inbox(address) => Some(DeleteTarget::Inbox(address)),
        // A mail that is named twice goes once.
        Named::Email(_) => ids.next().filter(|id| seen.insert(*id)).map(DeleteTarget::Email),
    };
    Ok(named.into_iter().filter_map(target).collect())
}

fn read_named(mut input: impl BufRead) -> Result<Vec<Named>, Error> {
    let mut targets = Vec::new();
    for number in 1.. {
        let mut line = Vec::new();
        let failed = |error: &dyn std::fmt::Display| Error::usage(format!("standard input, line {number}: {error}"));
        let read = input.by_ref().take(LINE_OCTETS_MAX).read_until(b'\n', &mut line);
        if read.map_err(|error| failed(&error))? == 0 {
            break;
        }
        // What `inbox` prints in a pipe has the id in its first field. Behind it strangers may have written at length.
        let field = line.split(|octet| *octet == b'\t').next().unwrap_or_default();
        if field.len() as u64 == LINE_OCTETS_MAX {
            return Err(failed(&"the line is too long"));
        }
        if !line.ends_with(b"\n") {
            input.skip_until(b'\n').map_err(|error| failed(&error))?;
        }
        let word = str::from_utf8(field).map_err(|error| failed(&error))?.trim();
        if word.is_empty() {
            continue;
        }
        if targets.len() == TARGETS_MAX {
            return Err(failed(&format!("more than {TARGETS_MAX} addresses and ids")));
        }
        targets.push(word.parse().map_err(|error| failed(&format!("'{word}': {error}")))?);
    }
    Ok(targets)
}

/// What to ask: nothing where no more than one mail goes.
async fn question(client: &Client, targets: &[DeleteTarget]) -> Result<Option<String>, Error> {
    Ok(match targets {
        [DeleteTarget::Inbox(address)] => match count(client, address).await? {
            0 | 1 => None,
            total => Some(format!("Delete all {total} mails of {address}?")),
        },
        [] | [_] => None,
        several => Some(format!("Delete {} mails?", several.len())),
    })
}

async fn count(client: &Client, address: &Address) -> Result<u64, ClientError> {
    Ok(client.newest(address, 1).await?.total)
}

fn row(target: &impl ToString, deleted: u64) -> Value {
    json!({ "target": target.to_string(), "deleted": deleted })
}

/// One row per target up to the first failure: what is gone is gone, and is said.
async fn carry_out(client: &Client, targets: &[DeleteTarget], is_dry: bool) -> (Vec<Value>, Option<ClientError>) {
    let mut rows = Vec::new();
    let are_ids = |one: &DeleteTarget, other: &DeleteTarget| {
        matches!((one, other), (DeleteTarget::Email(_), DeleteTarget::Email(_)))
    };
    for batch in targets.chunk_by(are_ids).flat_map(|run| run.chunks(IDS_MAX)) {
        let done = match batch {
            [_, _, ..] if !is_dry => together(client, batch, &mut rows).await,
            _ => one_by_one(client, batch, is_dry, &mut rows).await,
        };
        if let Err(error) = done {
            return (rows, Some(error));
        }
    }
    (rows, None)
}

/// Deletes mails in one request.
async fn together(client: &Client, mails: &[DeleteTarget], rows: &mut Vec<Value>) -> Result<(), ClientError> {
    #[derive(Deserialize)]
    struct Deleted {
        #[serde(default)]
        missing: BTreeSet<String>,
    }
    let query: Vec<_> = mails.iter().map(|mail| ("id", Some(mail.to_string()))).collect();
    match client.call::<Deleted>(Method::DELETE, PATH, &query, None).await {
        Ok(Deleted { missing }) => {
            rows.extend(mails.iter().map(|mail| row(mail, (!missing.contains(&mail.to_string())).into())));
            Ok(())
        }
        // One of them was refused or is damaged, and all are still there: those before it can go.
        Err(error) if error.problem().is_some_and(|problem| [403, 500].contains(&problem.status)) => {
            one_by_one(client, mails, false, rows).await
        }
        Err(error) => Err(error),
    }
}

/// Deletes with a request for each target, or says what would go.
async fn one_by_one(
    client: &Client,
    targets: &[DeleteTarget],
    is_dry: bool,
    rows: &mut Vec<Value>,
) -> Result<(), ClientError> {
    for target in targets {
        let deleted = match target {
            DeleteTarget::Inbox(address) if is_dry => count(client, address).await?,
            DeleteTarget::Email(id) if is_dry => exists(client, *id).await?.into(),
            DeleteTarget::Inbox(address) => client.delete(PATH, &[("to", Some(address.to_string()))]).await?,
            DeleteTarget::Email(id) => client.delete(PATH, &[("id", Some(id.to_string()))]).await?,
        };
        rows.push(row(target, deleted));
    }
    Ok(())
}

async fn exists(client: &Client, id: EmailId) -> Result<bool, ClientError> {
    match client.email(id).await {
        Ok(_) => Ok(true),
        Err(error) if error.problem().is_some_and(|problem| problem.status == 404) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_names_addresses_ids_and_lists() {
        let id = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b";
        let text = format!("a@x.test\n\n  {id}\r\n{id}\t2023-11-14T22:13:20Z\tann@x.test\tHi\n");
        let targets = read_named(text.as_bytes()).expect("targets");
        assert!(matches!(&targets[..], [Named::Inbox(_), Named::Email(_), Named::Email(_)]), "{targets:?}");
    }

    #[test]
    fn a_bad_line_is_named_and_stops_everything() {
        let error = read_named(&b"a@x.test\nnonsense\n"[..]).expect_err("bad line");
        assert_eq!(error.exit(), Exit::Usage);
        assert!(error.to_string().contains("line 2: 'nonsense'"), "{error}");
        let long = "a".repeat(5_000);
        assert!(read_named(long.as_bytes()).expect_err("long").to_string().contains("too long"));
        assert!(read_named(&b"\xff\xfe\n"[..]).is_err());
    }
}
