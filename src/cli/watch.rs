//! `tempmail watch`: one line for each event of an address, or of all.

use super::Context;
use super::output::{self, Format, Style, visible};
use crate::client::{Client, Events, MailEvent};
use crate::error::{Error, Exit};
use crate::model::Address;

/// Print what happens to mail, a line of JSON per event
///
/// The events are `email.received`, `email.deleted` and `email.expired`. After an interruption the mail that arrived
/// meanwhile is printed too; `reset` says that events were missed. Without an address the events are those of all, for
/// the administrator. With -o tsv a line has five fields: event, id, recipient, sender, subject. Ctrl-C ends it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail watch hello@example.test
  tempmail watch hello@example.test \\
    | jq -r 'select(.event == \"email.received\") | .subject'
  tempmail watch -o tsv")]
pub(super) struct Watch {
    /// The address; without it all, for the administrator
    #[arg(value_name = "ADDR")]
    address: Option<Address>,
}

impl Watch {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let mut events = follow(cx.client().await?, self.address).await?;
        cx.verbose("following; Ctrl-C ends this");
        loop {
            let event = next(cx, &mut events).await?;
            cx.print(line(cx.style, &event))?;
        }
    }
}

/// Follows the mail of an address, or of all.
pub(super) async fn follow(client: &Client, address: Option<Address>) -> Result<Events<'_>, Error> {
    Ok(client.events(address).await?)
}

/// The next event. An interruption is said once.
pub(super) async fn next(cx: &Context, events: &mut Events<'_>) -> Result<MailEvent, Error> {
    Ok(events.next(|error| cx.hint(&format!("{error}; trying again"))).await?)
}

/// One line, written as soon as it is known.
fn line(style: Style, event: &MailEvent) -> String {
    match style.format {
        Some(Format::Id) => format!("{}\n", visible::field(event.text("id"))),
        Some(Format::Tsv | Format::Table) => {
            let fields = ["id", "recipient", "from", "subject"].map(|name| visible::field(event.text(name)));
            format!("{}\t{}\n", visible::field(&event.event), fields.join("\t"))
        }
        None | Some(Format::Json | Format::Ndjson) => output::json_line(event),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_happened() {
        let event: MailEvent = serde_json::from_str(
            r#"{"event":"email.received","id":"i","recipient":"a@x.test","from":"b@y.test","subject":"s\tt","size":5}"#,
        )
        .expect("an event");
        let style = |format| Style { is_terminal: false, is_colored: false, width: None, format };
        let json = "{\"event\":\"email.received\",\"from\":\"b@y.test\",\"id\":\"i\",\"recipient\":\"a@x.test\",\"size\":5,\"subject\":\"s\\tt\"}\n";
        let shown = line(style(None), &event);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!((value(&shown), shown.lines().count()), (value(json), 1));
        assert_eq!(line(style(Some(Format::Id)), &event), "i\n");
        let fields = line(style(Some(Format::Tsv)), &event);
        assert!(fields.starts_with("email.received\ti\ta@x.test\tb@y.test\ts") && fields.matches('\t').count() == 4);
        let removed: MailEvent = serde_json::from_str(r#"{"event":"reset"}"#).expect("an event");
        assert_eq!(line(style(Some(Format::Tsv)), &removed), "reset\t\t\t\t\n");
    }
}
