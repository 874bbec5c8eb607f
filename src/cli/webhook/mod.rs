//! `tempmail webhook`: the URLs that events are sent to.

mod add;
mod deliveries;
mod list;
mod listen;
mod remove;
mod replay;
mod secret;
mod test;

use clap::Subcommand;

use super::Context;
use super::output::{Cell, Narrow, Row};
use crate::client::{ClientError, WebhookDelivery};
use crate::error::{Error, Exit};

/// Send mail to a URL as it arrives, by POST and with a signature
///
/// Each delivery carries the header webhook-id, which does not change between attempts; with a secret also X-Webhook-Signature and
/// webhook-signature. Revision 1 of the interface has no webhooks.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail webhook add hello@example.test https://hooks.example/mail \\
    --secret-file secret.txt
  tempmail webhook list hello@example.test
  tempmail webhook deliveries 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b
  tempmail webhook listen hello@example.test \\
    --forward-to http://localhost:3000/mail")]
pub(super) struct Webhook {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Add(add::Add),
    List(list::List),
    Remove(remove::Remove),
    Deliveries(deliveries::Deliveries),
    Replay(replay::Replay),
    Test(test::Test),
    Listen(listen::Listen),
}

impl Webhook {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        match self.verb {
            Verb::Add(add) => add.run(cx).await,
            Verb::List(list) => list.run(cx).await,
            Verb::Remove(remove) => remove.run(cx).await,
            Verb::Deliveries(deliveries) => deliveries.run(cx).await,
            Verb::Replay(replay) => replay.run(cx).await,
            Verb::Test(test) => test.run(cx).await,
            Verb::Listen(listen) => listen.run(cx).await,
        }
    }
}

/// The error of an operation on webhooks: a service without them says so.
pub(super) fn explained(error: ClientError) -> Error {
    if error.is("unknown_path") {
        return Error::new(Exit::NotFound, "this service has no webhooks: it runs revision 1 of the interface")
            .hint("the administrator can start it with --revision 2; `tempmail webhook listen` works without");
    }
    error.or_find_by("`tempmail webhook list ADDR` lists those of an address")
}

impl Row for WebhookDelivery {
    const HEADINGS: &'static [&'static str] =
        &["TIME", "EVENT", "ATTEMPT", "RESULT", "STATUS", "MS", "ERROR", "NEXT", "RESPONSE"];
    const NARROW: &'static [Narrow] = &[
        Narrow::Cut(8, 20),
        Narrow::Cut(6, 14),
        Narrow::Omit(5),
        Narrow::Omit(8),
        Narrow::Omit(2),
        Narrow::Omit(7),
        Narrow::Omit(4),
    ];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Time(Some(self.at.clone())),
            Cell::Id(self.event.clone()),
            Cell::Number(self.attempt),
            Cell::State(self.result.clone(), self.is_delivered()),
            Cell::Text(self.status.map(|status| status.to_string()).unwrap_or_default()),
            Cell::Number(self.duration_millis),
            Cell::Text(self.error.clone().unwrap_or_default()),
            Cell::Time(self.next_attempt_at.clone()),
            Cell::Text(self.response.clone()),
        ]
    }

    fn id(&self) -> String {
        self.event.clone()
    }
}
