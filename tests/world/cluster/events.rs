//! Webhooks get an event for each acknowledged mail, while nodes fail.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Value, json};

use super::ledger::Ledger;
use super::nodes::{DOMAIN, Nodes};
use super::traffic::Traffic;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

/// Webhooks, each of a mailbox of its own. The shards of dispatch have about two each.
const WEBHOOKS: usize = 16;
/// Connections to each node.
const SENDERS: usize = 1;
/// The end is waited for in steps of so many deliveries.
const FURTHER: usize = 100;
const PATH: &str = "/events";
/// One event in so many may be delivered twice, beside those that a node has in flight when it is killed.
const TWICE: usize = 100;

/// Webhooks whose mailboxes get mail at all nodes.
pub(super) struct Events {
    sink: WebhookSink,
    pub(super) traffic: Traffic,
    recipients: usize,
}

impl Events {
    /// Registers the webhooks and begins to send. Each mail has so many recipients.
    pub(super) async fn begin(nodes: &Arc<Nodes>, recipients: usize) -> Self {
        let sink = WebhookSink::start().await;
        sink.script(PATH, Behaviour::status(200));
        for webhook in 0..WEBHOOKS {
            let body = json!({ "recipient": mailbox(webhook), "url": sink.url(PATH) });
            let answer = nodes.post(webhook % nodes.count(), "/api/webhooks", &body).await.expect("an answer");
            assert_eq!(answer.0, 201, "{}", String::from_utf8_lossy(&answer.1));
        }
        prove(nodes).await;
        let traffic = Traffic::to(Arc::clone(nodes), SENDERS, |_, _| {
            Box::new(move |sent| (0..recipients).map(|to| mailbox((sent * recipients + to) % WEBHOOKS)).collect())
        });
        Self { sink, traffic, recipients }
    }

    /// The token and the recipient of each acknowledged Email that has an event.
    pub(super) fn acknowledged(ledger: &Ledger) -> Vec<(String, String)> {
        let mailboxes: BTreeSet<String> = (0..WEBHOOKS).map(mailbox).collect();
        let mut acknowledged = ledger.acknowledged();
        acknowledged.retain(|(_, to)| mailboxes.contains(to));
        acknowledged
    }

    /// Ends the mail, and waits until each acknowledged mail has its events. So many nodes were killed meanwhile.
    pub(super) async fn end(self, kills: usize) {
        let acknowledged = Self::acknowledged(&*self.traffic.end().await);
        let deliveries = loop {
            let requests = self.sink.requests();
            let mut deliveries: HashMap<(String, String), usize> = HashMap::new();
            for request in &requests {
                *deliveries.entry(event(&request.body)).or_default() += 1;
            }
            let missing = acknowledged.iter().filter(|email| !deliveries.contains_key(email)).count();
            if missing == 0 {
                break deliveries;
            }
            self.sink.wait_for(requests.len() + missing.min(FURTHER)).await;
        };
        let twice = acknowledged.iter().filter(|email| deliveries[email] > 1).count();
        let all = acknowledged.len();
        println!("events: {all} of acknowledged mail, all delivered, {twice} more than once, with {kills} kills");
        assert!(twice <= all / TWICE + kills * self.recipients, "{twice} of {all} events came twice");
    }
}

/// Has each webhook deliver an event, because an unproven webhook has few pending events.
async fn prove(nodes: &Nodes) {
    let mut peer = SmtpPeer::greeted(nodes.running(0).await.smtp).await;
    for webhook in 0..WEBHOOKS {
        peer.deliver(&mailbox(webhook), "Subject: first\r\n\r\ntext").await;
    }
    for webhook in 0..WEBHOOKS {
        let path = format!("/api/webhooks?recipient={}", mailbox(webhook));
        until("the webhook is proven", async || {
            let (_, body) = nodes.get(0, &path).await.expect("an answer");
            serde_json::from_slice::<Value>(&body).is_ok_and(|webhooks| !webhooks[0]["lastDeliveryAt"].is_null())
        })
        .await;
    }
}

fn mailbox(webhook: usize) -> String {
    format!("webhook{webhook}@{DOMAIN}")
}

/// The token and the recipient of the mail that an event is about.
fn event(body: &[u8]) -> (String, String) {
    let body: Value = serde_json::from_slice(body).expect("JSON");
    let text = |name: &str| body["email"][name].as_str().expect(name).to_owned();
    (text("subject"), text("recipient"))
}
