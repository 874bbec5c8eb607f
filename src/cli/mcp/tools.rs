//! The tools: what a program is told of each, what it may give, and what the tool does.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{JsonObject, ProgressNotificationParam, Tool, ToolAnnotations};
use rmcp::schemars::{self, JsonSchema};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{Session, text};
use crate::cli::ids::Id;
use crate::cli::new::wanted;
use crate::cli::one_mail;
use crate::cli::span::Since;
use crate::client::{self, Client, Mail, WaitQuery};
use crate::clock::{Clock as _, SystemClock};
use crate::config::value::show_duration;
use crate::error::{Error, Exit};
use crate::model::{Address, DomainName, EmailId};
use crate::random::LocalPartPrefix;

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
/// How often a program that asked for it is told that the call still waits.
const PROGRESS_EVERY: Duration = Duration::from_secs(3);

/// A fresh address.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewAddress {
    /// The domain, which must be active; the service chooses one without it
    domain: Option<String>,
    /// What the address begins with, before a hyphen and random characters: at most 32 of letters, digits, `-`, `_` and `.`
    prefix: Option<String>,
    /// Whether it is a private inbox, which nobody reads but the user of these tools and the administrator of the service. It
    /// ends after a time that the service sets, often a day, and its mail goes with it. A public address is read by whoever
    /// knows it
    #[serde(default = "private_default")]
    private: bool,
}

/// Which mail to wait for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wait {
    /// The address that the mail is for
    address: String,
    /// How long to wait, in seconds; 0 only looks
    #[serde(default = "timeout_default")]
    #[schemars(range(min = 0, max = 300))]
    timeout_seconds: u64,
    /// Only mail whose sender contains this, in any case
    #[schemars(length(max = 200))]
    from: Option<String>,
    /// Only mail whose subject contains this, in any case
    #[schemars(length(max = 200))]
    subject: Option<String>,
    /// Only mail after this: `now`, a duration ago such as 5m, a time such as 2026-01-31T12:00:00Z, or the id of a mail.
    /// Without it mail that is there already counts
    since: Option<String>,
}

/// Which list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// The address
    address: String,
    /// The most mails, newest first
    #[serde(default = "limit_default")]
    #[schemars(range(min = 1, max = 50))]
    limit: u64,
}

/// Which mail to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    /// The id of the mail
    id: String,
}

/// What to delete: exactly one of the two.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Delete {
    /// The id of one mail
    id: Option<String>,
    /// The address whose mail goes, all of it
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

/// The tools of a session.
pub(super) fn all(is_read_only: bool) -> Vec<Tool> {
    let mut tools = vec![
        tool::<NewAddress>(
            "new_address",
            "Make a fresh mail address that nobody can guess. It receives mail at once. It is a private inbox unless private \
             is false: only the user of these tools, by the key that they keep, and the administrator of the service can \
             read its mail.",
            hints("Make an address", false).destructive(false),
        ),
        tool::<Wait>(
            "wait_for_mail",
            "Wait until a mail to an address is there, and return the oldest one that passes the filters, also of a private \
             inbox that new_address made. Mail that came before the call counts too, unless since says otherwise; since \
             with the id of the last mail gives the next. Without such mail in time it is an error.",
            reads("Wait for mail"),
        ),
        tool::<Wait>(
            "wait_for_code",
            "Wait until a mail with a one-time code (verification, sign-in) to an address, private or not, is there, and \
             return the code alone. Mail that came before the call counts too, unless since says otherwise. Use this \
             rather than reading the mail when only the code is needed.",
            reads("Wait for a code"),
        ),
        tool::<List>(
            "list_inbox",
            "List the mails to an address, private or not, newest first: id, time, sender and subject.",
            reads("List an inbox"),
        ),
        tool::<Read>(
            "read_mail",
            "Read one mail by its id, also of a private inbox: sender, subject, the text that a person would see, codes, \
             links, and the names of attachments. Text after 16,000 characters is left out.",
            reads("Read a mail"),
        ),
    ];
    if !is_read_only {
        tools.push(tool::<Delete>(
            "delete_mail",
            "Delete one mail by its id, or all mail to an address, private or not. It cannot be brought back. A private \
             inbox itself goes on.",
            hints("Delete mail", false).destructive(true).idempotent(true),
        ));
    }
    tools
}

fn tool<In: JsonSchema + 'static>(name: &'static str, description: &'static str, hints: ToolAnnotations) -> Tool {
    Tool::new(name, description, JsonObject::new()).with_input_schema::<In>().with_annotations(hints)
}

fn reads(title: &str) -> ToolAnnotations {
    hints(title, true).destructive(false).idempotent(true)
}

/// Mail comes from anybody, so the world of every tool is open.
fn hints(title: &str, is_read_only: bool) -> ToolAnnotations {
    ToolAnnotations::with_title(title).read_only(is_read_only).open_world(true)
}

/// Carries out one call of a tool that [`all`] lists. Its answer is the model's to read, and so is its error.
pub(super) async fn call(
    session: &Session,
    context: &RequestContext<RoleServer>,
    name: &str,
    given: Value,
) -> Result<String, Error> {
    match name {
        "new_address" => new_address(session, read(given)?).await,
        "wait_for_mail" => Ok(text::mail(&wait(session, context, read(given)?, None).await?)),
        "wait_for_code" => wait_for_code(session, context, read(given)?).await,
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

async fn wait_for_code(session: &Session, context: &RequestContext<RoleServer>, given: Wait) -> Result<String, Error> {
    let detail = wait(session, context, given, Some("code")).await?;
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
async fn wait(
    session: &Session,
    context: &RequestContext<RoleServer>,
    given: Wait,
    has: Option<&str>,
) -> Result<Mail, Error> {
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
        () = context.ct.cancelled() => return Err(nobody_waits()),
        () = session.ended.cancelled() => return Err(nobody_waits()),
        found = arrivals.next(deadline, |_| {}) => found?,
        () = tell(context, timeout) => return Err(nobody_waits()),
    };
    match found {
        Some(detail) => Ok(detail),
        None => Err(missing(client, query, timeout).await),
    }
}

/// Tells the program that the call still waits, if it asked for that. Ends when the program takes no more.
async fn tell(context: &RequestContext<RoleServer>, timeout: Duration) {
    let Some(token) = context.meta.get_progress_token() else { return std::future::pending().await };
    let begun = Instant::now();
    let mut ticks = interval_at(begun + PROGRESS_EVERY, PROGRESS_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let progress = ProgressNotificationParam::new(token.clone(), begun.elapsed().as_secs_f64())
            .with_total(timeout.as_secs_f64())
            .with_message("no such mail yet");
        if context.peer.notify_progress(progress).await.is_err() {
            return;
        }
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
        let destructive = |tool: &Tool| tool.annotations.as_ref().and_then(|hints| hints.destructive_hint);
        for tool in all(false) {
            assert_eq!(destructive(&tool), Some(tool.name == "delete_mail"), "{}", tool.name);
        }
        assert_eq!(all(true).len() + 1, all(false).len());
        assert!(all(true).iter().all(|tool| tool.name != "delete_mail"));
    }

    #[test]
    fn schemas_have_the_bounds_and_the_defaults() {
        let tools = all(false);
        let property = |name: &str, property: &str| {
            let tool = tools.iter().find(|tool| tool.name == name).expect("a tool");
            tool.input_schema["properties"][property].clone()
        };
        assert_eq!(property("wait_for_code", "timeout_seconds")["maximum"], TIMEOUT_SECONDS_MAX);
        assert_eq!(property("wait_for_mail", "timeout_seconds")["default"], TIMEOUT_SECONDS_DEFAULT);
        assert_eq!(property("wait_for_mail", "subject")["maxLength"], TEXT_CHARS_MAX);
        assert_eq!(property("list_inbox", "limit")["maximum"], LIMIT_MAX);
        assert_eq!(property("list_inbox", "limit")["minimum"], 1);
        let read_mail = tools.iter().find(|tool| tool.name == "read_mail").and_then(|tool| tool.description.clone());
        assert!(read_mail.is_some_and(|text| text.replace(',', "").contains(&BODY_CHARS_MAX.to_string())));
        let wait = |given| read::<Wait>(given).and_then(|wait| wait.timeout());
        assert_eq!(wait(json!({ "address": "a@x.test" })).expect("a wait"), Duration::from_secs(60));
        assert!(wait(json!({ "address": "a@x.test", "timeout_seconds": 301 })).is_err());
    }
}
