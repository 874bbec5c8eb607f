//! Who has room for answers, and who waits.

use std::net::{IpAddr, Ipv4Addr};

use super::pool::SHARES;
use super::*;
use crate::connections::shares::CLIENTS_MIN;
use crate::model::Client;

const MESSAGE_MAX: u64 = 10 << 20;

fn asker(number: u8) -> Asker {
    let address = IpAddr::V4(Ipv4Addr::new(192, 0, 2, number));
    Asker { requester: Requester::At(Client::of(address)), exchange: Exchange::default() }
}

/// Answers that find no room are refused at once.
fn impatient() -> AnswerMemory {
    memory(Duration::ZERO, Duration::MAX)
}

fn memory(wait_max: Duration, held_min: Duration) -> AnswerMemory {
    let patience = Patience { wait_max, held_min, oversize_held_min: held_min, look_every: Duration::from_millis(1) };
    AnswerMemory::with_patience(MESSAGE_MAX, patience)
}

/// Asks for the room that the largest message takes to become JSON.
async fn largest(memory: &AnswerMemory, asker: &Asker) -> Result<Room, Problem> {
    memory.reserve(asker, MESSAGE_MAX * RENDERED).await
}

#[tokio::test]
async fn small_answers_never_wait_for_large_ones() {
    let memory = impatient();
    let _room = largest(&memory, &asker(1)).await.expect("room");
    memory.reserve(&asker(1), 100 * UNIT).await.expect("room for a small answer");
    let refused = largest(&memory, &asker(2)).await.expect_err("no room");
    assert_eq!(refused.code(), Code::Busy);
}

#[tokio::test]
async fn a_client_has_its_share_and_leaves_the_rest_to_others() {
    let memory = impatient();
    let share = SMALL_POOL / u64::from(SHARES) / SMALL_MAX;
    let mut rooms = Vec::new();
    for _ in 0..share {
        rooms.push(memory.reserve(&asker(1), SMALL_MAX - OVERHEAD).await.expect("room"));
    }
    let busy = memory.reserve(&asker(1), SMALL_MAX - OVERHEAD).await.expect_err("no room");
    assert_eq!(busy.code(), Code::Busy);
    memory.reserve(&asker(2), SMALL_MAX - OVERHEAD).await.expect("another client has room");
    rooms.pop();
    memory.reserve(&asker(1), SMALL_MAX - OVERHEAD).await.expect("room was given back");
}

#[tokio::test]
async fn room_goes_back_as_far_as_it_is_not_needed_and_then_with_the_octets() {
    let memory = memory(Duration::MAX, Duration::MAX);
    // The administrator has no share, so only the pool counts.
    let asker = |_| Asker { requester: Requester::Administrator, exchange: Exchange::default() };
    let mut room = largest(&memory, &asker(1)).await.expect("room");
    room.shrink_to(UNIT);
    let octets = room.hold(vec![0; 1024]);
    let room = memory.reserve(&asker(2), MESSAGE_MAX * (RENDERED - 1)).await.expect("what was given back");
    let third = asker(3);
    let waiting = largest(&memory, &third);
    tokio::pin!(waiting);
    assert!(futures_util::poll!(waiting.as_mut()).is_pending());
    drop(room);
    assert!(futures_util::poll!(waiting.as_mut()).is_pending());
    drop(octets);
    waiting.await.expect("all of it");
}

#[tokio::test]
async fn a_slow_reader_keeps_its_room_until_others_wait_for_it() {
    let memory = memory(Duration::MAX, Duration::ZERO);
    let slow = asker(1);
    let octets = largest(&memory, &slow).await.expect("room").hold(Vec::new());
    assert!(!slow.exchange.aborted().is_cancelled());
    let closed = slow.exchange.aborted().clone();
    // The connection ends when it is closed, and its answer with it.
    tokio::spawn(async move {
        closed.cancelled().await;
        drop(octets);
    });
    largest(&memory, &asker(2)).await.expect("the room of the slow reader");
}

#[tokio::test]
async fn a_client_that_waits_for_its_own_share_closes_no_other() {
    let memory = memory(Duration::MAX, Duration::ZERO);
    let other = asker(1);
    let _octets = memory.reserve(&other, UNIT).await.expect("room").hold(Vec::new());
    let mut held = Vec::new();
    let greedy = asker(2);
    for _ in 0..SMALL_POOL / u64::from(SHARES) / SMALL_MAX {
        let room = memory.reserve(&greedy, SMALL_MAX - OVERHEAD).await.expect("room");
        held.push(room.hold(vec![0; usize::try_from(SMALL_MAX - OVERHEAD).expect("octets")]));
    }
    tokio::select! {
        _ = memory.reserve(&greedy, SMALL_MAX - OVERHEAD) => panic!("there was no room"),
        () = greedy.exchange.aborted().cancelled() => {}
    }
    assert!(!other.exchange.aborted().is_cancelled());
}

#[tokio::test]
async fn clients_that_ask_for_nothing_now_are_forgotten() {
    let memory = impatient();
    for number in 0..100_000_u32 {
        let client = Client::of(IpAddr::V4(number.into()));
        let asker = Asker { requester: Requester::At(client), exchange: Exchange::default() };
        drop(memory.reserve(&asker, UNIT).await.expect("room"));
    }
    let clients = memory.small.shares.clients();
    assert!(clients <= 2 * CLIENTS_MIN, "{clients} clients");
}

#[tokio::test]
async fn what_is_still_prepared_is_not_aborted() {
    let memory = memory(Duration::from_millis(50), Duration::ZERO);
    let busy = asker(1);
    let _room = largest(&memory, &busy).await.expect("room");
    largest(&memory, &asker(2)).await.expect_err("no room");
    assert!(!busy.exchange.aborted().is_cancelled());
}

#[tokio::test]
async fn a_client_has_a_few_answers_prepared_at_once_and_leaves_the_threads_to_others() {
    let memory = memory(Duration::MAX, Duration::MAX);
    let mut rooms = Vec::new();
    for _ in 0..PREPARED_AT_ONCE {
        rooms.push(memory.reserve(&asker(1), UNIT).await.expect("room"));
    }
    let first = asker(1);
    let next = memory.reserve(&first, UNIT);
    tokio::pin!(next);
    assert!(futures_util::poll!(next.as_mut()).is_pending());
    memory.reserve(&asker(2), UNIT).await.expect("another client goes on");
    let _being_read = rooms.pop().expect("a room").hold(Vec::new());
    next.await.expect("a turn");
}

#[tokio::test]
async fn one_answer_at_a_time_has_more_than_a_share() {
    let memory = memory(Duration::MAX, Duration::ZERO);
    let slow = asker(1);
    let octets = largest(&memory, &slow).await.expect("room").hold(Vec::new());
    let share = u64::from(memory.large.shares.units_max) * UNIT - OVERHEAD;
    memory.reserve(&asker(2), share).await.expect("a whole share beside it");
    let second = asker(2);
    let next = largest(&memory, &second);
    tokio::pin!(next);
    // It waits although the room would do: another one of the kind is being read.
    assert!(futures_util::poll!(next.as_mut()).is_pending());
    let aborted = slow.exchange.aborted().clone();
    tokio::spawn(async move {
        aborted.cancelled().await;
        drop(octets);
    });
    next.await.expect("its turn");
}

/// The octets that `raw` takes while it becomes JSON.
fn rendered(raw: &str) -> usize {
    let content = crate::reader::parse(raw.as_bytes());
    let texts = (&content.message, &content.body_text, &content.headers);
    let json = serde_json::to_vec(&texts).expect("JSON").len();
    raw.len() + content.message.len() + content.body_text.len() + json
}

#[test]
fn no_message_takes_more_room_than_is_reserved() {
    let elements =
        ["<hr>", "<li>", "<p>", "<td>", "<h1>x", "<a href=x>", "<br>", "&nGt;", "<pre>\"", "<b>", "&#1;", "<q>"];
    let patterns = (0_u8..128).map(|octet| char::from(octet).to_string()).chain(elements.map(str::to_owned));
    for pattern in patterns {
        for kind in ["text/plain", "text/html"] {
            let body = pattern.repeat(100_000 / pattern.len());
            let raw = format!("Content-Type: {kind}; charset=utf-8\r\n\r\n{body}");
            let (octets, reserved) = (rendered(&raw) as u64, raw.len() as u64 * RENDERED);
            assert!(octets <= reserved, "{octets} octets of {pattern:?} as {kind}, {reserved} are reserved");
        }
    }
}
