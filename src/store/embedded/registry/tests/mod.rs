//! The registry: what is durable, its limits, and its logs.

mod damage;
mod faults;
mod leases;
mod limits;

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::model::{
    Address, Client, DomainName, DomainRecord, DomainStatus, EmailId, EventId, Mailbox, Scope, Subaddressing,
    Timestamp, TokenRecord, Verdict, WebhookRecord, WebhookStatus,
};
use crate::store::disk::Directory;
use crate::store::journal::Hints;
use crate::store::outbox_rules::DroppedEvent;
use crate::store::{Registration, WebhookFilter, WebhookLimits, WebhookRegistration};

const SECRET: HashKey = [7; 16];

fn at(second: i64) -> Timestamp {
    Timestamp::from_millis(1000 * second)
}

/// The directory of the store's files.
fn stored(path: &Path) -> std::path::PathBuf {
    let store = path.join("store");
    std::fs::create_dir_all(&store).expect("directory");
    store
}

fn disk(path: &Path) -> Arc<dyn Disk> {
    Arc::new(Directory::lock(path).expect("lock"))
}

fn open(path: &Path) -> EmbeddedRegistry {
    EmbeddedRegistry::open(&disk(path), SECRET).expect("open")
}

/// What a copy of the file has that is taken now.
fn copied(path: &Path) -> Contents {
    let copy = tempfile::tempdir().expect("directory");
    std::fs::copy(stored(path).join(NAME), stored(copy.path()).join(NAME)).expect("copy");
    contents(&open(copy.path()))
}

/// All that a registry keeps but the logs and the hints.
type Contents = (Vec<DomainRecord>, Vec<WebhookRecord>, Vec<TokenRecord>);

fn contents(registry: &EmbeddedRegistry) -> Contents {
    (registry.domains(), registry.every_webhook(), registry.tokens())
}

fn domain(name: &str) -> DomainRecord {
    DomainRecord {
        name: name.parse().expect("domain"),
        status: DomainStatus::Active,
        pinned: true,
        owner: Some("An Owner".into()),
        email: None,
        added_at: at(1),
        last_checked_at: None,
        last_check_result: None,
        registrant: None,
        deactivated_at: None,
    }
}

fn token(name: &str) -> TokenRecord {
    let (name, scope) = (name.parse().expect("name"), Scope::Admin);
    TokenRecord { name, scope, created_at: at(1), expires_at: Some(at(9)), hash: [3; 32] }
}

fn mailbox(text: &str) -> Mailbox {
    text.parse::<Address>().expect("address").mailbox(Subaddressing::Keep)
}

fn client(number: u8) -> Client {
    Client::of(std::net::Ipv4Addr::new(192, 0, 2, number).into())
}

fn id(number: u32) -> WebhookId {
    let mut octets = [0; 16];
    octets[12..].copy_from_slice(&number.to_be_bytes());
    WebhookId::from_octets(octets)
}

fn webhook(number: u32, to: &str) -> WebhookRecord {
    WebhookRecord {
        id: id(number),
        recipient: to.into(),
        mailbox: mailbox(to),
        url: format!("https://hook.example/{number}"),
        origin: "https://hook.example".into(),
        registrant: Some(client(1)),
        secret: None,
        status: WebhookStatus::Active,
        created_at: at(i64::from(number)),
        last_mail_at: at(i64::from(number)),
        last_delivery_at: None,
        failures: 0,
        failing_since: None,
        dropped: 0,
    }
}

fn attempt(webhook: u32, number: u32, second: i64) -> AttemptRecord {
    AttemptRecord {
        webhook: id(webhook),
        event: EventId::from_octets([2; 16]),
        email: Some(EmailId::from_octets([4; 16])),
        sequence: 1,
        number,
        at: at(second),
        duration_millis: 10,
        status: Some(500),
        error: Some("status".into()),
        response: "no".into(),
        verdict: Verdict::Retry(at(second + 60)),
        disables: None,
        backs_off_until: None,
    }
}

fn disabling(webhook: u32) -> AttemptRecord {
    AttemptRecord { disables: Some("gone".into()), status: Some(410), ..attempt(webhook, 1, 50) }
}

#[test]
fn what_was_answered_is_in_a_copy_of_the_file() {
    let dir = tempfile::tempdir().expect("directory");
    let registry = open(dir.path());
    let same = |what: &str| assert_eq!(copied(dir.path()), contents(&registry), "{what}");
    assert_eq!(registry.register_domain(domain("a.example"), 9).expect("new").0, Registration::Won);
    same("a domain");
    let again = registry.register_domain(domain("a.example"), 9).expect("taken").0;
    assert_eq!(again, Registration::Taken(domain("a.example")));
    let changed = DomainRecord { owner: None, ..domain("a.example") };
    assert!(registry.update_domain(&domain("a.example"), changed.clone()).expect("update"));
    same("a change of a domain");
    assert_eq!(registry.domain(&changed.name), Some(changed));
    assert!(!registry.update_domain(&domain("b.example"), domain("b.example")).expect("not there"));
    for number in 1..=3 {
        let (new, _) =
            registry.register_webhook(webhook(number, "x@a.example"), WebhookLimits::UNBOUNDED).expect("new");
        assert_eq!(new, WebhookRegistration::New);
        same("a webhook");
    }
    assert_eq!(registry.record(&[disabling(2)], &[true]).expect("record"), [id(2)]);
    same("a disabled webhook");
    assert_eq!(registry.record(&[disabling(2)], &[true]).expect("record"), [], "it was disabled before");
    assert!(registry.activate(id(2)).expect("activate"));
    same("an active one");
    assert!(!registry.activate(id(9)).expect("activate"));
    registry.record_mail(&mailbox("x@a.example"), at(99));
    registry.flush().expect("flush");
    same("new mail");
    assert_eq!(registry.webhook(id(3)).expect("webhook").last_mail_at, at(99));
    assert_eq!(registry.delete_webhooks(&|webhook| webhook.id == id(1)).expect("delete"), [id(1)]);
    same("a deleted webhook");
    assert_eq!(registry.remove_domain(&domain("a.example").name).expect("remove"), Some(vec![id(2), id(3)]));
    same("a removed domain");
    assert_eq!(registry.remove_domain(&domain("a.example").name).expect("remove"), None);
    registry.replace_tokens(&registry.tokens(), &[token("a"), token("b")]).expect("new");
    same("tokens");
    registry.replace_tokens(&registry.tokens(), &[token("b")]).expect("revoked");
    same("a revoked token");
    drop(registry);
    assert_eq!(EmbeddedRegistry::open(&disk(dir.path()), [0; 16]).expect("open").secret(), SECRET);
}

#[test]
fn a_new_registry_gets_the_tokens_of_the_old_one() {
    let (old, new) = (tempfile::tempdir().expect("directory"), tempfile::tempdir().expect("directory"));
    let carried = || carry_tokens(&disk(old.path()), &disk(new.path())).expect("carry");
    assert!(carried(), "no store has no tokens");
    drop(open(old.path()));
    assert!(carried());
    let registry = open(old.path());
    registry.replace_tokens(&registry.tokens(), &[token("a"), token("b")]).expect("new");
    // The rest of it may be damaged.
    let wrong = Row::new(Table::Domains, b"a.example", vec![1]);
    registry.lock().file.write(&[wrong]).expect("write");
    drop(registry);
    assert!(EmbeddedRegistry::open(&disk(old.path()), SECRET).is_err());
    assert!(carried());
    assert_eq!(open(new.path()).tokens(), [token("a"), token("b")]);
    std::fs::write(stored(old.path()).join(NAME), [9; 3000]).expect("write");
    assert!(!carried());
    std::fs::rename(stored(old.path()).join(NAME), stored(old.path()).join("journal-1")).expect("rename");
    assert!(!carried(), "a store without a registry had one");
}

#[test]
fn what_was_not_flushed_may_be_lost_and_harms_nothing() {
    let dir = tempfile::tempdir().expect("directory");
    let registry = open(dir.path());
    registry.register_webhook(webhook(1, "x@a.example"), WebhookLimits::UNBOUNDED).expect("new");
    let before = contents(&registry);
    registry.record_mail(&mailbox("x@a.example"), at(99));
    registry.record(&[attempt(1, 1, 50)], &[true]).expect("record");
    Hints::put(&registry, 3, vec![5; 10_000]);
    assert_eq!(copied(dir.path()), before);
    assert_eq!(EmbeddedRegistry::check(&disk_of_copy(dir.path()).1).expect("check"), Vec::<String>::new());
    assert_eq!(registry.attempts(id(1), 10, at(60)).expect("log").len(), 1, "a reader sees what is not written yet");
    registry.flush().expect("flush");
    assert_eq!(copied(dir.path()), contents(&registry));
    drop(registry);
    let registry = open(dir.path());
    assert_eq!(registry.attempts(id(1), 10, at(60)).expect("log"), [attempt(1, 1, 50)]);
    assert_eq!(Hints::get(&registry, 3), Some(vec![5; 10_000]));
}

fn disk_of_copy(path: &Path) -> (tempfile::TempDir, Arc<dyn Disk>) {
    let copy = tempfile::tempdir().expect("directory");
    std::fs::copy(stored(path).join(NAME), stored(copy.path()).join(NAME)).expect("copy");
    let disk = disk(copy.path());
    (copy, disk)
}

#[test]
fn hints_are_kept_until_they_are_removed() {
    let registry = EmbeddedRegistry::in_memory(SECRET).expect("registry");
    for segment in 1..=4 {
        Hints::put(&registry, segment, segment.to_le_bytes().into());
    }
    assert!(Hints::remove(&registry, &[2, 3]));
    let hints: Vec<_> = (1..=4).map(|segment| Hints::get(&registry, segment).is_some()).collect();
    assert_eq!(hints, [true, false, false, true]);
}

#[test]
fn an_attempt_that_does_not_count_adds_only_its_back_off() {
    let registry = EmbeddedRegistry::in_memory(SECRET).expect("registry");
    registry.register_webhook(webhook(1, "x@a.example"), WebhookLimits::UNBOUNDED).expect("new");
    let late = AttemptRecord { backs_off_until: Some(at(500)), ..disabling(1) };
    assert_eq!(registry.record(&[late], &[false]).expect("record"), []);
    let (record, backs_off_until) = registry.receiver_at(id(1), at(60)).expect("webhook");
    assert_eq!((record, backs_off_until), (webhook(1, "x@a.example"), Some(at(500))));
    assert!(registry.log_for_replay(id(1), at(60)).expect("log").is_empty());
    registry.record(&[attempt(1, 1, 61), disabling(7)], &[true, true]).expect("record");
    assert_eq!(registry.webhook(id(1)).expect("webhook").failures, 1);
}

#[test]
fn dropped_events_are_counted_and_logged() {
    let registry = EmbeddedRegistry::in_memory(SECRET).expect("registry");
    registry.register_webhook(webhook(1, "x@a.example"), WebhookLimits::UNBOUNDED).expect("new");
    let (email, event) = (EmailId::from_octets([4; 16]), EventId::from_octets([2; 16]));
    let dropped = DroppedEvent { webhook: id(1), id: event, email, sequence: 8, attempts: 0 };
    registry.record_dropped(&[dropped, DroppedEvent { webhook: id(2), ..dropped }], at(10));
    registry.count_dropped(id(1), 4);
    assert_eq!(registry.webhook(id(1)).expect("webhook").dropped, 5);
    assert_eq!(registry.attempts(id(1), 10, at(11)).expect("log"), [dropped.record(at(10))]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A log shows the newest 100 records of the last 30 days, however they were written.
    #[test]
    fn a_log_is_that_of_a_simple_model(steps in proptest::collection::vec((0_u32..60, 0_i64..20, any::<bool>()), 1..12)) {
        let registry = EmbeddedRegistry::in_memory(SECRET).expect("registry");
        registry.register_webhook(webhook(1, "x@a.example"), WebhookLimits::UNBOUNDED).expect("new");
        let (mut model, mut now) = (Vec::new(), 0);
        for (records, days, is_flushed) in steps {
            now += days * 86_400;
            let test = |number| AttemptRecord { email: None, ..attempt(1, number + 1, now + i64::from(number)) };
            let added: Vec<_> = (0..records).map(test).collect();
            now += 60;
            registry.record(&added, &vec![true; added.len()]).expect("record");
            model.extend(added);
            if is_flushed {
                registry.flush().expect("flush");
            }
            let month = Duration::from_hours(30 * 24);
            let shown = model.iter().rev().filter(|record: &&AttemptRecord| at(now).since(record.at) <= month);
            let shown: Vec<_> = shown.take(100).cloned().collect();
            prop_assert_eq!(registry.attempts(id(1), 1000, at(now)).expect("log"), shown);
        }
        registry.delete_webhooks(&|_| true).expect("delete");
        let mut pages = 0;
        let mut count = |_: &[u8], _: &[u8]| { pages += 1; Ok(()) };
        registry.lock().file.all(Table::Logs, &mut count).expect("pages");
        prop_assert_eq!(pages, 0);
    }
}
