//! `POST /api/mail/messages`: the administrator puts a message into inboxes, without SMTP.

use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::http::body::{media_type, read_body};
use crate::http::domains::check_served;
use crate::http::{Api, Caller, Code, Created, Problem, Query};
use crate::leases::Mail;
use crate::model::{Address, Greeting, Protocol};

/// The most recipients of one message, as in SMTP (RFC 5321 section 4.5.3.1.8).
const RECIPIENTS_MAX: usize = 100;

/// Stores the message in the body for each address in `to`, all or none, as if `from` had sent it. It is durable when
/// the answer is sent.
pub(in crate::http) async fn submit(
    State(api): State<Arc<Api>>,
    caller: Caller,
    query: Query,
    request: Request,
) -> Created<Value> {
    let recipients = recipients(&api, &query)?;
    let reverse_path = match query.get("from")? {
        None | Some("") => String::new(),
        Some(_) => query.address("from")?.to_string(),
    };
    if media_type(request.headers()) != "message/rfc822" {
        let detail = "the body must be a message with 'Content-Type: message/rfc822'";
        return Err(Problem::new(Code::ContentTypeUnsupported, detail));
    }
    let client = caller.address.unwrap_or(Ipv4Addr::LOCALHOST.into());
    let raw = read_body(request, api.config.mail.message_octets_max).await?;
    let (helo, protocol) = (String::new(), Protocol::plain(Greeting::Http));
    let stored = api.leases.deliver(Mail { client, helo, protocol, reverse_path, recipients, raw }).await?;
    if stored.emails.is_empty() {
        return Err(Problem::misplaced("to", "the private inbox of each address is over, and takes no mail any more"));
    }
    let emails: Vec<_> = stored.emails.iter().map(|it| json!({ "id": it.id, "recipient": it.address })).collect();
    Ok((StatusCode::CREATED, Json(json!({ "emails": emails }))))
}

/// The addresses in `to`, each on a domain that receives mail.
fn recipients(api: &Api, query: &Query) -> Result<Vec<Address>, Problem> {
    let recipients = query.all("to")?;
    if recipients.is_empty() {
        return Err(Problem::new(Code::ParameterMissing, "the parameter 'to' is missing"));
    }
    if recipients.len() > RECIPIENTS_MAX {
        return Err(Problem::misplaced("to", format!("a message has at most {RECIPIENTS_MAX} recipients")));
    }
    recipients.iter().try_for_each(|address: &Address| check_served(api, address.domain()))?;
    Ok(recipients)
}
