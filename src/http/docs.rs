//! `GET /docs`: the guide on the interface as a page for people.
//!
//! The page is plain HTML without scripts, styles and other resources, so it needs no exception from the policy for
//! content. The reader knows the Markdown that the guides are written in, and no more.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::IntoResponse;

const GUIDE: &str = include_str!("../../man/guide/http.md");
const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>tempmail</title>\
    <meta name=\"viewport\" content=\"width=device-width\"></head>\n<body>\n\
    <p>For programs: <a href=\"/openapi.json\">/openapi.json</a>.</p>\n";

static PAGE: LazyLock<String> = LazyLock::new(|| format!("{HEAD}{}</body>\n</html>\n", html(GUIDE)));

/// Answers with the page.
pub(super) async fn show() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], PAGE.as_str())
}

/// The HTML of headings, paragraphs, lists, tables and blocks of code.
fn html(markdown: &str) -> String {
    let mut html = String::new();
    let mut open = "";
    for line in markdown.lines() {
        let is_fence = line.starts_with("```");
        let element = match line.as_bytes() {
            _ if is_fence && open == "pre" => "",
            _ if is_fence || open == "pre" => "pre",
            [] | [b'#', ..] => "",
            [b'|', ..] => "table",
            [b'-', b' ', ..] => "ul",
            _ => "p",
        };
        let is_first = element != open;
        if is_first {
            html.push_str(&closing(open));
            html.push_str(opening(element));
            open = element;
        }
        let text = match element {
            _ if is_fence => String::new(),
            "pre" => escaped(line) + "\n",
            "" => heading(line),
            "table" => row(line, if is_first { "th" } else { "td" }),
            "ul" => format!("<li>{}</li>\n", inline(&line[2..])),
            _ => inline(line) + "\n",
        };
        html.push_str(&text);
    }
    html + &closing(open)
}

fn opening(element: &str) -> &'static str {
    match element {
        "pre" => "<pre>",
        "table" => "<table border=\"1\">\n",
        "ul" => "<ul>\n",
        "p" => "<p>",
        _ => "",
    }
}

fn closing(element: &str) -> String {
    if element.is_empty() { String::new() } else { format!("</{element}>\n") }
}

/// A heading with the anchor that links to it name. A line without a heading is empty.
fn heading(line: &str) -> String {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    if level == 0 {
        return String::new();
    }
    let kept = text.trim().chars().filter(|it| it.is_alphanumeric() || [' ', '-', '_'].contains(it));
    let anchor: String = kept.collect::<String>().to_lowercase().replace(' ', "-");
    format!("<h{level} id=\"{anchor}\">{}</h{level}>\n", inline(text.trim()))
}

/// A row of a table. The line below its head is none.
fn row(line: &str, cell: &str) -> String {
    if line.starts_with("|--") {
        return String::new();
    }
    let cells = line.trim_matches('|').split(" | ").map(|text| format!("<{cell}>{}</{cell}>", inline(text.trim())));
    format!("<tr>{}</tr>\n", cells.collect::<String>())
}

/// Text with code and links. A link to another guide says how to read it, since the service does not have that guide.
fn inline(text: &str) -> String {
    let (mut html, mut rest) = (String::new(), text);
    while let Some((before, label, target, behind)) = link(rest) {
        let label = code(label);
        html.push_str(&code(before));
        let link = match target.split_once(".md") {
            Some((guide, _)) => format!("{label} (<code>tempmail help {guide}</code>)"),
            None => format!("<a href=\"{}\">{label}</a>", escaped(target)),
        };
        html.push_str(&link);
        rest = behind;
    }
    html + &code(rest)
}

/// The first link of a text: what is before it, its label, its target, and what is behind it.
fn link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (label, target) = text.split_once("](")?;
    let (before, label) = label.rsplit_once('[')?;
    let (target, behind) = target.split_once(')')?;
    Some((before, label, target, behind))
}

/// Text in which code stands between backticks.
fn code(text: &str) -> String {
    let parts = text.split('`').map(escaped).enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { part } else { format!("<code>{part}</code>") }).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
