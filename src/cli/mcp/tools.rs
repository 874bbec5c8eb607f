//! The tools: what each takes, and what it does.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
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
pub(super) const TIMEOUT_SECONDS_MAX: u64 = 300;
pub(super) const TIMEOUT_SECONDS_DEFAULT: u64 = 60;
/// The most mails of a list.
pub(super) const LIMIT_MAX: u64 = 50;
pub(super) const LIMIT_DEFAULT: u64 = 20;
/// The longest text to look for, in characters.
pub(super) const TEXT_CHARS_MAX: usize = 200;
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

pub(super) fn private_default() -> bool {
    true
}

fn timeout_default() -> u64 {
    TIMEOUT_SECONDS_DEFAULT
}

fn limit_default() -> u64 {
    LIMIT_DEFAULT
}

/// Carries out one call of a tool that [`told::all`](super::told::all) lists. Its answer is the model's to read, and so is its
/// error.
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
    use crate::cli::mcp::told;

    #[test]
    fn schemas_name_what_is_needed_and_what_is_taken() {
        let tools = told::all(false);
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
