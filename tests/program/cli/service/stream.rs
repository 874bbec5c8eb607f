//! The stream of events. It goes on behind the Email whose id the client names.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::Value;

use super::{Parameters, Shared};

const LOOK_EVERY: Duration = Duration::from_millis(2);

pub(super) async fn stream(State(contents): State<Shared>, Query(query): Parameters) -> Response {
    if contents.lock().expect("lock").is_failing {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    let newest = contents.lock().expect("lock").emails.first().map_or("none".to_owned(), id);
    let last = query.get("lastEventId").cloned().unwrap_or(newest);
    let begin = format!("retry: 1000\nid: {last}\n\n");
    let events = stream::unfold((contents, last, Some(begin)), |(contents, last, begin)| async move {
        if let Some(begin) = begin {
            return Some((Ok::<_, std::io::Error>(begin), (contents, last, None)));
        }
        loop {
            let next = {
                let contents = contents.lock().expect("lock");
                if contents.is_failing {
                    return None;
                }
                contents.emails.iter().take_while(|email| id(email) != last).last().cloned()
            };
            let Some(email) = next else {
                tokio::time::sleep(LOOK_EVERY).await;
                continue;
            };
            let last = id(&email);
            let event = format!("event: email.received\nid: {last}\ndata: {email}\n\n");
            return Some((Ok(event), (contents, last, None)));
        }
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

fn id(email: &Value) -> String {
    email["id"].as_str().expect("id").to_owned()
}
