//! Webhooks and their events by a part of their id.

use super::super::webhook::explained;
use super::{IdOrPart, Search, needs_whole_id};
use crate::client::{Client, WebhookFilter};
use crate::error::Error;
use crate::model::{EventId, WebhookId};

/// The whole id of a webhook. A part is looked for among all webhooks, which only the administrator can list.
pub(in crate::cli) async fn webhook(client: &Client, id: &IdOrPart<WebhookId>) -> Result<WebhookId, Error> {
    let part = match id {
        IdOrPart::Whole(id) => return Ok(*id),
        IdOrPart::Part(part) => part,
    };
    if !client.is_administrator() {
        return Err(needs_whole_id(part, "webhooks").hint("`tempmail webhook list ADDR -o id` prints whole ids"));
    }
    let mut search = Search::of(part);
    for webhook in client.all_webhooks(&WebhookFilter::default()).await.map_err(explained)? {
        search.look_at(&webhook.id, || format!("{}  {}  {}", webhook.id, webhook.recipient, webhook.url));
    }
    search.id("the webhooks")
}

/// The whole ids of several.
pub(in crate::cli) async fn webhooks(client: &Client, ids: &[IdOrPart<WebhookId>]) -> Result<Vec<WebhookId>, Error> {
    let mut whole = Vec::with_capacity(ids.len());
    for id in ids {
        whole.push(webhook(client, id).await?);
    }
    Ok(whole)
}

/// The whole id of an event. A part is looked for in the delivery log of its webhook.
pub(in crate::cli) async fn event(
    client: &Client,
    webhook: WebhookId,
    id: &IdOrPart<EventId>,
) -> Result<EventId, Error> {
    let part = match id {
        IdOrPart::Whole(id) => return Ok(*id),
        IdOrPart::Part(part) => part,
    };
    let mut search = Search::of(part);
    for delivery in client.deliveries(webhook, None).await.map_err(explained)? {
        search.look_at(&delivery.event, || format!("{}  {}  {}", delivery.event, delivery.at, delivery.result));
    }
    search.id("the events of its log")
}
