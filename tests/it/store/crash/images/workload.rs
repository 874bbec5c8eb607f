//! A workload with everything that changes a store, and what was there after each of its steps.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use rand::RngExt;
use rand::rngs::SmallRng;
use tempmail::model::{
    AttemptRecord, Client, Delivery, DomainRecord, EmailId, Secret, Timestamp, Verdict, WebhookId, WebhookRecord,
    WebhookStatus,
};
use tempmail::random;
use tempmail::store::{EmbeddedStore, OpenError, Outbox, Registry, Replay, Store, WebhookLimits, WebhookSweep};

use super::options;
use super::recording::{Recording, Sent, Step};
use super::state::{MAILBOXES, NOW, QUIET, State, address, mail_key, name};
use crate::support::mail::delivery;
use crate::support::outbox::pending_events;
use crate::support::test_disk::{Kind, TestDisk, rng};
use crate::support::until::blocking;

/// How often the store is opened, and how many steps each process lives.
const LIVES: usize = 5;
const STEPS: usize = 30;
const LIMITS: WebhookLimits = WebhookLimits { per_recipient: 3, total: 100, ..WebhookLimits::UNBOUNDED };
const DOMAINS: [&str; 3] = ["example.test", "other.test", "third.test"];

impl Recording {
    /// Runs the workload of a seed.
    pub async fn make(seed: u64, disk: TestDisk) -> Self {
        let random = rng(seed);
        let store = open(&disk);
        let mut workload = Workload { disk, store, random, now: NOW, steps: Vec::new() };
        workload.note("open", 0, false, Vec::new()).await;
        for life in 0..LIVES {
            for _ in 0..STEPS {
                workload.step().await;
            }
            if life % 2 == 0 { workload.stop().await } else { workload.kill().await }
        }
        workload.store.close().await.expect("close");
        Self { disk: workload.disk, steps: workload.steps }
    }
}

fn open(disk: &TestDisk) -> Arc<EmbeddedStore> {
    Arc::new(try_open(disk).expect("open"))
}

fn try_open(disk: &TestDisk) -> Result<EmbeddedStore, OpenError> {
    EmbeddedStore::open_on(Arc::new(disk.clone()), &options())
}

struct Workload {
    disk: TestDisk,
    store: Arc<EmbeddedStore>,
    random: SmallRng,
    now: Timestamp,
    steps: Vec<Step>,
}

impl Workload {
    /// Records the state after a step that was just acknowledged.
    async fn note(&mut self, what: &'static str, asked: usize, is_series: bool, sent: Vec<Sent>) {
        let acknowledged = self.disk.operations();
        let after = State::read(&self.store, self.now).await.expect("a state");
        for sent in sent.iter().filter(|sent| sent.acknowledged.is_some()) {
            assert!(sent.emails.iter().all(|id| after.0.contains_key(&mail_key(*id))), "acknowledged and not there");
        }
        self.steps.push(Step { what, asked, acknowledged, is_series, sent, now: self.now, after });
    }

    async fn step(&mut self) {
        self.now = self.now.plus(Duration::from_secs(self.random.random_range(0..600)));
        match self.random.random_range(0..20) {
            0..7 => self.receive().await,
            7..9 => self.delete().await,
            9 => self.delete_all().await,
            10..12 => self.expire().await,
            12 => self.change_domain().await,
            13 => self.register_webhook().await,
            14..17 => self.note_attempt().await,
            17 => self.replay().await,
            18 => self.remove_webhooks().await,
            _ => self.receive_amid_a_failed_sync().await,
        }
    }

    /// Stops in order and opens again.
    async fn stop(&mut self) {
        let asked = self.disk.operations();
        self.store.close().await.expect("close");
        self.reopen();
        self.note("stop", asked, false, Vec::new()).await;
    }

    /// Kills the process while it receives, some right after a sync of the journal failed, and opens again.
    async fn kill(&mut self) {
        let asked = self.disk.operations();
        let dying = self
            .random
            .random_bool(0.5)
            .then(|| self.disk.die_at_failed_sync_of("journal-", self.random.random_range(0..6)));
        let messages: Vec<_> = (0..8).map(|_| self.message()).collect();
        let sending = tokio::spawn(send(Arc::clone(&self.store), self.disk.clone(), messages));
        let syncs = self.random.random_range(0..4);
        while !sending.is_finished() && self.disk.syncs().iter().filter(|sync| **sync > asked).count() < syncs {
            tokio::task::yield_now().await;
        }
        let next = self.disk.kill();
        let sent = sending.await.expect("no panic");
        let has_failed = dying.as_ref().is_some_and(|dying| dying.failed() > 0);
        drop(dying);
        self.disk = next;
        self.reopen();
        self.note(if has_failed { "kill at a failed sync" } else { "kill" }, asked, true, sent).await;
    }

    /// Opens the store again, sometimes after a process that died of a sync which failed meanwhile.
    fn reopen(&mut self) {
        if self.random.random_bool(0.3) {
            let _dying = self.disk.die_at_failed_sync_of("", self.random.random_range(0..6));
            drop(try_open(&self.disk));
            self.disk = self.disk.kill();
        }
        self.store = open(&self.disk);
    }

    fn message(&mut self) -> Delivery {
        let first = self.random.random_range(0..MAILBOXES);
        let recipients = self.random.random_range(1..3);
        let addresses: Vec<String> = (0..recipients).map(|n| address((first + n) % MAILBOXES)).collect();
        self.message_to(&addresses)
    }

    fn message_to(&mut self, addresses: &[String]) -> Delivery {
        let octets = if self.random.random_bool(0.1) { 60_000 } else { 12_000 };
        let raw: Vec<u8> = (0..self.random.random_range(1..octets)).map(|_| self.random.random()).collect();
        delivery(&addresses.iter().map(String::as_str).collect::<Vec<_>>(), raw, self.now)
    }

    async fn receive(&mut self) {
        let messages: Vec<_> = (0..self.random.random_range(1..8)).map(|_| self.message()).collect();
        let asked = self.disk.operations();
        let sent = send(Arc::clone(&self.store), self.disk.clone(), messages).await;
        assert!(sent.iter().all(|sent| sent.acknowledged.is_some()), "a message was refused");
        self.note("receive", asked, true, sent).await;
    }

    /// Receives while a sync of the journal fails. It may be the sync of a group, of the next segment's header, of a new
    /// spare, or of a hole that was punched for mail deleted just before.
    async fn receive_amid_a_failed_sync(&mut self) {
        self.delete().await;
        let asked = self.disk.operations();
        let failing = self.disk.fail_next(|call| call.is(Kind::Sync, "journal-"));
        let messages: Vec<_> =
            (0..self.random.random_range(1..8)).map(|_| self.message_to(&[address(QUIET)])).collect();
        let sent = send(Arc::clone(&self.store), self.disk.clone(), messages).await;
        drop(failing);
        tokio::task::block_in_place(|| {
            blocking::until("the store accepts mail again", || self.store.accepts().is_ok());
        });
        self.note("receive amid a failed sync", asked, true, sent).await;
    }

    async fn delete(&mut self) {
        let (asked, mails) = (self.disk.operations(), self.mails());
        if mails.is_empty() {
            return;
        }
        // Ids begin with the time: those at the end came last, and some of them only in the journal.
        let oldest = if self.random.random_bool(0.5) { mails.len().saturating_sub(8) } else { 0 };
        let id = mails[self.random.random_range(oldest..mails.len())];
        let is_readable = self.store.find(id, self.now).await.expect("find").is_some();
        assert_eq!(self.store.delete(id, self.now).await, Ok(is_readable));
        self.note("delete", asked, false, Vec::new()).await;
        assert!(!is_readable || !self.mails().contains(&id), "deleted and still there");
    }

    /// The mails that are there.
    fn mails(&self) -> Vec<EmailId> {
        let facts = self.steps.last().map(|step| &step.after.0).into_iter().flatten();
        facts.filter_map(|(key, _)| key.strip_prefix("mail ")?.parse().ok()).collect()
    }

    async fn delete_all(&mut self) {
        let (asked, n) = (self.disk.operations(), self.random.random_range(0..MAILBOXES));
        self.store.delete_all(&name(n), u64::MAX, self.now).await.expect("delete all");
        self.note("delete all", asked, false, Vec::new()).await;
    }

    async fn expire(&mut self) {
        let (asked, limit) = (self.disk.operations(), self.random.random_range(1..200));
        self.store.expire(self.now, limit).await.expect("expire");
        self.note("expire", asked, false, Vec::new()).await;
    }

    async fn change_domain(&mut self) {
        let asked = self.disk.operations();
        let name = DOMAINS[self.random.random_range(0..DOMAINS.len())].parse().expect("a domain");
        let owner = Some(format!("owner {}", self.random.random::<u32>()));
        let record = DomainRecord { owner, ..DomainRecord::new(name, self.now) };
        let known = self.store.domains().await.expect("domains").into_iter().find(|domain| domain.name == record.name);
        // Webhooks of a domain go before it is registered, and before it is removed.
        let mut is_series = known.is_none();
        match known {
            None => _ = self.store.register_domain(record, 10).await.expect("register"),
            Some(known) if self.random.random_bool(0.6) => {
                assert!(self.store.update_domain(&known, record).await.expect("update"));
            }
            Some(_) => {
                is_series = true;
                self.store.remove_domain(&record.name).await.expect("remove");
            }
        }
        self.note("domain", asked, is_series, Vec::new()).await;
    }

    async fn register_webhook(&mut self) {
        let (asked, n) = (self.disk.operations(), self.random.random_range(0..MAILBOXES));
        let record = WebhookRecord {
            id: random::webhook_id(),
            recipient: address(n),
            mailbox: name(n),
            url: format!("https://receiver{n}.example/", n = self.random.random_range(0..5)),
            origin: format!("https://receiver{}.example", self.random.random_range(0..5)),
            registrant: self.random.random_bool(0.5).then(|| Client::of([192, 0, 2, 1].into())),
            secret: Secret::new("s3cret".into()),
            status: WebhookStatus::Active,
            created_at: self.now,
            last_mail_at: self.now,
            last_delivery_at: self.random.random_bool(0.5).then_some(self.now),
            failures: 0,
            failing_since: None,
            dropped: 0,
        };
        self.store.register_webhook(record, LIMITS).await.expect("register");
        self.note("webhook", asked, false, Vec::new()).await;
    }

    /// Some webhook.
    async fn webhook(&mut self) -> Option<WebhookId> {
        let mut webhooks = Vec::new();
        for n in 0..MAILBOXES {
            webhooks.extend(self.store.webhooks(&name(n)).await.expect("webhooks"));
        }
        (!webhooks.is_empty()).then(|| webhooks[self.random.random_range(0..webhooks.len())].id)
    }

    async fn note_attempt(&mut self) {
        let asked = self.disk.operations();
        let Some((webhook, _)) = self.store.pending_webhooks().await.expect("pending webhooks").first().copied() else {
            return;
        };
        let event = pending_events(self.store.as_ref(), webhook).await.expect("events").remove(0);
        let verdict = match self.random.random_range(0..6) {
            0..3 => Verdict::Retry(self.now.plus(Duration::from_secs(60))),
            3 => Verdict::GivenUp,
            _ => Verdict::Delivered,
        };
        let is_gone = verdict == Verdict::GivenUp && self.random.random_bool(0.3);
        let attempt = AttemptRecord {
            webhook,
            event: event.id,
            email: Some(event.email.id),
            sequence: event.email.sequence,
            number: event.attempts + 1,
            at: self.now,
            duration_millis: 5,
            status: Some(if is_gone { 410 } else { 500 }),
            error: None,
            response: "an answer".into(),
            verdict,
            disables: is_gone.then(|| "410 Gone".into()),
            backs_off_until: None,
        };
        self.store.record_attempt(attempt).await.expect("record");
        // Disabling a webhook ends its other events after that.
        self.note("attempt", asked, is_gone, Vec::new()).await;
    }

    async fn replay(&mut self) {
        let Some(webhook) = self.webhook().await else { return };
        let asked = self.disk.operations();
        let which = if self.random.random_bool(0.5) { Replay::Failed } else { Replay::Since(NOW) };
        self.store.replay(webhook, which, self.now).await.expect("replay");
        self.note("replay", asked, false, Vec::new()).await;
    }

    async fn remove_webhooks(&mut self) {
        let Some(webhook) = self.webhook().await else { return };
        let asked = self.disk.operations();
        if self.random.random_bool(0.5) {
            assert_eq!(self.store.delete_webhook(webhook).await, Ok(true));
        } else {
            let idle_since = Timestamp::from_millis(self.now.millis() - 3_600_000);
            self.store.delete_webhooks(WebhookSweep::IdleSince(idle_since)).await.expect("sweep");
        }
        self.note("webhook removed", asked, false, Vec::new()).await;
    }
}

/// Sends messages at once, in their order.
async fn send(store: Arc<EmbeddedStore>, disk: TestDisk, messages: Vec<Delivery>) -> Vec<Sent> {
    let sending = messages.into_iter().map(async |message| {
        let emails = message.envelope.recipients.iter().map(|recipient| recipient.id).collect();
        let is_acknowledged = store.receive(message).await.is_ok();
        Sent { emails, acknowledged: is_acknowledged.then(|| disk.operations()) }
    });
    join_all(sending).await
}
