//! `tempmail watch`: one line for each event of an address, or of all. `inbox --watch` and `webhook listen` follow mail so too.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::Context;
use super::output::{self, Column, Format, Kind, Style, visible};
use crate::client::{Arrivals, ClientError, Mail, text};
use crate::error::{Error, Exit};
use crate::model::Address;

/// How long is waited for one mail before the wait begins anew.
const WAIT_MAX: Duration = Duration::from_hours(24);
/// How often is looked whether somebody still reads the output.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The fields of a line.
const COLUMNS: [Column; 5] = [
    Kind::Text.column("EVENT", "event"),
    Kind::Id.column("ID", "id"),
    Kind::Text.column("TO", "recipient"),
    Kind::Text.column("FROM", "from"),
    Kind::Text.column("SUBJECT", "subject"),
];

/// Print what happens to mail, a line for each event
///
/// The events are `email.received`, `email.deleted` and `email.expired`. After an interruption the mail that arrived
/// meanwhile is printed too; `reset` says that events were missed. Without an address the events are those of all, for
/// the administrator. In a pipe a line is JSON; with -o tsv it has five fields: event, id, recipient, sender, subject.
/// Ctrl-C ends it, and so does a reader that has seen enough.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail watch hello@example.test
  tempmail watch hello@example.test \\
    | jq -r 'select(.event == \"email.received\") | .subject'
  tempmail watch -o tsv
`wait` prints one mail and ends, `expect` checks mail and ends.")]
pub(super) struct Watch {
    /// The address; without it all, for the administrator
    #[arg(value_name = "ADDR")]
    address: Option<Address>,
}

impl Watch {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let mut events = cx.client().await?.events(self.address).await?;
        cx.verbose("following; Ctrl-C ends this");
        loop {
            let event = while_read(cx, events.next(|error| cx.hint(&format!("{error}; trying again")))).await?;
            cx.print(line(cx.style, &event))?;
        }
    }
}

/// The next mail that arrives. A service that can't answer is asked again, and that is said.
pub(super) async fn next_mail(cx: &Context, arrivals: &mut Arrivals<'_>) -> Result<Mail, Error> {
    loop {
        let away = |error: &_| cx.hint(&format!("{error}; trying again"));
        if let Some(mail) = while_read(cx, arrivals.next(Instant::now() + WAIT_MAX, away)).await? {
            return Ok(mail);
        }
    }
}

/// What a service says in time. When nobody reads the output any more, the command ends.
async fn while_read<T>(cx: &Context, said: impl Future<Output = Result<T, ClientError>>) -> Result<T, Error> {
    tokio::select! {
        said = said => Ok(said?),
        () = reader_gone(cx) => Err(Error::ending(Exit::Ok)),
    }
}

/// Waits until the other end of the pipe at standard output is closed. A file has no other end.
async fn reader_gone(cx: &Context) {
    if !cx.streams.is_of_process {
        return std::future::pending().await;
    }
    loop {
        sleep(LOOK_EVERY).await;
        let stdout = std::io::stdout();
        let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
        let is_known = poll(&mut polled, Some(&Timespec::default())).is_ok();
        if is_known && polled[0].revents().contains(PollFlags::ERR) {
            return;
        }
    }
}

/// One line, written as soon as it is known: JSON in a pipe, unless another form is asked for.
fn line(style: Style, event: &Value) -> String {
    if style.format.is_none() && !style.is_terminal {
        return output::json(event);
    }
    if style.of_list() != Format::Table {
        return output::lines(style, &COLUMNS, std::slice::from_ref(event));
    }
    let [what, id, recipient, from, subject] =
        ["event", "id", "recipient", "from", "subject"].map(|member| text(event, member));
    let fields = [what.trim_start_matches("email."), &output::short_id(id), recipient, from, subject];
    let shown: Vec<_> = fields.iter().filter(|it| !it.is_empty()).map(|it| visible::line(it)).collect();
    output::cut(&shown.join("  "), style.width).into_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_happened() {
        let event: Value = serde_json::from_str(
            r#"{"event":"email.received","id":"i","recipient":"a@x.test","from":"b@y.test","subject":"s\tt","size":5}"#,
        )
        .expect("an event");
        let style = |format| Style { is_terminal: false, is_colored: false, width: None, format };
        let json = "{\"event\":\"email.received\",\"from\":\"b@y.test\",\"id\":\"i\",\"recipient\":\"a@x.test\",\"size\":5,\"subject\":\"s\\tt\"}\n";
        let shown = line(style(None), &event);
        let value = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!((value(&shown), shown.lines().count()), (value(json), 1));
        assert_eq!(line(style(Some(Format::Id)), &event), "i\n");
        let fields = line(style(Some(Format::Tsv)), &event);
        assert!(fields.starts_with("email.received\ti\ta@x.test\tb@y.test\ts") && fields.matches('\t').count() == 4);
        let received = r#"{"event":"email.received","id":"0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b","recipient":"a@x.test","from":"","subject":"s\u001b"}"#;
        let received: Value = serde_json::from_str(received).expect("an event");
        let people = Style { is_terminal: true, ..style(None) };
        assert_eq!(line(people, &received), "received  9e0f2a3b  a@x.test  s␛\n");
        assert_eq!(line(Style { width: Some(20), ..people }, &received), "received  9e0f2a3b…\n");
        let removed: Value = serde_json::from_str(r#"{"event":"reset"}"#).expect("an event");
        assert_eq!(line(style(Some(Format::Tsv)), &removed), "reset\t\t\t\t\n");
        assert_eq!(line(people, &removed), "reset\n");
    }
}
