//! Ids as people give them: whole, or a part that only one of them begins or ends with.
//!
//! Tables show the end of an id. Its beginning is taken as well, since other places show an id from its beginning.
//! Whole ids are what the service knows, so this program looks a part up in what the caller may list anyway.

use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use serde_json::Value;
use uuid::Uuid;

use crate::client::{ALL_MAIL, BRIEF, Client, ClientError, MAIL, WEBHOOKS, text};
use crate::error::{Error, Exit};
use crate::model::Address;

/// The fewest digits of a part.
const DIGITS_MIN: usize = 4;
/// Ids that an ambiguous part lists at most.
const CANDIDATES_MAX: usize = 8;
/// How many mails are looked at, the newest first.
const EMAILS_MAX: usize = 1_000;
/// Mails per request.
const PAGE_SIZE: u64 = 100;
/// Webhooks that are asked for at once: few enough that each may have the longest URL.
pub(super) const WEBHOOKS_PER_PAGE: u64 = 200;

/// An id, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Id {
    /// The id.
    Whole(Uuid),
    /// What it begins or ends with: hexadecimal digits in lower case, without hyphens.
    Part(String),
}

impl Id {
    /// The id; `None` of a part.
    const fn whole(&self) -> Option<Uuid> {
        match self {
            Self::Whole(id) => Some(*id),
            Self::Part(_) => None,
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(id) => id.hyphenated().fmt(f),
            Self::Part(digits) => f.write_str(digits),
        }
    }
}

impl FromStr for Id {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(id) = Uuid::try_parse(text).ok().filter(|_| text.len() == 36) {
            return Ok(Self::Whole(id));
        }
        let digits = text.replace('-', "").to_ascii_lowercase();
        let is_hexadecimal = digits.bytes().all(|octet| octet.is_ascii_hexdigit());
        // 32 digits would be a whole id, which was not written as one.
        if is_hexadecimal && (DIGITS_MIN..32).contains(&digits.len()) {
            return Ok(Self::Part(digits));
        }
        Err(format!(
            "an id looks like 0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b; its end or beginning is enough, from {DIGITS_MIN} digits on"
        ))
    }
}

/// What a command is about: an inbox, or a mail by its id. An address has an `@`, an id has none.
#[derive(Clone, Debug)]
pub(super) enum Target<I = Id> {
    Inbox(Address),
    Email(I),
}

impl<I: fmt::Display> fmt::Display for Target<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inbox(address) => address.fmt(f),
            Self::Email(id) => id.fmt(f),
        }
    }
}

impl FromStr for Target {
    type Err = Box<dyn std::error::Error + Send + Sync>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains('@') { Ok(Self::Inbox(text.parse()?)) } else { Ok(Self::Email(text.parse()?)) }
    }
}

/// What ids are of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of<'a> {
    /// Mail of this address, or of all addresses, which the administrator can list.
    Mail(Option<&'a Address>),
    /// All webhooks, which the administrator can list.
    Webhooks,
    /// The events in the delivery log of this webhook.
    Events(&'a Uuid),
}

impl Of<'_> {
    /// The whole id.
    pub(super) async fn one(self, client: &Client, id: &Id) -> Result<Uuid, Error> {
        Ok(self.whole(client, std::slice::from_ref(id)).await?.swap_remove(0))
    }

    /// The whole ids. What parts are looked for in is asked for once, and only if there is a part.
    pub(super) async fn whole(self, client: &Client, ids: &[Id]) -> Result<Vec<Uuid>, Error> {
        let Some(part) = ids.iter().find(|id| id.whole().is_none()) else {
            return Ok(ids.iter().filter_map(Id::whole).collect());
        };
        let known = self.known(client, part).await?;
        let whole = |id: &Id| match id {
            Id::Whole(id) => Ok(*id),
            Id::Part(part) => {
                let id = known.find(part)?;
                Uuid::try_parse(id)
                    .map_err(|_| Error::new(Exit::Unavailable, format!("the service gives '{id}' for an id")))
            }
        };
        ids.iter().map(whole).collect()
    }

    /// What `part` and others are looked for in.
    async fn known(self, client: &Client, part: &Id) -> Result<Known, Error> {
        if !self.can_be_listed(client) {
            let (what, hint) = match self {
                Self::Webhooks => ("webhooks", "`tempmail webhook list ADDR -o id` prints whole ids"),
                _ => ("mail", "name the address too: `tempmail read ADDR ID`, `tempmail delete ADDR --id ID`"),
            };
            let cause = format!("{part} is a part of an id, and only the administrator can look through all {what}");
            return Err(Error::usage(cause).hint(hint));
        }
        let rows = self.rows(client, EMAILS_MAX).await?;
        let among = match self {
            Self::Mail(address) => {
                let newest = (rows.len() == EMAILS_MAX).then(|| format!("the newest {EMAILS_MAX} mails"));
                match address {
                    Some(address) => format!("{} of {address}", newest.as_deref().unwrap_or("the mail")),
                    None => newest.unwrap_or_else(|| "all mail".to_owned()),
                }
            }
            Self::Webhooks => "the webhooks".to_owned(),
            Self::Events(_) => "the events of its log".to_owned(),
        };
        Ok(Known::of(rows, self.members(), among))
    }

    /// Whether the caller may list them.
    pub(super) fn can_be_listed(self, client: &Client) -> bool {
        client.is_administrator() || matches!(self, Self::Mail(Some(_)) | Self::Events(_))
    }

    /// The members of a row that tell people which it is; the first is its id.
    pub(super) const fn members(self) -> [&'static str; 3] {
        match self {
            Self::Mail(_) => ["id", "from", "subject"],
            Self::Webhooks => ["id", "recipient", "url"],
            Self::Events(_) => ["event", "at", "result"],
        }
    }

    /// All of them, but of mail the newest, at most so many.
    pub(super) async fn rows(self, client: &Client, emails_max: usize) -> Result<Vec<Value>, ClientError> {
        let (list, to, size, most) = match self {
            Self::Mail(Some(address)) => (MAIL, Some(address.to_string()), PAGE_SIZE, emails_max),
            Self::Mail(None) => (ALL_MAIL, None, PAGE_SIZE, emails_max),
            Self::Webhooks => (WEBHOOKS, None, WEBHOOKS_PER_PAGE, usize::MAX),
            Self::Events(webhook) => {
                return client.get(&format!("/api/admin/webhooks/{webhook}/deliveries"), &[]).await;
            }
        };
        let fields = matches!(self, Self::Mail(_)).then(|| BRIEF.to_owned());
        client.pages(list, vec![("to", to), ("fields", fields)], Some(size)).rows(most).await
    }
}

/// The id of one of these tokens.
pub(super) fn token(rows: Vec<Value>, part: &str) -> Result<String, Error> {
    let known = Known::of(rows, ["id", "name", "scope"], "the tokens".to_owned());
    known.find(part).map(str::to_owned).map_err(|error| error.hint("`tempmail token list` shows the tokens"))
}

/// What parts are looked for in.
struct Known {
    /// The digits of each id, with its row.
    rows: Vec<(String, Value)>,
    /// Those of [`Of::members`].
    members: [&'static str; 3],
    /// What was looked through, in words.
    among: String,
}

impl Known {
    fn of(rows: Vec<Value>, members: [&'static str; 3], among: String) -> Self {
        let digits = |row: &Value| text(row, members[0]).replace('-', "").to_ascii_lowercase();
        let mut seen = HashSet::new();
        let rows = rows.into_iter().map(|row| (digits(&row), row));
        // An event has a row for each attempt.
        Self { rows: rows.filter(|(digits, _)| seen.insert(digits.clone())).collect(), members, among }
    }

    /// The one id that begins or ends with `part`.
    fn find(&self, part: &str) -> Result<&str, Error> {
        let is_named = |(digits, _): &&(String, Value)| digits.starts_with(part) || digits.ends_with(part);
        let found: Vec<&Value> = self.rows.iter().filter(is_named).map(|(_, row)| row).collect();
        match found.as_slice() {
            [] => Err(Error::new(Exit::NotFound, format!("no id among {} begins or ends with {part}", self.among))),
            [row] => Ok(text(row, self.members[0])),
            several => Err(self.ambiguous(part, several)),
        }
    }

    fn ambiguous(&self, part: &str, several: &[&Value]) -> Error {
        let mut told = format!("{part} is the beginning or end of several ids:");
        for row in several.iter().take(CANDIDATES_MAX) {
            // Writing to a String does not fail.
            let _ = write!(told, "\n  {}", self.members.map(|member| text(row, member)).join("  "));
        }
        if several.len() > CANDIDATES_MAX {
            told.push_str("\n  and more");
        }
        Error::usage(told).hint("give more digits, or the whole id")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b";

    #[test]
    fn an_id_is_whole_or_a_part() {
        let part = |text: &str| Ok(Id::Part(text.to_owned()));
        assert!(matches!(ID.parse(), Ok(Id::Whole(_))));
        assert_eq!("2A3B".parse(), part("2a3b"));
        assert_eq!("0190b6a5-7c".parse(), part("0190b6a57c"));
        for bad in ["", "2a3", "wxyz", "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b0", "0190b6a57c3e7d2f8a4b1c5d9e0f2a3b"] {
            assert!(bad.parse::<Id>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_part_finds_one_id_or_lists_several() {
        let other = ID.replace("0190", "0191");
        let search = |part: &str, ids: &[&str]| {
            let rows = ids.iter().map(|id| json!({"id": id, "from": "a@x.test", "subject": "s"})).collect();
            let known = Known::of(rows, ["id", "from", "subject"], "all mail".to_owned());
            known.find(part).map(str::to_owned)
        };
        assert_eq!(search("0190", &[ID, &other, ID]).expect("one"), ID);
        assert_eq!(search("0191b6a5", &[ID, &other]).expect("one"), other);
        assert_eq!(search("7c3e", &[ID]).expect_err("inside").exit(), Exit::NotFound);
        let error = search("9e0f2a3b", &[ID, &other]).expect_err("two");
        assert_eq!(error.exit(), Exit::Usage);
        assert!(error.to_string().contains(&format!("{ID}  a@x.test  s\n  {other}  a@x.test  s")), "{error}");
    }
}
