//! A store with webhooks and the dispatcher that tells them.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempmail::clock::{Clock, SystemClock};
use tempmail::config::{Config, Revision};
use tempmail::dns::{DnsResolver, ResolverSettings};
use tempmail::mime::Parser;
use tempmail::model::{
    Address, Delivery as Received, Envelope, Protocol, Subaddressing, WebhookId, WebhookLimits, WebhookRecord,
    WebhookStatus,
};
use tempmail::store::disk::Directory;
use tempmail::store::{EmbeddedStore, Outbox, Store, StoreOptions};
use tempmail::webhook::{Caller, CallerSettings, Delivery, Guard, GuardSettings, PacingLimits, Schedule, dispatcher};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Result, rate};

/// How many senders hand mail over at once.
const SENDERS: usize = 20;

pub(crate) struct Sender {
    store: Arc<EmbeddedStore>,
    dispatcher: JoinHandle<()>,
    shutdown: CancellationToken,
    _dir: tempfile::TempDir,
}

impl Sender {
    pub(crate) fn start() -> Result<Self> {
        // Below target: a temporary directory may be in memory, where an fdatasync costs nothing.
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let config = Config::of_revision(Revision::Two, dir.path().join("data"));
        Directory::create(&config.data_dir)?;
        let store = Arc::new(EmbeddedStore::open(&config.data_dir, &StoreOptions::from_config(&config))?);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let guard = Guard::new(GuardSettings { allow: vec!["127.0.0.0/8".parse()?], ..GuardSettings::default() });
        let resolver = Arc::new(DnsResolver::new(ResolverSettings::new(vec!["127.0.0.1:53".parse()?])));
        // What is held on purpose must not time out.
        let settings = CallerSettings { timeout: Duration::from_secs(600), ..CallerSettings::default() };
        let delivery = Arc::new(Delivery {
            outbox: store.clone(),
            parser: Parser::start(2)?,
            caller: Caller::new(settings, Arc::new(guard), resolver, Arc::clone(&clock))?,
            schedule: Schedule::default(),
            grace: Duration::from_secs(3600),
            clock,
        });
        let pacing = PacingLimits { in_flight: 256, per_minute: usize::MAX, ..PacingLimits::default() };
        let shutdown = CancellationToken::new();
        let run = dispatcher::run(delivery, pacing, Duration::from_secs(3600), shutdown.clone());
        Ok(Self { store, dispatcher: tokio::spawn(run), shutdown, _dir: dir })
    }

    pub(crate) async fn add_webhook(&self, recipient: &str, url: String) -> Result<()> {
        let now = SystemClock.now();
        let record = WebhookRecord {
            id: WebhookId::fresh(),
            recipient: recipient.into(),
            mailbox: recipient.parse::<Address>()?.mailbox(Subaddressing::Keep),
            url,
            secret: tempmail::model::Secret::new("secret".into()),
            status: WebhookStatus::Active,
            created_at: now,
            last_mail_at: now,
            last_delivery_at: None,
            failures: 0,
            failing_since: None,
        };
        self.store.register_webhook(record, WebhookLimits { per_recipient: 10, total: 10_000 }).await?;
        Ok(())
    }

    /// A mail of 4 KB comes in for `to`.
    pub(crate) async fn receive(&self, to: &str) -> Result<()> {
        Ok(self.store.receive(mail(to)?).await?)
    }

    /// So many mails come in over 20 senders; how many per second.
    pub(crate) async fn receive_many(&self, to: &str, count: usize) -> Result<f64> {
        let begun = Instant::now();
        let mut running = tokio::task::JoinSet::new();
        for _ in 0..SENDERS {
            let (store, mails) =
                (Arc::clone(&self.store), (0..count / SENDERS).map(|_| mail(to)).collect::<Result<Vec<_>>>()?);
            running.spawn(async move {
                for mail in mails {
                    store.receive(mail).await?;
                }
                Ok::<_, tempmail::store::StoreError>(())
            });
        }
        while let Some(ended) = running.join_next().await {
            ended??;
        }
        Ok(rate(count, begun.elapsed()))
    }

    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        let _ = self.dispatcher.await;
        let _ = self.store.close().await;
    }
}

fn mail(to: &str) -> Result<Received> {
    let now = SystemClock.now();
    let text = "0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOP 0123456\r\n".repeat(64);
    let client = IpAddr::from([127, 0, 0, 1]);
    let envelope = Envelope::new(
        client,
        "bench".into(),
        Protocol::Esmtp,
        "bench@example.com".into(),
        &[to.parse()?],
        Subaddressing::Keep,
        now,
    );
    let raw = format!("From: bench@example.com\r\nSubject: bench\r\n\r\n{text}").into();
    Ok(Received { envelope, raw, received_at: now, expires_at: now.plus(Duration::from_secs(3600)) })
}
