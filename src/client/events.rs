//! What happens to mail, as it happens, across restarts of the service.

use serde_json::{Map, Value};
use tokio::time::sleep;

use super::backoff::Backoff;
use super::leases::Followed;
use super::sse::{Block, Decoder};
use super::transport::{ApiResponse, Pieces};
use super::{Client, ClientError, Failure, with_query};
use crate::model::Address;

/// The events of an address, or of all. The member `event` says which it is: `email.received`, `email.deleted`, `email.expired`
/// or `reset`. The others are what the service says about it; `reset` has none. If the caller reads a private inbox at the
/// address, its end is an error.
pub struct Events<'c> {
    client: &'c Client,
    to: Option<Address>,
    followed: Followed,
    /// The id of the last event.
    last_id: Option<String>,
    open: Option<(Pieces<'c>, Decoder)>,
    backoff: Backoff,
}

impl Client {
    /// Follows the mail of an address, or of all. What is there now is no event. The first connection must succeed.
    pub async fn events(&self, to: Option<Address>) -> Result<Events<'_>, ClientError> {
        let followed = Followed::begin(self, to.as_ref()).await?;
        let mut events = Events { client: self, to, followed, last_id: None, open: None, backoff: Backoff::default() };
        events.connect().await?;
        // The service has subscribed when it says where the stream begins.
        while events.last_id.is_none() {
            events.block().await?;
        }
        Ok(events)
    }
}

impl<'c> Events<'c> {
    /// Waits for the next event. After an interruption the stream goes on where it was; `on_away` learns of its cause.
    pub async fn next(&mut self, mut on_away: impl FnMut(&ClientError)) -> Result<Value, ClientError> {
        loop {
            let error = match self.event().await {
                Ok(event) => return Ok(event),
                Err(error) if error.may_pass() => error,
                Err(error) => return Err(error),
            };
            self.open = None;
            // The stream of a private inbox ends with it, which is no interruption.
            if let Err(ended @ ClientError::Ended(_)) = self.followed.check(self.client).await {
                return Err(ended);
            }
            if self.backoff.is_first() {
                on_away(&error);
            }
            sleep(self.backoff.next(&error)).await;
        }
    }

    async fn event(&mut self) -> Result<Value, ClientError> {
        if self.open.is_none() {
            self.connect().await?;
        }
        loop {
            let Block { event, data } = self.block().await?;
            if event.is_empty() {
                continue;
            }
            let data: Map<String, Value> =
                serde_json::from_str(&data).map_err(|error| self.client.unintelligible(error.to_string()))?;
            self.backoff = Backoff::default();
            return Ok([("event".to_owned(), event.into())].into_iter().chain(data).collect());
        }
    }

    /// Waits for the next block, which may be no event.
    async fn block(&mut self) -> Result<Block, ClientError> {
        let broken = |reason: &str| self.client.failure(Failure::BrokenOff(reason.to_owned()));
        let Some((pieces, decoder)) = &mut self.open else { return Err(broken("it is not open")) };
        loop {
            if let Some((block, id)) = decoder.next() {
                self.last_id = id.or(self.last_id.take());
                return Ok(block);
            }
            // A stream without events has comments.
            let piece = pieces.next().await?.ok_or_else(|| broken("the stream ended"))?;
            if !decoder.feed(&piece) {
                return Err(self.client.unintelligible("an event is too long".to_owned()));
            }
        }
    }

    async fn opened(&self, path: &str) -> Result<(ApiResponse, Pieces<'c>), ClientError> {
        let (answer, pieces) = self.client.transport.open(path).await?;
        Ok((self.client.accepted(answer)?, pieces))
    }

    async fn connect(&mut self) -> Result<(), ClientError> {
        let to = self.to.as_ref().map(ToString::to_string);
        let path = with_query("/api/mail/stream", &[("to", to), ("lastEventId", self.last_id.clone())]);
        let sent = self.client.transport.token();
        let (answer, pieces) = match self.opened(&path).await {
            Err(error) if self.client.has_lapsed(sent, &error).await => self.opened(&path).await?,
            opened => opened?,
        };
        if !answer.content_type.starts_with("text/event-stream") {
            return Err(self.client.unintelligible(format!("its stream is '{}'", answer.content_type)));
        }
        self.open = Some((pieces, Decoder::default()));
        self.followed.check(self.client).await
    }
}
