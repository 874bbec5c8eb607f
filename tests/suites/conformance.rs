//! The suite that every implementation of `Store` must pass, as one function per promise.
//! Promise: it outlives the code below it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tempmail::events::{Event, Happening, Hint};
use tempmail::model::{Client, DomainRecord, Listed, Timestamp};
use tempmail::random;
use tempmail::store::{EmailsAfter, NewestQuery, PageRequest, Registration, Storage};
use tokio::time::timeout;

use super::PATIENCE;
use crate::support::mail::{delivery, mailbox};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const FIRST_PAGE: PageRequest = PageRequest { offset: 0, limit: 20 };

async fn subjects(store: &dyn Storage, address: &str, page: PageRequest, now: Timestamp) -> (Vec<String>, u64) {
    let part = store.list(&mailbox(address), page, now).await.expect("list");
    let mut raw = Vec::new();
    for listed in &part.emails {
        let email = store.load(listed).await.expect("load").expect("a listed email");
        assert_eq!(email.listed, *listed);
        assert_eq!(listed.size_octets, email.raw.len() as u64);
        raw.push(String::from_utf8(email.raw.to_vec()).expect("text"));
    }
    (raw, part.total)
}

async fn newest(store: &dyn Storage, address: &str) -> Listed {
    store.list(&mailbox(address), FIRST_PAGE, NOW).await.expect("list").emails[0].clone()
}

pub async fn a_mailbox_lists_newest_first_page_by_page(store: Arc<dyn Storage>) {
    for n in 0..5 {
        // A clock that stands still, or goes back, does not change the order.
        let at = Timestamp::from_millis(NOW.millis() - n);
        store.receive(delivery(&["a@example.test"], format!("mail {n}"), at)).await.expect("receive");
    }
    store.receive(delivery(&["b@example.test"], "another's", NOW)).await.expect("receive");
    let page = |offset, limit| PageRequest { offset, limit };
    assert_eq!(subjects(&*store, "a@example.test", page(0, 2), NOW).await, (vec!["mail 4".into(), "mail 3".into()], 5));
    assert_eq!(subjects(&*store, "A@Example.Test", page(4, 2), NOW).await, (vec!["mail 0".into()], 5));
    assert_eq!(subjects(&*store, "a@example.test", page(5, 2), NOW).await, (vec![], 5));
    assert_eq!(subjects(&*store, "a@example.test", page(u64::MAX, 2), NOW).await, (vec![], 5));
    assert_eq!(subjects(&*store, "nobody@example.test", page(0, 2), NOW).await, (vec![], 0));
    let all = store.list(&mailbox("a@example.test"), page(0, 9), NOW).await.expect("list").emails;
    for before in 0..5 {
        let last = all[before].sequence;
        let rest = store.list_before(&mailbox("a@example.test"), last, 2, NOW).await.expect("list");
        assert_eq!(rest, all[before + 1..].iter().take(2).cloned().collect::<Vec<_>>());
    }
}

pub async fn a_message_gives_each_recipient_an_email_of_its_own(store: Arc<dyn Storage>) {
    let sent = delivery(&["a@example.test", "\"B\"@example.test"], "hello", NOW);
    store.receive(sent.clone()).await.expect("receive");
    let (a, b) = (newest(&*store, "a@example.test").await, newest(&*store, "b@example.test").await);
    assert_eq!([a.id, b.id], [sent.envelope.recipients[0].id, sent.envelope.recipients[1].id]);
    let email = store.load(&b).await.expect("load").expect("email");
    assert_eq!(email.envelope, sent.envelope);
    assert_eq!(email.recipient().expect("recipient").address, "\"B\"@example.test");
    assert!(store.delete(a.id, NOW).await.expect("delete"));
    assert!(store.load(&a).await.expect("load").is_none_or(|email| email.raw == "hello"));
    assert_eq!(store.load(&b).await.expect("load").expect("the other's").raw, "hello");
}

pub async fn handing_a_message_over_twice_keeps_it_once(store: Arc<dyn Storage>) {
    let sent = delivery(&["a@example.test", "b@example.test"], "once", NOW);
    store.receive(sent.clone()).await.expect("receive");
    store.receive(sent.clone()).await.expect("receive again");
    assert_eq!(subjects(&*store, "a@example.test", FIRST_PAGE, NOW).await, (vec!["once".into()], 1));
    assert_eq!(store.stats().await.expect("stats").emails, 2);
    // One recipient deleted the mail before it was sent again. It stays deleted, and the other recipient has one.
    assert!(store.delete(sent.envelope.recipients[0].id, NOW).await.expect("delete"));
    store.receive(sent).await.expect("receive again");
    assert_eq!(subjects(&*store, "a@example.test", FIRST_PAGE, NOW).await, (vec![], 0));
    assert_eq!(subjects(&*store, "b@example.test", FIRST_PAGE, NOW).await, (vec!["once".into()], 1));
}

pub async fn an_email_is_found_and_deleted_by_its_id_once(store: Arc<dyn Storage>) {
    store.receive(delivery(&["a@example.test"], "mail", NOW)).await.expect("receive");
    let listed = newest(&*store, "a@example.test").await;
    assert_eq!(store.find(listed.id, NOW).await.expect("find"), Some(listed.clone()));
    assert!(store.delete(listed.id, NOW).await.expect("delete"));
    assert!(!store.delete(listed.id, NOW).await.expect("delete again"));
    assert!(!store.delete(random::email_id(NOW), NOW).await.expect("delete an unknown one"));
    assert_eq!(store.find(listed.id, NOW).await.expect("find"), None);
    assert_eq!(subjects(&*store, "a@example.test", FIRST_PAGE, NOW).await, (vec![], 0));
}

pub async fn deleting_a_part_of_a_mailbox_leaves_what_is_newer(store: Arc<dyn Storage>) {
    for n in 0..5 {
        store.receive(delivery(&["a@example.test"], format!("mail {n}"), NOW)).await.expect("receive");
    }
    let a = mailbox("a@example.test");
    let third = store.list(&a, FIRST_PAGE, NOW).await.expect("list").emails[2].sequence;
    assert_eq!(store.delete_all(&a, third, NOW).await.expect("delete"), 2);
    assert_eq!(store.delete_all(&a, 0, NOW).await.expect("delete"), 0);
    let left = ["mail 4", "mail 3", "mail 2"].map(str::to_owned).to_vec();
    assert_eq!(subjects(&*store, "a@example.test", FIRST_PAGE, NOW).await, (left, 3));
}

pub async fn deleting_a_mailbox_takes_all_of_it_and_no_other(store: Arc<dyn Storage>) {
    for n in 0..50 {
        store
            .receive(delivery(&["a@example.test", "b@example.test"], format!("mail {n}"), NOW))
            .await
            .expect("receive");
    }
    assert_eq!(store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await.expect("delete"), 50);
    assert_eq!(store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await.expect("delete"), 0);
    assert_eq!(store.list(&mailbox("a@example.test"), FIRST_PAGE, NOW).await.expect("list").total, 0);
    assert_eq!(store.list(&mailbox("b@example.test"), FIRST_PAGE, NOW).await.expect("list").total, 50);
    store.receive(delivery(&["a@example.test"], "afterwards", NOW)).await.expect("receive");
    assert_eq!(subjects(&*store, "a@example.test", FIRST_PAGE, NOW).await, (vec!["afterwards".into()], 1));
}

pub async fn an_email_is_gone_from_the_millisecond_of_its_expiry(store: Arc<dyn Storage>) {
    let mut long = delivery(&["a@example.test"], "long", NOW);
    long.expires_at = NOW.plus(Duration::from_secs(100));
    let mut short = delivery(&["a@example.test"], "short", NOW);
    short.expires_at = NOW.plus(Duration::from_secs(10));
    let short_id = short.envelope.recipients[0].id;
    store.receive(long).await.expect("receive");
    store.receive(short).await.expect("receive");

    let last = NOW.plus(Duration::from_millis(9_999));
    assert_eq!(subjects(&*store, "a@example.test", FIRST_PAGE, last).await, (vec!["short".into(), "long".into()], 2));
    let expired = NOW.plus(Duration::from_secs(10));
    assert_eq!(subjects(&*store, "a@example.test", FIRST_PAGE, expired).await, (vec!["long".into()], 1));
    assert_eq!(store.find(short_id, expired).await.expect("find"), None);
    assert!(!store.delete(short_id, expired).await.expect("delete"));
    // The clock was set back, so the mail is readable again until it is removed.
    assert_eq!(subjects(&*store, "a@example.test", FIRST_PAGE, last).await.1, 2);

    assert_eq!(store.expire(last, 100).await.expect("expire").removed, 0);
    let pass = store.expire(expired, 100).await.expect("expire");
    assert_eq!(pass.removed, 1);
    assert!(pass.next_due_at.is_some_and(|due| due >= NOW.plus(Duration::from_secs(100))));
    let query = NewestQuery { by_mailbox: true, domain: None, after: None, limit: 9 };
    let mailboxes = store.newest(query, expired).await.expect("newest").emails;
    let counts: Vec<_> = mailboxes.iter().map(|it| (it.mailbox_emails, it.mailbox_octets)).collect();
    assert_eq!(counts, [(1, "long".len() as u64)], "expired mail is removed, so its mailbox no longer counts it");
    assert_eq!(subjects(&*store, "a@example.test", FIRST_PAGE, last).await, (vec!["long".into()], 1));
    let pass = store.expire(NOW.plus(Duration::from_secs(101)), 100).await.expect("expire");
    assert_eq!((pass.removed, pass.next_due_at), (1, None));
    assert_eq!(store.stats().await.expect("stats").emails, 0);
}

/// Expired mail is removed by whole seconds. Mail that expires later in a second must stay.
pub async fn an_email_that_expires_within_a_second_is_there_until_then(store: Arc<dyn Storage>) {
    const LIFE_MILLIS: u64 = 10_000;
    let after = |millis| NOW.plus(Duration::from_millis(millis));
    let mut sent = Vec::new();
    for received in [0, 1, 500, 999] {
        let address = format!("received{received}@example.test");
        let mut mail = delivery(&[&address], "mail", after(received));
        mail.expires_at = after(received + LIFE_MILLIS);
        sent.push((address, mail.envelope.recipients[0].id, received + LIFE_MILLIS));
        store.receive(mail).await.expect("receive");
    }
    for (millis, removed) in [(9_999, 0), (10_001, 1), (10_499, 0), (10_500, 0), (10_998, 0), (10_999, 0), (11_000, 3)]
    {
        let now = after(millis);
        let pass = store.expire(now, 100).await.expect("expire");
        assert_eq!(pass.removed, removed, "after {millis} ms");
        for (address, id, expiry) in &sent {
            let is_there = millis < *expiry;
            let (listed, total) = subjects(&*store, address, FIRST_PAGE, now).await;
            let found = store.find(*id, now).await.expect("find");
            let seen = [listed.len() == 1, total == 1, found.is_some()];
            assert_eq!(seen, [is_there; 3], "{address} after {millis} ms");
        }
    }
    assert_eq!(store.stats().await.expect("stats").emails, 0);
}

pub async fn a_total_leaves_out_what_has_expired_in_any_order(store: Arc<dyn Storage>) {
    let lives = [50, 53, 49, 60, 58, 57, 90, 10];
    for seconds in lives {
        let mut sent = delivery(&["a@example.test"], "mail", NOW);
        sent.expires_at = NOW.plus(Duration::from_secs(seconds));
        store.receive(sent).await.expect("receive");
    }
    for seconds in 0..100 {
        let part = store.list(&mailbox("a@example.test"), FIRST_PAGE, NOW.plus(Duration::from_secs(seconds))).await;
        let part = part.expect("list");
        let readable = lives.iter().filter(|life| **life > seconds).count();
        assert_eq!((part.emails.len(), part.total), (readable, readable as u64), "after {seconds} s");
    }
}

pub async fn expiry_goes_in_bounded_steps(store: Arc<dyn Storage>) {
    for n in 0..300 {
        store.receive(delivery(&[&format!("user{n}@example.test")], "mail", NOW)).await.expect("receive");
    }
    let later = NOW.plus(Duration::from_hours(2));
    let (mut removed, mut steps) = (0, 0);
    loop {
        let pass = store.expire(later, 100).await.expect("expire");
        assert!(pass.removed < 200, "{} at once", pass.removed);
        removed += pass.removed;
        steps += 1;
        if pass.next_due_at.is_none() {
            break;
        }
    }
    assert_eq!(removed, 300);
    assert!(steps > 1);
}

pub async fn a_domain_is_registered_once_changed_and_removed(store: Arc<dyn Storage>) {
    let record = |name: &str| DomainRecord {
        owner: Some("Ann".into()),
        registrant: Some(Client::of([192, 0, 2, 1].into())),
        ..DomainRecord::new(name.parse().expect(name), NOW)
    };
    let (b, a) = (record("b.example"), record("a.example"));
    assert_eq!(store.register_domain(b.clone(), 2).await, Ok(Registration::Won));
    assert_eq!(
        store.register_domain(DomainRecord { owner: None, ..b.clone() }, 2).await,
        Ok(Registration::Taken(b.clone()))
    );
    assert_eq!(store.register_domain(a.clone(), 2).await, Ok(Registration::Won));
    assert_eq!(store.register_domain(record("c.example"), 2).await, Ok(Registration::Full));
    assert_eq!(store.domains().await, Ok(vec![a.clone(), b.clone()]));

    let mut changed = DomainRecord { last_checked_at: Some(NOW), ..a.clone() };
    changed.deactivate(NOW);
    assert_eq!(store.update_domain(&a, changed.clone()).await, Ok(true));
    assert_eq!(store.update_domain(&a, a.clone()).await, Ok(false), "it was changed meanwhile");
    assert_eq!(store.remove_domain(&b.name).await, Ok(true));
    assert_eq!(store.remove_domain(&b.name).await, Ok(false));
    assert_eq!(store.update_domain(&b, b.clone()).await, Ok(false));
    assert_eq!(store.domains().await, Ok(vec![changed]));
}

pub async fn what_follows_an_email_is_listed_oldest_first_in_steps(store: Arc<dyn Storage>) {
    let to = mailbox("a@example.test");
    for n in 0..5 {
        let mut sent = delivery(&["a@example.test", "b@example.test"], format!("mail {n}"), NOW);
        if n == 2 {
            sent.expires_at = NOW.plus(Duration::from_secs(1));
        }
        store.receive(sent).await.expect("receive");
    }
    let mut oldest_first = store.list(&to, FIRST_PAGE, NOW).await.expect("list").emails;
    oldest_first.reverse();
    let all = store.list_after(&to, 0, 9, NOW).await.expect("list");
    assert_eq!(all, EmailsAfter { emails: oldest_first.clone(), next: None });
    let later = NOW.plus(Duration::from_mins(1));
    let first = store.list_after(&to, oldest_first[0].sequence, 2, later).await.expect("list");
    assert_eq!(first.emails, [oldest_first[1].clone(), oldest_first[3].clone()], "one has expired");
    let rest = store.list_after(&to, first.next.expect("one more"), 2, later).await.expect("list");
    assert_eq!(rest, EmailsAfter { emails: vec![oldest_first[4].clone()], next: None });
    let end = store.list_after(&to, oldest_first[4].sequence, 2, NOW).await.expect("list");
    assert_eq!(end, EmailsAfter { emails: Vec::new(), next: None });
    assert_eq!(store.list_after(&to, u64::MAX, 2, NOW).await.expect("list").emails, []);
}

pub async fn each_change_of_a_mailbox_gives_its_subscribers_a_hint(store: Arc<dyn Storage>) {
    let (to, other) = (mailbox("a@example.test"), mailbox("b@example.test"));
    let (mut of_a, mut of_b) = (store.subscribe(Some(&to), 9), store.subscribe(Some(&other), 9));
    let (mut of_all, mut waiter) = (store.subscribe(None, 9), store.subscribe(Some(&to), 0));
    let mut short = delivery(&["a@example.test"], "short", NOW);
    short.expires_at = NOW.plus(Duration::from_secs(1));
    store.receive(short).await.expect("receive");
    let expired = newest(&*store, "a@example.test").await;
    store.receive(delivery(&["A@example.test"], "long", NOW)).await.expect("receive");
    let deleted = newest(&*store, "a@example.test").await;
    assert!(store.delete(deleted.id, NOW).await.expect("delete"));
    assert_eq!(store.expire(NOW.plus(Duration::from_mins(1)), 9).await.expect("expire").removed, 1);
    let event = |happening, email: &Listed| Hint::Event(Event { happening, email: email.clone() });
    for subscription in [&mut of_a, &mut of_all] {
        for expected in [
            event(Happening::Received, &expired),
            event(Happening::Received, &deleted),
            event(Happening::Deleted, &deleted),
            event(Happening::Expired, &expired),
        ] {
            assert_eq!(timeout(PATIENCE, subscription.next()).await, Ok(expected));
        }
    }
    assert_eq!(timeout(PATIENCE, waiter.next()).await, Ok(Hint::Missed));
    assert_eq!(of_b.next().now_or_never(), None, "nothing happened there");
}

pub async fn a_subscription_begins_after_the_changes_that_were_answered(store: Arc<dyn Storage>) {
    let to = mailbox("a@example.test");
    for _ in 0..200 {
        store.receive(delivery(&["a@example.test"], "before", NOW)).await.expect("receive");
        let mut subscription = store.subscribe(Some(&to), 9);
        store.answers().await.expect("answers");
        assert_eq!(subscription.next().now_or_never(), None);
    }
}

/// The tests that run the whole suite on the stores that `$open` makes, with another attribute if there is one.
macro_rules! conformance {
    ($open:path $(, #[$attribute:meta])?) => {
        crate::suites::conformance::conformance! { [$(#[$attribute])?] $open;
            a_mailbox_lists_newest_first_page_by_page
            a_message_gives_each_recipient_an_email_of_its_own
            handing_a_message_over_twice_keeps_it_once
            an_email_is_found_and_deleted_by_its_id_once
            deleting_a_part_of_a_mailbox_leaves_what_is_newer
            deleting_a_mailbox_takes_all_of_it_and_no_other
            an_email_is_gone_from_the_millisecond_of_its_expiry
            an_email_that_expires_within_a_second_is_there_until_then
            a_total_leaves_out_what_has_expired_in_any_order
            expiry_goes_in_bounded_steps
            a_domain_is_registered_once_changed_and_removed
            what_follows_an_email_is_listed_oldest_first_in_steps
            each_change_of_a_mailbox_gives_its_subscribers_a_hint
            a_subscription_begins_after_the_changes_that_were_answered
        }
    };
    ($attributes:tt $open:path; $($promise:ident)*) => {
        $(
            crate::suites::promise! { $attributes $promise: crate::suites::conformance::$promise($open().await) }
        )*
    };
}
pub(crate) use conformance;
