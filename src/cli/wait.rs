//! `tempmail wait`: blocks until a mail is there, and prints it.

use tokio::time::Instant;

use super::Context;
use super::arrivals::Arrivals;
use super::output::{Format, visible};
use super::read;
use super::span::Span;
use crate::client::{Client, EmailDetail, WaitQuery};
use crate::config::value;
use crate::error::{Error, Exit};
use crate::mime::{self, Message};
use crate::model::Address;

/// Wait for a mail and print it
///
/// Prints the oldest mail that passes, as `read` does, or its code or link alone. Mail that is in the inbox already counts,
/// unless --since says otherwise. Ends with exit code 124 if there is no such mail in time, and with 3 if mail came whose
/// code or link is not certain. A restart of the service meanwhile does no harm.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail wait hello@example.test
  tempmail wait hello@example.test --timeout 2m --subject 'your code'
  code=$(tempmail wait hello@example.test --code)
  tempmail wait hello@example.test --link reset --timeout 5m
  tempmail wait hello@example.test --since now --json | jq -r .bodyText
  tempmail wait hello@example.test --since 0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b")]
pub(super) struct Wait {
    /// The address
    #[arg(value_name = "ADDR")]
    address: Address,

    #[command(flatten)]
    span: Span,

    /// Only mail whose sender contains this, in any case
    #[arg(long, value_name = "TEXT")]
    from: Option<String>,

    /// Only mail whose subject contains this, in any case
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,

    /// Only mail that has this: a file, a one-time code, or a link to verify, sign in, reset or accept
    #[arg(long, value_name = "WHAT", value_parser = ["attachment", "code", "link"], conflicts_with_all = ["code", "link"])]
    has: Option<String>,

    /// Wait for a mail with a one-time code, and print the code alone
    #[arg(long, conflicts_with = "link")]
    code: bool,

    /// Wait for a mail with a link to press, of this kind if one is given, and print its address alone
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "any", value_parser = KINDS)]
    link: Option<String>,
}

/// The kinds of links that a mail is sent for, and any of them.
const KINDS: [&str; 5] = ["any", "verification", "sign_in", "reset", "invite"];

impl Wait {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let deadline = Instant::now() + self.span.timeout;
        let client = cx.client().await?;
        let wanted = self.wanted(cx, client).await?;
        match self.detail(Arrivals::new(cx, client, wanted.clone(), deadline)).await? {
            Some(detail) => cx.print(self.shown(cx, &detail))?,
            None => return Err(self.missing(client, wanted).await),
        }
        Ok(Exit::Ok)
    }

    /// What is printed of the mail that was waited for.
    fn shown(&self, cx: &Context, detail: &EmailDetail) -> String {
        let alone = match (self.code, &self.link) {
            (false, None) => None,
            (true, _) => detail.codes.first().map(|code| code.code.as_str()),
            (false, Some(kind)) => link(detail, kind),
        };
        match alone {
            Some(alone) if matches!(cx.style.of_document(), Format::Table | Format::Tsv | Format::Id) => {
                format!("{}\n", visible::line(alone))
            }
            _ => read::shown(cx, detail),
        }
    }

    async fn wanted(&self, cx: &Context, client: &Client) -> Result<WaitQuery, Error> {
        let since = self.span.mark(client, &self.address, cx.now()).await?;
        let Self { address, from, subject, .. } = self;
        let of_link = self.link.as_ref().map(|_| "link");
        let has = self.has.as_deref().or(of_link).or(self.code.then_some("code")).map(str::to_owned);
        Ok(WaitQuery { to: address.clone(), since, from: from.clone(), subject: subject.clone(), has })
    }

    /// The mail; `None` if there is none in time.
    async fn detail(&self, mut arrivals: Arrivals<'_>) -> Result<Option<EmailDetail>, Error> {
        while let Some(detail) = arrivals.next().await? {
            // The service knows links, but not their kinds.
            if self.link.as_ref().is_none_or(|kind| link(&detail, kind).is_some()) {
                return Ok(Some(detail));
            }
        }
        Ok(None)
    }

    /// Why there is no such mail: none came, or none whose code or link is certain.
    async fn missing(&self, client: &Client, wanted: WaitQuery) -> Error {
        let within = value::show_duration(self.span.timeout);
        let timed_out = || {
            Error::new(Exit::TimedOut, format!("no such mail for {} within {within}", self.address))
                .hint(format!("`tempmail inbox {}` lists what is there", self.address))
        };
        if !self.code && self.link.is_none() {
            return timed_out();
        }
        let any = WaitQuery { has: None, ..wanted };
        let Ok(Some(detail)) = client.waited(&any).await else { return timed_out() };
        let what = if self.code { "a code" } else { "such a link" };
        let id = visible::line(&detail.email.id);
        let cause = format!("mail came for {}, but none with {what} that is certain within {within}", self.address);
        let hint = match self.doubtful(client, &detail).await.as_slice() {
            [] => format!("`tempmail read {id}` shows the first"),
            doubtful => format!("in the first are {}; `tempmail read {id}` shows it", doubtful.join(", ")),
        };
        Error::new(Exit::NotFound, cause).hint(hint)
    }

    /// What may be codes in a mail.
    async fn doubtful(&self, client: &Client, detail: &EmailDetail) -> Vec<String> {
        let Ok(id) = detail.email.id.parse() else { return Vec::new() };
        let raw = if self.code { client.raw(id).await.unwrap_or_default() } else { bytes::Bytes::new() };
        mime::findings(&Message::new(&raw)).doubtful
    }
}

/// The address of the best link of a kind, or of any kind but `unsubscribe`.
fn link<'a>(detail: &'a EmailDetail, kind: &str) -> Option<&'a str> {
    let is_wanted = |of_link: &str| if kind == "any" { of_link != "unsubscribe" } else { of_link == kind };
    detail.links.iter().find(|link| is_wanted(&link.kind)).map(|link| link.url.as_str())
}
