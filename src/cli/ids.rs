//! Ids as people give them: whole, or a part that only one of them begins or ends with.
//!
//! Tables show the end of an id. Its beginning is taken as well, since other places show an id from its beginning.
//! Whole ids are what the service knows, so this program looks a part up in what the caller may list anyway.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use serde_json::Value;

use crate::client::{ALL_MAIL, BRIEF, Client, MAIL, WEBHOOKS};
use crate::error::{Error, Exit};
use crate::model::{Address, EmailId, EventId, WebhookId};

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
pub(super) enum IdOrPart<I> {
    /// The id.
    Whole(I),
    /// What it begins or ends with.
    Part(Part),
}

/// The beginning or the end of an id: hexadecimal digits in lower case, without hyphens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part(String);

impl<I: FromStr> FromStr for IdOrPart<I> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(id) = text.parse() {
            return Ok(Self::Whole(id));
        }
        text.parse().map(Self::Part)
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.replace('-', "").to_ascii_lowercase();
        let is_hexadecimal = digits.bytes().all(|octet| octet.is_ascii_hexdigit());
        // 32 digits would be a whole id, which was not written as one.
        if is_hexadecimal && (DIGITS_MIN..32).contains(&digits.len()) {
            return Ok(Self(digits));
        }
        Err(format!(
            "an id looks like 0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b; its end or beginning is enough, from {DIGITS_MIN} digits on"
        ))
    }
}

/// What a command is about: an inbox, or a mail by its id. An address has an `@`, an id has none.
#[derive(Clone, Debug)]
pub(super) enum Target<I> {
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

impl FromStr for Target<IdOrPart<EmailId>> {
    type Err = Box<dyn std::error::Error + Send + Sync>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains('@') { Ok(Self::Inbox(text.parse()?)) } else { Ok(Self::Email(text.parse()?)) }
    }
}

/// The same as a user names it.
pub(super) type Named = Target<IdOrPart<EmailId>>;

/// The ids of mails. Parts are looked for within the inbox of `address`; without one in all mail, for the administrator.
pub(super) async fn emails(
    client: &Client,
    address: Option<&Address>,
    ids: &[IdOrPart<EmailId>],
) -> Result<Vec<EmailId>, Error> {
    let known = async |part: &Part| {
        if address.is_some() || client.is_administrator() {
            return listed(client, address).await;
        }
        let hint = "name the address too: `tempmail read ADDR ID`, `tempmail delete ADDR --id ID`";
        Err(needs_whole_id(part, "mail").hint(hint))
    };
    whole(ids, known).await
}

/// The newest mails of an inbox, or of all.
async fn listed(client: &Client, address: Option<&Address>) -> Result<Known, Error> {
    let (pages, whole, newest) = if let Some(address) = address {
        let query = vec![("to", Some(address.to_string())), ("fields", Some(BRIEF.to_owned()))];
        let pages = client.pages(MAIL, query, Some(PAGE_SIZE));
        (pages, format!("the mail of {address}"), format!("the newest {EMAILS_MAX} mails of {address}"))
    } else {
        let pages = client.pages(ALL_MAIL, Vec::new(), Some(PAGE_SIZE));
        (pages, "all mail".to_owned(), format!("the newest {EMAILS_MAX} mails"))
    };
    let rows = pages.rows(EMAILS_MAX).await?;
    let among = if rows.len() < EMAILS_MAX { whole } else { newest };
    Ok(Known::of(rows, ["id", "from", "subject"], among))
}

/// The ids of webhooks. Parts are looked for among all webhooks, which only the administrator can list.
pub(super) async fn webhooks(client: &Client, ids: &[IdOrPart<WebhookId>]) -> Result<Vec<WebhookId>, Error> {
    let known = async |part: &Part| {
        if !client.is_administrator() {
            return Err(needs_whole_id(part, "webhooks").hint("`tempmail webhook list ADDR -o id` prints whole ids"));
        }
        let rows = client.pages(WEBHOOKS, Vec::new(), Some(WEBHOOKS_PER_PAGE)).rows(usize::MAX).await;
        Ok(Known::of(rows?, ["id", "recipient", "url"], "the webhooks".to_owned()))
    };
    whole(ids, known).await
}

/// The id of one webhook.
pub(super) async fn webhook(client: &Client, id: &IdOrPart<WebhookId>) -> Result<WebhookId, Error> {
    let ids = webhooks(client, std::slice::from_ref(id)).await?;
    ids.first().copied().ok_or_else(|| Error::new(Exit::NotFound, "there is no such webhook"))
}

/// The ids of events. Parts are looked for in the delivery log of their webhook.
pub(super) async fn events(
    client: &Client,
    webhook: WebhookId,
    ids: &[IdOrPart<EventId>],
) -> Result<Vec<EventId>, Error> {
    let known = async |_: &Part| {
        let path = format!("/api/admin/webhooks/{webhook}/deliveries");
        let rows = client.get(&path, &[]).await?;
        Ok(Known::of(rows, ["event", "at", "result"], "the events of its log".to_owned()))
    };
    whole(ids, known).await
}

/// The whole ids. What parts are looked for in is asked for once, and only if there is a part.
async fn whole<I>(ids: &[IdOrPart<I>], known: impl AsyncFnOnce(&Part) -> Result<Known, Error>) -> Result<Vec<I>, Error>
where
    I: FromStr<Err: std::error::Error + Send + Sync + 'static> + Copy,
{
    let first = ids.iter().find_map(|id| match id {
        IdOrPart::Part(part) => Some(part),
        IdOrPart::Whole(_) => None,
    });
    let known = match first {
        Some(part) => known(part).await?,
        None => Known::of(Vec::new(), ["id"; 3], String::new()),
    };
    ids.iter().map(|id| known.whole(id)).collect()
}

/// The id of one of these tokens.
pub(super) fn token(tokens: Vec<Value>, part: &Part) -> Result<String, Error> {
    let known = Known::of(tokens, ["id", "name", "scope"], "the tokens".to_owned());
    known.find(part).map(str::to_owned).map_err(|error| error.hint("`tempmail token list` shows the tokens"))
}

/// Why a caller who may not list all of `what` cannot name one by a part of its id.
fn needs_whole_id(Part(part): &Part, what: &str) -> Error {
    Error::usage(format!("{part} is a part of an id, and only the administrator can look through all {what}"))
}

/// What parts are looked for in.
struct Known {
    /// The digits of each id, with its row.
    rows: Vec<(String, Value)>,
    /// The members of a row that tell people which it is; the first is its id.
    members: [&'static str; 3],
    /// What was looked through, in words.
    among: String,
}

impl Known {
    fn of(rows: Vec<Value>, members: [&'static str; 3], among: String) -> Self {
        let id = |row: &Value| row[members[0]].as_str().unwrap_or_default().replace('-', "").to_ascii_lowercase();
        Self { rows: rows.into_iter().map(|row| (id(&row), row)).collect(), members, among }
    }

    /// The whole id of a whole one or a part.
    fn whole<I>(&self, id: &IdOrPart<I>) -> Result<I, Error>
    where
        I: FromStr<Err: std::error::Error + Send + Sync + 'static> + Copy,
    {
        match id {
            IdOrPart::Whole(id) => Ok(*id),
            IdOrPart::Part(part) => self.find(part)?.parse().map_err(|error| Error::new(Exit::Unavailable, error)),
        }
    }

    /// The one id that begins or ends with `part`.
    fn find(&self, Part(part): &Part) -> Result<&str, Error> {
        let mut found: Vec<&(String, Value)> = Vec::new();
        let matching = self.rows.iter().filter(|(digits, _)| digits.starts_with(part) || digits.ends_with(part));
        for row in matching {
            // An event has a row for each attempt.
            if found.len() <= CANDIDATES_MAX && found.iter().all(|(digits, _)| *digits != row.0) {
                found.push(row);
            }
        }
        match found.as_slice() {
            [] => Err(Error::new(Exit::NotFound, format!("no id among {} begins or ends with {part}", self.among))),
            [(_, row)] => Ok(row[self.members[0]].as_str().unwrap_or_default()),
            several => Err(self.ambiguous(part, several)),
        }
    }

    fn ambiguous(&self, part: &str, several: &[&(String, Value)]) -> Error {
        let mut text = format!("{part} is the beginning or end of several ids:");
        for (_, row) in several.iter().take(CANDIDATES_MAX) {
            let shown = self.members.map(|member| row[member].as_str().unwrap_or_default());
            // Writing to a String does not fail.
            let _ = write!(text, "\n  {}", shown.join("  "));
        }
        if several.len() > CANDIDATES_MAX {
            text.push_str("\n  and more");
        }
        Error::usage(text).hint("give more digits, or the whole id")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b";

    #[test]
    fn an_id_is_whole_or_a_part() {
        let part = |text: &str| Ok(IdOrPart::<EmailId>::Part(Part(text.to_owned())));
        assert!(matches!(ID.parse(), Ok(IdOrPart::<EmailId>::Whole(_))));
        assert_eq!("2A3B".parse(), part("2a3b"));
        assert_eq!("0190b6a5-7c".parse(), part("0190b6a57c"));
        for bad in ["", "2a3", "wxyz", "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b0", "0190b6a57c3e7d2f8a4b1c5d9e0f2a3b"] {
            assert!(bad.parse::<IdOrPart<EmailId>>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_part_finds_one_id_or_lists_several() {
        let other = ID.replace("0190", "0191");
        let search = |part: &str, ids: &[&str]| {
            let rows = ids.iter().map(|id| json!({"id": id, "from": "a@x.test", "subject": "s"})).collect();
            let known = Known::of(rows, ["id", "from", "subject"], "the mail".to_owned());
            known.whole::<EmailId>(&part.parse().expect("a part"))
        };
        assert_eq!(search("0190", &[ID, &other, ID]).expect("one").to_string(), ID);
        assert_eq!(search("0191b6a5", &[ID, &other]).expect("one").to_string(), other);
        assert_eq!(search("7c3e", &[ID]).expect_err("inside").exit(), Exit::NotFound);
        let error = search("9e0f2a3b", &[ID, &other]).expect_err("two");
        assert_eq!(error.exit(), Exit::Usage);
        assert!(error.to_string().contains(&format!("{ID}  a@x.test  s\n  {other}  a@x.test  s")), "{error}");
    }
}
