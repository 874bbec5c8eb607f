//! `tempmail inbox`: the mail of an address, or of all.

use serde_json::{Value, json};

use super::domain_hint::hint_unless_served;
use super::listing::{Listing, PAGE_SIZE};
use super::output::{self, Column, Format, Kind};
use super::span::Moment;
use super::{Context, watch};
use crate::client::{ALL_MAIL, BRIEF, Client, List, MAIL, MAILBOXES, Mail, Query, WaitQuery, text};
use crate::error::{Error, Exit};
use crate::model::{Address, DomainName};

/// Mails per request where the bodies come along, which may be large.
const PAGE_SIZE_WITH_BODIES: u64 = 20;
/// The most mails that are read to learn who sent them. The service checks 60 in a minute for one client.
const VERIFIED_MAX: usize = 50;
/// From this width on a table has room for what is in a mail, which takes a look at its body.
const WIDE: u16 = 100;

/// The fields of a mail in a list.
const OF_LIST: [&str; 6] = ["id", "recipient", "from", "subject", "message", "receivedAt"];
/// The columns of a list of mail; the last is for people.
pub(super) const MAILS: [Column; 5] = [
    Kind::Id.column("ID", "id"),
    Kind::Time.column("RECEIVED", "receivedAt").rank(1),
    Kind::Text.column("FROM", "from").rank(2).percent(28),
    Kind::Text.column("SUBJECT", "subject"),
    Kind::Text.column("HAS", "has").rank(3),
];
const MAILS_OF_ALL: [Column; 5] =
    [MAILS[0], MAILS[1], MAILS[2], MAILS[3], Kind::Text.column("TO", "recipient").percent(28)];
const OF_MAILBOXES: [Column; 4] = [
    Kind::Text.column("ADDRESS", "address"),
    Kind::Number.column("MAILS", "messages").rank(1),
    Kind::Time.column("NEWEST", "newest").rank(2),
    Kind::Number.column("OCTETS", "octets").rank(3),
];
/// A list that grows has columns that do not.
const WATCHED: [Column; 4] = [
    Kind::Id.column("ID", "id"),
    Kind::Text.column("UTC", "time").exactly(8),
    Kind::Text.column("FROM", "from").exactly(20),
    Kind::Text.column("SUBJECT", "subject"),
];

/// List the mail of an address, or of all addresses, newest first
///
/// In a pipe each mail is a line of four fields separated by tabs: id, time of receipt, sender, subject. Without an address
/// the recipient is the fifth; with --mailboxes a line has the address, the number of mails, the time of the newest, and
/// the octets of all. Both are for the administrator. A list that is not complete is said on standard error.
///
/// A table shows the name of the sender, and where it is wide a one-time code in the mail or the number of its attachments.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail inbox hello@example.test
  tempmail inbox hello@example.test --limit 500
  tempmail inbox hello@example.test --all -o id
  tempmail inbox hello@example.test --subject 'your code' --since 2h
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

    /// Print the newest, oldest first, and then each mail as it arrives
    ///
    /// Ctrl-C ends it.
    #[arg(long, requires = "address", conflicts_with_all = ["all", "page", "from", "subject", "since", "until", "has", "verified"])]
    watch: bool,

    #[command(flatten)]
    filter: Filter,
}

/// What the mails must be like.
#[derive(clap::Args, Debug)]
struct Filter {
    /// Only mail whose sender contains this, in any case
    #[arg(long, requires = "address", value_name = "TEXT")]
    from: Option<String>,

    /// Only mail whose subject contains this, in any case
    #[arg(long, requires = "address", value_name = "TEXT")]
    subject: Option<String>,

    /// Only mail received at this time or later: how long ago, such as 2h, or a time such as 2026-01-31T12:00:00Z
    #[arg(long, requires = "address", value_name = "TIME")]
    since: Option<Moment>,

    /// Only mail received before this time
    #[arg(long, requires = "address", value_name = "TIME")]
    until: Option<Moment>,

    /// Only mail that has this: a file, a one-time code, or a link to verify, sign in, reset or accept
    #[arg(long, requires = "address", value_name = "WHAT", value_parser = ["attachment", "code", "link"])]
    has: Option<String>,

    /// Only mail whose sender is proven to be of this domain, or of one below it. Reads the newest 50 that pass the rest
    #[arg(long, requires = "address", value_name = "DOMAIN", conflicts_with_all = ["page", "all"])]
    verified: Option<DomainName>,
}

impl Inbox {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let client = cx.client().await?;
        let Some(address) = self.address.clone() else { return self.of_all(cx, client).await };
        if self.watch {
            return watched(cx, client, &address, self.limit).await;
        }
        let (is_filtered, query) = self.query(cx, &address);
        let page_size = if cx.style.is_chosen() { PAGE_SIZE } else { PAGE_SIZE_WITH_BODIES };
        // What is in a mail is for people.
        let columns = if cx.style.of_list() == Format::Table { &MAILS[..] } else { &MAILS[..4] };
        if let Some(domain) = &self.filter.verified {
            return self.of_sender(cx, client, query, domain, columns).await;
        }
        let listing = self.listing(MAIL, query, columns);
        let found = Listing { page_size, ..listing }.print(cx, client).await?;
        if found == 0 && is_filtered {
            cx.hint_on_terminal(&format!("no such mail for {address}"));
        } else if found == 0 && !hint_unless_served(cx, client, &address).await {
            cx.hint_on_terminal(&format!("no mail for {address}"));
        }
        Ok(())
    }

    fn listing<'a>(&self, list: List, query: Query, columns: &'a [Column]) -> Listing<'a> {
        let Self { page, limit, all, .. } = *self;
        Listing { list, query, columns, page, limit, all, page_size: PAGE_SIZE, order: "newest", prepare }
    }

    /// What the service is asked for, and whether only some mail passes.
    fn query(&self, cx: &Context, address: &Address) -> (bool, Query) {
        let Filter { from, subject, since, until, has, .. } = &self.filter;
        let time = |moment: Option<Moment>| moment.map(|moment| moment.at(cx.now()).to_rfc3339());
        let filter = [
            ("from", from.clone()),
            ("subject", subject.clone()),
            ("since", time(*since)),
            ("until", time(*until)),
            ("has", has.clone()),
        ];
        let is_filtered = filter.iter().any(|(_, value)| value.is_some());
        let to = [("to", Some(address.to_string())), ("fields", fields(cx))];
        (is_filtered, to.into_iter().chain(filter).collect())
    }

    /// Lists the mail whose sender is proven to be of `domain`. Only the mail itself says so, so each is read.
    async fn of_sender(
        &self,
        cx: &Context,
        client: &Client,
        query: Query,
        domain: &DomainName,
        columns: &[Column],
    ) -> Result<(), Error> {
        let mut rows = client.pages(MAIL, query, Some(PAGE_SIZE_WITH_BODIES)).rows(VERIFIED_MAX + 1).await?;
        if rows.len() > VERIFIED_MAX {
            cx.hint(&format!("only the newest {VERIFIED_MAX} mails were looked at; --until looks at older ones"));
            rows.truncate(VERIFIED_MAX);
        }
        let limit = self.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let (mut found, mut undecided) = (Vec::new(), 0);
        for mut row in rows {
            if found.len() >= limit {
                break;
            }
            let Ok(id) = text(&row, "id").parse() else { continue };
            let is_found = match client.email(id).await.map_err(Error::from) {
                Ok(mail) => {
                    undecided += u32::from(mail.is_undecided());
                    mail.is_verified(domain.as_str())
                }
                // It was deleted meanwhile.
                Err(error) if error.exit() == Exit::NotFound => false,
                Err(error) => return Err(error),
            };
            if is_found {
                if cx.style.of_list() == Format::Table {
                    prepare(&mut row);
                }
                found.push(row);
            }
        }
        if undecided > 0 {
            cx.hint(&format!("senders that could not be checked now: {undecided}; ask again later"));
        }
        if found.is_empty() {
            cx.hint_on_terminal(&format!(
                "no mail that is proven to be of {domain}; `tempmail expect` says what a mail lacks"
            ));
        }
        cx.list(columns, &found, &json!({ "emails": found }))
    }

    /// Lists the mail of all addresses, or these addresses.
    async fn of_all(self, cx: &Context, client: &Client) -> Result<(), Error> {
        let mut query = vec![("domain", self.domain.as_ref().map(ToString::to_string))];
        let (list, columns, what) = if self.mailboxes {
            (MAILBOXES, &OF_MAILBOXES[..], "no address has mail")
        } else {
            let is_table = cx.style.of_list() == Format::Table;
            query.push(("fields", is_table.then(|| format!("{BRIEF},fromName"))));
            (ALL_MAIL, &MAILS_OF_ALL[..], "there is no mail")
        };
        if self.listing(list, query, columns).print(cx, client).await? == 0 {
            let of = self.domain.map(|domain| format!(" at {domain}")).unwrap_or_default();
            cx.hint_on_terminal(&format!("{what}{of}"));
        }
        Ok(())
    }
}

/// The fields that the form of the output shows; `None` for those of the interface, with the body.
fn fields(cx: &Context) -> Option<String> {
    let is_wide = cx.style.width.is_some_and(|width| width >= WIDE);
    match cx.style.of_list() {
        Format::Json | Format::Ndjson => None,
        Format::Table if is_wide => Some(format!("{BRIEF},fromName,codes,attachmentCount")),
        Format::Table => Some(format!("{BRIEF},fromName")),
        Format::Tsv | Format::Id => Some(BRIEF.to_owned()),
    }
}

/// Makes a row what a table shows: with the sender's name, and what is in the mail.
fn prepare(row: &mut Value) {
    let name = row["fromName"].as_str().or(row["header"]["from"][0]["name"].as_str()).unwrap_or_default();
    if !name.trim().is_empty() {
        row["from"] = name.into();
    }
    let files = row["attachmentCount"].as_u64().unwrap_or(0);
    let has = match (row["codes"][0]["code"].as_str(), files) {
        (Some(code), _) => code.to_owned(),
        (None, 0) => return,
        (None, 1) => "1 file".to_owned(),
        (None, files) => format!("{files} files"),
    };
    row["has"] = has.into();
}

/// Prints the newest mails, and each that arrives, until the process ends.
async fn watched(cx: &Context, client: &Client, address: &Address, limit: Option<u64>) -> Result<(), Error> {
    let mut rows = newest(cx, client, address, limit).await?;
    let ids: Vec<String> = rows.iter().map(|mail| text(mail, "id").to_owned()).collect();
    let mut arrivals = client.arrivals(WaitQuery::all(address.clone(), ids.first().cloned()), ids).await?;
    // Oldest first, since later ones follow.
    rows.reverse();
    let mut is_begun = false;
    loop {
        if !rows.is_empty() {
            cx.print(grown(cx, std::mem::take(&mut rows), is_begun))?;
            is_begun = true;
        }
        let Mail(mut mail) = watch::next_mail(cx, &mut arrivals).await?;
        if let (false, Some(members)) = (cx.style.is_chosen(), mail.as_object_mut()) {
            members.retain(|name, _| OF_LIST.contains(&name.as_str()));
        }
        rows.push(mail);
    }
}

/// The newest mails: as many as `limit` says, else a page of the service.
async fn newest(cx: &Context, client: &Client, address: &Address, limit: Option<u64>) -> Result<Vec<Value>, Error> {
    let query = vec![("to", Some(address.to_string())), ("fields", fields(cx))];
    let mut pages = client.pages(MAIL, query, limit.map(|limit| limit.min(PAGE_SIZE_WITH_BODIES)));
    let Some(limit) = limit else {
        return Ok(pages.next(u64::MAX).await?.map(|page| page.rows).unwrap_or_default());
    };
    Ok(pages.rows(usize::try_from(limit).unwrap_or(usize::MAX)).await?)
}

/// Further rows of a list; the heading stands above the first ones.
fn grown(cx: &Context, mut rows: Vec<Value>, is_begun: bool) -> String {
    if cx.style.of_list() != Format::Table {
        return output::lines(cx.style, &MAILS[..4], &rows);
    }
    for row in &mut rows {
        prepare(row);
        // `YYYY-MM-DD HH:MM:SS`
        row["time"] = row["receivedAt"].as_str().and_then(|at| at.get(11..)).into();
    }
    let table = output::list(cx.style, &WATCHED, &rows, &Value::Null, cx.now());
    if is_begun { table.split_once('\n').map_or("", |(_heading, rows)| rows).to_owned() } else { table }
}
