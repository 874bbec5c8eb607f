//! The mail of an address, one by one, as it arrives.

use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::Context;
use super::domain_hint::hint_unless_served;
use super::output::Spinner;
use crate::client::{Backoff, Client, EmailDetail, WaitQuery};
use crate::error::Error;

/// How long it may take to learn whether the service receives mail for the address.
const HINT_WITHIN: Duration = Duration::from_secs(2);
/// How long a service may be away that is to say what is there at the end.
const AWAY_MAX: Duration = Duration::from_secs(10);

/// The Emails that pass, from the oldest to those that arrive before the deadline.
pub(super) struct Arrivals<'a> {
    cx: &'a Context,
    client: &'a Client,
    wanted: WaitQuery,
    deadline: Instant,
    /// Whether the service has answered, and the user was told if no mail can arrive.
    has_begun: bool,
    is_hinted: bool,
}

impl<'a> Arrivals<'a> {
    pub(super) fn new(cx: &'a Context, client: &'a Client, wanted: WaitQuery, deadline: Instant) -> Self {
        Self { cx, client, wanted, deadline, has_begun: false, is_hinted: false }
    }

    /// The next one; `None` if there is none by the deadline. A service that can't be reached at first is an error.
    pub(super) async fn next(&mut self) -> Result<Option<EmailDetail>, Error> {
        // Later the service may be away for a while.
        let is_over = Instant::now() >= self.deadline;
        if !self.has_begun || is_over {
            let found = self.at_once().await?;
            if found.is_some() || is_over {
                return Ok(found);
            }
        }
        self.later().await
    }

    /// The next one that is there now. The service must answer.
    pub(super) async fn at_once(&mut self) -> Result<Option<EmailDetail>, Error> {
        let found = self.client.waited(&self.wanted).await?;
        self.has_begun = true;
        Ok(self.passed(found))
    }

    /// The next one that is there now. A service that is away has some time to come back.
    pub(super) async fn rest(&mut self) -> Result<Option<EmailDetail>, Error> {
        let until = self.deadline.max(Instant::now() + AWAY_MAX);
        let mut backoff = Backoff::default();
        loop {
            match self.client.waited(&self.wanted).await {
                Err(error) if error.may_pass() && Instant::now() < until => {
                    if backoff.is_first() {
                        self.cx.hint(&format!("{error}; trying again"));
                    }
                    sleep(backoff.next(&error)).await;
                }
                found => return Ok(self.passed(found?)),
            }
        }
    }

    async fn later(&mut self) -> Result<Option<EmailDetail>, Error> {
        let is_hinted = std::mem::replace(&mut self.is_hinted, true);
        let found = self.awaited(is_hinted).await?;
        Ok(self.passed(found))
    }

    async fn awaited(&self, is_hinted: bool) -> Result<Option<EmailDetail>, Error> {
        let Self { cx, client, wanted, deadline, .. } = self;
        let _spinner = Spinner::new(format!("waiting for mail to {}", wanted.to), cx.shows_progress());
        let mut mail = pin!(client.wait(wanted, *deadline, |error| cx.hint(&format!("{error}; trying again"))));
        if !is_hinted {
            // No more than a hint, for which mail is not to wait.
            let hint = timeout(HINT_WITHIN, hint_unless_served(cx, client, &wanted.to));
            tokio::select! {
                biased;
                found = &mut mail => return Ok(found?),
                _ = hint => {}
            }
        }
        Ok(mail.await?)
    }

    /// The one after `found` is next.
    fn passed(&mut self, found: Option<EmailDetail>) -> Option<EmailDetail> {
        if let Some(detail) = &found {
            self.wanted.since = Some(detail.email.id.clone());
        }
        found
    }
}
