//! The stream of events: what it says, in which order, and what a client gets that comes back.
//! Promise: it outlives the code below it.

use std::time::Duration;

use memchr::memmem;
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use super::TestServer;
use crate::support::test_disk::TestDisk;
use crate::support::until::until;

const PATIENCE: Duration = Duration::from_secs(60);
const STREAM: &str = "/api/mail/stream?to=ann@example.test";

/// An event as a client gets it.
#[derive(Debug, Default, PartialEq)]
struct Event {
    name: String,
    id: Option<String>,
    data: Value,
}

struct Events {
    response: Response,
    text: String,
}

impl Events {
    async fn open(request: RequestBuilder) -> Self {
        let response = request.send().await.expect("an answer");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// The next block that is no comment.
    async fn next(&mut self) -> Event {
        self.next_or_end().await.expect("no end")
    }

    /// The next event, or nothing at the end of the stream.
    async fn next_or_end(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let mut event = Event::default();
                for line in block.lines().filter(|line| *line != ":") {
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
                if event != Event::default() {
                    return Some(event);
                }
                continue;
            }
            let piece = timeout(PATIENCE, self.response.chunk()).await.expect("an event in time").expect("octets")?;
            self.text += std::str::from_utf8(&piece).expect("UTF-8");
        }
    }

    /// The next piece of a stream without events, or nothing at its end.
    async fn piece(&mut self) -> Option<String> {
        let piece = timeout(PATIENCE, self.response.chunk()).await.expect("in time").expect("octets");
        piece.map(|piece| String::from_utf8_lossy(&piece).into_owned())
    }

    /// The next event's name, and the subject or the id in its data.
    async fn next_about(&mut self) -> (String, String) {
        let Event { name, data, .. } = self.next().await;
        let about = data["subject"].as_str().or(data["id"].as_str()).unwrap_or_default();
        (name, about.to_owned())
    }
}

/// Opens the stream after this event. Returns the id that it begins with.
async fn follow(api: &TestServer, last: Option<&str>) -> (Events, Event) {
    let request = api.request("GET", STREAM);
    let request = last.into_iter().fold(request, |request, last| request.header("last-event-id", last));
    let mut events = Events::open(request).await;
    let begin = events.next().await;
    (events, begin)
}

fn mail(subject: &str) -> String {
    format!("From: shop@example.org\r\nSubject: {subject}\r\n\r\ntext")
}

#[tokio::test]
async fn each_change_of_the_inbox_is_an_event_and_no_other_is() {
    let api = TestServer::start().await;
    let (mut events, begin) = follow(&api, None).await;
    assert!(begin.name.is_empty() && begin.id.is_some(), "{begin:?}");
    api.receive(&["bob@example.test"], &mail("for bob")).await;
    let id = api.receive(&["Ann@Example.Test"], &mail("one")).await.remove(0);
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
    api.receive(&["ann@example.test"], &mail("two")).await;
    assert_eq!(events.next_about().await, ("email.received".into(), "two".into()));
    // Removals pause after a start, so the first one that expires shows that they go on.
    api.clock.advance(Duration::from_hours(2));
    api.in_time(|stats| stats.emails == 0).await;
    let id = api.receive(&["ann@example.test"], &mail("three")).await.remove(0);
    api.clock.advance(Duration::from_mins(119));
    let (mut events, _) = follow(&api, None).await;
    api.clock.advance(Duration::from_mins(1));
    assert_eq!(events.next_about().await, ("email.expired".into(), id));
}

#[tokio::test]
async fn a_client_that_comes_back_gets_what_arrived_meanwhile_once() {
    let api = TestServer::start().await;
    let (mut events, begin) = follow(&api, None).await;
    api.receive(&["ann@example.test"], &mail("one")).await;
    let one = events.next().await;
    drop(events);
    api.receive(&["ann@example.test"], &mail("two")).await;
    let gone = api.receive(&["ann@example.test"], &mail("gone")).await.remove(0);
    api.receive(&["ann@example.test"], &mail("three")).await;
    api.administrator("DELETE", &format!("/api/mail/delete?id={gone}"), "").await;
    let (mut events, _) = follow(&api, one.id.as_deref()).await;
    for expected in ["two", "three"] {
        assert_eq!(events.next_about().await, ("email.received".into(), expected.into()));
    }
    api.receive(&["ann@example.test"], &mail("four")).await;
    assert_eq!(events.next_about().await, ("email.received".into(), "four".into()));
    let query = format!("{STREAM}&lastEventId={}", begin.id.expect("an id"));
    let mut again = Events::open(api.request("GET", &query)).await;
    again.next().await;
    assert_eq!(again.next_about().await, ("email.received".into(), "one".into()));
}

/// The subscription and the arrivals meet in another way each time. It takes a while to find what was missed.
#[tokio::test]
async fn nothing_falls_between_the_subscription_and_the_first_look_or_comes_twice() {
    let api = TestServer::start().await;
    let begin = follow(&api, None).await.1.id;
    let mut count = 0;
    let mut receive = async |more: usize| {
        let numbers = count..count + more;
        count += more;
        api.receive_all("ann@example.test", numbers.map(|number| mail(&number.to_string()))).await;
        count
    };
    receive(200).await;
    for _ in 0..10 {
        let ((mut events, _), _) = tokio::join!(follow(&api, begin.as_deref()), receive(5));
        for number in 0..receive(1).await {
            assert_eq!(events.next_about().await, ("email.received".into(), number.to_string()));
        }
    }
}

#[tokio::test]
async fn a_client_that_cannot_go_on_reads_the_list_again() {
    let api = TestServer::start().await;
    let (_events, begin) = follow(&api, None).await;
    let begin = begin.id.expect("an id");
    let (tag, sequence) = begin.split_once('-').expect("two parts");
    let foreign = format!("{:08x}-{sequence}", u32::from_str_radix(tag, 16).expect("a tag") ^ 1);
    for last in ["1", "x", &foreign, &format!("{tag}-ffffffff")] {
        let (_, reset) = follow(&api, Some(last)).await;
        assert_eq!((reset.name.as_str(), reset.id.as_deref()), ("reset", Some(&*begin)), "{last}");
    }
    api.receive_all("ann@example.test", (0..1001).map(|number| mail(&number.to_string()))).await;
    assert_eq!(follow(&api, Some(&begin)).await.1.name, "reset");
    let (mut events, second) =
        follow(&api, Some(&format!("{tag}-{:x}", u64::from_str_radix(sequence, 16).expect("a number") + 1))).await;
    assert!(second.name.is_empty(), "1,000 are repeated");
    assert_eq!(events.next_about().await, ("email.received".into(), "1".into()));
}

/// Reads until `marker` has come, and keeps nothing.
async fn read_past(stream: &mut TcpStream, marker: &str) {
    let (mut last, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    while memmem::find(&last, marker.as_bytes()).is_none() {
        last.drain(..last.len().saturating_sub(marker.len()));
        let length = timeout(PATIENCE, stream.read(&mut buffer)).await.expect("in time").expect("read");
        assert_ne!(length, 0, "closed before {marker}");
        last.extend_from_slice(&buffer[..length]);
    }
}

#[tokio::test]
async fn a_client_that_is_late_gets_reset_and_then_what_comes() {
    let api = TestServer::start().await;
    let socket = TcpSocket::new_v4().expect("a socket");
    // Without this, a client that reads nothing may still take tens of megabytes.
    socket.set_recv_buffer_size(16 * 1024).expect("a small buffer");
    let mut stream = socket.connect(api.http()).await.expect("connect");
    stream.write_all(format!("GET {STREAM} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await.expect("write");
    read_past(&mut stream, "retry: 1000").await;
    // More than the service's socket holds.
    let long = "long ".repeat(12_000);
    api.receive_all("ann@example.test", (0..400).map(|_| mail(&long))).await;
    read_past(&mut stream, "event: reset\n").await;
    // While the client is late, another reset may stand for this one too.
    until("what comes is an event again", async || {
        api.receive(&["ann@example.test"], &mail("next")).await;
        let said = read_past(&mut stream, "\"subject\":\"next\"");
        timeout(Duration::from_secs(1), said).await.is_ok()
    })
    .await;
}

#[tokio::test]
async fn all_mail_is_for_the_administrator() {
    let api = TestServer::start().await;
    assert_eq!(api.get("/api/mail/stream").await.problem(), "token_required");
    assert_eq!(api.get("/api/mail/stream?to=abuse@example.com").await.problem(), "role_address");
    assert_eq!(api.get("/api/mail/stream?to=nobody").await.problem(), "address_invalid");
    let mut events = Events::open(api.admin("GET", "/api/mail/stream")).await;
    events.next().await;
    api.receive(&["bob@example.test"], &mail("for bob")).await;
    let id = api.receive(&["ann@example.test"], &mail("for ann")).await.remove(0);
    assert_eq!(events.next_about().await, ("email.received".into(), "for bob".into()));
    assert_eq!(events.next_about().await, ("email.received".into(), "for ann".into()));
    api.administrator("DELETE", &format!("/api/mail/delete?id={id}"), "").await;
    let deleted = events.next().await;
    assert_eq!((deleted.name.as_str(), &deleted.data["id"]), ("email.deleted", &json!(id)));
    let recipient = deleted.data["recipient"].as_str().expect("a recipient");
    assert!(["ann@example.test", ""].contains(&recipient), "{recipient}");
}

#[tokio::test]
async fn a_token_that_was_revoked_gets_no_further_event() {
    let api = TestServer::start().await;
    let token = api.token("read").await;
    let mut events = Events::open(api.request("GET", "/api/mail/stream").bearer_auth(token)).await;
    events.next().await;
    api.receive(&["ann@example.test"], &mail("one")).await;
    assert_eq!(events.next_about().await, ("email.received".into(), "one".into()));
    assert_eq!(api.administrator("DELETE", "/api/admin/tokens?id=read", "").await.status, 200);
    api.receive(&["ann@example.test"], &mail("two")).await;
    assert_eq!(events.next_or_end().await, None);
}

/// A client that came back with much to catch up kept a service that stops until its drain timeout.
#[tokio::test]
async fn what_a_client_missed_is_not_sent_to_its_end_when_the_service_stops() {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    let (events, begin) = follow(&api, None).await;
    drop(events);
    for subject in ["one", "two", "three"] {
        api.receive(&["ann@example.test"], &mail(subject)).await;
    }
    let held = disk.hold(|call| call.is_by_reader_of("journal-"));
    let (mut events, _) = follow(&api, begin.id.as_deref()).await;
    until("the first one is being read", async || held.waiting() > 0).await;
    let address = api.http();
    let stopping = tokio::spawn(api.stop());
    until("the service stops", async || TcpStream::connect(address).await.is_err()).await;
    drop(held);
    assert_eq!(events.next_about().await, ("email.received".into(), "one".into()));
    assert_eq!(events.next_or_end().await, None);
    stopping.await.expect("stopped");
}

#[tokio::test]
async fn a_stream_without_events_shows_that_it_is_there_and_ends_after_15_minutes() {
    let api = TestServer::start().await;
    let (mut events, _) = follow(&api, None).await;
    for time in [Duration::from_secs(15), Duration::from_secs(880)] {
        api.pass(time).await;
        let piece = events.piece().await.expect("no end before its time");
        assert!(piece.lines().all(|line| [":", ""].contains(&line)), "{piece}");
    }
    api.pass(Duration::from_secs(15)).await;
    while let Some(piece) = events.piece().await {
        assert!(piece.lines().all(|line| [":", ""].contains(&line)), "{piece}");
    }
}

#[tokio::test]
async fn a_stream_that_is_never_idle_ends_after_15_minutes_too() {
    let api = TestServer::start().await;
    let (mut events, _) = follow(&api, None).await;
    for _ in 0..15 {
        api.receive(&["ann@example.test"], &mail("in time")).await;
        assert_eq!(events.next_about().await.1, "in time");
        api.pass(Duration::from_mins(1)).await;
    }
    api.receive(&["ann@example.test"], &mail("late")).await;
    api.receive(&["ann@example.test"], &mail("later")).await;
    // The stream may have waited for the first one already.
    let rest = [events.next_or_end().await, events.next_or_end().await];
    assert!(rest.contains(&None), "{rest:?}");
}
