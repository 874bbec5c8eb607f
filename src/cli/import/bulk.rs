//! The messages of an mbox file or a Maildir, one after the other.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use serde_json::json;

use super::super::archive::entry::Entry;
use super::super::archive::{ENTRY_OCTETS_MAX, maildir as directory, mbox};
use super::super::output::Bar;
use super::super::{Context, output};
use super::Import;
use crate::client::{Client, ClientError};
use crate::error::{Error, Exit};
use crate::model::Address;

/// How many refused messages are named.
const NAMED_MAX: u64 = 20;

/// What became of the messages.
#[derive(Default)]
struct Tally {
    imported: u64,
    refused: u64,
    first: Option<Error>,
}

pub(super) async fn mbox(import: &Import, path: &Path, cx: &Context) -> Result<Exit, Error> {
    let unread = |error: io::Error| unreadable(path, &error);
    let file = File::open(path).map_err(unread)?;
    let all = file.metadata().map_err(unread)?.len();
    let client = cx.client().await?;
    let bar = Bar::new("importing", cx.shows_progress());
    let mut reader = mbox::Reader::new(BufReader::new(file), ENTRY_OCTETS_MAX);
    let mut tally = Tally::default();
    while let Some(text) = reader.next().map_err(unread)? {
        let name = format!("message {} of {}", tally.imported + tally.refused + 1, path.display());
        one(import, &text, &name, &mut tally, client, cx).await?;
        bar.set(reader.position.min(all), all);
    }
    drop(bar);
    end(tally, cx)
}

pub(super) async fn maildir(import: &Import, path: &Path, cx: &Context) -> Result<Exit, Error> {
    let files = directory::files(path).map_err(|error| unreadable(path, &error))?;
    let client = cx.client().await?;
    let bar = Bar::of_mails("importing", cx.shows_progress());
    let mut tally = Tally::default();
    for (done, file) in files.iter().enumerate() {
        let text = directory::message(file, ENTRY_OCTETS_MAX).map_err(|error| unreadable(file, &error))?;
        one(import, &text, &file.display().to_string(), &mut tally, client, cx).await?;
        bar.set(done as u64 + 1, files.len() as u64);
    }
    drop(bar);
    end(tally, cx)
}

/// Imports one message. Only what the service refuses because of this message lets the next ones go on.
async fn one(
    import: &Import,
    text: &[u8],
    name: &str,
    tally: &mut Tally,
    client: &Client,
    cx: &Context,
) -> Result<(), Error> {
    let entry = Entry::of_archive(text);
    let refused = match envelope(import, &entry) {
        Ok((to, from)) => match client.import(&to, from.as_ref(), entry.message.into_owned().into()).await {
            Ok(_) => {
                tally.imported += 1;
                return Ok(());
            }
            Err(error @ ClientError::Refused(_)) if is_of_message(&error) => error.into(),
            Err(error) => return Err(error.into()),
        },
        Err(error) => error,
    };
    tally.refused += 1;
    if tally.refused <= NAMED_MAX {
        cx.hint(&format!("{name}: {refused}"));
    }
    tally.first.get_or_insert(refused);
    Ok(())
}

fn envelope(import: &Import, entry: &Entry<'_>) -> Result<(Vec<Address>, Option<Address>), Error> {
    // The sender of somebody else's archive may be anything; it decides nothing.
    let from = import.from.clone().or_else(|| entry.sender.parse().ok());
    if !import.addresses.is_empty() {
        return Ok((import.addresses.clone(), from));
    }
    if entry.recipient.is_empty() {
        return Err(Error::usage("it has no field Delivered-To").hint("name the address that the messages are for"));
    }
    let to = entry.recipient.parse().map_err(|error| Error::usage(format!("Delivered-To: {error}")))?;
    Ok((vec![to], from))
}

/// Whether another message could be taken.
fn is_of_message(error: &ClientError) -> bool {
    error.problem().is_some_and(|problem| matches!(problem.status, 400 | 404 | 413 | 422))
}

fn end(tally: Tally, cx: &Context) -> Result<Exit, Error> {
    let counts = json!({ "imported": tally.imported, "refused": tally.refused });
    cx.print(output::document(cx.style, &counts, cx.now()))?;
    let Some(first) = tally.first else { return Ok(Exit::Ok) };
    let cause = format!("{} of {} messages were refused", tally.refused, tally.refused + tally.imported);
    let error = Error::new(first.exit(), cause);
    Err(match first.what_to_do() {
        Some(hint) => error.hint(hint),
        None => error,
    })
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::usage(format!("{} can't be read: {error}", path.display()))
}
