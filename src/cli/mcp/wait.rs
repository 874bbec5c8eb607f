//! Waiting for mail: with a sign of life, until it comes, time is over, or nobody waits any more.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::arguments::{self, Wait};
use super::calls::Failure;
use super::session::Session;
use crate::cli::span::Since;
use crate::client::{Client, EmailDetail, WaitQuery};
use crate::clock::{Clock as _, SystemClock};
use crate::config::value;
use crate::error::{Error, Exit};
use crate::model::Address;

/// How often a program that asked for it is told that the call still waits.
const PROGRESS_EVERY: Duration = Duration::from_secs(3);

/// The oldest mail that passes; only mail with a code if `has` says so.
pub(super) async fn mail(
    session: &Session,
    context: &RequestContext<RoleServer>,
    wanted: Wait,
    has: Option<&str>,
) -> Result<EmailDetail, Failure> {
    let timeout = wanted.timeout()?;
    let deadline = Instant::now() + timeout;
    let to: Address = arguments::value("address", &wanted.address)?;
    let since = wanted.since.as_deref().map(|text| arguments::value::<Since>("since", text)).transpose()?;
    session.check(&to)?;
    let client = session.client().await?;
    let since = match since {
        Some(since) => since.mark(client, &to, SystemClock.now()).await?,
        None => None,
    };
    let query = WaitQuery { to, since, from: wanted.from, subject: wanted.subject, has: has.map(str::to_owned) };
    // The first question finds what is there, and a service that can't be reached.
    if let Some(detail) = client.waited(&query).await.map_err(Error::from)? {
        return Ok(detail);
    }
    let found = tokio::select! {
        biased;
        () = context.ct.cancelled() => return Err(nobody_waits()),
        () = session.ended.cancelled() => return Err(nobody_waits()),
        found = client.wait(&query, deadline, |error| session.hint(&format!("{error}; trying again"))) => found,
        () = tell(context, timeout) => return Err(nobody_waits()),
    };
    match found.map_err(Error::from)? {
        Some(detail) => Ok(detail),
        None => Err(missing(client, query, timeout).await.into()),
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

/// Why there is no such mail: none came, or none with a code that is certain.
async fn missing(client: &Client, query: WaitQuery, timeout: Duration) -> Error {
    let cause = format!("no such mail for {} within {}", query.to, value::show_duration(timeout));
    let timed_out = Error::new(Exit::TimedOut, cause);
    if query.has.is_none() {
        return timed_out;
    }
    match client.waited(&WaitQuery { has: None, ..query }).await {
        Ok(Some(detail)) => {
            let id = super::text::line(&detail.email.id, super::text::LINE_CHARS_MAX);
            timed_out.hint(format!("mail came, but none with a code that is certain; read_mail shows the first, {id}"))
        }
        _ => timed_out,
    }
}

/// The answer that nobody gets.
fn nobody_waits() -> Failure {
    Failure::Refused(ErrorData::internal_error("nobody waits for this any more", None))
}
