//! `GET /docs`: the guide on the interface as a page for people.
//!
//! The page is plain HTML without scripts, styles and other resources, so it needs no exception from the policy for
//! content.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::IntoResponse;
use pulldown_cmark::{CowStr, Event, Parser, Tag, TagEnd, html};

use super::problem::Code;

const GUIDE: &str = include_str!("../../man/guide/http.md");
/// A heading of the page, to which the guide links in the reference.
const CODES: &str = "Problem codes";
const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>tempmail</title>\
    <meta name=\"viewport\" content=\"width=device-width\"></head>\n<body>\n\
    <p>For programs: <a href=\"/openapi.json\">/openapi.json</a>.</p>\n";

static PAGE: LazyLock<String> = LazyLock::new(page);

/// Answers with the page.
pub(super) async fn show() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], PAGE.as_str())
}

/// The guide with the list of codes, which is the reference's elsewhere.
fn guide() -> String {
    let codes: Vec<String> = Code::ALL.iter().map(|code| code.described()).collect();
    let guide = GUIDE.replace("(reference.md#problem-codes)", "(#problem-codes)");
    format!("{guide}\n## {CODES}\n\n- {}\n", codes.join("\n- "))
}

fn page() -> String {
    let guide = guide();
    let mut events: Vec<Event<'_>> = Parser::new(&guide).collect();
    for at in 0..events.len() {
        let (before, rest) = events.split_at_mut(at + 1);
        match &mut before[at] {
            Event::Start(Tag::Heading { id, .. }) => *id = Some(anchor(rest)),
            // The service does not have the other guides.
            Event::Start(Tag::Link { dest_url, .. }) => {
                let Some((guide, _)) = dest_url.split_once(".md") else { continue };
                let how = format!(" (<code>tempmail help {guide}</code>)");
                before[at] = Event::Text(CowStr::Borrowed(""));
                if let Some(end) = rest.iter_mut().find(|event| **event == Event::End(TagEnd::Link)) {
                    *end = Event::InlineHtml(how.into());
                }
            }
            _ => {}
        }
    }
    let mut page = HEAD.to_owned();
    html::push_html(&mut page, events.into_iter());
    page + "</body>\n</html>\n"
}

/// The name that links to a heading have, by the text in it.
fn anchor(heading: &[Event<'_>]) -> CowStr<'static> {
    let inner = heading.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let texts = inner.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text),
        _ => None,
    });
    let kept = texts.flat_map(|text| text.chars()).filter(|it| it.is_alphanumeric() || [' ', '-', '_'].contains(it));
    kept.collect::<String>().to_lowercase().replace(' ', "-").into()
}
