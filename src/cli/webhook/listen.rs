//! `tempmail webhook listen`: sends events to a receiver on this machine without a registration.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use super::super::Context;
use super::super::output::{self, Column, Format, Kind, Style};
use super::super::wait::hint_in_time;
use super::super::watch::next_mail;
use super::secret;
use crate::client::{Mail, WaitQuery};
use crate::clock::SystemClock;
use crate::dns::DnsResolver;
use crate::error::{Error, Exit};
use crate::model::{Address, Secret, Timestamp};
use crate::tls;
use crate::webhook::{Caller, ErrorClass, Event, EventEmail, Guard, GuardSettings, Refused, Target, UrlError};

/// How long one query to DNS may take.
const DNS_TIMEOUT: Duration = Duration::from_secs(3);
/// How long connecting may take, and how long the receiver may take for its answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(15);

/// POST mail to a local URL as it arrives, as a webhook would, without registering one
///
/// Body, headers and signatures are those of a webhook, so a receiver can be developed on a laptop that the service can't
/// reach. Each mail that arrives from now on is sent once, whatever the receiver answers, and is a line of five fields
/// separated by tabs: time, id of the mail, status of the answer, milliseconds, what failed. With --json each line is an
/// object. Ctrl-C ends it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail webhook listen hello@example.test \\
    --forward-to http://localhost:3000/mail
  tempmail webhook listen hello@example.test \\
    --forward-to http://localhost:3000/mail --secret-file secret.txt
  tempmail --server https://mail.example.org webhook listen me@example.org \\
    --forward-to http://127.0.0.1:8000/")]
pub(in crate::cli) struct Listen {
    /// The address
    #[arg(value_name = "ADDR")]
    address: Address,

    /// Where to POST; private and loopback addresses are fine, the ports of mail (25, 465, 587) are not
    #[arg(long, value_name = "URL")]
    forward_to: String,

    /// File with the secret that payloads are signed with, - for standard input; one final line end is no part of it
    #[arg(long, value_name = "FILE|-")]
    secret_file: Option<PathBuf>,
}

/// The fields of a line about one mail.
const COLUMNS: [Column; 5] = [
    Kind::Time.column("TIME", "at"),
    Kind::Id.column("ID", "id"),
    Kind::Number.column("STATUS", "status"),
    Kind::Number.column("MS", "durationMillis"),
    Kind::Text.column("ERROR", "error"),
];

/// Where mail goes and how.
struct Forwarder {
    caller: Caller,
    target: Arc<Target>,
    secret: Option<Secret>,
}

impl Listen {
    /// What the guard refuses of a URL would be refused for each mail again.
    fn target(&self, guard: &Guard) -> Result<Target, Error> {
        guard.check_url(&self.forward_to).map_err(|error| {
            let shown = Error::usage(format!("--forward-to: {error}"));
            let is_port = matches!(error, UrlError::Refused(Refused::Port(_)));
            if is_port {
                shown.hint("have the receiver listen on another port; 25, 465 and 587 are of mail")
            } else {
                shown
            }
        })
    }

    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let guard = guard();
        let forwarder = Forwarder {
            target: self.target(&guard)?.into(),
            caller: caller(cx, guard)?,
            secret: self.secret_file.as_deref().map(|path| secret::read(cx, path)).transpose()?,
        };
        let client = cx.client().await?;
        let newest = client.newest_id(&self.address).await?.map(|id| id.to_string());
        cx.hint(&format!("mail for {} goes to {}; Ctrl-C ends this", self.address, forwarder.target.url()));
        hint_in_time(cx, client, &self.address).await;
        let mut arrivals = client.arrivals(WaitQuery::all(self.address, newest.clone()), newest).await?;
        loop {
            let mail = next_mail(cx, &mut arrivals).await?;
            cx.print(shown(cx.style, &forwarder.forward(cx, &mail).await?))?;
        }
    }
}

/// Any URL is permitted: the user calls it from their own machine.
fn guard() -> Guard {
    let everywhere = ["0.0.0.0/0", "::/0"].map(|network| network.parse().expect("a constant network"));
    Guard::new(GuardSettings { allow: everywhere.to_vec(), ..GuardSettings::default() })
}

fn caller(cx: &Context, guard: Guard) -> Result<Caller, Error> {
    let resolver = DnsResolver::new(Vec::new(), DNS_TIMEOUT);
    cx.verbose("asking the DNS servers of the system for the receiver's name");
    Ok(Caller {
        connect_timeout: CONNECT_TIMEOUT,
        timeout: TIMEOUT,
        guard: Arc::new(guard),
        // The receiver is theirs who type its URL.
        hosts: None,
        resolver: Arc::new(resolver),
        tls: tls::client_config().map_err(|error| Error::new(Exit::Failure, error))?,
        clock: Arc::new(SystemClock),
    })
}

impl Forwarder {
    /// Sends a mail once. What became of it, with the `webhook-id` that it was sent under.
    async fn forward(&self, cx: &Context, mail: &Mail) -> Result<Value, Error> {
        let now = cx.now();
        let id = uuid::Builder::from_random_bytes(rand::random()).into_uuid();
        let outcome = self.caller.call(self.event(id, mail)?.request(now)).await.expect("no host has limits here");
        if outcome.status.is_none() {
            cx.verbose(&outcome.text);
        }
        Ok(json!({
            "at": now.to_interface(), "id": mail.id(), "event": id.hyphenated().to_string(),
            "status": outcome.status, "error": outcome.error.map(ErrorClass::as_str),
            "durationMillis": u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
        }))
    }

    fn event<'a>(&'a self, id: Uuid, mail: &'a Mail) -> Result<Event<'a>, Error> {
        let received_at = Timestamp::from_text(mail.text("receivedAt"))
            .ok_or_else(|| Error::new(Exit::Unavailable, "the service gave a mail without a time of receipt"))?;
        Ok(Event {
            id,
            target: &self.target,
            secret: self.secret.as_ref(),
            email: EventEmail {
                id: mail.id().parse().map_err(|error| Error::new(Exit::Unavailable, error))?,
                recipient: mail.text("recipient"),
                from: mail.text("from"),
                subject: mail.text("subject"),
                message: mail.text("message"),
                body_text: mail.text("bodyText"),
                received_at,
            },
        })
    }
}

/// One line, written as soon as it is known.
fn shown(style: Style, forwarded: &Value) -> String {
    let line = output::lines(style, &COLUMNS, std::slice::from_ref(forwarded));
    if style.of_list() != Format::Table {
        return line;
    }
    let [at, id, status, millis, error] = line.trim_end_matches('\n').splitn(5, '\t').collect::<Vec<_>>()[..] else {
        return line;
    };
    let result = if status.is_empty() { error } else { status };
    let result = style.paint(if error.is_empty() { "32" } else { "31" }, result);
    format!("{at}  {id}  {result}  {millis} ms\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_became_of_a_mail() {
        let forwarded = |status: Option<u16>, error: Option<&str>| {
            json!({
                "at": "2023-11-14 22:13:20", "id": "m", "event": "e", "status": status, "error": error,
                "durationMillis": 12,
            })
        };
        let style = |format| Style { is_terminal: false, is_colored: false, width: None, format };
        let (ok, refused, none) =
            (forwarded(Some(204), None), forwarded(Some(500), Some("http_status")), forwarded(None, Some("connect")));
        let table = style(Some(Format::Table));
        assert_eq!(shown(style(None), &ok), "2023-11-14T22:13:20Z\tm\t204\t12\t\n");
        assert_eq!(shown(style(None), &none), "2023-11-14T22:13:20Z\tm\t\t12\tconnect\n");
        assert_eq!(shown(table, &ok), "2023-11-14T22:13:20Z  m  204  12 ms\n");
        assert_eq!(shown(table, &refused), "2023-11-14T22:13:20Z  m  500  12 ms\n");
        assert_eq!(shown(table, &none), "2023-11-14T22:13:20Z  m  connect  12 ms\n");
        assert_eq!(shown(style(Some(Format::Id)), &ok), "m\n");
        assert_eq!(
            shown(style(Some(Format::Json)), &refused),
            "{\"at\":\"2023-11-14 22:13:20\",\"id\":\"m\",\"event\":\"e\",\"status\":500,\"error\":\"http_status\",\"durationMillis\":12}\n"
        );
    }
}
