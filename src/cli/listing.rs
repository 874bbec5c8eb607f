//! Lists: the columns and the path of what the service has, whole or page by page.

use serde_json::{Value, json};

use super::Context;
use super::output::{self, Column, Format};
use crate::client::{Client, ClientError, List, Query};
use crate::error::{Error, Exit};

/// The most rows that one answer is asked for in place of several.
pub(super) const PAGE_SIZE: u64 = 100;

/// Prints a list that the service gives whole; `none` is said where it has no row.
pub(super) async fn whole(
    cx: &Context,
    path: &str,
    query: &[(&str, Option<String>)],
    columns: &[Column],
    none: &str,
) -> Result<(), Error> {
    let answer: Value = cx.client().await?.get(path, query).await?;
    let rows = rows(&answer)?;
    cx.list(columns, rows, &answer)?;
    if rows.is_empty() {
        cx.hint(none);
    }
    Ok(())
}

/// The rows of an answer.
pub(super) fn rows(value: &Value) -> Result<&[Value], Error> {
    let rows = value.as_array().map(Vec::as_slice);
    rows.ok_or_else(|| Error::new(Exit::Unavailable, "the service does not answer with a list"))
}

/// A list that the service gives page by page.
pub(super) struct Listing<'a> {
    pub(super) list: List,
    pub(super) query: Query,
    pub(super) columns: &'a [Column],
    /// The number of the page that is wanted alone, from 1.
    pub(super) page: Option<u64>,
    /// The most rows; without it those of a page.
    pub(super) limit: Option<u64>,
    /// Whether every row is wanted.
    pub(super) all: bool,
    /// Rows per request where there are several.
    pub(super) page_size: u64,
    /// What the first rows are: the newest, or just the first.
    pub(super) order: &'static str,
    /// Makes a row what a table shows.
    pub(super) prepare: fn(&mut Value),
}

impl Listing<'_> {
    /// Prints as much as is wanted, and says what is missing. How many rows there are, as far as is known.
    ///
    /// JSON shows the answer of the service, or of several the same object with all of their rows.
    pub(super) async fn print(self, cx: &Context, client: &Client) -> Result<u64, Error> {
        match self.at_once(client).await? {
            Some(answer) => self.show(cx, &answer),
            None => self.walk(cx, client).await,
        }
    }

    /// The one answer that has all that is wanted; `None` if it takes several.
    async fn at_once(&self, client: &Client) -> Result<Option<Value>, Error> {
        let is_for_several = self.page.is_none() && self.limit.is_some_and(|limit| limit > PAGE_SIZE);
        if self.all || is_for_several {
            return Ok(None);
        }
        let mut query = self.query.clone();
        query.extend(
            [("page", self.page), ("limit", self.limit)]
                .map(|(name, number)| (name, number.map(|number| number.to_string()))),
        );
        let answer: Value = match client.get(self.list.path, &query).await {
            Err(ClientError::TooLarge { .. }) if self.page.is_none() && self.limit.is_some() => return Ok(None),
            answer => answer?,
        };
        let Some(wanted) = self.limit else { return Ok(Some(answer)) };
        let [limit, total] = ["limit", "total"].map(|name| answer[name].as_u64().unwrap_or(0));
        let is_cut = limit < wanted && (total > limit || answer["next"].is_string());
        if is_cut && self.page.is_some() {
            return Err(Error::usage(format!("a page of this service has at most {limit} entries"))
                .hint("--limit without --page lists as many as you say, --all lists all"));
        }
        // A page with a filter looks at the newest mail alone; a walk goes on.
        let is_whole = self.page.is_some() || answer["complete"] != false;
        Ok(Some(answer).filter(|_| is_whole && !is_cut))
    }

    /// Prints one answer.
    fn show(&self, cx: &Context, page: &Value) -> Result<u64, Error> {
        let rows = self.prepared(cx, rows(&page[self.list.member])?.to_vec());
        cx.list(self.columns, &rows, page)?;
        let printed = rows.len() as u64;
        let [total, pages] = ["total", "pages"].map(|name| page[name].as_u64());
        let number = page["page"].as_u64().unwrap_or(1);
        if page["complete"] == false {
            cx.hint(&format!("only the newest {} mails were looked at; --all looks at all", page["scanned"]));
        }
        match (total, pages) {
            (Some(1..), Some(pages)) if rows.is_empty() => {
                cx.hint(&format!("page {number} is past the end; there are {pages}"));
            }
            (Some(total), Some(pages)) if number > 1 => {
                cx.hint(&format!("page {number} of {pages}, {total} mails in all; --all lists them"));
            }
            (_, Some(2..)) => self.hint_of_rest(cx, printed, total),
            _ if page["next"].is_string() => self.hint_of_rest(cx, printed, total),
            _ => {}
        }
        Ok(total.unwrap_or(printed))
    }

    /// Prints several answers, each when it has come, so that a long list needs memory for one of them. A table takes them all
    /// at once, since its columns are as wide as they need.
    async fn walk(&self, cx: &Context, client: &Client) -> Result<u64, Error> {
        let mut pages = client.pages(self.list, self.query.clone(), Some(self.page_size));
        let (mut printed, mut total, mut has_more) = (0, None, true);
        let mut of_table = Vec::new();
        let mut begin = Some(format!("{{\"{}\":[", self.list.member));
        let limit = self.limit.unwrap_or(u64::MAX);
        while printed < limit
            && let Some(page) = pages.next(limit - printed).await?
        {
            let before = printed;
            (printed, has_more) = (printed + page.rows.len() as u64, page.has_more);
            total = if has_more { page.total } else { Some(printed) };
            match cx.style.of_list() {
                Format::Table => of_table.extend(self.prepared(cx, page.rows)),
                Format::Json => cx.print(begin.take().unwrap_or_default() + &json_rows(&page.rows, before))?,
                _ => cx.print(output::lines(cx.style, self.columns, &page.rows))?,
            }
        }
        match cx.style.of_list() {
            Format::Table => cx.list(self.columns, &of_table, &Value::Null)?,
            Format::Json => cx.print(self.json_end(total, pages.place()))?,
            _ => {}
        }
        if has_more {
            self.hint_of_rest(cx, printed, total);
        }
        Ok(printed)
    }

    /// The end of the JSON object of several answers: those members of one that are true of all.
    fn json_end(&self, total: Option<u64>, next: Option<&str>) -> String {
        let next = self.list.has_next().then(|| json!(next));
        let members = [("total", total.map(Value::from)), ("limit", self.limit.map(Value::from)), ("next", next)];
        let known = members.into_iter().filter_map(|(name, value)| Some(format!(",\"{name}\":{}", value?)));
        format!("]{}}}\n", known.collect::<String>())
    }

    /// Rows as a table shows them; other forms have what the service says.
    fn prepared(&self, cx: &Context, mut rows: Vec<Value>) -> Vec<Value> {
        if cx.style.of_list() == Format::Table {
            rows.iter_mut().for_each(self.prepare);
        }
        rows
    }

    /// Says that a list is longer than what was printed, in a pipe too: who works on the lines must know that some are missing.
    fn hint_of_rest(&self, cx: &Context, printed: u64, total: Option<u64>) {
        let of = total.map_or_else(String::new, |total| format!(" of {total}"));
        cx.hint(&format!("these are the {} {printed}{of}; --all lists all", self.order));
    }
}

/// Rows in a JSON list, behind so many others.
fn json_rows(rows: &[Value], before: u64) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(if before == 0 && text.is_empty() { "" } else { "," });
        text.push_str(output::json(row).trim_end());
    }
    text
}
