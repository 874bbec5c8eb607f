//! Mail that comes in at all nodes, and is deleted at any of them, while faults happen.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at};
use tokio_util::sync::CancellationToken;

use super::ledger::{Ledger, Mail, Outcome};
use super::nodes::{DOMAIN, Nodes};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

/// Connections to each node. Those with odd numbers send to several recipients.
const SENDERS: usize = 4;
/// The time from one mail of a sender to its next, unless a reply takes longer.
const EVERY: Duration = Duration::from_secs(1);
const DELETED_EVERY: Duration = Duration::from_millis(60);
/// Mails of a sender that go to one mailbox, or to one set of mailboxes. A list shows all of them.
const MAILS_OF_MAILBOX: usize = 20;
const RECIPIENTS: usize = 4;
/// One mail in so many has more octets than one row.
const LARGE: usize = 40;
/// Mails of a burst, each over a connection of its own.
const BURST: usize = 24;
const LINES: usize = 8;
const LARGE_LINES: usize = 9000;

/// Senders and one who deletes. They end with [`Traffic::end`].
pub(super) struct Traffic {
    pub(super) nodes: Arc<Nodes>,
    pub(super) ledger: Arc<Ledger>,
    tasks: JoinSet<()>,
    ended: CancellationToken,
}

impl Traffic {
    /// Begins to send to all nodes, and to delete. The name is in the names of all mailboxes.
    pub(super) fn begin(nodes: Arc<Nodes>, name: &str) -> Self {
        let mut traffic = Self::to(nodes, SENDERS, |node, number| fresh(name, node, number));
        traffic.tasks.spawn(delete(Arc::clone(&traffic.nodes), Arc::clone(&traffic.ledger), traffic.ended.clone()));
        traffic
    }

    /// Begins to send over so many connections to each node. `recipients` has the number of a node and of a connection.
    pub(super) fn to(nodes: Arc<Nodes>, senders: usize, recipients: impl Fn(usize, usize) -> Recipients) -> Self {
        let ledger = Arc::new(Ledger::new(nodes.count()));
        let mut traffic = Self { nodes, ledger, tasks: JoinSet::new(), ended: CancellationToken::new() };
        for node in 0..traffic.nodes.count() {
            for number in 0..senders {
                let sender = traffic.sender(node, recipients(node, number));
                traffic.tasks.spawn(sender.run());
            }
        }
        traffic
    }

    /// Opens connections for a burst of mail. The name is in the names of its mailboxes.
    pub(super) async fn connect(&self, name: &str, node: usize) -> Burst {
        let place = self.nodes.running(node).await;
        let connections = (0..BURST).map(async |number| {
            let mut peer = SmtpPeer::greeted(place.smtp).await;
            peer.command("EHLO c.test", "250").await;
            (self.sender(node, fresh(name, node, number)), peer)
        });
        Burst(join_all(connections).await)
    }

    fn sender(&self, node: usize, recipients: Recipients) -> Sender {
        Sender {
            node,
            recipients,
            sent: 0,
            nodes: Arc::clone(&self.nodes),
            ledger: Arc::clone(&self.ledger),
            ended: self.ended.clone(),
        }
    }

    /// Waits until each node that runs has acknowledged so many further mails.
    pub(super) async fn acknowledged(&self, further: usize) {
        let begun = Instant::now();
        until("further mail is acknowledged at each node that runs", async || {
            let mut living = self.nodes.living().into_iter();
            living.all(|node| self.ledger.acknowledged_since(node, begun) >= further)
        })
        .await;
    }

    /// Waits until so many further Emails are deleted.
    pub(super) async fn deleted(&self, further: usize) {
        let before = self.ledger.deleted();
        until("further mail is deleted", async || self.ledger.deleted() >= before + further).await;
    }

    /// Ends all. Whatever was begun has an outcome.
    pub(super) async fn end(mut self) -> Arc<Ledger> {
        self.ended.cancel();
        while let Some(ended) = self.tasks.join_next().await {
            ended.expect("no panic");
        }
        self.ledger
    }
}

/// Connections to one node, each for one further mail.
pub(super) struct Burst(Vec<(Sender, SmtpPeer)>);

impl Burst {
    /// Sends all at once.
    pub(super) fn send(self) -> JoinSet<()> {
        let send = |(mut sender, mut peer): (Sender, SmtpPeer)| async move {
            sender.send(&mut peer).await;
        };
        self.0.into_iter().map(send).collect()
    }
}

/// The recipients of a mail of a sender, which counts its mails from 0.
pub(super) type Recipients = Box<dyn Fn(usize) -> Vec<String> + Send>;

/// Mailboxes that no other sender has, and others after a while.
fn fresh(name: &str, node: usize, number: usize) -> Recipients {
    let recipients = if number.is_multiple_of(2) { 1 } else { RECIPIENTS };
    let name = format!("{name}-n{node}s{number}");
    Box::new(move |sent| {
        (0..recipients).map(|to| format!("{name}-{}-{to}@{DOMAIN}", sent / MAILS_OF_MAILBOX)).collect()
    })
}

struct Sender {
    node: usize,
    recipients: Recipients,
    sent: usize,
    nodes: Arc<Nodes>,
    ledger: Arc<Ledger>,
    ended: CancellationToken,
}

impl Sender {
    async fn run(mut self) {
        // Not in step with the other senders, so that some mail is always under way.
        let mut turn = interval_at(Instant::now() + EVERY.mul_f32(rand::random()), EVERY);
        turn.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.ended.is_cancelled() {
            let place = tokio::select! {
                place = self.nodes.running(self.node) => place,
                () = self.ended.cancelled() => return,
            };
            turn.tick().await;
            let Some(mut peer) = SmtpPeer::try_connect(place.smtp).await else { continue };
            if !peer.reply().await.starts_with("220") || !peer.try_exchange("EHLO c.test\r\n").await.starts_with("250")
            {
                continue;
            }
            while !self.ended.is_cancelled() && self.send(&mut peer).await {
                turn.tick().await;
            }
        }
    }

    /// Sends a mail and records its outcome. Returns whether the connection may go on.
    async fn send(&mut self, peer: &mut SmtpPeer) -> bool {
        let mail = self.next();
        let mut replies = vec![peer.try_exchange("MAIL FROM:<a@sender.test>\r\n").await];
        for to in &mail.to {
            replies.push(peer.try_exchange(format!("RCPT TO:<{to}>\r\n")).await);
        }
        replies.push(peer.try_exchange("DATA\r\n").await);
        if !replies.pop().is_some_and(|reply| reply.starts_with("354")) {
            self.ledger.refuse();
            let is_open = replies.iter().all(|reply| !reply.is_empty());
            return is_open && peer.try_exchange("RSET\r\n").await.starts_with("250");
        }
        assert!(replies.iter().all(|reply| reply.starts_with("250")), "{replies:?}");
        let reply = peer.try_exchange(format!("{}.\r\n", mail.octets())).await;
        let outcome = match reply.split_at_checked(3) {
            Some(("250", _)) => Outcome::Acknowledged(Instant::now()),
            Some(("451" | "421", _)) | None => Outcome::Unknown,
            _ => panic!("a reply to mail: {reply:?}"),
        };
        self.ledger.add(self.node, mail, outcome);
        !reply.is_empty()
    }

    fn next(&mut self) -> Mail {
        let to = (self.recipients)(self.sent);
        self.sent += 1;
        let lines = if self.sent.is_multiple_of(LARGE) { LARGE_LINES } else { LINES };
        Mail { token: format!("{:032x}", rand::random::<u128>()), to, lines }
    }
}

/// Deletes single Emails of acknowledged mail, each at any node that runs.
async fn delete(nodes: Arc<Nodes>, ledger: Arc<Ledger>, ended: CancellationToken) {
    let mut turn = interval(DELETED_EVERY);
    turn.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !ended.is_cancelled() {
        turn.tick().await;
        let living = nodes.living();
        let any = || living[rand::random_range(0..living.len())];
        if living.is_empty() {
            continue;
        }
        let Some((mail, to)) = ledger.deletable() else { continue };
        ledger.delete_one(&nodes, [any(), any()], mail, to).await;
    }
}
