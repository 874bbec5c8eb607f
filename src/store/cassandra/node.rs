//! What a node does all the time: it says that it lives, takes or keeps the lead, and follows the logs of the others.
//!
//! One node leads: it checks the MX of domains, sweeps webhooks and sends events. The lead is a row that lives for 8 s, which
//! one node wins by a conditional write and renews each second. It relies on that for 4 s from the moment before the write,
//! by a clock that neither jumps nor stops. So a node that was suspended knows that it leads no longer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{join, join5};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Shared;
use super::receive::NODE_BITS;
use super::session::Session;
use super::statements::Statements;
use crate::store::{ClusterStatus, OpenError, StoreError};

const BEAT_EVERY: Duration = Duration::from_secs(1);
/// How long the row of a node lasts after its last sign of life, in seconds.
const ALIVE_SECONDS: i32 = 5;
/// The life of the lead without renewal, in seconds, and how long its holder relies on one.
const LEAD_SECONDS: i32 = 8;
const RELIED_ON: Duration = Duration::from_secs(4);
/// A node that stops takes mail until its last sessions have ended. So long the others follow its log.
const STOPS_WITHIN: Duration = Duration::from_mins(2);
/// A node that the last looks did not find alive has gone.
const LOOKED_WITHIN: Duration = Duration::from_secs(3);
/// How often the logs of other nodes are read.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);
/// After so long without a read of the logs, this node may have missed rows.
const MISSED_AFTER: Duration = Duration::from_secs(30);
/// A node that cannot say that it lives for so long takes no mail.
const ANSWERS_WITHIN: Duration = Duration::from_secs(4);
/// How long a node that stops tries to give back what would end by itself.
const LEAVES_WITHIN: Duration = Duration::from_secs(3);

/// This node, and what it knows of the others.
#[derive(Debug)]
pub(super) struct Node {
    id: Uuid,
    bits: AtomicU16,
    /// The other nodes, each with the time when it was last alive.
    others: Mutex<HashMap<Vec<u8>, Instant>>,
    /// Until when this node leads, on the boot clock.
    leads_until: Mutex<Option<Duration>>,
    /// How long the cluster took for the last sign of life, in microseconds.
    answer_micros: AtomicU64,
    /// When the cluster last answered; `None` before a daemon runs the store.
    answered_at: Mutex<Option<Instant>>,
}

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bits that none of these nodes has.
fn free_bits(nodes: &[(Vec<u8>, i16)]) -> u16 {
    let is_free = |bits: &u16| nodes.iter().all(|(_, taken)| taken.cast_unsigned() != *bits);
    let drawn = std::iter::repeat_with(|| rand::random::<u16>() >> (16 - NODE_BITS)).take(1000).find(is_free);
    drawn.unwrap_or(0)
}

impl Node {
    /// A new node, with bits that no other living one has.
    pub(super) async fn draw(session: &Session, statements: &Statements) -> Result<Self, OpenError> {
        let nodes = session.all::<(Vec<u8>, i16)>(&statements.node_select, ()).await;
        let nodes = nodes.map_err(|error| OpenError::Cluster { reason: error.to_string() })?;
        Ok(Self {
            id: Uuid::now_v7(),
            bits: AtomicU16::new(free_bits(&nodes)),
            others: Mutex::default(),
            leads_until: Mutex::default(),
            answer_micros: AtomicU64::new(0),
            answered_at: Mutex::default(),
        })
    }

    /// The octets that name it.
    pub(super) fn id(&self) -> &[u8; 16] {
        self.id.as_bytes()
    }

    /// Its bits in a sequence.
    pub(super) fn bits(&self) -> u16 {
        self.bits.load(Ordering::Relaxed)
    }

    /// The other nodes that live, or lived lately.
    pub(super) fn others(&self) -> Vec<Vec<u8>> {
        locked(&self.others).keys().cloned().collect()
    }

    /// How many nodes live, this one included.
    fn living(&self) -> usize {
        let lives = |at: &&Instant| at.elapsed() < LOOKED_WITHIN;
        locked(&self.others).values().filter(lives).count() + 1
    }
}

impl Shared {
    /// Runs until `shutdown`. Then it gives the lead back.
    pub(super) async fn run(&self, shutdown: &CancellationToken) {
        let all =
            Box::pin(join5(self.keep_alive(), self.keep_lead(), self.follow(), self.look_again(), self.run_outbox()));
        tokio::select! {
            _ = all => {}
            () = shutdown.cancelled() => {}
        }
        if !matches!(timeout(LEAVES_WITHIN, self.leave()).await, Ok(Ok(()))) {
            tracing::info!("the cluster does not answer; what this node holds ends by itself");
        }
    }

    /// Whether this node does the work that one node does for all.
    pub(super) fn leads(&self) -> bool {
        let boot = self.boot();
        locked(&self.node.leads_until).is_some_and(|until| boot < until)
    }

    /// Whether nobody else does that work now: this node leads, or a command asks that runs no daemon.
    pub(super) fn may_lead(&self) -> bool {
        !self.is_running() || self.leads()
    }

    async fn keep_alive(&self) {
        let mut beat = ticks(BEAT_EVERY);
        loop {
            beat.tick().await;
            let asked_at = Instant::now();
            match self.beat().await {
                Ok(()) => {
                    let micros = u64::try_from(asked_at.elapsed().as_micros()).unwrap_or(u64::MAX);
                    self.node.answer_micros.store(micros, Ordering::Relaxed);
                    *locked(&self.node.answered_at) = Some(Instant::now());
                }
                Err(error) => tracing::warn!(%error, "the cluster does not answer"),
            }
        }
    }

    /// Says that this node lives, and learns which others do.
    async fn beat(&self) -> Result<(), StoreError> {
        let id = &self.node.id()[..];
        let bits = self.node.bits().cast_signed();
        let values = (id, bits, ALIVE_SECONDS);
        self.vital.run(&self.statements.node_insert, values).await?;
        let nodes = self.vital.all::<(Vec<u8>, i16)>(&self.statements.node_select, ()).await?;
        if nodes.iter().any(|(node, taken)| node != id && *taken == bits) {
            // They were drawn at one moment, or while this node was suspended.
            self.node.bits.store(free_bits(&nodes), Ordering::Relaxed);
        }
        let mut others = locked(&self.node.others);
        others.extend(nodes.into_iter().filter(|(node, _)| node != id).map(|(node, _)| (node, Instant::now())));
        others.retain(|_, at| at.elapsed() < STOPS_WITHIN);
        Ok(())
    }

    /// How many nodes live, as the cluster says.
    pub(super) async fn living_nodes(&self) -> Result<usize, StoreError> {
        Ok(self.session.all::<(Vec<u8>, i16)>(&self.statements.node_select, ()).await?.len())
    }

    async fn keep_lead(&self) {
        let mut turn = ticks(BEAT_EVERY);
        let mut held = false;
        loop {
            turn.tick().await;
            let asked_at = self.boot();
            let id = &self.node.id()[..];
            let asked = if held {
                self.vital.run_if(&self.statements.lead_renew, (LEAD_SECONDS, id, id)).await
            } else {
                self.vital.run_if(&self.statements.lead_take, (LEAD_SECONDS, id)).await
            };
            match asked {
                Ok(leads) => {
                    // Another node may have led since this one relied on its lead.
                    if leads && !self.leads() {
                        self.outbox.take_over();
                    }
                    *locked(&self.node.leads_until) = leads.then_some(asked_at + RELIED_ON);
                    if std::mem::replace(&mut held, leads) != leads {
                        tracing::info!("this node {}", if leads { "leads" } else { "leads no longer" });
                    }
                }
                // What was relied on stays until its end. A lead that was taken without an answer is renewed.
                Err(error) => {
                    tracing::debug!(%error, "the lead was neither taken nor renewed");
                    held = true;
                }
            }
        }
    }

    /// Gives back what this node holds.
    async fn leave(&self) -> Result<(), StoreError> {
        let id = &self.node.id()[..];
        let led = locked(&self.node.leads_until).take().is_some();
        let gone = self.vital.run(&self.statements.node_delete, (id,));
        let given_back =
            async { if led { self.vital.run_if(&self.statements.lead_give_back, (id,)).await } else { Ok(true) } };
        let (gone, given_back) = join(gone, given_back).await;
        gone.and(given_back.map(drop))
    }

    async fn follow(&self) {
        let mut turn = ticks(FOLLOW_EVERY);
        let mut read_at = self.boot();
        loop {
            turn.tick().await;
            let now = self.boot();
            let read = async {
                self.catch_up().await?;
                self.follow_logs(now.saturating_sub(read_at) > MISSED_AFTER).await
            };
            match read.await {
                Ok(()) => read_at = now,
                Err(error) => tracing::debug!(%error, "the logs of other nodes could not be read"),
            }
        }
    }

    /// Whether the cluster has answered lately. A store that no daemon runs is not asked.
    pub(super) fn check_answers(&self) -> Result<(), StoreError> {
        match *locked(&self.node.answered_at) {
            Some(at) if at.elapsed() > ANSWERS_WITHIN => Err(StoreError::Failed("the cluster does not answer".into())),
            _ => Ok(()),
        }
    }

    /// What this node knows of the cluster.
    pub(super) fn status(&self) -> ClusterStatus {
        ClusterStatus {
            keyspace: self.keyspace.clone(),
            node: self.node.id.to_string(),
            living_nodes: u32::try_from(self.node.living()).unwrap_or(u32::MAX),
            leads: self.leads(),
            answer_micros: self.node.answer_micros.load(Ordering::Relaxed),
        }
    }
}

fn ticks(every: Duration) -> tokio::time::Interval {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
