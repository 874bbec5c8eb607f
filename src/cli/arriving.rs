//! The mail of an address as it arrives, until the process ends: for `inbox --watch` and `webhook listen`.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Context, watch};
use crate::client::{Client, Mail, WaitQuery};
use crate::error::{Error, Exit};
use crate::model::Address;

/// How long is waited for one mail before the wait begins anew.
const WAIT_MAX: Duration = Duration::from_hours(24);

/// The pause before a service is asked again that gave a mail again.
const PAUSE: Duration = Duration::from_millis(200);

/// The mails that arrive, each once.
pub(super) struct Arriving<'a> {
    cx: &'a Context,
    client: &'a Client,
    query: WaitQuery,
    /// Behind a mail that was deleted the service may give those of the same moment again.
    given: HashSet<String>,
}

impl<'a> Arriving<'a> {
    /// Those behind these ids, of which the newest is the first.
    pub(super) fn behind(cx: &'a Context, client: &'a Client, to: Address, ids: Vec<String>) -> Self {
        let query = WaitQuery { to, since: ids.first().cloned(), from: None, subject: None, has: None };
        Self { cx, client, query, given: ids.into_iter().collect() }
    }

    /// The next one. A service that can't answer is asked again, and that is said. When nobody reads the output any more, the
    /// command ends.
    pub(super) async fn next(&mut self) -> Result<Mail, Error> {
        loop {
            let away = |error: &_| self.cx.hint(&format!("{error}; trying again"));
            let found = tokio::select! {
                found = self.client.wait(&self.query, Instant::now() + WAIT_MAX, away) => found?,
                () = watch::reader_gone(self.cx) => return Err(Error::ending(Exit::Ok)),
            };
            let Some(mail) = found else { continue };
            self.query.since = Some(mail.id().to_owned());
            if self.given.insert(mail.id().to_owned()) {
                return Ok(mail);
            }
            sleep(PAUSE).await;
        }
    }
}
