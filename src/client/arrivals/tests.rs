use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Query, State};
use axum::routing::get;
use serde_json::{Value, json};

use super::*;
use crate::client::{LocalRouter, Transport};

/// What happens to an inbox.
type Happening = Box<dyn FnOnce(&mut Vec<(u32, u32)>) + Send>;

/// An inbox, newest first, as pairs of id and second.
#[derive(Default)]
struct Inbox {
    mails: Vec<(u32, u32)>,
    /// What happens to the inbox after each question to come.
    events: VecDeque<Happening>,
    questions: usize,
}

type Shared = Arc<Mutex<Inbox>>;

async fn list(State(inbox): State<Shared>, Query(query): Query<HashMap<String, usize>>) -> axum::Json<Value> {
    let mut inbox = inbox.lock().expect("inbox");
    inbox.questions += 1;
    let (page, limit) = (query["page"], query["limit"]);
    let emails: Vec<Value> = inbox
        .mails
        .iter()
        .skip((page - 1) * limit)
        .take(limit)
        .map(|(id, second)| {
            let at = format!("2023-11-14 22:13:{second:02}");
            json!({ "id": id.to_string(), "recipient": "a@x.test", "from": "", "subject": "", "message": "m", "receivedAt": at })
        })
        .collect();
    let total = inbox.mails.len();
    if let Some(event) = inbox.events.pop_front() {
        event(&mut inbox.mails);
    }
    axum::Json(
        json!({ "emails": emails, "total": total, "page": page, "limit": limit, "pages": total.div_ceil(limit) }),
    )
}

fn service(mails: impl IntoIterator<Item = (u32, u32)>) -> (Client, Shared) {
    let inbox: Shared = Arc::default();
    inbox.lock().expect("inbox").mails = mails.into_iter().collect();
    let drop_to = |request: axum::extract::Request, next: axum::middleware::Next| async move {
        let (mut head, body) = request.into_parts();
        // The double's parameters are numbers.
        let query = head.uri.query().unwrap_or_default().split('&').filter(|pair| !pair.starts_with("to="));
        let query = query.collect::<Vec<_>>().join("&");
        head.uri = format!("/api/mail/messages?{query}").parse().expect("uri");
        next.run(axum::extract::Request::from_parts(head, body)).await
    };
    let router = Router::new()
        .route("/api/mail/messages", get(list))
        .layer(axum::middleware::from_fn(drop_to))
        .with_state(Arc::clone(&inbox));
    let close = Box::new(|| -> futures_util::future::BoxFuture<'static, ()> { Box::pin(async {}) });
    (Client::new(Transport::InProcess(LocalRouter { router, shown: "/data".to_owned(), close })), inbox)
}

async fn begin(client: &Client) -> Arrivals {
    Arrivals::begin(client, "a@x.test".parse().expect("address")).await.expect("begin")
}

async fn next(arrivals: &mut Arrivals, client: &Client) -> Vec<u32> {
    let ids = arrivals.next(client).await.expect("next");
    ids.iter().map(|id| id.parse().expect("number")).collect()
}

fn arrive(inbox: &Shared, mails: impl IntoIterator<Item = (u32, u32)>) {
    let mut inbox = inbox.lock().expect("inbox");
    for mail in mails {
        inbox.mails.insert(0, mail);
    }
}

fn remove(inbox: &Shared, is_removed: impl Fn(u32) -> bool) {
    inbox.lock().expect("inbox").mails.retain(|(id, _)| !is_removed(*id));
}

#[tokio::test]
async fn what_is_there_has_arrived_before_and_the_rest_comes_once_and_in_order() {
    let (client, inbox) = service([(2, 2), (1, 1)]);
    let mut arrivals = begin(&client).await;
    assert_eq!(next(&mut arrivals, &client).await, Vec::<u32>::new());
    arrive(&inbox, [(3, 3), (4, 3)]);
    assert_eq!(next(&mut arrivals, &client).await, [3, 4]);
    assert_eq!(next(&mut arrivals, &client).await, Vec::<u32>::new());
    arrive(&inbox, (10..40).map(|id| (id, 4)));
    assert_eq!(next(&mut arrivals, &client).await, (10..40).collect::<Vec<_>>());
    assert_eq!(next(&mut arrivals, &client).await, Vec::<u32>::new());
}

#[tokio::test]
async fn while_nothing_arrives_one_small_question_is_asked() {
    let (client, inbox) = service((0..50).map(|id| (id, 50 - id)));
    let mut arrivals = begin(&client).await;
    let before = inbox.lock().expect("inbox").questions;
    assert_eq!(next(&mut arrivals, &client).await, Vec::<u32>::new());
    assert_eq!(inbox.lock().expect("inbox").questions, before + 1);
}

#[tokio::test]
async fn an_empty_inbox_begins_with_its_first_mail() {
    let (client, inbox) = service([]);
    let mut arrivals = begin(&client).await;
    assert_eq!(next(&mut arrivals, &client).await, Vec::<u32>::new());
    arrive(&inbox, (1..8).map(|id| (id, 1)));
    assert_eq!(next(&mut arrivals, &client).await, (1..8).collect::<Vec<_>>());
}

#[tokio::test]
async fn deleting_what_was_seen_repeats_nothing() {
    let (client, inbox) = service((0..20).map(|id| (100 - id, if id < 12 { 9 } else { 5 })));
    let mut arrivals = begin(&client).await;
    remove(&inbox, |id| id > 95);
    assert_eq!(next(&mut arrivals, &client).await, Vec::<u32>::new());
    // Everything of the newest second goes; what is older was there before.
    remove(&inbox, |id| id > 88);
    assert_eq!(next(&mut arrivals, &client).await, Vec::<u32>::new());
    arrive(&inbox, [(101, 9)]);
    assert_eq!(next(&mut arrivals, &client).await, [101]);
    remove(&inbox, |_| true);
    arrive(&inbox, [(102, 9), (103, 10)]);
    assert_eq!(next(&mut arrivals, &client).await, [102, 103]);
}

#[tokio::test]
async fn a_clock_that_steps_back_hides_nothing() {
    let (client, inbox) = service([(1, 30)]);
    let mut arrivals = begin(&client).await;
    arrive(&inbox, [(2, 10), (3, 11)]);
    assert_eq!(next(&mut arrivals, &client).await, [2, 3]);
}

#[tokio::test]
async fn mail_that_moves_while_pages_are_read_is_neither_missed_nor_repeated() {
    let (client, inbox) = service([(1, 1)]);
    let mut arrivals = begin(&client).await;
    arrive(&inbox, (10..30).map(|id| (id, 2)));
    {
        let mut inbox = inbox.lock().expect("inbox");
        inbox.events.push_back(Box::new(|_| {}));
        // Three of the first page go once it was read, so the second begins three further on.
        inbox.events.push_back(Box::new(|mails| mails.retain(|(id, _)| *id < 27)));
        inbox.events.push_back(Box::new(|mails| mails.insert(0, (50, 3))));
    }
    let mut arrived = next(&mut arrivals, &client).await;
    arrived.extend(next(&mut arrivals, &client).await);
    arrived.retain(|id| *id != 50);
    assert_eq!(arrived, (10..27).collect::<Vec<_>>());
}
