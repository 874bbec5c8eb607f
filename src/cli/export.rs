//! `tempmail export`: mail into an mbox file or a Maildir.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::archive::entry::Entry;
use super::archive::{MAILS_MAX, maildir, mbox};
use super::output::Bar;
use super::unfinished::Unfinished;
use super::{Context, output};
use crate::client::{AllQuery, Client, MailFilter};
use crate::error::{Error, Exit};
use crate::model::{Address, EmailId, Timestamp};

/// Mails per request when they are listed.
const PAGE_SIZE: u64 = 100;
/// Mail is for its owner.
const MODE: u32 = 0o600;

/// Write mail into an mbox file or a Maildir
///
/// The oldest mail comes first. Return-Path and Delivered-To name sender and recipient, then the mail follows as it was received.
/// An mbox file appears when it is complete, and one that is there is replaced only with --yes. A Maildir gets the mails that it
/// does not have. Mail that goes meanwhile is left out.
#[derive(clap::Args, Debug)]
#[command(
    group(clap::ArgGroup::new("which").required(true).args(["address", "all"])),
    group(clap::ArgGroup::new("form").required(true).args(["mbox", "maildir"])),
    after_help = "\
Examples:
  tempmail export hello@example.test --mbox hello.mbox
  tempmail export --all --maildir ~/Maildir
  tempmail import --mbox hello.mbox")]
pub(super) struct Export {
    /// The address whose mail is written
    #[arg(value_name = "ADDR")]
    address: Option<Address>,

    /// The mail of all addresses. For the administrator
    #[arg(long)]
    all: bool,

    /// Write a file in the form mboxrd
    #[arg(long, value_name = "FILE")]
    mbox: Option<PathBuf>,

    /// Write into this Maildir, made if it is missing
    #[arg(long, value_name = "DIR")]
    maildir: Option<PathBuf>,
}

/// A mail that is to be written.
struct Listed {
    id: EmailId,
    recipient: String,
    received_at: Timestamp,
}

/// Where it is written to.
enum Target {
    Mbox(Unfinished),
    Maildir(maildir::Writer),
}

impl Export {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let path = self.mbox.as_deref().or(self.maildir.as_deref()).unwrap_or(Path::new(""));
        let failed = |error: io::Error| Error::new(Exit::Failure, format!("{}: {error}", path.display()));
        if self.mbox.is_some() && !cx.globals.yes && path.symlink_metadata().is_ok() {
            return Err(Error::usage(format!("{} is there already", path.display()))
                .hint("name another file, or replace it with --yes"));
        }
        let client = cx.client().await?;
        let mails = match &self.address {
            Some(address) => of_address(client, address).await?,
            None => of_all(client).await?,
        };
        let mut target = match &self.mbox {
            Some(path) => Target::Mbox(Unfinished::beside(path, MODE).map_err(failed)?),
            None => Target::Maildir(maildir::Writer::open(path).map_err(failed)?),
        };
        let bar = Bar::of_mails("exporting", cx.shows_progress());
        let (mut exported, mut gone) = (0_u64, 0_u64);
        for mail in mails.iter().rev() {
            match client.raw(mail.id).await {
                Ok(raw) => exported += u64::from(target.add(mail, &raw).map_err(failed)?),
                Err(error) if error.problem().is_some_and(|problem| problem.status == 404) => gone += 1,
                Err(error) => return Err(error.into()),
            }
            bar.set(exported + gone, mails.len() as u64);
        }
        drop(bar);
        target.finish().map_err(failed)?;
        let counts = json!({ "exported": exported, "expired": gone });
        cx.print(output::document(cx.style, &counts, cx.now()))?;
        Ok(Exit::Ok)
    }
}

impl Target {
    /// Whether the mail was written; a Maildir may have it already.
    fn add(&mut self, mail: &Listed, raw: &[u8]) -> io::Result<bool> {
        let entry = Entry::of_raw(raw, &mail.recipient)
            .ok_or_else(|| io::Error::other(format!("the mail {} has no Return-Path and Received", mail.id)))?;
        match self {
            Self::Mbox(file) => file.write(&mbox::written(&entry, mail.received_at)).map(|()| true),
            Self::Maildir(directory) => directory.add(mail.id, &entry, mail.received_at),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Mbox(file) => file.finish(),
            Self::Maildir(directory) => directory.finish(),
        }
    }
}

impl Listed {
    fn of(id: &str, recipient: String, received_at: &str) -> Result<Self, Error> {
        let broken = || Error::new(Exit::Unavailable, format!("the service lists a mail without id or time: {id}"));
        let id = id.parse().map_err(|_| broken())?;
        Ok(Self { id, recipient, received_at: Timestamp::from_text(received_at).ok_or_else(broken)? })
    }
}

/// The mail of an address, the newest first.
async fn of_address(client: &Client, address: &Address) -> Result<Vec<Listed>, Error> {
    let (mut mails, mut cursor) = (Vec::new(), String::new());
    loop {
        let batch = client.list_from(address, &cursor, PAGE_SIZE, &MailFilter::default(), true).await?;
        for email in batch.emails {
            mails.push(Listed::of(&email.id, email.recipient, &email.received_at)?);
        }
        bounded(&mails)?;
        match batch.next_cursor {
            Some(next) => cursor = next,
            None => return Ok(mails),
        }
    }
}

/// The mail of all addresses, the newest first.
async fn of_all(client: &Client) -> Result<Vec<Listed>, Error> {
    let (mut mails, mut after) = (Vec::new(), None);
    loop {
        let page = client.all_emails(&AllQuery { after, limit: Some(PAGE_SIZE), ..AllQuery::default() }).await?;
        after = page.next().map(str::to_owned);
        for email in page.emails {
            mails.push(Listed::of(&email.id, email.recipient, &email.received_at)?);
        }
        bounded(&mails)?;
        if after.is_none() {
            return Ok(mails);
        }
    }
}

fn bounded(mails: &[Listed]) -> Result<(), Error> {
    if mails.len() <= MAILS_MAX {
        return Ok(());
    }
    Err(Error::usage(format!("there are more than {MAILS_MAX} mails")).hint("export them address by address"))
}
