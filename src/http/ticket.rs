//! `GET /api/mail/messages/{id}/ticket`: what a frame of a browser shows in place of a token or key, which it cannot send.
//!
//! A ticket opens the HTML of one Email for a minute, and nothing else. Nothing is kept of it: it is signed with a secret of
//! the store, which all nodes of a cluster have, and says nothing of the token or key.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::{Answer, Api, Caller, Problem, message};
use crate::model::{EmailId, Timestamp};

/// How long a ticket is good: a frame loads at once.
const LIFE: Duration = Duration::from_mins(1);
/// The route that a ticket opens.
const OPENS: &str = "/api/mail/messages/{id}/html";

/// Answers with a ticket for an Email that the caller may read.
pub(super) async fn show(
    State(api): State<Arc<Api>>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Answer<Value> {
    let id = message::id(path)?;
    api.read(&caller, id, |_, _| Ok(())).await?;
    Ok(Json(json!({ "ticket": ticket(&api, id, api.clock.now().plus(LIFE)) })))
}

/// Whether a request to the route of this pattern shows a ticket, which the handler checks.
pub(super) fn is_shown(route: &str, request: &Request) -> bool {
    route == OPENS && request.uri().query().is_some_and(|query| query.contains("ticket="))
}

impl Api {
    /// Makes the caller one who may read this Email, since it shows a ticket. The problem is that the ticket is not valid.
    pub(super) fn admit(&self, caller: &mut Caller, id: EmailId, presented: &str) -> Result<(), Problem> {
        let now = self.clock.now();
        let until =
            presented.split_once('.').and_then(|(millis, _)| Some(Timestamp::from_millis(millis.parse().ok()?)));
        let until = until.filter(|until| now < *until && *until <= now.plus(LIFE));
        let is_valid = |until| bool::from(ticket(self, id, until).as_bytes().ct_eq(presented.as_bytes()));
        if !until.is_some_and(is_valid) {
            return Err(self.refuse(caller.who));
        }
        caller.ticket = Some(id);
        Ok(())
    }
}

/// The ticket for an Email that is good until a time: that time and a MAC.
fn ticket(api: &Api, id: EmailId, until: Timestamp) -> String {
    let key = api.store.derived_secret("ticket");
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC takes keys of any length (RFC 2104 section 2)");
    mac.update(format!("{id} {}", until.millis()).as_bytes());
    format!("{}.{}", until.millis(), URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}
