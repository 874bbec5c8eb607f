//! `tempmail wait` and `tempmail expect`: the mail of an address, one by one as it arrives, until it is as wanted.

use std::pin::pin;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};

use super::Context;
use super::domain_hint::hint_unless_served;
use super::output::{self, Format, Spinner, visible};
use super::read;
use super::removed;
use super::span::{Span, wait_time};
use super::wanted::{Wanted, quoted};
use crate::client::{Arrivals, Client, ClientError, Mail, WaitQuery};
use crate::error::{Error, Exit};
use crate::mime::{self, Message};
use crate::model::{Address, EmailId};
use crate::value::show_duration;

/// How long it may take to learn whether the service receives mail for the address.
const HINT_WITHIN: Duration = Duration::from_secs(2);
/// A wait that is over sooner is not shown.
const SHOW_AFTER: Duration = Duration::from_millis(500);
/// The most mails that are judged.
const MAILS_MAX: usize = 1_000;
/// The most mails that are read again at the end, since DNS said nothing of their senders.
const UNDECIDED_MAX: usize = 20;
/// How long that may take in all, after the time of the wait.
const LOOK_AGAIN: Duration = Duration::from_secs(3);
/// The most mails that an error lists.
const LISTED_MAX: usize = 5;

/// Wait for a mail and print it
///
/// Prints the oldest mail that is as the flags say, as `read` does, or its code or link alone. Mail that is in the inbox
/// already counts, unless --since says otherwise. Ends with exit code 124 when the time is over. A restart of the service
/// meanwhile does no harm.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail wait hello@example.test
  tempmail wait hello@example.test --timeout 2m --subject 'your code'
  code=$(tempmail wait hello@example.test --code)
  tempmail wait hello@example.test --link reset --timeout 5m
  tempmail wait hello@example.test --since now --json | jq -r .bodyText
  tempmail wait hello@example.test --since 0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b
`expect` checks mail and says what it lacks, `watch` follows all that happens.")]
pub(super) struct Wait {
    /// The address
    #[arg(value_name = "ADDR")]
    address: Address,

    #[command(flatten)]
    span: Span,

    #[command(flatten)]
    wanted: Wanted,
}

impl Wait {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let deadline = Instant::now() + self.span.timeout;
        let client = cx.client().await?;
        let since = self.span.mark(client, &self.address, cx.now()).await?;
        let query = self.wanted.query(&self.address, since);
        let mut waiting = Waiting::begin(cx, client, query.clone(), deadline).await?;
        let mut undecided = Vec::new();
        while let Some(detail) = waiting.next().await? {
            if self.wanted.lacks(&detail).is_empty() {
                return cx.print(shown(cx, &self.wanted, &detail));
            }
            if self.wanted.verified.is_some() && detail.is_undecided() && undecided.len() < UNDECIDED_MAX {
                undecided.extend(detail.id().parse::<EmailId>());
            }
        }
        let give_up_at = Instant::now() + LOOK_AGAIN;
        for id in undecided {
            let Ok(again) = timeout_at(give_up_at, client.email(id)).await else { break };
            // It may be gone; then it is as if it had not come.
            if let Ok(detail) = again
                && self.wanted.lacks(&detail).is_empty()
            {
                return cx.print(shown(cx, &self.wanted, &detail));
            }
        }
        Err(self.missing(client, query).await)
    }

    /// Why there is no such mail: none came, or none whose code or link is certain.
    async fn missing(&self, client: &Client, query: WaitQuery) -> Error {
        let (to, within) = (&self.address, show_duration(self.span.timeout));
        let first = if self.wanted.code || self.wanted.link.is_some() {
            client.waited(&WaitQuery { has: None, ..query }).await.unwrap_or_default()
        } else {
            None
        };
        let Some(first) = first else {
            let hint = match self.wanted.verified {
                Some(_) => "`tempmail expect` says what a mail lacks".to_owned(),
                None => format!("`tempmail inbox {to}` lists what is there"),
            };
            return Error::new(Exit::TimedOut, format!("no such mail for {to} within {within}")).hint(hint);
        };
        let id = visible::line(first.id());
        let cause = format!("mail came for {to}, but none with a {} within {within}", self.wanted.what());
        let hint = match self.doubtful(client, &first).await.as_slice() {
            [] => format!("`tempmail read {id}` shows the first"),
            doubtful => format!("in the first are {}; `tempmail read {id}` shows it", doubtful.join(", ")),
        };
        Error::new(Exit::TimedOut, cause).hint(hint)
    }

    /// What may be codes in a mail.
    async fn doubtful(&self, client: &Client, mail: &Mail) -> Vec<String> {
        if !self.wanted.code {
            return Vec::new();
        }
        let raw = client.raw(&mail.id()).await.unwrap_or_default();
        mime::findings(&Message::new(&raw)).doubtful
    }
}

/// Check that a mail comes that is as expected
///
/// Waits for a mail that is as the flags say, and prints its id, or its code or link alone. Mail that is in the inbox
/// already counts, unless --since says otherwise. Other mail is passed over, and if the mail does not come in time, the
/// error says of each mail what it lacks. The exit code is 8 if mail came but not as expected, and 124 if none came at all.
/// A restart of the service meanwhile does no harm.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail expect hello@example.test --subject 'your code' --text 'hello Ann'
  code=$(tempmail expect hello@example.test --from no-reply@app.test --code)
  tempmail expect hello@example.test --link-host app.test
  tempmail expect hello@example.test --attachment invoice --timeout 2m
  tempmail expect hello@example.test --count 2 --subject reminder
  tempmail expect hello@example.test --no-mail-within 5s --since now
`wait` prints the mail itself, `watch` follows all that happens.")]
pub(super) struct Expect {
    /// The address
    #[arg(value_name = "ADDR")]
    address: Address,

    #[command(flatten)]
    span: Span,

    #[command(flatten)]
    wanted: Wanted,

    /// So many mails are as expected, when the last of them has come, and no more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    count: Option<u16>,

    /// No mail that is as the other flags say comes in this time
    #[arg(long, value_name = "DURATION", value_parser = wait_time, conflicts_with_all = ["timeout", "count"])]
    no_mail_within: Option<Duration>,
}

/// A mail that came.
struct Came {
    id: String,
    /// Its id, sender and subject on one line.
    title: String,
    /// Nothing if it is as expected.
    lacks: Vec<String>,
    /// Its id, or its code or link.
    printed: String,
    /// What JSON shows of it where several are expected.
    summary: Value,
}

impl Expect {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let begun = Instant::now();
        if self.no_mail_within.is_some() {
            removed::refuse_possible_patterns(self.wanted.text.iter().chain(&self.wanted.attachment))?;
        }
        let client = cx.client().await?;
        let since = self.span.mark(client, &self.address, cx.now()).await?;
        // The service is asked for all mail, since it is to be said of each what it lacks.
        let query = WaitQuery::all(self.address.clone(), since);
        let (came, last) = self.judged(Waiting::begin(cx, client, query, begun + self.within()).await?).await?;
        self.check(&came)?;
        let matches: Vec<&Came> = came.iter().filter(|it| it.lacks.is_empty()).collect();
        cx.print(match (cx.style.of_document(), last) {
            (Format::Json, None) if self.count.is_some() => {
                output::json(&matches.iter().map(|it| it.summary.clone()).collect())
            }
            (Format::Ndjson, None) => matches.iter().map(|it| output::json(&it.summary)).collect(),
            (Format::Json | Format::Ndjson, Some(detail)) => read::shown(cx, &detail),
            _ => matches.iter().map(|it| visible::field(&it.printed) + "\n").collect(),
        })?;
        Ok(())
    }

    fn within(&self) -> Duration {
        self.no_mail_within.unwrap_or(self.span.timeout)
    }

    /// Judges mail until there is enough or time is over. Where one is expected, it is given too.
    async fn judged(&self, mut waiting: Waiting<'_>) -> Result<(Vec<Came>, Option<Mail>), Error> {
        let mut left = self.count.unwrap_or(1);
        let mut came: Vec<Came> = Vec::new();
        while came.len() < MAILS_MAX {
            let next = match waiting.next().await? {
                // That nothing came is certain only if the service says so at the end.
                None if self.no_mail_within.is_some() => waiting.at_once().await?,
                next => next,
            };
            let Some(detail) = next else { break };
            came.push(self.judge(&detail));
            let is_match = came.last().is_some_and(|it| it.lacks.is_empty());
            left = left.saturating_sub(is_match.into());
            match (left, self.count) {
                (0, None) => return Ok((came, Some(detail))),
                // Of more than these only what is there already is looked at.
                (0, Some(_)) => waiting.deadline = Instant::now(),
                _ => {}
            }
        }
        Ok((came, None))
    }

    fn judge(&self, mail: &Mail) -> Came {
        let [id, from, subject, received_at] = ["id", "from", "subject", "receivedAt"].map(|member| mail.text(member));
        let mut summary = json!({ "id": id, "from": from, "subject": subject, "receivedAt": received_at });
        if let Some(code) = mail.code() {
            summary["code"] = code.into();
        }
        let from = if from.is_empty() { "<>".into() } else { visible::line(from) };
        Came {
            id: id.to_owned(),
            title: format!("{} from {from} with subject {}", visible::line(id), quoted(subject)),
            lacks: self.wanted.lacks(mail),
            printed: self.wanted.alone(mail).unwrap_or(id).to_owned(),
            summary,
        }
    }

    /// Whether these mails are what was expected. The error says what came instead.
    fn check(&self, came: &[Came]) -> Result<(), Error> {
        let (to, within) = (&self.address, show_duration(self.within()));
        let all: Vec<&Came> = came.iter().collect();
        let matches: Vec<&Came> = came.iter().filter(|it| it.lacks.is_empty()).collect();
        let wanted = self.count.map_or(1, usize::from);
        let failed = |cause: String, of: &[&Came]| Err(Error::new(Exit::CheckFailed, cause + &listed(of)));
        if self.no_mail_within.is_some() && !matches.is_empty() {
            return failed(format!("mail came for {to} that is not to come within {within}"), &matches);
        }
        if matches.len() == wanted || (self.no_mail_within.is_some() && came.len() < MAILS_MAX) {
            return Ok(());
        }
        if came.len() >= MAILS_MAX {
            return failed(format!("{MAILS_MAX} mails for {to} were judged, and that is the most"), &all);
        }
        let Some(last) = came.last() else {
            return Err(Error::new(Exit::TimedOut, format!("no mail for {to} within {within}"))
                .hint(format!("`tempmail inbox {to}` lists what came before")));
        };
        let are = if matches.len() == 1 { "is" } else { "are" };
        let found = format!("{} for {to} {are} as expected within {within}", output::mails(matches.len() as u64));
        match self.count {
            Some(count) if matches.len() > wanted => failed(format!("{found}, not {count}"), &matches),
            Some(count) => failed(format!("{found}, not {count}"), &all),
            None => {
                let none = if came.len() == 1 { "not" } else { "none of them" };
                let mails = output::mails(came.len() as u64);
                failed(format!("{mails} came for {to} within {within}, {none} as expected"), &all)
            }
        }
        .map_err(|error| error.hint(format!("`tempmail read {}` shows the last", visible::line(&last.id))))
    }
}

/// The newest of these mails, a line each, and what each lacks.
fn listed(came: &[&Came]) -> String {
    let more = came.len().saturating_sub(LISTED_MAX);
    let mut lines = Vec::new();
    if more > 0 {
        lines.push(format!("  {more} before these"));
    }
    for it in &came[more..] {
        lines.push(format!("  {}", it.title));
        lines.extend(it.lacks.iter().map(|lack| format!("    {lack}")));
    }
    lines.iter().flat_map(|line| ["\n", line]).collect()
}

/// What is printed of the mail that was waited for: its code or link alone, or the mail as `read` shows it.
fn shown(cx: &Context, wanted: &Wanted, detail: &Mail) -> String {
    match (wanted.alone(detail), cx.style.of_document()) {
        (Some(alone), Format::Table | Format::Tsv | Format::Id) => format!("{}\n", visible::line(alone)),
        _ => read::shown(cx, detail),
    }
}

/// The Emails that pass, from the oldest to those that arrive before the deadline.
struct Waiting<'a> {
    cx: &'a Context,
    client: &'a Client,
    to: Address,
    arrivals: Arrivals<'a>,
    deadline: Instant,
    /// Whether the service has answered, and the user was told if no mail can arrive.
    has_begun: bool,
    is_hinted: bool,
}

impl<'a> Waiting<'a> {
    async fn begin(
        cx: &'a Context,
        client: &'a Client,
        query: WaitQuery,
        deadline: Instant,
    ) -> Result<Self, ClientError> {
        let (to, arrivals) = (query.to.clone(), client.arrivals(query, None).await?);
        Ok(Self { cx, client, to, arrivals, deadline, has_begun: false, is_hinted: false })
    }

    /// The next one; `None` if there is none by the deadline. A service that can't be reached at first is an error; later
    /// it may be away for a while.
    async fn next(&mut self) -> Result<Option<Mail>, Error> {
        let is_over = Instant::now() >= self.deadline;
        if !self.has_begun || is_over {
            let found = self.at_once().await?;
            if found.is_some() || is_over {
                return Ok(found);
            }
        }
        self.awaited().await
    }

    /// The next one that is there now. The service must answer.
    async fn at_once(&mut self) -> Result<Option<Mail>, Error> {
        let found = self.arrivals.at_once().await?;
        self.has_begun = true;
        Ok(found)
    }

    async fn awaited(&mut self) -> Result<Option<Mail>, Error> {
        let is_hinted = std::mem::replace(&mut self.is_hinted, true);
        let Self { cx, client, to, arrivals, deadline, .. } = self;
        let mut mail = pin!(arrivals.next(*deadline, |error| cx.hint(&format!("{error}; trying again"))));
        if !is_hinted {
            tokio::select! {
                biased;
                found = &mut mail => return Ok(found?),
                () = hint_in_time(cx, client, to) => {}
            }
        }
        if let Ok(found) = timeout(SHOW_AFTER, &mut mail).await {
            return Ok(found?);
        }
        let _spinner = Spinner::new(format!("waiting for mail to {to}"), cx.shows_progress());
        Ok(mail.await?)
    }
}

/// Hints that no mail can arrive at an address, if so. For no more than a hint mail is not to wait long.
pub(super) async fn hint_in_time(cx: &Context, client: &Client, to: &Address) {
    let _ = timeout(HINT_WITHIN, hint_unless_served(cx, client, to)).await;
}
