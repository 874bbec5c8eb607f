//! What happens to mail, as it happens, across restarts of the service.

use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::{sleep, timeout};

use super::backoff::Backoff;
use super::sse::{Block, Decoder};
use super::transport::{OCTETS_WITHIN, Pieces};
use super::{Client, ClientError, with_query};
use crate::model::Address;

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MailEvent {
    /// `email.received`, `email.deleted`, `email.expired` or `reset`.
    pub event: String,
    /// What the service says about it. Empty for `reset`.
    #[serde(flatten)]
    pub data: Map<String, Value>,
}

impl MailEvent {
    /// A text in the data.
    pub fn text(&self, name: &str) -> &str {
        self.data.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// The events of an address, or of all.
pub struct Events<'c> {
    client: &'c Client,
    to: Option<Address>,
    /// The id of the last event.
    last_id: Option<String>,
    open: Option<(Pieces, Decoder)>,
    backoff: Backoff,
}

impl Client {
    /// Follows the mail of an address, or of all. What is there now is no event. The first connection must succeed.
    pub async fn events(&self, to: Option<Address>) -> Result<Events<'_>, ClientError> {
        let mut events = Events { client: self, to, last_id: None, open: None, backoff: Backoff::default() };
        events.connect().await?;
        // The service has subscribed when it says where the stream begins.
        while events.last_id.is_none() {
            events.block().await?;
        }
        Ok(events)
    }
}

impl Events<'_> {
    /// Waits for the next event. After an interruption the stream goes on where it was; `on_away` learns of its cause.
    pub async fn next(&mut self, mut on_away: impl FnMut(&ClientError)) -> Result<MailEvent, ClientError> {
        loop {
            let error = match self.event().await {
                Ok(event) => return Ok(event),
                Err(error) if error.may_pass() => error,
                Err(error) => return Err(error),
            };
            self.open = None;
            if self.backoff.is_first() {
                on_away(&error);
            }
            sleep(self.backoff.next(&error)).await;
        }
    }

    async fn event(&mut self) -> Result<MailEvent, ClientError> {
        if self.open.is_none() {
            self.connect().await?;
        }
        loop {
            let Block { event, data } = self.block().await?;
            if event.is_empty() {
                continue;
            }
            let data = serde_json::from_str(&data).map_err(|error| self.client.unintelligible(error.to_string()))?;
            self.backoff = Backoff::default();
            return Ok(MailEvent { event, data });
        }
    }

    /// Waits for the next block, which may be no event.
    async fn block(&mut self) -> Result<Block, ClientError> {
        let broken = |reason: &str| ClientError::BrokenOff {
            server: self.client.transport().shown().to_owned(),
            reason: reason.to_owned(),
        };
        let Some((pieces, decoder)) = &mut self.open else { return Err(broken("it is not open")) };
        loop {
            if let Some((block, id)) = decoder.next() {
                self.last_id = id.or(self.last_id.take());
                return Ok(block);
            }
            // A stream without events has comments.
            let piece =
                timeout(OCTETS_WITHIN, pieces.next()).await.map_err(|_| broken("it said nothing for too long"))?;
            let piece = piece.ok_or_else(|| broken("the stream ended"))?.map_err(|reason| broken(&reason))?;
            decoder.feed(&piece).map_err(|_| self.client.unintelligible("an event is too long".to_owned()))?;
        }
    }

    async fn connect(&mut self) -> Result<(), ClientError> {
        let to = self.to.as_ref().map(ToString::to_string);
        let path = with_query("/api/mail/stream", &[("to", to), ("lastEventId", self.last_id.clone())]);
        let (answer, pieces) = self.client.transport.open(&path).await?;
        let answer = self.client.accepted(answer)?;
        if !answer.content_type.starts_with("text/event-stream") {
            return Err(self.client.unintelligible(format!("its stream is '{}'", answer.content_type)));
        }
        self.open = Some((pieces, Decoder::default()));
        Ok(())
    }
}
