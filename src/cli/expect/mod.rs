//! `tempmail expect`: assertions on the next mail of an address, for test suites.
//!
//! ```text
//! assertion   what a mail must be like    host, name, selector   values of assertions    mail   what is judged
//! verdict     how a mail was judged       nearest                lines of its text that are like what was expected
//! tally       the mails judged so far     goal                   how many are expected   report/   files for other programs
//! ```

mod assertion;
mod goal;
mod host;
mod mail;
mod name;
mod nearest;
mod report;
mod selector;
mod tally;
mod verdict;

use std::time::Duration;

use regex::{Regex, RegexBuilder};
use tokio::time::Instant;

use self::assertion::Assertion;
use self::goal::{Goal, MAILS_MAX};
use self::host::Host;
use self::name::NamePattern;
use self::report::{Outcome, Report};
use self::selector::CssSelector;
use self::tally::{Match, Tally};
use super::Context;
use super::arrivals::{Arrivals, must_receive};
use super::html::{self, HtmlReader};
use super::output::{self, Format, visible};
use super::read;
use super::span::{Span, wait_time};
use crate::client::{EmailDetail, WaitQuery};
use crate::error::{Error, Exit};
use crate::model::Address;

/// The longest regular expression, in octets.
const REGEX_OCTETS_MAX: usize = 1_000;
/// The memory of a compiled one, in octets.
const REGEX_SIZE_MAX: usize = 1024 * 1024;

/// Check that a mail comes that is as expected
///
/// Waits for a mail of which all assertions hold, and prints its id, or its code with --code. Mail that is in the inbox
/// already counts, unless --since says otherwise. Other mail is passed over. If the mail does not come in time, the error
/// shows the one that is nearest: the most assertions hold of it, and it is the newest of these. The exit code is 8 if mail
/// came but not as expected, and 124 if none came at all. A restart of the service meanwhile does no harm.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail expect hello@example.test --subject 'your code' \\
    --text 'code is \\d{6}'
  code=$(tempmail expect hello@example.test --from no-reply@app.test --code)
  tempmail expect hello@example.test --link-host app.test --html-has 'a.button'
  tempmail expect hello@example.test --attachment 'invoice-*.pdf' --timeout 2m
  tempmail expect hello@example.test --count 2 --subject reminder
  tempmail expect hello@example.test --no-mail-within 5s --since now
  tempmail expect hello@example.test --subject welcome \\
    --report junit=welcome.xml")]
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

    /// The text that a person reads matches this; ^ and $ are the ends of a line
    #[arg(long, value_name = "REGEX", value_parser = regex)]
    text: Vec<Regex>,

    /// The HTML has an element that this CSS selector matches
    #[arg(long, value_name = "SELECTOR")]
    html_has: Vec<CssSelector>,

    /// A link leads to this host, or to one below it
    #[arg(long, value_name = "HOST")]
    link_host: Vec<Host>,

    /// There is a file of this name, in which * stands for any characters
    #[arg(long, value_name = "NAME")]
    attachment: Vec<NamePattern>,

    /// There is a one-time code, which is printed in place of the id
    #[arg(long)]
    code: bool,

    /// So many mails are as expected, when the last of them has come, and no more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    count: Option<u16>,

    /// No mail comes in this time that is as the assertions say
    #[arg(long, value_name = "DURATION", value_parser = wait_time, conflicts_with_all = ["timeout", "count"])]
    no_mail_within: Option<Duration>,

    /// Also write the result into a file, as the XML of test runners or as TAP lines; can be given more than once
    #[arg(long, value_name = "junit|tap=FILE")]
    report: Vec<Report>,
}

fn regex(text: &str) -> Result<Regex, String> {
    if text.len() > REGEX_OCTETS_MAX {
        return Err(format!("it is longer than {REGEX_OCTETS_MAX} octets; look for a part of the text"));
    }
    RegexBuilder::new(text)
        .multi_line(true)
        .size_limit(REGEX_SIZE_MAX)
        .build()
        .map_err(|error| format!("{error}\na character with a meaning of its own stands for itself after a backslash"))
}

impl Expect {
    pub(super) async fn run(mut self, cx: &Context) -> Result<Exit, Error> {
        let reports = std::mem::take(&mut self.report);
        let reports = reports.iter().map(Report::begin).collect::<Result<Vec<_>, _>>()?;
        let (began_at, begun) = (cx.now(), Instant::now());
        let assertions = self.assertions();
        let result = self.fulfilled(cx, &assertions, begun).await;
        let name = self.name(&assertions);
        let outcome = Outcome {
            name: &name,
            began_at: &began_at.to_interface(),
            took: begun.elapsed(),
            failure: result.as_ref().err(),
        };
        let written = reports.into_iter().map(|report| report.finish(&outcome)).fold(Ok(()), Result::and);
        match (&result, written) {
            (Ok(_), Err(error)) => return Err(error),
            (Err(_), Err(error)) => cx.hint(&error.to_string()),
            (_, Ok(())) => {}
        }
        cx.print(result?)?;
        Ok(Exit::Ok)
    }

    /// What is printed if mail comes as expected.
    async fn fulfilled(&self, cx: &Context, assertions: &[Assertion], begun: Instant) -> Result<String, Error> {
        let client = cx.client().await?;
        must_receive(client)?;
        let since = self.span.mark(client, &self.address, cx.now()).await?;
        // The service is asked for all mail, since the nearest mail is to be shown.
        let wanted = WaitQuery { to: self.address.clone(), since, from: None, subject: None, has: None };
        let within = self.no_mail_within.unwrap_or(self.span.timeout);
        let mut tally = Tally::default();
        let html = HtmlReader::until((begun + within + html::WITHIN).into_std());
        let arrivals = Arrivals::new(cx, client, wanted, begun + within);
        let last = self.judged(arrivals, assertions, &html, &mut tally).await?;
        self.goal().reached(&tally, &self.address, within)?;
        Ok(self.shown(cx, &tally.matches, last.as_ref()))
    }

    /// Judges mail until the goal is reached or time is over. The last mail that is as expected.
    async fn judged(
        &self,
        mut arrivals: Arrivals<'_>,
        assertions: &[Assertion],
        html: &HtmlReader,
        tally: &mut Tally,
    ) -> Result<Option<EmailDetail>, Error> {
        let goal = self.goal();
        let (mut last, mut is_over) = (None, false);
        while tally.judged() < MAILS_MAX {
            let is_enough = tally.matches.len() >= goal.enough();
            let is_spoilt = goal == Goal::None && tally.unsure.is_some();
            if is_spoilt || (is_enough && !matches!(goal, Goal::Exactly(_))) {
                break;
            }
            let next = if is_enough || is_over { arrivals.rest().await? } else { arrivals.next().await? };
            match next {
                Some(detail) => last = tally.judge(&detail, assertions, html).then_some(detail).or(last),
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
        let html = self.html_has.iter().cloned().map(Assertion::HtmlHas);
        let host = self.link_host.iter().cloned().map(Assertion::LinkHost);
        let attachment = self.attachment.iter().cloned().map(Assertion::Attachment);
        let code = self.code.then_some(Assertion::Code);
        from.chain(subject).chain(text).chain(html).chain(host).chain(attachment).chain(code).collect()
    }

    /// The expectation in one line.
    fn name(&self, assertions: &[Assertion]) -> String {
        let to = &self.address;
        let all: Vec<String> = assertions.iter().map(ToString::to_string).collect();
        let like = if all.is_empty() { String::new() } else { format!(": {}", all.join(", ")) };
        let name = match self.goal() {
            Goal::Some => format!("{to} gets a mail{like}"),
            Goal::Exactly(count) => format!("{to} gets {} and no more{like}", output::mails(count as u64)),
            Goal::None => format!("{to} gets no mail{like}"),
        };
        visible::line(&name).into_owned()
    }
}
