//! The stream of events: what it says, in which order, and what a client gets that comes back.

use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{Request, StatusCode};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tempmail::http::Principal;
use tempmail::store::Store;
use tokio::time::timeout;
use tower::ServiceExt;

use super::{NOW, TestApi, public};
use crate::support::faulty_store::Look;
use crate::support::mail::delivery;
use crate::support::until::until;

const PATIENCE: Duration = Duration::from_secs(60);
/// What the answers of one client may have in memory, of those that are small.
const SHARE_OCTETS: usize = 12 << 20;
/// What an answer takes of that beside its mail, with what is rounded up.
const OVERHEAD_OCTETS: usize = 5 << 10;
const STREAM: &str = "/api/mail/stream?to=ann@example.test";

/// An event as a client gets it.
#[derive(Debug, Default, PartialEq)]
struct Event {
    name: String,
    id: Option<String>,
    data: Value,
}

struct Events {
    body: BodyDataStream,
    text: String,
}

impl Events {
    /// The next block that is no comment.
    async fn next(&mut self) -> Event {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let mut event = Event::default();
                for line in block.lines() {
                    match line.split_once(": ").expect(line) {
                        ("event", name) => name.clone_into(&mut event.name),
                        ("id", id) => event.id = Some(id.to_owned()),
                        ("data", data) => event.data = serde_json::from_str(data).expect("JSON"),
                        ("retry", millis) => assert_eq!(millis, "1000"),
                        _ => panic!("{line}"),
                    }
                }
                let rest = rest.to_owned();
                self.text = rest;
                return event;
            }
            let piece = timeout(PATIENCE, self.body.next()).await.expect("an event in time");
            self.text += std::str::from_utf8(&piece.expect("no end").expect("octets")).expect("UTF-8");
        }
    }

    /// The next piece of the body, `None` at its end.
    async fn piece(&mut self) -> Option<Bytes> {
        let piece = timeout(PATIENCE, self.body.next()).await.expect("a piece or the end in time");
        piece.map(|piece| piece.expect("octets"))
    }

    /// The next event's name, and the subject or the id in its data.
    async fn next_about(&mut self) -> (String, String) {
        let Event { name, data, .. } = self.next().await;
        let about = data["subject"].as_str().or(data["id"].as_str()).unwrap_or_default();
        (name, about.to_owned())
    }
}

async fn open(api: &TestApi, request: Request<Body>) -> Events {
    let answer = api.router.clone().oneshot(request).await.expect("infallible");
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    Events { body: answer.into_body().into_data_stream(), text: String::new() }
}

/// Opens the stream after this event. Returns the id that it begins with.
async fn follow(api: &TestApi, last: Option<&str>) -> (Events, Event) {
    let mut request = public("GET", STREAM);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let mut events = open(api, request.body(Body::empty()).expect("a request")).await;
    let begin = events.next().await;
    (events, begin)
}

fn mail(subject: &str) -> String {
    format!("From: shop@example.org\r\nSubject: {subject}\r\n\r\ntext")
}

#[tokio::test]
async fn each_change_of_the_inbox_is_an_event_and_no_other_is() {
    let api = TestApi::new();
    let (mut events, begin) = follow(&api, None).await;
    assert!(begin.name.is_empty() && begin.id.is_some(), "{begin:?}");
    api.receive(&["bob@example.test"], &mail("for bob")).await;
    let id = api.receive(&["Ann@Example.Test"], &mail("one")).await[0];
    let received = events.next().await;
    let data = json!({
        "id": id, "recipient": "Ann@example.test", "from": "shop@example.org", "subject": "one",
        "receivedAt": "2023-11-14 22:13:20", "size": mail("one").len(), "expiresAt": "2023-11-15 00:13:20",
    });
    assert_eq!((received.name.as_str(), &received.data), ("email.received", &data));
    assert_eq!(api.administrator("DELETE", &format!("/api/mail/delete?id={id}"), "").await.json()["deleted"], 1);
    let deleted = events.next().await;
    let data = json!({ "id": id, "recipient": "ann@example.test" });
    assert_eq!(deleted, Event { name: "email.deleted".into(), id: None, data });
    let id = api.receive(&["ann@example.test"], &mail("two")).await[0];
    assert_eq!(events.next_about().await, ("email.received".into(), "two".into()));
    api.clock.advance(Duration::from_hours(3));
    let (mut events, _) = follow(&api, None).await;
    api.store.expire(tempmail::clock::Clock::now(&*api.clock), 9).await.expect("expire");
    assert_eq!(events.next_about().await, ("email.expired".into(), id.to_string()));
}

#[tokio::test]
async fn a_client_that_comes_back_gets_what_arrived_meanwhile_once() {
    let api = TestApi::new();
    let (mut events, begin) = follow(&api, None).await;
    api.receive(&["ann@example.test"], &mail("one")).await;
    let one = events.next().await;
    drop(events);
    api.receive(&["ann@example.test"], &mail("two")).await;
    let gone = api.receive(&["ann@example.test"], &mail("gone")).await[0];
    api.receive(&["ann@example.test"], &mail("three")).await;
    api.administrator("DELETE", &format!("/api/mail/delete?id={gone}"), "").await;
    let (mut events, _) = follow(&api, one.id.as_deref()).await;
    for expected in ["two", "three"] {
        assert_eq!(events.next_about().await, ("email.received".into(), expected.into()));
    }
    api.receive(&["ann@example.test"], &mail("four")).await;
    assert_eq!(events.next_about().await, ("email.received".into(), "four".into()));
    let query = format!("{STREAM}&lastEventId={}", begin.id.expect("an id"));
    let mut again = open(&api, public("GET", &query).body(Body::empty()).expect("a request")).await;
    again.next().await;
    assert_eq!(again.next_about().await, ("email.received".into(), "one".into()));
}

#[tokio::test]
async fn nothing_falls_between_the_subscription_and_the_first_look_or_comes_twice() {
    for moment in [Look::Before, Look::After] {
        let api = TestApi::new();
        let (_, begin) = follow(&api, None).await;
        api.receive(&["ann@example.test"], &mail("one")).await;
        api.store.deliver_at_next_look(moment, delivery(&["ann@example.test"], mail("two"), NOW));
        let (mut events, _) = follow(&api, begin.id.as_deref()).await;
        api.receive(&["ann@example.test"], &mail("three")).await;
        for expected in ["one", "two", "three"] {
            assert_eq!(events.next_about().await, ("email.received".into(), expected.into()), "{moment:?}");
        }
    }
}

#[tokio::test]
async fn a_client_that_cannot_go_on_reads_the_list_again() {
    let api = TestApi::new();
    let (_events, begin) = follow(&api, None).await;
    let begin = begin.id.expect("an id");
    let (tag, sequence) = begin.split_once('-').expect("two parts");
    let foreign = format!("{:08x}-{sequence}", u32::from_str_radix(tag, 16).expect("a tag") ^ 1);
    for last in ["1", "x", &foreign, &format!("{tag}-ffffffff")] {
        let (_, reset) = follow(&api, Some(last)).await;
        assert_eq!((reset.name.as_str(), reset.id.as_deref()), ("reset", Some(&*begin)), "{last}");
    }
    for number in 0..1001 {
        api.store.receive(delivery(&["ann@example.test"], mail(&number.to_string()), NOW)).await.expect("store");
    }
    assert_eq!(follow(&api, Some(&begin)).await.1.name, "reset");
    let (mut events, second) =
        follow(&api, Some(&format!("{tag}-{:x}", u64::from_str_radix(sequence, 16).expect("a number") + 1))).await;
    assert!(second.name.is_empty(), "1,000 are repeated");
    assert_eq!(events.next_about().await, ("email.received".into(), "1".into()));
}

#[tokio::test]
async fn a_client_that_is_late_gets_reset_and_then_what_comes() {
    let api = TestApi::new();
    let (mut events, _) = follow(&api, None).await;
    for number in 0..65 {
        api.store.receive(delivery(&["ann@example.test"], mail(&number.to_string()), NOW)).await.expect("store");
    }
    // Its writer has published all when it answers a change that came later.
    api.store.answers().await.expect("answers");
    assert_eq!(events.next().await.name, "reset");
    api.receive(&["ann@example.test"], &mail("next")).await;
    assert_eq!(events.next_about().await, ("email.received".into(), "next".into()));
}

#[tokio::test]
async fn all_mail_is_for_the_administrator() {
    let api = TestApi::new();
    assert_eq!(api.get("/api/mail/stream").await.problem(), "unauthorized");
    assert_eq!(api.get("/api/mail/stream?to=abuse@example.com").await.problem(), "role_address");
    assert_eq!(api.get("/api/mail/stream?to=nobody").await.problem(), "address_invalid");
    let request = Request::get("/api/mail/stream").extension(Principal::Administrator).body(Body::empty());
    let mut events = open(&api, request.expect("a request")).await;
    events.next().await;
    api.receive(&["bob@example.test"], &mail("for bob")).await;
    let id = api.receive(&["ann@example.test"], &mail("for ann")).await[0];
    assert_eq!(events.next_about().await, ("email.received".into(), "for bob".into()));
    assert_eq!(events.next_about().await, ("email.received".into(), "for ann".into()));
    api.administrator("DELETE", &format!("/api/mail/delete?id={id}"), "").await;
    let deleted = events.next().await;
    assert_eq!((deleted.name.as_str(), &deleted.data["id"]), ("email.deleted", &json!(id)));
    let recipient = deleted.data["recipient"].as_str().expect("a recipient");
    assert!(["ann@example.test", ""].contains(&recipient), "{recipient}");
}

#[tokio::test]
async fn a_stream_without_events_shows_that_it_is_there_and_ends_after_15_minutes() {
    let api = TestApi::new();
    let (mut events, _) = follow(&api, None).await;
    let mut idle = async |by: Duration| {
        let sleeps = api.clock.sleeps();
        let (piece, ()) = tokio::join!(events.piece(), async {
            until("the stream sleeps", async || api.clock.sleeps() > sleeps).await;
            assert_eq!(api.clock.last_sleep(), Duration::from_secs(15));
            api.clock.advance(by);
        });
        piece
    };
    for _ in 0..59 {
        assert_eq!(idle(Duration::from_secs(15)).await.as_deref(), Some(&b":\n\n"[..]));
    }
    assert_eq!(idle(Duration::from_millis(14_999)).await.as_deref(), Some(&b":\n\n"[..]));
    assert_eq!(idle(Duration::from_millis(1)).await.as_deref(), Some(&b":\n\n"[..]), "not yet 15 minutes old before");
    assert_eq!(events.piece().await, None);
}

#[tokio::test]
async fn a_stream_that_is_never_idle_ends_after_15_minutes_too() {
    let api = TestApi::new();
    let (mut events, _) = follow(&api, None).await;
    for subject in ["one", "two", "three"] {
        api.receive(&["ann@example.test"], &mail(subject)).await;
    }
    api.store.answers().await.expect("answers");
    assert_eq!(events.next_about().await, ("email.received".into(), "one".into()));
    api.clock.advance(Duration::from_mins(15) - Duration::from_millis(1));
    assert_eq!(events.next_about().await, ("email.received".into(), "two".into()));
    api.clock.advance(Duration::from_millis(1));
    assert_eq!(events.piece().await, None);
}

/// What a stream has sent and its client has not read is memory of that client.
#[tokio::test]
async fn events_that_are_not_read_use_up_the_memory_for_answers_of_their_client() {
    let api = TestApi::with(|config| config.mail.message_octets_max = 10 << 20);
    let (mut events, _) = follow(&api, None).await;
    let subject = "long ".repeat(12_000);
    let id = api.receive(&["ann@example.test"], &mail("short")).await[0];
    let (mut unread, mut octets) = (vec![events.piece().await.expect("an event")], 0);
    // An event needs several times its length while it is prepared.
    while octets < SHARE_OCTETS - 16 * subject.len() {
        api.receive(&["ann@example.test"], &mail(&subject)).await;
        let event = events.piece().await.expect("an event");
        assert!(event.len() > subject.len() / 2, "{} octets", event.len());
        octets += event.len() + OVERHEAD_OCTETS;
        unread.push(event);
    }
    let large = api.receive(&["bob@example.test"], &(mail("large") + &"x".repeat(200_000))).await[0];
    let path = format!("/api/mail/messages/{large}");
    let mut answer = Box::pin(api.get(&path));
    assert!(futures_util::poll!(&mut answer).is_pending());
    // The thread that reads mail does so in the order of the requests.
    for _ in 0..2 {
        assert_eq!(api.administrator("GET", &format!("/api/mail/messages/{id}"), "").await.status, 200);
        assert!(futures_util::poll!(&mut answer).is_pending(), "there is room");
    }
    drop(unread);
    assert_eq!(timeout(PATIENCE, answer).await.expect("an answer in time").status, 200);
}
