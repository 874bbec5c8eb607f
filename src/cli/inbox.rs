//! `tempmail inbox`: the mail of an address, or of all.

use serde_json::{Map, Value, json};

use super::Context;
use super::domain_hint::hint_unless_served;
use super::output::{self, Column, Format, JsonList};
use super::span::Moment;
use super::watch;
use crate::client::{ALL_MAIL, BRIEF, Client, List, MAIL, MAILBOXES, Pages, Query};
use crate::error::{Error, Exit};
use crate::model::{Address, DomainName, EmailId};

/// Mails per request.
const PAGE_SIZE: u64 = 100;
/// Where the bodies come along, which may be large.
const PAGE_SIZE_WITH_BODIES: u64 = 20;
/// From this width on a table has room for what is in a mail, which takes a look at its body.
const WIDE: u16 = 100;

/// The fields of a mail in a list.
const OF_LIST: [&str; 6] = ["id", "recipient", "from", "subject", "message", "receivedAt"];
/// The columns of a list of mail; the last is for people.
pub(super) const MAILS: [Column; 5] = [
    Column::id("ID", "id"),
    Column::time("RECEIVED", "receivedAt").rank(1),
    Column::text("FROM", "from").rank(2).percent(28),
    Column::text("SUBJECT", "subject"),
    Column::text("HAS", "has").rank(3),
];
const MAILS_OF_ALL: [Column; 5] = [MAILS[0], MAILS[1], MAILS[2], MAILS[3], Column::text("TO", "recipient").percent(28)];
const OF_MAILBOXES: [Column; 4] = [
    Column::text("ADDRESS", "address"),
    Column::number("MAILS", "messages"),
    Column::time("NEWEST", "newest"),
    Column::number("OCTETS", "octets").rank(1),
];
/// A list that grows has columns that do not.
const WATCHED: [Column; 4] = [
    Column::id("ID", "id"),
    Column::text("UTC", "time").exactly(8),
    Column::text("FROM", "from").exactly(20),
    Column::text("SUBJECT", "subject"),
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
    #[arg(long, requires = "address", conflicts_with_all = ["all", "page", "from", "subject", "since", "until", "has"])]
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
}

impl Inbox {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        let Some(address) = &self.address else { return self.of_all(cx, client).await };
        if self.watch {
            return watched(cx, client, address, self.limit).await;
        }
        let (is_filtered, query) = self.query(cx, address);
        let printed = if self.all || (self.limit.is_some() && self.page.is_none()) {
            let size = if cx.style.is_chosen() { PAGE_SIZE } else { PAGE_SIZE_WITH_BODIES };
            let pages = client.pages(MAIL, query, Some(size));
            self.walk(cx, pages, MAIL, columns(cx, &MAILS)).await?
        } else {
            self.one_page(cx, client, query).await?
        };
        if printed == 0 && is_filtered {
            cx.hint_on_terminal(&format!("no such mail for {address}"));
        } else if printed == 0 && !hint_unless_served(cx, client, address).await {
            cx.hint_on_terminal(&format!("no mail for {address}"));
        }
        Ok(Exit::Ok)
    }

    /// What the service is asked for, and whether only some mail passes.
    fn query(&self, cx: &Context, address: &Address) -> (bool, Query) {
        let Filter { from, subject, since, until, has } = &self.filter;
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

    /// Prints a page of the service. How many mails there are in all, as far as the page tells.
    async fn one_page(&self, cx: &Context, client: &Client, mut query: Query) -> Result<u64, Error> {
        let number = |number: Option<u64>| number.map(|number| number.to_string());
        query.extend([("page", number(self.page)), ("limit", number(self.limit))]);
        let page: Value = client.get(MAIL.path, &query).await?;
        let Some(rows) = page[MAIL.member].as_array() else {
            return Err(Error::new(Exit::Unavailable, "the service does not answer with a list of mail"));
        };
        let [total, limit, number, pages] =
            ["total", "limit", "page", "pages"].map(|name| page[name].as_u64().unwrap_or(0));
        if self.limit.is_some_and(|wanted| limit < wanted && total > limit) {
            return Err(Error::usage(format!("a page of this service has at most {limit} entries"))
                .hint("--limit without --page lists as many as you say, --all lists all"));
        }
        let rows = prepared(cx, rows.clone());
        cx.list(columns(cx, &MAILS), &rows, &page)?;
        if page["complete"] == false {
            cx.hint(&format!("only the newest {} mails were looked at; --all looks at all", page["scanned"]));
        }
        if total > 0 && rows.is_empty() {
            cx.hint(&format!("page {number} is past the end; there are {pages}"));
        } else if number > 1 {
            cx.hint(&format!("page {number} of {pages}, {total} mails in all; --all lists them"));
        } else if pages > 1 {
            hint_of_rest(cx, rows.len() as u64, Some(total));
        }
        Ok(total)
    }

    /// Lists the mail of all addresses, or these addresses.
    async fn of_all(self, cx: &Context, client: &Client) -> Result<Exit, Error> {
        let (list, columns, what) = if self.mailboxes {
            (MAILBOXES, &OF_MAILBOXES[..], "no address has mail")
        } else {
            (ALL_MAIL, &MAILS_OF_ALL[..], "there is no mail")
        };
        let query = vec![("domain", self.domain.as_ref().map(ToString::to_string))];
        let size = (self.all || self.limit.is_some()).then_some(PAGE_SIZE);
        if self.walk(cx, client.pages(list, query, size), list, columns).await? == 0 {
            let of = self.domain.map(|domain| format!(" at {domain}")).unwrap_or_default();
            cx.hint_on_terminal(&format!("{what}{of}"));
        }
        Ok(Exit::Ok)
    }

    /// Prints a list page by page: as much as `--limit` and `--all` say, else one page. Returns how many rows there were.
    ///
    /// A table takes them all at once, since its columns are as wide as they need.
    async fn walk(&self, cx: &Context, mut pages: Pages<'_>, list: List, columns: &[Column]) -> Result<u64, Error> {
        let (mut printed, mut has_more, mut of_table) = (0, true, Vec::new());
        let mut members = Map::new();
        let mut json = JsonList::new(list.member);
        let limit = self.limit.unwrap_or(u64::MAX);
        while printed < limit
            && let Some(page) = pages.next(limit - printed).await?
        {
            if printed == 0 {
                members = page.members;
            }
            (printed, has_more) = (printed + page.rows.len() as u64, page.has_more);
            match cx.style.of_list() {
                Format::Table => of_table.extend(prepared(cx, page.rows)),
                Format::Json => cx.print(json.rows(&page.rows))?,
                _ => cx.print(output::lines(cx.style, columns, &page.rows))?,
            }
            if !self.all && self.limit.is_none() {
                break;
            }
        }
        let total = members.get("total").and_then(Value::as_u64);
        match cx.style.of_list() {
            Format::Table => cx.list(columns, &of_table, &Value::Null)?,
            Format::Json => cx.print(json.end(&self.members(&members, list, pages.place())))?,
            _ => {}
        }
        if has_more {
            hint_of_rest(cx, printed, total);
        }
        Ok(printed)
    }

    /// The members of a JSON object beside its rows: those of an answer with so many rows.
    fn members(&self, first: &Map<String, Value>, list: List, next: Option<&str>) -> Value {
        let limit = self.limit.map(Value::from).or_else(|| first.get("limit").cloned());
        match (first.get("total"), list.path == MAIL.path) {
            (total, _) if self.all => json!({ "total": total }),
            (total, false) => json!({ "total": total, "limit": limit, "next": next }),
            (None, true) => json!({ "limit": limit }),
            (Some(total), true) => {
                let pages = total.as_u64().zip(self.limit).map(|(total, limit)| total.div_ceil(limit));
                json!({ "total": total, "page": 1, "limit": limit, "pages": pages })
            }
        }
    }
}

/// The columns of a form. What is in a mail is for people.
fn columns(cx: &Context, columns: &'static [Column; 5]) -> &'static [Column] {
    if cx.style.of_list() == Format::Table { columns } else { &columns[..4] }
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

/// Rows as a table shows them: with the sender's name, and what is in the mail.
fn prepared(cx: &Context, mut rows: Vec<Value>) -> Vec<Value> {
    if cx.style.of_list() == Format::Table {
        rows.iter_mut().for_each(prepare);
    }
    rows
}

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

/// Says that a list is longer than what was printed, in a pipe too: who works on the lines must know that some are missing.
fn hint_of_rest(cx: &Context, printed: u64, total: Option<u64>) {
    let of = total.map_or_else(String::new, |total| format!(" of {total}"));
    cx.hint(&format!("these are the newest {printed}{of}; --all lists all, --limit N lists N"));
}

/// Prints the newest mails, and each that arrives, until the process ends.
async fn watched(cx: &Context, client: &Client, address: &Address, limit: Option<u64>) -> Result<Exit, Error> {
    // The stream begins first, so that nothing falls between it and the list.
    let mut events = watch::follow(client, Some(address.clone())).await?;
    let mut rows = newest(cx, client, address, limit).await?;
    // Oldest first, since later ones follow.
    rows.reverse();
    let mut is_begun = false;
    loop {
        if !rows.is_empty() {
            cx.print(grown(cx, std::mem::take(&mut rows), is_begun))?;
            is_begun = true;
        }
        let event = watch::next(cx, &mut events).await?;
        match event.event.as_str() {
            "email.received" => rows.extend(read(cx, client, event.text("id")).await?),
            "reset" => cx.hint("too much happened at once: some mail is not in this list"),
            _ => {}
        }
    }
}

/// The newest mails: as many as `limit` says, else a page of the service.
async fn newest(cx: &Context, client: &Client, address: &Address, limit: Option<u64>) -> Result<Vec<Value>, Error> {
    let query = vec![("to", Some(address.to_string())), ("fields", fields(cx))];
    let mut pages = client.pages(MAIL, query, limit.map(|limit| limit.min(PAGE_SIZE_WITH_BODIES)));
    let Some(limit) = limit else {
        return Ok(pages.next(u64::MAX).await?.map(|page| page.rows).unwrap_or_default());
    };
    let mut rows = pages.rows(usize::try_from(limit).unwrap_or(usize::MAX)).await?;
    rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(rows)
}

/// Further rows of a list; the heading stands above the first ones.
fn grown(cx: &Context, rows: Vec<Value>, is_begun: bool) -> String {
    let mut rows = prepared(cx, rows);
    if cx.style.of_list() != Format::Table {
        return output::lines(cx.style, &MAILS[..4], &rows);
    }
    for row in &mut rows {
        // `YYYY-MM-DD HH:MM:SS`
        row["time"] = row["receivedAt"].as_str().and_then(|at| at.get(11..)).into();
    }
    let table = output::list(cx.style, &WATCHED, &rows, &Value::Null, cx.now());
    if is_begun { table.split_once('\n').map_or("", |(_heading, rows)| rows).to_owned() } else { table }
}

/// The mail of this id, with no more than a list has of it where that is shown; `None` if it is gone.
async fn read(cx: &Context, client: &Client, id: &str) -> Result<Option<Value>, Error> {
    let id: EmailId = id.parse().map_err(|error| Error::new(Exit::Unavailable, error))?;
    match client.get::<Map<String, Value>>(&format!("{}/{id}", MAIL.path), &[]).await {
        Ok(mut mail) => {
            if !cx.style.is_chosen() {
                mail.retain(|name, _| OF_LIST.contains(&name.as_str()));
            }
            Ok(Some(mail.into()))
        }
        Err(error) if error.problem().is_some_and(|problem| problem.status == 404) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
