//! `GET /api/mail/messages/{id}/html` and `/text`: the body of one Email, for a browser.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::Api;
use super::caller::Caller;
use super::memory::Room;
use super::message;
use super::problem::Problem;
use super::query::Query;
use super::safe_html::{Images, is_image, sanitized};
use crate::mime::{Message, from_text};
use crate::reader;

/// Before the body. The charset is in the header field too, but not in a page that was saved.
const PAGE_START: &str = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width\"></head><body>\n";
const PAGE_END: &str = "\n</body></html>\n";
/// Where a link leads first, relative to the page, with `links=shown`. The target follows, percent-encoded.
const LINK_SHOWN_BY: &str = "../../../../#/leave/";
/// How many octets of images are embedded at most, for each octet of the mail.
const EMBEDDED_OCTETS: usize = 2;

/// Answers with the body as a page: the sanitised HTML, or the text if the HTML exceeds a bound.
pub(super) async fn html(
    State(api): State<Arc<Api>>,
    mut caller: Caller,
    query: Query,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let id = message::id(path)?;
    if let Some(ticket) = query.get("ticket")? {
        api.admit(&mut caller, id, ticket)?;
    }
    let is_remote_permitted = match query.get("remote")? {
        Some("1") => true,
        Some("0") => false,
        _ => query.flag("remote")?,
    };
    let are_links_shown = match query.get("links")? {
        None => false,
        Some("shown") => api.config.http.public.web,
        Some(_) => return Err(Problem::invalid("links", "'links' must be 'shown'")),
    };
    let links_shown_by = are_links_shown.then_some(LINK_SHOWN_BY);
    let page = api.read(&caller, id, move |email, room| {
        let page = reader::read(&email.raw, |message| {
            let octets_left = (EMBEDDED_OCTETS * email.raw.len()).into();
            let images = Images { by_content_id: images(message), octets_left, is_remote_permitted };
            page(message, images, links_shown_by, &room)
        });
        Ok(room.hold(page.into_bytes()))
    });
    let policy = policy(is_remote_permitted, are_links_shown);
    let fields = [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, &policy)];
    Ok((fields, page.await?).into_response())
}

/// What the page may do: show itself, and images if it holds them. A page under `sandbox` runs no script.
fn policy(is_remote_permitted: bool, are_links_shown: bool) -> String {
    // A link may open a tab, which is no sandbox.
    let tabs = if are_links_shown { " allow-popups allow-popups-to-escape-sandbox" } else { "" };
    let remote = if is_remote_permitted { " http: https:" } else { "" };
    format!("sandbox{tabs}; default-src 'none'; img-src data:{remote}; style-src 'unsafe-inline'; base-uri 'none'")
}

/// Answers with the body as text. It is rendered from HTML if there is no other.
pub(super) async fn text(
    State(api): State<Arc<Api>>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let text = api.read(&caller, message::id(path)?, |email, room| {
        Ok(room.hold(reader::read(&email.raw, |message| message.text().into())))
    });
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text.await?).into_response())
}

fn page(message: &Message<'_>, images: Images, links_shown_by: Option<&'static str>, room: &Room) -> String {
    let body = sanitized(message.html(), images, links_shown_by);
    let body = body.filter(|body| room.fits(body.len())).unwrap_or_else(|| from_text(message.text()));
    [PAGE_START, &body, PAGE_END].concat()
}

/// The images that the HTML of a message may name, by their Content-ID, each as an address that holds it.
///
/// A page under `sandbox` could not load them: to a browser it is of another site.
fn images(message: &Message<'_>) -> HashMap<String, String> {
    if !message.html().to_ascii_lowercase().contains("cid:") {
        return HashMap::new();
    }
    let named = message.attachments().iter().filter(|it| is_image(&it.content_type));
    let embedded = named.filter_map(|it| {
        let id = it.content_id.clone()?;
        let (_, octets) = message.attachment(it.index)?;
        Some((id, format!("data:{};base64,{}", it.content_type, STANDARD.encode(octets))))
    });
    embedded.collect()
}
