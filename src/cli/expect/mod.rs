//! `tempmail expect`: assertions on the next mail of an address, for test suites.
//!
//! ```text
//! assertion   what a mail must be like    host      what a link leads to    mail   what is judged
//! verdict     how a mail was judged       nearest   lines of its text that are like what was expected
//! tally       the mails judged so far     goal      how many are expected
//! ```

mod assertion;
mod goal;
mod host;
mod mail;
mod nearest;
mod tally;
mod verdict;

use std::time::Duration;

use tokio::time::Instant;

use self::assertion::Assertion;
use self::goal::{Goal, MAILS_MAX};
use self::host::Host;
use self::tally::{Match, Tally};
use super::Context;
use super::arrivals::Arrivals;
use super::output::{self, Format, visible};
use super::read;
use super::removed;
use super::span::{Span, wait_time};
use crate::client::{EmailDetail, WaitQuery};
use crate::error::{Error, Exit};
use crate::model::Address;

/// Check that a mail comes that is as expected
///
/// Waits for a mail of which all assertions hold, and prints its id, or its code with --code. Mail that is in the inbox
/// already counts, unless --since says otherwise. Other mail is passed over. If the mail does not come in time, the error
/// shows the one that is nearest: the most assertions hold of it, and it is the newest of these. The exit code is 8 if mail
/// came but not as expected, and 124 if none came at all. A restart of the service meanwhile does no harm.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail expect hello@example.test --subject 'your code' --text 'hello Ann'
  code=$(tempmail expect hello@example.test --from no-reply@app.test --code)
  tempmail expect hello@example.test --link-host app.test
  tempmail expect hello@example.test --attachment invoice --timeout 2m
  tempmail expect hello@example.test --count 2 --subject reminder
  tempmail expect hello@example.test --no-mail-within 5s --since now")]
pub(super) struct Expect {
    /// The address
    #[arg(value_name = "ADDR")]
    address: Address,

    #[command(flatten)]
    span: Span,

    /// The sender contains this, in any case
    #[arg(long, value_name = "TEXT")]
    from: Vec<String>,

    /// The subject contains this, in any case
    #[arg(long, value_name = "TEXT")]
    subject: Vec<String>,

    /// The text that a person reads contains this, in any case
    #[arg(long, value_name = "TEXT", value_parser = removed::no_pattern)]
    text: Vec<String>,

    /// A link leads to this host, or to one below it
    #[arg(long, value_name = "HOST")]
    link_host: Vec<Host>,

    /// The name of a file contains this, in any case
    #[arg(long, value_name = "TEXT", value_parser = removed::no_pattern)]
    attachment: Vec<String>,

    /// There is a one-time code, which is printed in place of the id
    #[arg(long)]
    code: bool,

    /// So many mails are as expected, when the last of them has come, and no more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    count: Option<u16>,

    /// No mail comes in this time that is as the assertions say
    #[arg(long, value_name = "DURATION", value_parser = wait_time, conflicts_with_all = ["timeout", "count"])]
    no_mail_within: Option<Duration>,
}

impl Expect {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let begun = Instant::now();
        if self.no_mail_within.is_some() {
            removed::refuse_possible_patterns(self.text.iter().chain(&self.attachment))?;
        }
        let client = cx.client().await?;
        let since = self.span.mark(client, &self.address, cx.now()).await?;
        // The service is asked for all mail, since the nearest mail is to be shown.
        let wanted = WaitQuery { to: self.address.clone(), since, from: None, subject: None, has: None };
        let within = self.no_mail_within.unwrap_or(self.span.timeout);
        let mut tally = Tally::default();
        let arrivals = Arrivals::new(cx, client, wanted, begun + within);
        let last = self.judged(arrivals, &mut tally).await?;
        self.goal().reached(&tally, &self.address, within)?;
        cx.print(self.shown(cx, &tally.matches, last.as_ref()))?;
        Ok(Exit::Ok)
    }

    /// Judges mail until the goal is reached or time is over. The last mail that is as expected.
    async fn judged(&self, mut arrivals: Arrivals<'_>, tally: &mut Tally) -> Result<Option<EmailDetail>, Error> {
        let (goal, assertions) = (self.goal(), self.assertions());
        let (mut last, mut is_over) = (None, false);
        while tally.judged() < MAILS_MAX {
            let is_enough = tally.matches.len() >= goal.enough();
            if is_enough && !matches!(goal, Goal::Exactly(_)) {
                break;
            }
            let next = if is_enough || is_over { arrivals.rest().await? } else { arrivals.next().await? };
            match next {
                Some(detail) => last = tally.judge(&detail, &assertions).then_some(detail).or(last),
                // That nothing came is certain only if the service says so at the end.
                None if goal == Goal::None && !is_over => is_over = true,
                None => break,
            }
        }
        Ok(last)
    }

    fn shown(&self, cx: &Context, matches: &[Match], last: Option<&EmailDetail>) -> String {
        let line = |it: &Match| {
            let code = it.code.as_deref().filter(|_| self.code);
            visible::field(code.unwrap_or(&it.id)) + "\n"
        };
        match (cx.style.of_document(), self.goal(), last) {
            (Format::Json | Format::Ndjson, Goal::Some, Some(detail)) => read::shown(cx, detail),
            (Format::Json, Goal::Exactly(_), _) => output::json(&matches),
            (Format::Ndjson, Goal::Exactly(_), _) => matches.iter().map(output::json_line).collect(),
            _ => matches.iter().map(line).collect(),
        }
    }

    fn goal(&self) -> Goal {
        match (self.no_mail_within, self.count) {
            (Some(_), _) => Goal::None,
            (None, Some(count)) => Goal::Exactly(count.into()),
            (None, None) => Goal::Some,
        }
    }

    fn assertions(&self) -> Vec<Assertion> {
        let from = self.from.iter().cloned().map(Assertion::From);
        let subject = self.subject.iter().cloned().map(Assertion::Subject);
        let text = self.text.iter().cloned().map(Assertion::Text);
        let host = self.link_host.iter().cloned().map(Assertion::LinkHost);
        let attachment = self.attachment.iter().cloned().map(Assertion::Attachment);
        let code = self.code.then_some(Assertion::Code);
        from.chain(subject).chain(text).chain(host).chain(attachment).chain(code).collect()
    }
}
