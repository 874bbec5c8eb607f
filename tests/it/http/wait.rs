//! Waiting for mail: which Email is the answer, and that none is missed.
//! Promise: it outlives the code below it.

use std::time::Duration;

use reqwest::StatusCode;
use tokio::time::timeout;

use super::{Answer, TestServer, refusal};
use crate::support::test_disk::TestDisk;
use crate::support::until::until;

const PATIENCE: Duration = Duration::from_secs(60);
const WAIT: &str = "/api/mail/wait?to=ann@example.test";
/// A wait that no test outlives.
const LONG: &str = "/api/mail/wait?to=ann@example.test&timeout=300";

fn mail(subject: &str) -> String {
    format!("From: shop@example.org\r\nSubject: {subject}\r\n\r\ntext")
}

async fn soon(answer: impl Future<Output = Answer>) -> Answer {
    timeout(PATIENCE, answer).await.expect("an answer in time")
}

fn subject(answer: &Answer) -> String {
    answer.json()["subject"].as_str().expect("a subject").to_owned()
}

#[tokio::test]
async fn mail_that_is_there_is_the_answer_oldest_first_and_as_by_its_id() {
    let api = TestServer::start().await;
    let id = api.receive(&["ann@example.test"], &mail("one")).await.remove(0);
    api.receive(&["ann@example.test"], &mail("two")).await;
    let answer = api.get(WAIT).await;
    let by_id = api.get(&format!("/api/mail/messages/{id}")).await;
    assert_eq!(answer.json(), by_id.json());
    assert_eq!(subject(&api.get(&format!("{WAIT}&since={id}")).await), "two");
}

#[tokio::test]
async fn nothing_falls_between_the_subscription_and_the_first_look() {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    // It arrives while the first look reads what was there before.
    api.deliver("ann@example.test", &mail("one")).await;
    let held = disk.hold(|call| call.is_by_reader_of("journal-"));
    let target = format!("{LONG}&subject=now");
    let arrives = async {
        until("the look reads", async || held.waiting() > 0).await;
        api.deliver("ann@example.test", &mail("now")).await;
        drop(held);
    };
    let (answer, ()) = tokio::join!(soon(api.get(&target)), arrives);
    assert_eq!(subject(&answer), "now");
    // Elsewhere the two meet in another way each time.
    for number in 0..20 {
        let wait = format!("/api/mail/wait?to=box{number}@example.test&timeout=300");
        let to = format!("box{number}@example.test");
        let arrives = api.send(&to, "now", "text");
        let (answer, ()) = tokio::join!(soon(api.get(&wait)), arrives);
        assert_eq!(subject(&answer), "now");
        assert_eq!(subject(&api.get(&wait).await), "now", "it was there before");
    }
}

#[tokio::test]
async fn mail_that_arrives_wakes_those_whose_filter_it_passes() {
    let api = TestServer::start().await;
    let wanted = api.get("/api/mail/wait?to=ann@example.test&timeout=300&subject=code&from=SHOP");
    let other = api.get("/api/mail/wait?to=bob@example.test&timeout=300");
    let arrive = async {
        api.receive(&["ann@example.test"], &mail("welcome")).await;
        api.receive(&["ann@example.test"], "From: x@example.org\r\nSubject: code\r\n\r\n").await;
        api.receive(&["ann@example.test"], &mail("your CODE")).await;
        api.receive(&["bob@example.test"], &mail("for bob")).await;
    };
    let (wanted, other, ()) = tokio::join!(soon(wanted), soon(other), arrive);
    assert_eq!((subject(&wanted), subject(&other)), ("your CODE".to_owned(), "for bob".to_owned()));
}

#[tokio::test]
async fn the_time_passes_without_mail() {
    let api = TestServer::start().await;
    api.receive(&["ann@example.test"], &mail("one")).await;
    for filter in ["timeout=0&subject=two", "timeout=1&subject=two", "timeout=0&since=2033-01-01T00:00:00Z"] {
        let answer = soon(api.get(&format!("{WAIT}&{filter}"))).await;
        assert_eq!((answer.status, answer.body.len()), (StatusCode::NO_CONTENT, 0), "{filter}");
    }
}

#[tokio::test]
async fn since_is_a_time_or_an_email_even_one_that_is_gone() {
    let api = TestServer::start().await;
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(api.receive(&["ann@example.test"], &mail(&number.to_string())).await.remove(0));
        api.clock.advance(Duration::from_mins(1));
    }
    let since = |since: String| {
        let api = &api;
        async move { subject(&api.get(&format!("{WAIT}&since={since}")).await) }
    };
    assert_eq!(since("2023-11-14T22:14:50Z".into()).await, "2");
    assert_eq!(since(ids[0].clone()).await, "1");
    api.administrator("DELETE", &format!("/api/mail/delete?id={}", ids[1]), "").await;
    assert_eq!(since(ids[1].clone()).await, "2", "its id has its time");
    let of_150_s = format!("{:012x}", 1_700_000_150_000_u64);
    let unknown = format!("{}-{}-7e20-a3a8-0123456789ab", &of_150_s[..8], &of_150_s[8..]);
    assert_eq!(since(unknown).await, "3", "an unknown one too");
    let none = api.get(&format!("{WAIT}&timeout=0&since={}", ids[3])).await;
    assert_eq!(none.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn steps_pass_over_mail_that_does_not_pass_and_what_has_expired() {
    let api = TestServer::start().await;
    let sent = |numbers: std::ops::Range<u32>| numbers.map(|number| mail(&format!("n{number}.")));
    api.receive_all("ann@example.test", sent(0..550)).await;
    api.clock.advance(Duration::from_mins(119));
    api.receive_all("ann@example.test", sent(550..600)).await;
    api.clock.advance(Duration::from_mins(2));
    assert_eq!(subject(&api.get(WAIT).await), "n550.");
    assert_eq!(subject(&api.get(&format!("{WAIT}&subject=n598.")).await), "n598.");
}

#[tokio::test]
async fn what_is_no_wait_is_refused() {
    let api = TestServer::start().await;
    for (query, code) in [
        ("", "parameter_missing"),
        ("to=nobody", "address_invalid"),
        ("to=ann@example.test&timeout=", "parameter_invalid"),
        ("to=ann@example.test&timeout=-1", "parameter_invalid"),
        ("to=ann@example.test&timeout=30s", "parameter_invalid"),
        ("to=ann@example.test&since=yesterday", "parameter_invalid"),
        ("to=ann@example.test&since=44444444-4444-4444-4444-444444444444", "id_invalid"),
        ("to=ann@example.test&has=money", "parameter_invalid"),
    ] {
        let answer = api.get(&format!("/api/mail/wait?{query}")).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, code), "{query}");
    }
}

#[tokio::test]
async fn a_wait_is_for_those_who_may_read() {
    let api = TestServer::with("public = ['web']").await;
    assert_eq!(api.get(WAIT).await.problem(), "token_required");
    let api = TestServer::with("domain = ['example.com']").await;
    let role = "/api/mail/wait?to=abuse@example.com&timeout=0";
    assert_eq!(api.get(role).await.problem(), "role_address");
    assert_eq!(api.administrator("GET", role, "").await.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_token_that_was_revoked_gets_no_answer() {
    let api = TestServer::with("domain = ['example.com']").await;
    let bearer = format!("Bearer {}", api.token("read").await);
    let wait = soon(api.get_with("/api/mail/wait?to=abuse@example.com&timeout=300", "authorization", &bearer));
    let arrives = async {
        api.until_waiting(1).await;
        assert_eq!(api.administrator("DELETE", "/api/admin/tokens?id=read", "").await.status, StatusCode::OK);
        api.receive(&["abuse@example.com"], &mail("secret")).await;
    };
    let (answer, ()) = tokio::join!(wait, arrives);
    assert_eq!(refusal(&answer), (401, "token_invalid".to_owned()));
}

/// No mail that arrives is from before a time in the past, so a search for some among all of an inbox would be in vain.
#[tokio::test]
async fn a_wait_has_no_end_in_the_past() {
    let api = TestServer::start().await;
    api.receive(&["ann@example.test"], &mail("now")).await;
    assert_eq!(subject(&api.get(&format!("{WAIT}&until=2001-01-01T00:00:00Z")).await), "now");
}

#[tokio::test]
async fn a_wait_counts_once_in_the_rate_limit() {
    let api = TestServer::with("rate-limit = 2").await;
    let wait = soon(api.get(LONG));
    let arrive = async {
        for number in 0..5 {
            api.receive(&["bob@example.test"], &mail(&number.to_string())).await;
        }
        api.receive(&["ann@example.test"], &mail("now")).await;
    };
    let (answer, ()) = tokio::join!(wait, arrive);
    assert!(answer.header("ratelimit").is_some_and(|limit| limit.contains("r=1;")), "{answer:?}");
    assert_eq!(api.get(&format!("{WAIT}&timeout=0")).await.status, StatusCode::OK);
    assert_eq!(api.get(&format!("{WAIT}&timeout=0")).await.problem(), "rate_limited");
}

#[tokio::test]
async fn a_wait_keeps_its_time_while_mail_that_does_not_pass_always_arrives() {
    let api = TestServer::start().await;
    let target = format!("{WAIT}&timeout=1&subject=code");
    let arrivals = api.receive_all("ann@example.test", std::iter::repeat_with(|| mail("other")));
    tokio::select! {
        answer = soon(api.get(&target)) => assert_eq!(answer.status, StatusCode::NO_CONTENT),
        () = arrivals => unreachable!("it has no end"),
    }
}
