//! `tempmail import`: messages from files, put into inboxes without SMTP.

mod bulk;

use std::fs::File;
use std::io::{IsTerminal, Read, stdin};
use std::path::{Path, PathBuf};

use super::Context;
use super::output::{self, Cell, Row};
use crate::client::ImportedEmail;
use crate::error::{Error, Exit};
use crate::model::Address;

/// The largest message that a service may accept, in octets.
pub(super) const MESSAGE_OCTETS_MAX: u64 = 50 << 20;

/// Put messages from files into inboxes, without SMTP
///
/// For the administrator. A message is in the inbox of each address when the command ends. In a pipe each mail is a line of its id and its
/// address, separated by a tab. Messages of an mbox file or a Maildir go to ADDR, or without it each to the address in its
/// field Delivered-To; what is printed is how many were imported and refused.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail import hello@example.test --file welcome.eml
  printf 'Subject: hi\\r\\n\\r\\ntext' \\
    | tempmail import hello@example.test other@example.test
  tempmail import --mbox mail.mbox
  tempmail import hello@example.test --maildir ~/Maildir")]
pub(super) struct Import {
    /// The addresses that the message is for
    #[arg(value_name = "ADDR", required_unless_present_any = ["mbox", "maildir"], num_args = 1..=100)]
    addresses: Vec<Address>,

    /// The file with the message [default: standard input]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// An mbox file with any number of messages
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "maildir"])]
    mbox: Option<PathBuf>,

    /// A Maildir
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    maildir: Option<PathBuf>,

    /// The sender of the envelope; without it that in an mbox file or Maildir, else none, as of a bounce
    #[arg(long, value_name = "ADDR")]
    from: Option<Address>,
}

impl Import {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        if let Some(path) = &self.mbox {
            return bulk::mbox(&self, path, cx).await;
        }
        if let Some(path) = &self.maildir {
            return bulk::maildir(&self, path, cx).await;
        }
        let raw = message(self.file.as_deref())?;
        let client = cx.client().await?;
        let emails = client.import(&self.addresses, self.from.as_ref(), raw.into()).await?;
        cx.print(output::list(cx.style, &emails, &emails, cx.now()))?;
        Ok(Exit::Ok)
    }
}

/// The message in a file, or from standard input.
pub(super) fn message(file: Option<&Path>) -> Result<Vec<u8>, Error> {
    let mut raw = Vec::new();
    let (name, read) = match file {
        Some(path) => {
            let read = File::open(path).and_then(|file| file.take(MESSAGE_OCTETS_MAX + 1).read_to_end(&mut raw));
            (path.display().to_string(), read)
        }
        None if stdin().is_terminal() => {
            return Err(Error::new(Exit::Usage, "there is no message to import").hint("name its file with --file"));
        }
        None => ("standard input".to_owned(), stdin().lock().take(MESSAGE_OCTETS_MAX + 1).read_to_end(&mut raw)),
    };
    read.map_err(|error| Error::new(Exit::Usage, format!("{name} can't be read: {error}")))?;
    if raw.len() as u64 > MESSAGE_OCTETS_MAX {
        return Err(Error::new(Exit::Usage, format!("{name} is longer than {MESSAGE_OCTETS_MAX} octets")));
    }
    Ok(raw)
}

impl Row for ImportedEmail {
    const HEADINGS: &'static [&'static str] = &["ID", "TO"];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::Id(self.id.clone()), Cell::Text(self.recipient.clone())]
    }

    fn id(&self) -> String {
        self.id.clone()
    }
}
