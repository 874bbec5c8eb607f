//! `tempmail inbox`: the mail of an address, or of all.

mod live;

use super::Context;
use super::domain_hint::hint_unless_served;
use super::output::{self, Cell, Row};
use crate::client::{AllQuery, Client, Email, MailFilter, MailboxEntry, NewestEmail};
use crate::error::{Error, Exit};
use crate::model::{Address, DomainName};

/// List the mail of an address, or of all addresses, newest first
///
/// In a pipe each mail is a line of four fields separated by tabs: id, time of receipt, sender, subject. Without an address
/// the recipient is the fifth; with --mailboxes a line has the address, the number of mails, the time of the newest, and
/// the octets of all. Both are for the administrator.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail inbox hello@example.test
  tempmail inbox hello@example.test --page 2 --limit 50
  tempmail inbox hello@example.test --subject 'your code' --since 2026-01-31T12:00:00Z
  tempmail inbox hello@example.test -o id | head -n 1
  tempmail inbox hello@example.test --json | jq '.total'
  tempmail inbox hello@example.test --watch
  tempmail inbox
  tempmail inbox --mailboxes --domain example.test")]
pub(super) struct Inbox {
    /// The address; without it the mail of all addresses, for the administrator
    #[arg(value_name = "ADDR")]
    address: Option<Address>,

    /// The addresses that have mail instead of the mail. For the administrator
    #[arg(long, conflicts_with = "address")]
    mailboxes: bool,

    /// Only those of this domain
    #[arg(long, value_name = "DOMAIN", conflicts_with = "address")]
    domain: Option<DomainName>,

    /// Which page, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    page: Option<u64>,

    /// Mails per page; the service has a default and a maximum
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    /// Keep the list up to date: on a terminal it is drawn again, in a pipe each mail that arrives is a further line
    ///
    /// Ctrl-C ends it.
    #[arg(long, requires = "address", conflicts_with_all = ["page", "from", "subject", "since", "until", "has"])]
    watch: bool,

    #[command(flatten)]
    filter: FilterFlags,
}

/// What the mails must be like.
#[derive(clap::Args, Clone, Debug)]
struct FilterFlags {
    /// Only mail whose sender contains this, in any case
    #[arg(long, requires = "address", value_name = "TEXT")]
    from: Option<String>,

    /// Only mail whose subject contains this, in any case
    #[arg(long, requires = "address", value_name = "TEXT")]
    subject: Option<String>,

    /// Only mail received at this time or later, such as 2026-01-31T12:00:00Z
    #[arg(long, requires = "address", value_name = "TIME")]
    since: Option<String>,

    /// Only mail received before this time
    #[arg(long, requires = "address", value_name = "TIME")]
    until: Option<String>,

    /// Only mail that has this: a file, a one-time code, or a link to verify, sign in, reset or accept
    #[arg(long, requires = "address", value_name = "WHAT", value_parser = ["attachment", "code", "link"])]
    has: Option<String>,
}

impl FilterFlags {
    fn into_filter(self) -> MailFilter {
        let Self { from, subject, since, until, has } = self;
        MailFilter { from, subject, since, until, has }
    }
}

impl Inbox {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        let Some(address) = &self.address else { return self.all(cx, client).await };
        if self.watch {
            return live::keep(cx, client, address, self.limit).await;
        }
        let filter = self.filter.into_filter();
        let page = client.search(address, self.page, self.limit, &filter).await?;
        cx.print(output::list(cx.style, &page.emails, &page, cx.now()))?;
        if page.complete == Some(false) {
            cx.hint(&format!("only the newest {} mails were looked at", page.scanned.unwrap_or_default()));
        }
        // An inbox that never was is simply empty, and that is no error.
        if page.total == 0 {
            if filter != MailFilter::default() {
                if cx.style.is_terminal {
                    cx.hint(&format!("no such mail for {address}"));
                }
            } else if !hint_unless_served(cx, client, address).await && cx.style.is_terminal {
                cx.hint(&format!("no mail for {address}"));
            }
        } else if page.emails.is_empty() {
            cx.hint(&format!("page {} is past the end; there are {}", page.page, page.pages));
        } else if page.pages > 1 && cx.style.is_terminal {
            cx.hint(&format!("page {} of {}, {} mails in all", page.page, page.pages, page.total));
        }
        Ok(Exit::Ok)
    }

    /// Lists the mail of all addresses, or these addresses.
    async fn all(self, cx: &Context, client: &Client) -> Result<Exit, Error> {
        let which = AllQuery { domain: self.domain, page: self.page, limit: self.limit };
        let (text, is_empty) = if self.mailboxes {
            let page = client.mailboxes(&which).await?;
            (output::list(cx.style, &page.mailboxes, &page, cx.now()), page.mailboxes.is_empty())
        } else {
            let page = client.all_emails(&which).await?;
            (output::list(cx.style, &page.emails, &page, cx.now()), page.emails.is_empty())
        };
        cx.print(text)?;
        if is_empty && cx.style.is_terminal {
            cx.hint("no mail on this page");
        }
        Ok(Exit::Ok)
    }
}

impl Row for NewestEmail {
    const HEADINGS: &'static [&'static str] = &["ID", "RECEIVED", "FROM", "SUBJECT", "TO"];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Text(self.id.clone()),
            Cell::Time(Some(self.received_at.clone())),
            Cell::Text(self.from.clone()),
            Cell::Text(self.subject.clone()),
            Cell::Text(self.recipient.clone()),
        ]
    }

    fn id(&self) -> String {
        self.id.clone()
    }
}

impl Row for MailboxEntry {
    const HEADINGS: &'static [&'static str] = &["ADDRESS", "MAILS", "NEWEST", "OCTETS"];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Text(self.address.clone()),
            Cell::Number(self.messages),
            Cell::Time(Some(self.newest.clone())),
            Cell::Number(self.octets),
        ]
    }

    fn id(&self) -> String {
        self.address.clone()
    }
}

impl Row for Email {
    const HEADINGS: &'static [&'static str] = &["ID", "RECEIVED", "FROM", "SUBJECT"];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Text(self.id.clone()),
            Cell::Time(Some(self.received_at.clone())),
            Cell::Text(self.from.clone()),
            Cell::Text(self.subject.clone()),
        ]
    }

    fn id(&self) -> String {
        self.id.clone()
    }
}
