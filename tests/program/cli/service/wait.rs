//! Waiting for the Email behind the one that the client names.

use std::time::{Duration, Instant};

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::{Parameters, Shared};

const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The oldest Email after `since` whose subject has the part.
pub(super) async fn wait(State(contents): State<Shared>, Query(query): Parameters) -> Response {
    let part = |name: &str| query.get(name).cloned().unwrap_or_default();
    let (to, since, subject) = (part("to"), part("since"), part("subject"));
    let passes = |email: &&Value| {
        email["recipient"] == to.as_str() && email["subject"].as_str().is_some_and(|text| text.contains(&subject))
    };
    let deadline = Instant::now() + Duration::from_secs(part("timeout").parse().expect("seconds"));
    loop {
        {
            let contents = contents.lock().expect("lock");
            if contents.is_failing {
                return StatusCode::BAD_GATEWAY.into_response();
            }
            let newer = contents.emails.iter().take_while(|email| email["id"] != since.as_str());
            if let Some(email) = newer.filter(passes).last() {
                return axum::Json(email).into_response();
            }
        }
        if Instant::now() >= deadline {
            return StatusCode::NO_CONTENT.into_response();
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
