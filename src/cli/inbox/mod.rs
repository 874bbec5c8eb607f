//! `tempmail inbox`: the mail of an address, or of all.

mod everything;
mod live;
mod walk;

use super::Context;
use super::domain_hint::hint_unless_served;
use super::output::{self, Cell, Narrow, Row};
use crate::client::{Client, ClientError, Email, MailFilter, MailboxEntry, NewestEmail};
use crate::error::{Error, Exit};
use crate::model::{Address, DomainName};
use walk::{Batch, Walked};

/// List the mail of an address, or of all addresses, newest first
///
/// In a pipe each mail is a line of four fields separated by tabs: id, time of receipt, sender, subject. Without an address
/// the recipient is the fifth; with --mailboxes a line has the address, the number of mails, the time of the newest, and
/// the octets of all. Both are for the administrator. A list that is not complete is said on standard error.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail inbox hello@example.test
  tempmail inbox hello@example.test --limit 500
  tempmail inbox hello@example.test --all -o id
  tempmail inbox hello@example.test --subject 'your code' \\
    --since 2026-01-31T12:00:00Z
  tempmail inbox hello@example.test --json | jq -r '.emails[].subject'
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
    #[arg(long, requires = "address", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    page: Option<u64>,

    /// How many at most [default: a page of the service]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    /// All of them, however many there are
    #[arg(long, conflicts_with_all = ["page", "limit"])]
    all: bool,

    /// Keep the list up to date: on a terminal it is drawn again, in a pipe each mail that arrives is a further line
    ///
    /// Ctrl-C ends it.
    #[arg(long, requires = "address", conflicts_with_all = ["all", "page", "from", "subject", "since", "until", "has"])]
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
        let Some(address) = &self.address else { return everything::list(self, cx, client).await };
        if self.watch {
            return live::keep(cx, client, address, self.limit).await;
        }
        let filter = self.filter.clone().into_filter();
        if self.all {
            let walked = walk(cx, client, address, None, &filter).await?;
            if walked.printed == 0 {
                hint_none(cx, client, address, &filter).await;
            }
            return Ok(Exit::Ok);
        }
        let page = client.search(address, self.page, self.limit, &filter).await?;
        if let Some(limit) = self.limit.filter(|limit| page.limit < *limit && page.total > page.limit) {
            if self.page.is_some() {
                return Err(page_too_large(page.limit));
            }
            let walked = walk(cx, client, address, Some(limit), &filter).await?;
            hint_more(cx, &walked);
            return Ok(Exit::Ok);
        }
        cx.print(output::list(cx.style, &page.emails, &page, cx.now()))?;
        if page.complete == Some(false) {
            let scanned = page.scanned.unwrap_or_default();
            cx.hint(&format!("only the newest {scanned} mails were looked at; --all looks at all"));
        }
        if page.total == 0 {
            hint_none(cx, client, address, &filter).await;
        } else if page.emails.is_empty() {
            cx.hint(&format!("page {} is past the end; there are {}", page.page, page.pages));
        } else if page.page > 1 {
            cx.hint(&format!("page {} of {}, {} mails in all; --all lists them", page.page, page.pages, page.total));
        } else if page.pages > 1 {
            hint_of_rest(cx, page.emails.len() as u64, Some(page.total));
        }
        Ok(Exit::Ok)
    }
}

/// Lists an inbox page by page.
async fn walk(
    cx: &Context,
    client: &Client,
    address: &Address,
    limit: Option<u64>,
    filter: &MailFilter,
) -> Result<Walked, Error> {
    walk::print(cx, "emails", limit, async |cursor, limit| batch(cx, client, address, cursor, limit, filter).await)
        .await
}

/// The Emails of an address behind `cursor`, at most `limit`, with what the form of the output shows of them.
async fn batch(
    cx: &Context,
    client: &Client,
    address: &Address,
    cursor: Option<String>,
    limit: u64,
    filter: &MailFilter,
) -> Result<Batch<Email>, ClientError> {
    let is_brief = !walk::has_bodies(cx);
    let batch = client.list_from(address, &cursor.unwrap_or_default(), limit, filter, is_brief).await?;
    Ok(Batch { rows: batch.emails, next: batch.next_cursor, total: batch.total })
}

/// Says that there is nothing. An inbox that never was is simply empty, and that is no error.
async fn hint_none(cx: &Context, client: &Client, address: &Address, filter: &MailFilter) {
    if *filter != MailFilter::default() {
        if cx.style.is_terminal {
            cx.hint(&format!("no such mail for {address}"));
        }
    } else if !hint_unless_served(cx, client, address).await && cx.style.is_terminal {
        cx.hint(&format!("no mail for {address}"));
    }
}

/// Says that a list is longer than what was printed, in a pipe too: who works on the lines must know that some are missing.
fn hint_of_rest(cx: &Context, printed: u64, total: Option<u64>) {
    let of = total.map_or_else(String::new, |total| format!(" of {total}"));
    cx.hint(&format!("these are the newest {printed}{of}; --all lists all, --limit N lists N"));
}

fn hint_more(cx: &Context, walked: &Walked) {
    if walked.has_more {
        hint_of_rest(cx, walked.printed, walked.total);
    }
}

/// Pages by number have the size that the service gives.
fn page_too_large(limit: u64) -> Error {
    Error::usage(format!("a page of this service has at most {limit} entries"))
        .hint("--limit without --page lists as many as you say, --all lists all")
}

impl Row for NewestEmail {
    const HEADINGS: &'static [&'static str] = &["ID", "RECEIVED", "FROM", "SUBJECT", "TO"];
    const NARROW: &'static [Narrow] = &[
        Narrow::Cut(2, 32),
        Narrow::Cut(4, 32),
        Narrow::Cut(3, 40),
        Narrow::Cut(2, 20),
        Narrow::Cut(4, 20),
        Narrow::Cut(3, 22),
        Narrow::Cut(2, 12),
        Narrow::Omit(2),
        Narrow::Cut(3, 16),
        Narrow::Cut(4, 10),
    ];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Id(self.id.clone()),
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
    const NARROW: &'static [Narrow] = &[Narrow::Cut(0, 24), Narrow::Omit(3), Narrow::Cut(0, 10)];

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
    const NARROW: &'static [Narrow] = &[
        Narrow::Cut(2, 32),
        Narrow::Cut(3, 48),
        Narrow::Cut(2, 20),
        Narrow::Cut(3, 24),
        Narrow::Cut(2, 12),
        Narrow::Cut(3, 16),
        Narrow::Cut(2, 10),
    ];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Id(self.id.clone()),
            Cell::Time(Some(self.received_at.clone())),
            Cell::Text(self.from.clone()),
            Cell::Text(self.subject.clone()),
        ]
    }

    fn id(&self) -> String {
        self.id.clone()
    }
}
