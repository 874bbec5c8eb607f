//! Waiting for mail, across restarts of the service.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::backoff::Backoff;
use super::leases::Followed;
use super::{Client, ClientError, Mail};
use crate::model::Address;

/// The longest that one request waits. Proxies often cut off a request that has no answer after a minute.
const REQUEST_MAX: Duration = Duration::from_secs(50);

/// The pause before a service is asked again that waits for much less time than it was asked to.
const PAUSE: Duration = Duration::from_secs(1);

/// The pause before a service is asked again that gave a mail again.
const PAUSE_AGAIN: Duration = Duration::from_millis(200);

/// What mail to wait for. The service reads the values.
#[derive(Clone, Debug)]
pub struct WaitQuery {
    /// The address.
    pub to: Address,
    /// The first moment of receipt, or the id of the Email before.
    pub since: Option<String>,
    /// A part of the sender.
    pub from: Option<String>,
    /// A part of the subject.
    pub subject: Option<String>,
    /// What it has: `attachment`, `code` or `link`.
    pub has: Option<String>,
}

impl WaitQuery {
    /// All mail of an address behind a mark.
    pub fn all(to: Address, since: Option<String>) -> Self {
        Self { to, since, from: None, subject: None, has: None }
    }
}

/// The mails that pass, from the oldest on, each once. If the caller reads a private inbox at the address, its end is an error.
#[derive(Debug)]
pub struct Arrivals<'c> {
    client: &'c Client,
    query: WaitQuery,
    followed: Followed,
    /// Behind a mail that was deleted the service may give those of the same moment again.
    given: HashSet<String>,
}

impl Arrivals<'_> {
    /// The next one that is there now.
    pub async fn at_once(&mut self) -> Result<Option<Mail>, ClientError> {
        for _ in 0..=self.given.len() {
            let Some(mail) = self.asked(Duration::ZERO).await? else { break };
            if self.is_new(&mail).await {
                return Ok(Some(mail));
            }
        }
        Ok(None)
    }

    /// Waits for the next one. `None` if there is none by `deadline`.
    ///
    /// While the service cannot answer it is asked again, more and more seldom; `on_away` learns of the first failure.
    pub async fn next(
        &mut self,
        deadline: Instant,
        mut on_away: impl FnMut(&ClientError),
    ) -> Result<Option<Mail>, ClientError> {
        while let Some(mail) = self.any(deadline, &mut on_away).await? {
            if self.is_new(&mail).await {
                return Ok(Some(mail));
            }
        }
        Ok(None)
    }

    /// Waits for a mail, as [`Arrivals::next`] does. It may have been given before.
    async fn any(
        &mut self,
        deadline: Instant,
        on_away: &mut impl FnMut(&ClientError),
    ) -> Result<Option<Mail>, ClientError> {
        let mut backoff = Backoff::default();
        while Instant::now() < deadline {
            let asked_at = Instant::now();
            let asked = deadline.saturating_duration_since(asked_at).min(REQUEST_MAX);
            match timeout_at(deadline, self.asked(asked)).await {
                Err(_elapsed) => break,
                Ok(Ok(Some(email))) => return Ok(Some(email)),
                Ok(Ok(None)) => {
                    backoff = Backoff::default();
                    if asked_at.elapsed() < asked / 2 {
                        sleep(PAUSE.min(deadline.saturating_duration_since(Instant::now()))).await;
                    }
                }
                Ok(Err(error)) if error.may_pass() => {
                    if backoff.is_first() {
                        on_away(&error);
                    }
                    sleep(backoff.next(&error).min(deadline.saturating_duration_since(Instant::now()))).await;
                }
                Ok(Err(error)) => return Err(error),
            }
        }
        Ok(None)
    }

    async fn asked(&mut self, timeout: Duration) -> Result<Option<Mail>, ClientError> {
        let answer = self.client.wait_once(&self.query, timeout).await;
        if !matches!(answer, Ok(Some(_))) {
            self.followed.check(self.client).await?;
        }
        answer
    }

    /// Whether a mail was not given before. If it was, there is a pause. The one behind it is next.
    async fn is_new(&mut self, mail: &Mail) -> bool {
        self.query.since = Some(mail.id().to_owned());
        let is_new = self.given.insert(mail.id().to_owned());
        if !is_new {
            sleep(PAUSE_AGAIN).await;
        }
        is_new
    }
}

impl Client {
    /// The mails that pass, but for those with these ids.
    pub async fn arrivals(
        &self,
        query: WaitQuery,
        given: impl IntoIterator<Item = String>,
    ) -> Result<Arrivals<'_>, ClientError> {
        let followed = Followed::begin(self, Some(&query.to)).await?;
        Ok(Arrivals { client: self, query, followed, given: given.into_iter().collect() })
    }

    /// The oldest Email that passes, if there is one now.
    pub async fn waited(&self, wanted: &WaitQuery) -> Result<Option<Mail>, ClientError> {
        self.wait_once(wanted, Duration::ZERO).await
    }

    async fn wait_once(&self, wanted: &WaitQuery, timeout: Duration) -> Result<Option<Mail>, ClientError> {
        let WaitQuery { to, since, from, subject, has } = wanted.clone();
        // The service knows whole seconds. The deadline of the caller is exact.
        let seconds = timeout.as_millis().div_ceil(1000);
        let query = [
            ("to", Some(to.to_string())),
            ("timeout", Some(seconds.to_string())),
            ("since", since.clone()),
            ("from", from),
            ("subject", subject),
            ("has", has),
        ];
        let mail = self.mail("/api/mail/wait", &query).await?;
        if mail.as_ref().is_some_and(|mail| since.as_deref() == Some(mail.id())) {
            return Err(self.unintelligible("it gives a mail again that it gave before".to_owned()));
        }
        Ok(mail)
    }
}
