//! The suite that every implementation of `Leases` must pass, as one function per promise.
//! Promise: it outlives the code below it.

use std::sync::Arc;
use std::time::Duration;

use tempmail::model::{Client, Delivery, LEASE_REST, LeaseId, LeaseRecord, Share, Timestamp};
use tempmail::store::{PageRequest, Storage};

use crate::support::mail::{delivery, mailbox};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
const ADDRESS: &str = "ann@example.test";

/// A lease of an address for a day, with a new id and the key of that number.
pub fn lease(address: &str, key: u8, now: Timestamp) -> LeaseRecord {
    LeaseRecord {
        id: LeaseId::from_octets(rand::random()),
        mailbox: mailbox(address),
        key: [key; 32],
        client: Some(client(key)),
        created_at: now,
        expires_at: now.plus(DAY),
        idle: None,
        read_at: now,
        messages_left: None,
        keep: 7 * 24 * 3600,
        ended_at: None,
    }
}

/// A client for each key. All are of one network.
fn client(key: u8) -> Client {
    Client::of([192, 0, 2, key].into())
}

/// Puts a lease where no record is.
pub async fn take(store: &dyn Storage, lease: &LeaseRecord) {
    assert_eq!(store.replace_lease(None, Some(lease)).await, Ok(true), "{} is free", lease.mailbox);
}

async fn replace(store: &dyn Storage, before: &LeaseRecord, after: &LeaseRecord) {
    assert_eq!(store.replace_lease(Some(before), Some(after)).await, Ok(true));
}

/// Ends a lease.
pub async fn end(store: &dyn Storage, lease: &LeaseRecord, at: Timestamp) -> LeaseRecord {
    let ended = LeaseRecord { ended_at: Some(at), ..lease.clone() };
    replace(store, lease, &ended).await;
    ended
}

/// A message to the holder of a lease, which is kept as long as the lease says.
pub fn mail_to(lease: &LeaseRecord, raw: &str, at: Timestamp) -> Delivery {
    let mut delivery = delivery(&[ADDRESS], raw.to_owned(), at);
    delivery.envelope.recipients[0].mailbox = lease.private_mailbox();
    delivery.expires_at = at.plus(lease.keep(7 * DAY));
    delivery
}

async fn counts(store: &dyn Storage, key: u8) -> (u64, u64, u64) {
    let Share { client, network, all } = store.lease_counts(Some(self::client(key))).await.expect("counts");
    (client, network, all)
}

pub async fn an_address_has_one_record_which_changes_only_as_it_was_seen(store: Arc<dyn Storage>) {
    let (first, second) = (lease(ADDRESS, 1, NOW), lease(ADDRESS, 2, NOW));
    assert_eq!(store.lease(&first.mailbox).await, Ok(None));
    take(&*store, &first).await;
    assert_eq!(store.replace_lease(None, Some(&second)).await, Ok(false), "it is taken");
    assert_eq!(store.lease(&first.mailbox).await, Ok(Some(first.clone())));
    let longer = LeaseRecord { expires_at: NOW.plus(2 * DAY), messages_left: Some(3), ..first.clone() };
    replace(&*store, &first, &longer).await;
    let stale = LeaseRecord { messages_left: Some(9), ..first.clone() };
    assert_eq!(store.replace_lease(Some(&first), Some(&stale)).await, Ok(false), "it has changed");
    assert_eq!(store.replace_lease(Some(&first), None).await, Ok(false), "it has changed");
    assert_eq!(store.lease(&first.mailbox).await, Ok(Some(longer.clone())));
    assert_eq!(store.replace_lease(Some(&longer), None).await, Ok(true));
    assert_eq!(store.replace_lease(Some(&longer), Some(&first)).await, Ok(false), "it is gone");
    assert_eq!(store.lease(&first.mailbox).await, Ok(None));
    take(&*store, &second).await;
    assert_eq!(store.lease(&first.mailbox).await, Ok(Some(second)));
}

pub async fn a_key_finds_its_leases_and_no_others(store: Arc<dyn Storage>) {
    let later = lease("b@example.test", 1, NOW.plus(HOUR));
    let (first, other) = (lease("c@example.test", 1, NOW), lease("d@example.test", 2, NOW));
    for lease in [&later, &first, &other] {
        take(&*store, lease).await;
    }
    let mut of_other = lease(ADDRESS, 2, NOW);
    assert_eq!(store.leases_of(&[1; 32]).await, Ok(vec![first.clone(), later.clone()]), "in the order of creation");
    assert_eq!(store.leases_of(&[3; 32]).await, Ok(Vec::new()));
    // Another key takes the address after the first one.
    assert_eq!(store.replace_lease(Some(&first), None).await, Ok(true));
    of_other.mailbox = first.mailbox.clone();
    take(&*store, &of_other).await;
    assert_eq!(store.leases_of(&[1; 32]).await, Ok(vec![later]));
    let found = store.leases_of(&[2; 32]).await.expect("leases");
    assert!(found.len() == 2 && found.contains(&of_other) && found.contains(&other), "{found:?}");
}

pub async fn leases_count_for_client_and_network_until_they_end(store: Arc<dyn Storage>) {
    assert_eq!(counts(&*store, 1).await, (0, 0, 0));
    let first = lease("a@example.test", 1, NOW);
    for lease in [&first, &lease("b@example.test", 1, NOW), &lease("c@example.test", 2, NOW)] {
        take(&*store, lease).await;
    }
    let lost = lease("a@example.test", 2, NOW);
    assert_eq!(store.replace_lease(None, Some(&lost)).await, Ok(false));
    take(&*store, &LeaseRecord { client: None, ..lease("d@example.test", 4, NOW) }).await;
    assert_eq!(counts(&*store, 1).await, (2, 3, 4));
    assert_eq!(counts(&*store, 2).await, (1, 3, 4));
    let ended = end(&*store, &first, NOW.plus(HOUR)).await;
    assert_eq!(counts(&*store, 1).await, (1, 2, 4), "a record that rests is a record");
    assert_eq!(store.replace_lease(Some(&ended), None).await, Ok(true));
    assert_eq!(counts(&*store, 1).await, (1, 2, 3));
    assert_eq!(store.lease_counts(None).await.map(|counts| counts.all), Ok(3));
}

pub async fn what_is_due_is_told_until_it_is_done(store: Arc<dyn Storage>) {
    let mut leases = Vec::new();
    for (nth, hours) in (0..).zip([1, 1, 3, 30]) {
        let life = LeaseRecord { expires_at: NOW.plus(hours * HOUR), ..lease(&format!("a{nth}@example.test"), 1, NOW) };
        take(&*store, &life).await;
        leases.push(life);
    }
    let due = async |at: Timestamp, limit| {
        let due = store.due_leases(at, limit).await.expect("due").into_iter().map(|lease| lease.mailbox.to_string());
        let mut due: Vec<String> = due.collect();
        due.sort();
        due
    };
    let end = NOW.plus(HOUR);
    assert_eq!(due(end.before(Duration::from_millis(1)), 9).await, [""; 0]);
    assert_eq!(due(end, 9).await, ["a0@example.test", "a1@example.test"]);
    assert_eq!(due(end, 1).await.len(), 1);
    // One is prolonged, and so one is left; it is told again until it is done.
    let longer = LeaseRecord { expires_at: NOW.plus(2 * HOUR), ..leases[0].clone() };
    replace(&*store, &leases[0], &longer).await;
    for _ in 0..2 {
        assert_eq!(due(end, 9).await, ["a1@example.test"]);
    }
    let ended = self::end(&*store, &leases[1], end).await;
    assert_eq!(due(end, 9).await, [""; 0]);
    // One that is not read ends earlier, and is read again.
    let idle = LeaseRecord { idle: Some(3600), ..longer.clone() };
    replace(&*store, &longer, &idle).await;
    assert_eq!(due(end, 9).await, ["a0@example.test"]);
    let read = LeaseRecord { read_at: end, ..idle.clone() };
    replace(&*store, &idle, &read).await;
    assert_eq!(due(end, 9).await, [""; 0]);
    assert_eq!(due(NOW.plus(5 * HOUR), 9).await, ["a0@example.test", "a2@example.test"]);
    let mut done = vec![ended];
    for lease in [&read, &leases[2], &leases[3]] {
        done.push(self::end(&*store, lease, NOW.plus(31 * HOUR)).await);
    }
    assert_eq!(due(NOW.plus(40 * HOUR), 9).await, [""; 0]);
    // What rests is due when the rest is over.
    let rested = NOW.plus(31 * HOUR + LEASE_REST);
    assert_eq!(due(rested, 9).await.len(), 4);
    for lease in done {
        assert_eq!(store.replace_lease(Some(&lease), None).await, Ok(true));
    }
    assert_eq!(due(rested, 9).await, [""; 0]);
    assert_eq!(due(rested.plus(DAY), 9).await, [""; 0]);
    assert_eq!(counts(&*store, 1).await, (0, 0, 0));
}

pub async fn the_leases_of_a_domain_end_together(store: Arc<dyn Storage>) {
    let of = |address: &str| lease(address, 1, NOW);
    let (first, second, other) = (of("a@example.test"), of("b@example.test"), of("a@other.test"));
    for lease in [&first, &second, &other] {
        take(&*store, lease).await;
    }
    let at = NOW.plus(HOUR);
    let second = LeaseRecord { ended_at: Some(NOW), ..second };
    replace(&*store, &LeaseRecord { ended_at: None, ..second.clone() }, &second).await;
    let domain = "example.test".parse().expect("domain");
    assert_eq!(store.end_leases(&domain, at, true).await, Ok(1), "the other has ended");
    assert_eq!(store.lease(&first.mailbox).await, Ok(Some(first.clone())), "they are only counted");
    assert_eq!(store.end_leases(&domain, at, false).await, Ok(1));
    let over = LeaseRecord { expires_at: at, ..first };
    assert_eq!(store.due_leases(at, 9).await, Ok(vec![over.clone()]), "its mail is to go");
    assert_eq!(store.lease(&over.mailbox).await, Ok(Some(over)));
    assert_eq!(store.lease(&second.mailbox).await, Ok(Some(second)));
    assert_eq!(store.lease(&other.mailbox).await, Ok(Some(other)));
    assert_eq!(store.end_leases(&domain, at, false).await, Ok(0));
}

pub async fn mail_of_a_lease_is_its_own_and_outlives_the_retention(store: Arc<dyn Storage>) {
    let lease = lease(ADDRESS, 1, NOW);
    let (kept, deleted) = (mail_to(&lease, "kept", NOW), mail_to(&lease, "deleted", NOW));
    store.receive(kept.clone()).await.expect("receive");
    store.receive(deleted.clone()).await.expect("receive");
    let page = PageRequest { offset: 0, limit: 9 };
    let list = async |mailbox, now| {
        let page = store.list(&mailbox, page, now).await.expect("list");
        (page.emails.iter().map(|listed| listed.id).collect::<Vec<_>>(), page.total)
    };
    let (kept, deleted) = (kept.envelope.recipients[0].id, deleted.envelope.recipients[0].id);
    let (public, private) = (lease.mailbox.clone(), lease.private_mailbox());
    assert_eq!(list(public.clone(), NOW).await, (vec![], 0));
    assert_eq!(list(private.clone(), NOW).await, (vec![deleted, kept], 2));
    // The retention of the suites is a day.
    let late = NOW.plus(3 * DAY);
    store.expire(late, 99).await.expect("expire");
    assert_eq!(list(private.clone(), late).await, (vec![deleted, kept], 2));
    assert_eq!(store.delete(deleted, late).await, Ok(true));
    assert_eq!(list(private.clone(), late).await, (vec![kept], 1));
    assert_eq!(store.find(deleted, late).await, Ok(None));
    assert!(store.find(kept, late).await.expect("find").is_some());
    assert_eq!(list(public, late).await, (vec![], 0));
    let end = NOW.plus(7 * DAY);
    assert_eq!(list(private.clone(), end).await, (vec![], 0));
    assert_eq!(store.delete_all(&private, u64::MAX, late).await, Ok(1));
    assert_eq!(list(private, late).await, (vec![], 0));
}

pub async fn an_open_mailbox_is_open_for_a_time(store: Arc<dyn Storage>) {
    let (first, second, third) = (mailbox("a@example.test"), mailbox("b@example.test"), mailbox("c@example.test"));
    let end = NOW.plus(DAY);
    let is_open = async |mailbox, now| store.is_mailbox_open(mailbox, now).await.expect("a look");
    assert!(!is_open(&first, NOW).await);
    assert_eq!(store.open_mailbox(&first, end, 2).await, Ok(true));
    assert_eq!(store.open_mailbox(&second, end.plus(DAY), 2).await, Ok(true));
    assert_eq!(store.open_mailbox(&first, end, 2).await, Ok(true), "it is open");
    assert_eq!(store.open_mailbox(&third, end, 2).await, Ok(false), "there is no room");
    assert!(is_open(&first, end.before(HOUR)).await && !is_open(&first, end).await && !is_open(&third, NOW).await);
    store.close_mailboxes(end).await.expect("close");
    assert!(!is_open(&first, end).await && is_open(&second, end).await);
    assert_eq!(store.open_mailbox(&third, end.plus(DAY), 2).await, Ok(true));
    assert!(is_open(&third, end).await);
}

macro_rules! leases_conformance {
    ($open:path $(, #[$attribute:meta])?) => {
        crate::suites::leases::leases_conformance! { [$(#[$attribute])?] $open;
            an_address_has_one_record_which_changes_only_as_it_was_seen
            a_key_finds_its_leases_and_no_others
            leases_count_for_client_and_network_until_they_end
            what_is_due_is_told_until_it_is_done
            the_leases_of_a_domain_end_together
            mail_of_a_lease_is_its_own_and_outlives_the_retention
            an_open_mailbox_is_open_for_a_time
        }
    };
    ($attributes:tt $open:path; $($promise:ident)*) => {
        $(
            crate::suites::promise! { $attributes $promise: crate::suites::leases::$promise($open().await) }
        )*
    };
}
pub(crate) use leases_conformance;
