//! The tools: what a program is told of each, what it may give, and what the tool does.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::wire::Waiting;
use super::{Session, text};
use crate::cli::ids::Id;
use crate::cli::new::wanted;
use crate::cli::one_mail;
use crate::cli::span::Since;
use crate::client::{self, Client, Mail, WaitQuery};
use crate::clock::{Clock as _, SystemClock};
use crate::error::{Error, Exit};
use crate::model::{Address, DomainName, EmailId};
use crate::random::LocalPartPrefix;
use crate::value::show_duration;

/// The longest wait of a call, in seconds. Programs give up on a call after some minutes.
const TIMEOUT_SECONDS_MAX: u64 = 300;
const TIMEOUT_SECONDS_DEFAULT: u64 = 60;
/// The most mails of a list.
const LIMIT_MAX: u64 = 50;
const LIMIT_DEFAULT: u64 = 20;
/// The longest text to look for, in characters.
const TEXT_CHARS_MAX: usize = 200;
/// The path that takes what to delete in its query.
const DELETE: &str = "/api/mail/delete";

/// A fresh address.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAddress {
    domain: Option<String>,
    prefix: Option<String>,
    #[serde(default = "private_default")]
    private: bool,
}

/// Which mail to wait for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wait {
    address: String,
    #[serde(default = "timeout_default")]
    timeout_seconds: u64,
    from: Option<String>,
    subject: Option<String>,
    since: Option<String>,
}

/// Which list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    address: String,
    #[serde(default = "limit_default")]
    limit: u64,
}

/// Which mail to read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    id: String,
}

/// What to delete: exactly one of the two.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Delete {
    id: Option<String>,
    address: Option<String>,
}

fn private_default() -> bool {
    true
}

fn timeout_default() -> u64 {
    TIMEOUT_SECONDS_DEFAULT
}

fn limit_default() -> u64 {
    LIMIT_DEFAULT
}

/// What a program is told of the tools of a session: `Tool` objects of the protocol, with JSON Schemas of what each takes.
pub(super) fn all(is_read_only: bool) -> Vec<Value> {
    let mut tools = vec![
        tool(
            "new_address",
            "Make a fresh mail address that nobody can guess. It receives mail at once. It is a private inbox unless private \
             is false: only the user of these tools, by the key that they keep, and the administrator of the service can \
             read its mail.",
            &fresh(),
            hints("Make an address", false, false),
        ),
        tool(
            "wait_for_mail",
            "Wait until a mail to an address is there, and return the oldest one that passes the filters, also of a private \
             inbox that new_address made. Mail that came before the call counts too, unless since says otherwise; since \
             with the id of the last mail gives the next. Without such mail in time it is an error.",
            &filters(),
            hints("Wait for mail", true, false),
        ),
        tool(
            "wait_for_code",
            "Wait until a mail with a one-time code (verification, sign-in) to an address, private or not, is there, and \
             return the code alone. Mail that came before the call counts too, unless since says otherwise. Use this \
             rather than reading the mail when only the code is needed.",
            &filters(),
            hints("Wait for a code", true, false),
        ),
        tool(
            "list_inbox",
            "List the mails to an address, private or not, newest first: id, time, sender and subject.",
            &json!({
                "address": needed("The address"),
                "limit": {
                    "description": "The most mails, newest first",
                    "type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT,
                },
            }),
            hints("List an inbox", true, false),
        ),
        tool(
            "read_mail",
            "Read one mail by its id, also of a private inbox: sender, subject, the text that a person would see, codes, \
             links, and the names of attachments. Text after 16,000 characters is left out.",
            &json!({ "id": needed("The id of the mail") }),
            hints("Read a mail", true, false),
        ),
    ];
    if !is_read_only {
        tools.push(tool(
            "delete_mail",
            "Delete one mail by its id, or all mail to an address, private or not. It cannot be brought back. A private \
             inbox itself goes on.",
            &json!({
                "id": optional("The id of one mail"),
                "address": optional("The address whose mail goes, all of it"),
            }),
            hints("Delete mail", false, true),
        ));
    }
    tools
}

/// What [`NewAddress`] has.
fn fresh() -> Value {
    json!({
        "domain": optional("The domain, which must be active; the service chooses one without it"),
        "prefix": optional(
            "What the address begins with, before a hyphen and random characters: at most 32 of letters, digits, `-`, `_` \
             and `.`",
        ),
        "private": {
            "description": "Whether it is a private inbox, which nobody reads but the user of these tools and the \
                administrator of the service. It ends after a time that the service sets, often a day, and its mail goes \
                with it. A public address is read by whoever knows it",
            "type": "boolean", "default": private_default(),
        },
    })
}

/// What [`Wait`] has.
fn filters() -> Value {
    let part = |of: &str| {
        let description = format!("Only mail whose {of} contains this, in any case");
        json!({ "description": description, "type": ["string", "null"], "maxLength": TEXT_CHARS_MAX })
    };
    json!({
        "address": needed("The address that the mail is for"),
        "timeout_seconds": {
            "description": "How long to wait, in seconds; 0 only looks",
            "type": "integer", "minimum": 0, "maximum": TIMEOUT_SECONDS_MAX, "default": TIMEOUT_SECONDS_DEFAULT,
        },
        "from": part("sender"),
        "subject": part("subject"),
        "since": optional(
            "Only mail after this: `now`, a duration ago such as 5m, a time such as 2026-01-31T12:00:00Z, or the id of a \
             mail. Without it mail that is there already counts",
        ),
    })
}

fn needed(description: &str) -> Value {
    json!({ "description": description, "type": "string" })
}

fn optional(description: &str) -> Value {
    json!({ "description": description, "type": ["string", "null"] })
}

/// A tool. What it takes is needed if it can't be null and has no default.
fn tool(name: &str, description: &str, takes: &Value, hints: Value) -> Value {
    let is_needed = |of: &Value| of["type"] == "string";
    let needed = takes.as_object().into_iter().flatten().filter(|(_, of)| is_needed(of)).map(|(name, _)| name);
    let schema = json!({
        "type": "object", "properties": takes, "required": needed.collect::<Vec<_>>(), "additionalProperties": false,
    });
    json!({ "name": name, "description": description, "inputSchema": schema, "annotations": hints })
}

/// Mail comes from anybody, so the world of every tool is open.
fn hints(title: &str, is_read_only: bool, is_destructive: bool) -> Value {
    json!({
        "title": title, "readOnlyHint": is_read_only, "destructiveHint": is_destructive,
        "idempotentHint": is_read_only || is_destructive, "openWorldHint": true,
    })
}

/// Carries out one call of a tool that [`all`] lists. Its answer is the model's to read, and so is its error.
pub(super) async fn call(session: &Session, waiting: &Waiting, name: &str, given: Value) -> Result<String, Error> {
    match name {
        "new_address" => new_address(session, read(given)?).await,
        "wait_for_mail" => Ok(text::mail(&wait(session, waiting, read(given)?, None).await?)),
        "wait_for_code" => wait_for_code(session, waiting, read(given)?).await,
        "list_inbox" => list_inbox(session, &read(given)?).await,
        "read_mail" => read_mail(session, &read(given)?).await,
        "delete_mail" => delete_mail(session, &read(given)?).await,
        _ => Err(Error::usage("there is no such tool")),
    }
}

/// The arguments of a call.
fn read<T: DeserializeOwned>(given: Value) -> Result<T, Error> {
    serde_json::from_value(given).map_err(|error| bad("arguments", error))
}

/// The value of an argument.
fn value<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, Error> {
    text.parse().map_err(|error| bad(name, error))
}

fn bad(name: &str, reason: impl Display) -> Error {
    Error::usage(format!("{name}: {reason}"))
}

async fn new_address(session: &Session, given: NewAddress) -> Result<String, Error> {
    let domain = given.domain.as_deref().map(|text| value::<DomainName>("domain", text)).transpose()?;
    if let Some(prefix) = &given.prefix {
        value::<LocalPartPrefix>("prefix", prefix)?;
    }
    if let Some(domain) = &domain {
        session.check_domain(domain)?;
    }
    let domain = domain.as_ref().or(session.domains.first());
    let (client, prefix) = (session.client().await?, given.prefix.as_deref());
    let fresh = if given.private {
        client.lease(&wanted(None, domain, prefix)).await?
    } else {
        client.random_address(domain, prefix).await?
    };
    Ok(text::short(client::text(&fresh, "address")))
}

async fn wait_for_code(session: &Session, waiting: &Waiting, given: Wait) -> Result<String, Error> {
    let detail = wait(session, waiting, given, Some("code")).await?;
    let code = detail.code().ok_or_else(|| {
        Error::new(Exit::Unavailable, "the service finds no codes in mail").hint("wait_for_mail gives the whole mail")
    })?;
    Ok(text::short(code))
}

async fn list_inbox(session: &Session, given: &List) -> Result<String, Error> {
    if !(1..=LIMIT_MAX).contains(&given.limit) {
        return Err(bad("limit", format!("it is not within 1 to {LIMIT_MAX}")));
    }
    let address: Address = value("address", &given.address)?;
    session.check_domain(address.domain())?;
    Ok(text::inbox(&session.client().await?.newest(&address, given.limit).await?))
}

async fn read_mail(session: &Session, given: &Read) -> Result<String, Error> {
    Ok(text::mail(&mail_of(session, value("id", &given.id)?).await?))
}

/// A mail that the session may have.
async fn mail_of(session: &Session, id: EmailId) -> Result<Mail, Error> {
    let detail = session.client().await?.email(id).await.map_err(one_mail::refused)?;
    session.check_recipient(detail.text("recipient"))?;
    Ok(detail)
}

async fn delete_mail(session: &Session, given: &Delete) -> Result<String, Error> {
    let deleted = match (&given.id, &given.address) {
        (Some(id), None) => {
            let id = value("id", id)?;
            mail_of(session, id).await?;
            session.client().await?.delete(DELETE, &[("id", Some(id.to_string()))]).await?
        }
        (None, Some(address)) => {
            let address: Address = value("address", address)?;
            session.check_domain(address.domain())?;
            session.client().await?.delete(DELETE, &[("to", Some(address.to_string()))]).await?
        }
        _ => return Err(bad("arguments", "exactly one of id and address is needed")),
    };
    Ok(format!("deleted: {deleted}"))
}

impl Wait {
    fn timeout(&self) -> Result<Duration, Error> {
        if self.timeout_seconds > TIMEOUT_SECONDS_MAX {
            return Err(bad("timeout_seconds", format!("it is more than {TIMEOUT_SECONDS_MAX}")));
        }
        Ok(Duration::from_secs(self.timeout_seconds))
    }

    /// What the service is asked for, once the session may have it.
    async fn query(self, session: &Session, client: &Client, has: Option<&str>) -> Result<WaitQuery, Error> {
        for (name, text) in [("from", &self.from), ("subject", &self.subject)] {
            if text.as_ref().is_some_and(|text| text.chars().count() > TEXT_CHARS_MAX) {
                return Err(bad(name, format!("it is longer than {TEXT_CHARS_MAX} characters")));
            }
        }
        let to: Address = value("address", &self.address)?;
        session.check_domain(to.domain())?;
        let since = match self.since.as_deref().map(|text| value("since", text)).transpose()? {
            // The mails that a part may stand for would be listed with what strangers wrote in them.
            Some(Since::Email(Id::Part(_))) => return Err(bad("since", "give the whole id")),
            Some(since) => since.mark(client, &to, SystemClock.now()).await?,
            None => None,
        };
        Ok(WaitQuery { to, since, from: self.from, subject: self.subject, has: has.map(str::to_owned) })
    }
}

/// The oldest mail that passes; only mail with a code if `has` says so.
async fn wait(session: &Session, waiting: &Waiting, given: Wait, has: Option<&str>) -> Result<Mail, Error> {
    let timeout = given.timeout()?;
    let deadline = Instant::now() + timeout;
    let client = session.client().await?;
    let query = given.query(session, client, has).await?;
    // The first question finds what is there, and a service that can't be reached.
    let mut arrivals = client.arrivals(query.clone(), None).await?;
    if let Some(detail) = arrivals.at_once().await? {
        return Ok(detail);
    }
    let nobody_waits = || Error::new(Exit::TimedOut, "nobody waits for this any more");
    let found = tokio::select! {
        biased;
        () = session.ended.cancelled() => return Err(nobody_waits()),
        () = waiting.cancelled.cancelled() => return Err(nobody_waits()),
        found = arrivals.next(deadline, |_| {}) => found?,
        () = waiting.tell(timeout, "no such mail yet") => return Err(nobody_waits()),
    };
    match found {
        Some(detail) => Ok(detail),
        None => Err(missing(client, query, timeout).await),
    }
}

/// Why there is no such mail: none came, none with a code that is certain, or the service is away.
async fn missing(client: &Client, query: WaitQuery, timeout: Duration) -> Error {
    let cause = format!("no such mail for {} within {}", query.to, show_duration(timeout));
    let is_for_code = query.has.is_some();
    match client.waited(&WaitQuery { has: None, ..query }).await {
        Err(error) => error.into(),
        Ok(Some(detail)) if is_for_code => {
            let id = text::short(detail.id());
            let hint = format!("mail came, but none with a code that is certain; read_mail shows the first, {id}");
            Error::new(Exit::TimedOut, cause).hint(hint)
        }
        Ok(_) => Error::new(Exit::TimedOut, cause),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::mcp::text::BODY_CHARS_MAX;

    #[test]
    fn only_delete_mail_is_destructive_and_a_session_that_only_reads_lacks_it() {
        for tool in all(false) {
            assert_eq!(tool["annotations"]["destructiveHint"], tool["name"] == "delete_mail", "{tool}");
        }
        assert_eq!(all(true).len() + 1, all(false).len());
        assert!(all(true).iter().all(|tool| tool["name"] != "delete_mail"));
    }

    #[test]
    fn schemas_name_what_is_needed_and_what_is_taken() {
        let tools = all(false);
        let of = |name: &str| tools.iter().find(|tool| tool["name"] == name).expect("a tool");
        for (name, needed) in
            [("new_address", json!([])), ("wait_for_code", json!(["address"])), ("read_mail", json!(["id"]))]
        {
            assert_eq!(of(name)["inputSchema"]["required"], needed);
        }
        let described = of("read_mail")["description"].as_str().expect("a text").replace(',', "");
        assert!(described.contains(&BODY_CHARS_MAX.to_string()));
        // What a schema names is taken, and nothing else is.
        let taken = |name: &str, given: Value| match name {
            "new_address" => read::<NewAddress>(given).map(drop),
            "list_inbox" => read::<List>(given).map(drop),
            "read_mail" => read::<Read>(given).map(drop),
            "delete_mail" => read::<Delete>(given).map(drop),
            _ => read::<Wait>(given).map(drop),
        };
        for tool in &tools {
            let name = tool["name"].as_str().expect("a name");
            let mut given = serde_json::Map::new();
            for (property, of) in tool["inputSchema"]["properties"].as_object().expect("properties") {
                given.insert(property.clone(), of.get("default").cloned().unwrap_or_else(|| json!("x")));
            }
            assert!(taken(name, Value::Object(given.clone())).is_ok(), "{tool}");
            given.insert("other".to_owned(), json!("x"));
            assert!(taken(name, Value::Object(given)).is_err(), "{name}");
        }
        let wait = |given| read::<Wait>(given).and_then(|wait| wait.timeout());
        assert_eq!(wait(json!({ "address": "a@x.test" })).expect("a wait"), Duration::from_secs(60));
        assert!(wait(json!({ "address": "a@x.test", "timeout_seconds": 301 })).is_err());
    }
}
