//! `tempmail db`: the store as a whole: check, backup and restore.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Bar, Column, Kind};
use super::{Context, STANDARD};
use crate::client::{self, BackupCounts, CheckReport, Client, Destination, OfflineStore, ProgressCallback, is_running};
use crate::config::{self, Sources, StoreLocation};
use crate::error::{Error, Exit};
use crate::unfinished::Unfinished;

const FINDINGS: [Column; 4] = [
    Kind::Text.column("KIND", "kind"),
    Kind::Number.column("SEGMENT", "segment"),
    Kind::Number.column("OFFSET", "offset"),
    Kind::Text.column("WHAT", "detail"),
];
const REPAIR: &str = "`nodetool repair` brings back what another node of the cluster still has";

/// Check, back up and restore the mail store
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  tempmail db backup /var/backups/tempmail.backup
  tempmail db restore /var/backups/tempmail.backup --yes
  tempmail db check")]
pub(super) enum Db {
    /// Check whether the store is whole: every record, every row, and whether they agree
    ///
    /// The service must be stopped. Nothing is written. In a pipe each finding is a line of four fields separated by tabs:
    /// its kind, the segment of the journal, the octet in it, what is wrong. Exit code 8 when there is one.
    ///
    /// In a cluster the service may run meanwhile, and every message is read.
    ///
    /// With --salvage, what can still be read becomes the store, and the files as they are go into a directory damaged-N of
    /// the data directory. Needs as much free space as the mail takes.
    #[command(after_help = "\
Examples:
  tempmail db check
  tempmail db check --json | jq -r '.findings[].detail'
  tempmail db check --salvage")]
    Check {
        /// Keep the readable part of a damaged store, after a question or with --yes
        #[arg(long)]
        salvage: bool,
    },
    /// Back up all mail, domains and webhooks
    ///
    /// Works with and without a running service, which goes on meanwhile. The file is complete and on the disk when this
    /// ends with 0, and until then an older one of the same name stays as it is. It holds the secrets of webhooks and is
    /// made readable for its owner alone.
    #[command(after_help = "\
Examples:
  tempmail db backup /var/backups/tempmail.backup
  tempmail db backup - | gzip > tempmail.backup.gz")]
    Backup {
        /// Where to; - for standard output
        #[arg(value_name = "FILE|-")]
        file: PathBuf,
    },
    /// Replace the store with a backup
    ///
    /// The service must be stopped. The backup is read to its end first, and the new store is made beside the old one; until
    /// it is complete nothing of the old one is touched. Events that were pending are not sent unless --with-events
    /// is given: their endpoints may have received them since.
    ///
    /// In a cluster the keyspace is made, or must be empty, and no node of the service may run on it. Until the restore is
    /// complete nobody can open the keyspace. If it is interrupted, restore into another keyspace, and drop this one. Mail that
    /// has expired is left out.
    #[command(after_help = "\
Examples:
  tempmail db restore tempmail.backup
  tempmail db restore /var/backups/tempmail.backup --yes
  tempmail db restore tempmail.backup --data-dir copy")]
    Restore {
        /// The backup
        #[arg(value_name = "FILE")]
        file: PathBuf,

        /// Also restore the events that were pending when the backup was made
        #[arg(long)]
        with_events: bool,
    },
}

impl Db {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        match self {
            Self::Check { salvage } => check(cx, salvage).await,
            Self::Backup { file } => back_up(cx, &file).await,
            Self::Restore { file, with_events } => restore(cx, file, with_events).await,
        }
    }
}

/// Whether mail is kept in a cluster.
fn is_in_cluster(sources: &Sources) -> Result<bool, Error> {
    Ok(config::load(sources)?.config.store.location != StoreLocation::Embedded)
}

/// What the settings are read from, for a command that works on the store itself.
fn sources(cx: &Context) -> Result<Sources, Error> {
    match cx.destination()? {
        Destination::Local(sources) => Ok(sources),
        Destination::Server(..) => Err(Error::usage("this works on the store itself, not through --server")
            .hint("run it on the machine of the service, as the user that runs it")),
    }
}

/// Shows on a terminal how far the work is.
fn bar(cx: &Context, what: &'static str) -> ProgressCallback {
    let bar = Bar::new(what, cx.shows_progress());
    Arc::new(move |done, all| bar.set(done, all))
}

/// Goes on if it is agreed to, with `--yes` or an answer on the terminal.
async fn agreed(cx: &Context, question: &str, what: &str) -> Result<(), Error> {
    cx.must_ask(what, "--yes does it without a question")?;
    cx.agreed(question, "changed").await
}

/// Says which store is about to change if nobody named it.
fn tell_of_place(cx: &Context, store: &OfflineStore) {
    if !store.is_named() {
        cx.hint(&format!("the store is {}; --data-dir names another", store.path().display()));
    }
}

/// Says so if a store could not take over the tokens of the one that it replaced.
fn tell_of_tokens(cx: &Context, has_tokens: bool) {
    if !has_tokens {
        cx.hint(
            "the tokens of remote callers cannot be read and are lost; `tempmail token new --name NAME` makes new ones",
        );
    }
}

/// Shows what a backup holds, in the order of the alphabet.
fn show_counts(cx: &Context, counts: BackupCounts) -> Result<(), Error> {
    let BackupCounts { messages, emails, octets, domains, webhooks, events, leases } = counts;
    let counts = json!({
        "domains": domains, "emails": emails, "events": events, "leases": leases, "messages": messages, "octets": octets,
        "webhooks": webhooks,
    });
    cx.document(&counts, &counts)
}

/// Checks the store, and keeps what can be read of a damaged one if `is_salvage`.
async fn check(cx: &Context, is_salvage: bool) -> Result<(), Error> {
    let sources = sources(cx)?;
    if is_in_cluster(&sources)? {
        return check_cluster(cx, &sources, is_salvage).await;
    }
    let store = OfflineStore::take(&sources, false).await?;
    let report = store.check(bar(cx, "checking")).await?;
    show(cx, &report)?;
    if report.is_clean() {
        let (segments, records) = (report.segments, report.records);
        cx.hint(&format!("{records} records in {segments} segments and {} Emails are whole", report.emails));
        return Ok(());
    }
    if is_salvage {
        return salvage(cx, &store).await;
    }
    cx.hint("`tempmail db check --salvage` goes on without what is damaged; a backup may have more");
    Err(Error::ending(Exit::CheckFailed))
}

async fn check_cluster(cx: &Context, sources: &Sources, is_salvage: bool) -> Result<(), Error> {
    if is_salvage {
        let cluster = config::load(sources)?.config.store.location;
        let cause = format!("mail is kept in {cluster}, and this works on the files of a data directory");
        return Err(Error::usage(cause).hint(REPAIR));
    }
    let bar = Bar::of_mails("checking", cx.shows_progress());
    let report = client::check_cluster(sources, Arc::new(move |done, all| bar.set(done, all))).await?;
    show(cx, &report)?;
    if !report.is_clean() {
        cx.hint(&format!("{REPAIR}; a backup may have more"));
        return Err(Error::ending(Exit::CheckFailed));
    }
    cx.hint(&format!("{} Emails are whole", report.emails));
    Ok(())
}

/// Shows the findings of a check.
fn show(cx: &Context, report: &CheckReport) -> Result<(), Error> {
    let whole = json!({
        "clean": report.is_clean(), "segments": report.segments, "records": report.records,
        "emails": report.emails, "findings": report.findings, "unlisted": report.unlisted,
    });
    let rows: Vec<Value> = report.findings.iter().map(|finding| json!(finding)).collect();
    cx.list(&FINDINGS, &rows, &whole)?;
    if report.unlisted > 0 {
        cx.hint(&format!("and {} more", report.unlisted));
    }
    Ok(())
}

async fn salvage(cx: &Context, store: &OfflineStore) -> Result<(), Error> {
    tell_of_place(cx, store);
    let question = format!("Go on without what is damaged in {}?", store.path().display());
    let agreed = agreed(cx, &question, "going on without what is damaged").await;
    agreed.map_err(|no| if no.is_silent() { Error::ending(Exit::CheckFailed) } else { no })?;
    let salvaged = store.salvage(bar(cx, "salvaging")).await?;
    let copied = salvaged.copied;
    cx.hint(&format!(
        "kept {} Emails of {}, {} domains and {} webhooks, which are disabled until they are registered again",
        copied.emails, salvaged.report.emails, copied.domains, copied.webhooks
    ));
    cx.hint("Emails that were deleted may be back, where the damage hides that they were");
    tell_of_tokens(cx, salvaged.has_tokens);
    cx.hint(&format!(
        "the damaged files are in {}; remove them when they are of no more use",
        salvaged.aside.display()
    ));
    Ok(())
}

/// Writes a backup to a file or to standard output.
async fn back_up(cx: &Context, file: &Path) -> Result<(), Error> {
    let is_piped = file.as_os_str() == STANDARD;
    if is_piped && cx.style.is_terminal {
        return Err(Error::usage("a backup is no text for a terminal").hint("name a file, or pipe it somewhere"));
    }
    let failed = |error: io::Error| Error::new(Exit::Failure, format!("{}: {error}", file.display()));
    let mut unfinished = if is_piped { None } else { Some(Unfinished::beside(file).map_err(failed)?) };
    let take = |piece: &Bytes| match &mut unfinished {
        Some(unfinished) => unfinished.write(piece).map_err(failed),
        None => cx.print(piece),
    };
    let counts = match cx.destination()? {
        Destination::Local(sources) if !is_running(&sources)? => client::back_up(&sources, take).await?,
        _ => of_service(cx, cx.client().await?, take).await?,
    };
    if let Some(unfinished) = unfinished {
        unfinished.finish().map_err(failed)?;
        show_counts(cx, counts)?;
    } else {
        let BackupCounts { emails, domains, webhooks, .. } = counts;
        cx.hint(&format!("{emails} Emails, {domains} domains and {webhooks} webhooks are in the backup"));
    }
    Ok(())
}

/// Backs up the store of a service that runs.
async fn of_service(
    cx: &Context,
    client: &Client,
    mut take: impl FnMut(&Bytes) -> Result<(), Error>,
) -> Result<BackupCounts, Error> {
    let all = client.status().await?["store"]["liveOctets"].as_u64().unwrap_or(0);
    let progress = bar(cx, "backing up");
    let mut backup = client.backup().await?;
    while let Some(piece) = backup.next().await? {
        take(&piece)?;
        progress(backup.counts().octets.min(all), all);
    }
    Ok(backup.counts())
}

/// Replaces the store by that of a backup.
async fn restore(cx: &Context, file: PathBuf, with_events: bool) -> Result<(), Error> {
    if file.as_os_str() == STANDARD {
        return Err(Error::usage("a backup is read twice, so it cannot come from standard input")
            .hint("write it into a file first"));
    }
    // Before anything is made for it.
    File::open(&file).map_err(|error| Error::usage(format!("{} can't be read: {error}", file.display())))?;
    let sources = sources(cx)?;
    let (checking, restoring) = (bar(cx, "reading"), bar(cx, "restoring"));
    if is_in_cluster(&sources)? {
        // Nothing is replaced there, so there is nothing to ask.
        let counts = client::restore_into_cluster(&sources, file, with_events, checking, restoring).await?;
        return show_counts(cx, counts);
    }
    let store = OfflineStore::take(&sources, true).await?;
    tell_of_place(cx, &store);
    if store.holds_store() {
        let question = format!("Replace all mail, domains and webhooks in {}?", store.path().display());
        agreed(cx, &question, "replacing a store").await?;
    }
    let (counts, has_tokens) = store.restore(file, with_events, checking, restoring).await?;
    show_counts(cx, counts)?;
    tell_of_tokens(cx, has_tokens);
    Ok(())
}
