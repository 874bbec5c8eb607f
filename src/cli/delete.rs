//! `tempmail delete`: deletes mail before it expires.

use std::collections::BTreeSet;
use std::io::{BufRead, Read as _};

use serde_json::{Value, json};

use super::ids::{Id, Of, Target};
use super::output::{Column, Kind};
use super::removal::{HINT, Removal, deleted};
use super::{Context, STANDARD};
use crate::client::{Client, ClientError, Failure, Method};
use crate::error::{Error, Exit};
use crate::model::{Address, EmailId};

const PATH: &str = "/api/mail/delete";
const COLUMNS: [Column; 2] = [Kind::Text.column("TARGET", "target"), Kind::Number.column("MAILS", "deleted")];
/// The most addresses and ids that standard input may name.
const TARGETS_MAX: usize = 100_000;
/// The most ids in one request.
const IDS_MAX: usize = 100;
/// The longest line of standard input in octets; an address has at most 64 + 1 + 253.
const LINE_OCTETS_MAX: u64 = 1_024;

/// A target whose id is whole.
type Whole = Target<EmailId>;

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
    id: Vec<Id>,

    #[command(flatten)]
    removal: Removal,
}

impl Delete {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
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
        if let Some(question) = question {
            cx.agreed(&question, "deleted").await?;
        }
        let mut rows = Vec::new();
        let done = carry_out(client, &targets, removal.dry_run, &mut rows).await;
        removal.show(cx, &COLUMNS, &rows, done)?;
        let of_ids = targets.iter().zip(&rows).filter(|(target, _)| matches!(target, Target::Email(_)));
        let unknown: Vec<&Whole> = of_ids.filter(|(_, row)| deleted(row) == 0).map(|(target, _)| target).collect();
        let Some(first) = unknown.first() else { return Ok(()) };
        let others = match unknown.len() - 1 {
            0 => String::new(),
            others => format!(", nor with {others} more of these ids"),
        };
        Err(Error::new(Exit::NotFound, format!("there is no mail with the id {first}{others}"))
            .hint("it may have expired or been deleted; `tempmail inbox ADDR` lists what is there"))
    }

    /// Every target, checked before anything is deleted.
    ///
    /// With ids an address is the one that they belong to.
    fn named(&self, cx: &Context) -> Result<(Option<Address>, Vec<Target>), Error> {
        let ids = || self.id.iter().cloned().map(Target::Email).collect();
        match self.target.as_deref() {
            Some(STANDARD) if self.id.is_empty() => {
                let stdin = cx.streams.stdin();
                Ok((None, read_named(stdin.map_err(|error| Error::usage(format!("standard input: {error}")))?)?))
            }
            Some(STANDARD) => Err(Error::usage("--id and - say different things").hint("give one of them")),
            Some(address) => {
                let address: Address = address
                    .parse()
                    .map_err(|error| Error::usage(error).hint("give an address, - for standard input, or --id ID"))?;
                let all = vec![Target::Inbox(address.clone())];
                Ok((Some(address), if self.id.is_empty() { all } else { ids() }))
            }
            None => Ok((None, ids())),
        }
    }
}

/// The targets with whole ids.
async fn resolved(client: &Client, address: Option<&Address>, named: Vec<Target>) -> Result<Vec<Whole>, Error> {
    let id = |target: &Target| match target {
        Target::Email(id) => Some(id.clone()),
        Target::Inbox(_) => None,
    };
    let ids: Vec<Id> = named.iter().filter_map(id).collect();
    let mut ids = Of::Mail(address).whole(client, &ids).await?.into_iter();
    let mut seen = BTreeSet::new();
    let target = |named| match named {
        Target::Inbox(address) => Some(Target::Inbox(address)),
        // A mail that is named twice goes once.
        Target::Email(_) => {
            let id = ids.next().map(|id| EmailId::from_octets(id.into_bytes()));
            id.filter(|id| seen.insert(*id)).map(Target::Email)
        }
    };
    Ok(named.into_iter().filter_map(target).collect())
}

fn read_named(mut input: impl BufRead) -> Result<Vec<Target>, Error> {
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
async fn question(client: &Client, targets: &[Whole]) -> Result<Option<String>, Error> {
    Ok(match targets {
        [Target::Inbox(address)] => match client.newest(address, 1).await?.total {
            0 | 1 => None,
            total => Some(format!("Delete all {total} mails of {address}?")),
        },
        [] | [_] => None,
        several => Some(format!("Delete {} mails?", several.len())),
    })
}

/// One row per target up to the first failure.
async fn carry_out(client: &Client, targets: &[Whole], is_dry: bool, rows: &mut Vec<Value>) -> Result<(), ClientError> {
    let are_ids = |one: &Whole, other: &Whole| matches!((one, other), (Target::Email(_), Target::Email(_)));
    for batch in targets.chunk_by(are_ids).flat_map(|run| run.chunks(IDS_MAX)) {
        if !is_dry && batch.len() > 1 && together(client, batch, rows).await? {
            continue;
        }
        for target in batch {
            let what = match target {
                Target::Inbox(address) => ("to", Some(address.to_string())),
                Target::Email(id) => ("id", Some(id.to_string())),
            };
            let deleted = match target {
                _ if !is_dry => client.delete(PATH, &[what]).await?,
                Target::Inbox(address) => client.newest(address, 1).await?.total,
                Target::Email(id) => exists(client, *id).await?.into(),
            };
            rows.push(row(target, deleted));
        }
    }
    Ok(())
}

/// Deletes mails in one request. `false` if one of them was refused or is damaged: then all are still there, and those before
/// it can go.
async fn together(client: &Client, mails: &[Whole], rows: &mut Vec<Value>) -> Result<bool, ClientError> {
    let query: Vec<_> = mails.iter().map(|mail| ("id", Some(mail.to_string()))).collect();
    match client.call::<Value>(Method::DELETE, PATH, &query, None).await {
        Ok(answer) => {
            let missing = match answer.as_object().map(|members| members.get("missing")) {
                Some(None) => &[][..],
                Some(Some(Value::Array(ids))) => ids,
                _ => {
                    let why = Failure::Unintelligible("it does not say which mails are missing".to_owned());
                    return Err(client.transport().failure(why));
                }
            };
            let is_missing = |mail: &Whole| missing.iter().any(|id| *id == mail.to_string());
            rows.extend(mails.iter().map(|mail| row(mail, (!is_missing(mail)).into())));
            Ok(true)
        }
        Err(error) if error.has_status(403) || error.has_status(500) => Ok(false),
        Err(error) => Err(error),
    }
}

fn row(target: &Whole, deleted: u64) -> Value {
    json!({ "target": target.to_string(), "deleted": deleted })
}

async fn exists(client: &Client, id: EmailId) -> Result<bool, ClientError> {
    match client.email(id).await {
        Ok(_) => Ok(true),
        Err(error) if error.has_status(404) => Ok(false),
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
        assert!(matches!(&targets[..], [Target::Inbox(_), Target::Email(_), Target::Email(_)]), "{targets:?}");
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
