//! `GET /api/mail/messages/{id}/html` and `/text`: the body of one Email, for a browser.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rustix::time::{ClockId, clock_gettime};

use super::Api;
use super::memory::{Asker, Room};
use super::message;
use super::principal::Principal;
use super::problem::{Code, Problem};
use super::query::Query;
use super::safe_html::{Images, sanitized};
use crate::mime::{Message, from_text};
use crate::reader;

/// How long the parsing of one body may take, in the time of the processor. A busy machine must not change a page.
const WITHIN: Duration = Duration::from_millis(250);
/// Before the body. The charset is in the header field too, but not in a page that was saved.
const PAGE_START: &str = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width\"></head><body>\n";
const PAGE_END: &str = "\n</body></html>\n";
/// What the page may do: show itself and images of this service. A page under `sandbox` runs no script.
const POLICY: &str = "sandbox; default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'";
const POLICY_WITH_REMOTE: &str =
    "sandbox; default-src 'none'; img-src 'self' data: http: https:; style-src 'unsafe-inline'";
/// Where a link leads first, relative to the page, with `links=shown`. The target follows, percent-encoded.
const LINK_SHOWN_BY: &str = "../../../../#/leave/";
/// The start of both policies, and what replaces it with `links=shown`: a link may open a tab, which is no sandbox.
const SANDBOX: &str = "sandbox;";
const SANDBOX_WITH_TABS: &str = "sandbox allow-popups allow-popups-to-escape-sandbox;";

/// Answers with the body as a page: the sanitised HTML, or the text if the HTML exceeds a bound.
pub(super) async fn html(
    State(api): State<Arc<Api>>,
    principal: Principal,
    asker: Asker,
    query: Query,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let is_remote_permitted = match query.get("remote")? {
        Some("1") => true,
        Some("0") => false,
        _ => query.flag("remote")?,
    };
    let are_links_shown = match query.get("links")? {
        None => false,
        Some("shown") => api.config.http.public.web,
        Some(_) => return Err(Problem::new(Code::TextInvalid, "'links' must be 'shown'")),
    };
    let links_shown_by = are_links_shown.then_some(LINK_SHOWN_BY);
    let page = api.read(principal, &asker, message::id(path)?, move |email, room| {
        let page = reader::read(&email.raw, |message| page(message, is_remote_permitted, links_shown_by, &room));
        Ok(room.hold(page.into_boxed_str().into_boxed_bytes()))
    });
    let policy = if is_remote_permitted { POLICY_WITH_REMOTE } else { POLICY };
    let policy = match links_shown_by {
        Some(_) => policy.replacen(SANDBOX, SANDBOX_WITH_TABS, 1),
        None => policy.to_owned(),
    };
    let fields = [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, &policy)];
    Ok((fields, page.await?).into_response())
}

/// Answers with the body as text. It is rendered from HTML if there is no other.
pub(super) async fn text(
    State(api): State<Arc<Api>>,
    principal: Principal,
    asker: Asker,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let text = api.read(principal, &asker, message::id(path)?, |email, room| {
        let text: Box<str> = reader::read(&email.raw, |message| message.text().into());
        Ok(room.hold(text.into_boxed_bytes()))
    });
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text.await?).into_response())
}

fn page(message: &Message<'_>, is_remote_permitted: bool, links_shown_by: Option<&'static str>, room: &Room) -> String {
    let begun = processor_time();
    let images = Images { by_content_id: images(message), is_remote_permitted };
    let body = sanitized(message.html(), images, links_shown_by, || processor_time().saturating_sub(begun) > WITHIN);
    let body = body.filter(|body| room.fits(body.len())).unwrap_or_else(|| from_text(message.text()));
    [PAGE_START, &body, PAGE_END].concat()
}

/// The time that this thread has had on a processor.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// The addresses of attachments by their Content-ID, relative to the page.
fn images(message: &Message<'_>) -> HashMap<String, String> {
    let named = message.attachments().iter().filter_map(|it| Some((it.content_id.clone()?, it.index)));
    named.map(|(id, index)| (id, format!("attachments/{index}"))).collect()
}
