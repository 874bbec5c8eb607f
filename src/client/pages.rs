//! A list of the service, page by page.

use serde_json::{Map, Value};

use super::{Client, ClientError, Query};

/// How many rows are asked for once a page of the service was too large.
const SIZE_AFTER_TOO_LARGE: u64 = 10;

/// How the service gives out a list.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// Its path.
    pub path: &'static str,
    /// The member of a page that has the rows.
    pub member: &'static str,
    /// The parameter that says where a page begins, and the member of the page before that has its value.
    cursor: (&'static str, &'static str),
    /// The value of that parameter for the first page.
    first: Option<&'static str>,
}

/// The mail of an address, newest first. Its query has `to`.
pub const MAIL: List =
    List { path: "/api/mail/messages", member: "emails", cursor: ("cursor", "nextCursor"), first: Some("") };
/// The mail of all addresses, newest first. The administrator's, as those that follow.
pub const ALL_MAIL: List = administrators("/api/admin/messages", "emails");
/// The mailboxes that have mail, in the order of their newest.
pub const MAILBOXES: List = administrators("/api/admin/mailboxes", "mailboxes");
/// The webhooks of all addresses, in the order of their ids.
pub const WEBHOOKS: List = administrators("/api/admin/webhooks", "webhooks");

impl List {
    /// Whether a page says in `next` where the one behind it begins.
    pub fn has_next(&self) -> bool {
        self.cursor.1 == "next"
    }
}

const fn administrators(path: &'static str, member: &'static str) -> List {
    List { path, member, cursor: ("after", "next"), first: None }
}

/// A page of a list.
#[derive(Debug)]
pub struct Page {
    /// Its rows.
    pub rows: Vec<Value>,
    /// How many rows the list has, where the service says so.
    pub total: Option<u64>,
    /// Whether the list goes on behind it.
    pub has_more: bool,
}

/// The pages of a list from its beginning.
#[derive(Debug)]
pub struct Pages<'c> {
    client: &'c Client,
    list: List,
    query: Query,
    /// The most rows of a page; as many as the service likes for `None`.
    size: Option<u64>,
    /// Where the next page begins.
    begin: Option<String>,
    is_over: bool,
}

impl Client {
    /// The pages of a list that a query lets through, of at most `size` rows each, or as many as the service likes.
    pub fn pages(&self, list: List, query: Query, size: Option<u64>) -> Pages<'_> {
        Pages { client: self, list, query, size, begin: list.first.map(str::to_owned), is_over: false }
    }
}

impl Pages<'_> {
    /// The next page of at most `most` rows; `None` behind the last one.
    pub async fn next(&mut self, most: u64) -> Result<Option<Page>, ClientError> {
        if self.is_over {
            return Ok(None);
        }
        let (parameter, member) = self.list.cursor;
        loop {
            let limit = self.size.map(|size| size.min(most));
            let mut query = self.query.clone();
            query.extend([(parameter, self.begin.clone()), ("limit", limit.map(|limit| limit.to_string()))]);
            let mut page: Map<String, Value> = match self.client.get(self.list.path, &query).await {
                Err(ClientError::TooLarge { .. }) if limit.is_none_or(|limit| limit > 1) => {
                    self.size = Some(limit.map_or(SIZE_AFTER_TOO_LARGE, |limit| limit / 2));
                    continue;
                }
                page => page?,
            };
            let Some(Value::Array(rows)) = page.remove(self.list.member) else {
                return Err(self.client.unintelligible(format!("a page has no '{}'", self.list.member)));
            };
            let next = page.get(member).and_then(Value::as_str).map(str::to_owned);
            if next.is_some() && next == self.begin {
                return Err(self.client.unintelligible("a page leads to itself".to_owned()));
            }
            self.begin = next;
            self.is_over = self.begin.is_none();
            let total = page.get("total").and_then(Value::as_u64);
            return Ok(Some(Page { rows, total, has_more: !self.is_over }));
        }
    }

    /// Where the next page begins.
    pub fn place(&self) -> Option<&str> {
        self.begin.as_deref()
    }

    /// The rows of all pages, at most so many.
    pub async fn rows(mut self, most: usize) -> Result<Vec<Value>, ClientError> {
        let mut rows = Vec::new();
        while rows.len() < most
            && let Some(page) = self.next(u64::MAX).await?
        {
            rows.extend(page.rows);
        }
        rows.truncate(most);
        Ok(rows)
    }
}
