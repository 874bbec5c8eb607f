//! `GET /docs`: the description of the interface as a page for people.
//!
//! The page is plain HTML without scripts, styles and other resources, so it needs no exception from the policy for
//! content.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde_json::{Map, Value};

use super::Api;
use super::openapi;
use crate::config::Revision;

static ONE: LazyLock<String> = LazyLock::new(|| page(&openapi::document(Revision::One)));
static TWO: LazyLock<String> = LazyLock::new(|| page(&openapi::document(Revision::Two)));

/// Answers with the page of the revision that runs.
pub(super) async fn show(State(api): State<Arc<Api>>) -> impl IntoResponse {
    let page: &'static str = match api.config.revision {
        Revision::One => &ONE,
        Revision::Two => &TWO,
    };
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page)
}

/// The page of a document.
fn page(document: &Value) -> String {
    let info = &document["info"];
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"></head>\n<body>\n<h1>{title} {version}</h1>\n{about}\
         <p>For programs: <a href=\"/openapi.json\">/openapi.json</a>, OpenAPI {openapi}.</p>\n",
        title = text(&info["title"]),
        version = text(&info["version"]),
        about = paragraphs(&info["description"]),
        openapi = text(&document["openapi"]),
    );
    for tag in array(&document["tags"]) {
        // Writing to a String does not fail.
        let _ = writeln!(html, "<h2>{}</h2>", text(&tag["description"]));
        for (path, methods) in object(&document["paths"]) {
            for (method, operation) in object(methods) {
                if operation["tags"][0] == tag["name"] {
                    html.push_str(&operation_section(document, path, method, operation));
                }
            }
        }
    }
    html.push_str("<h2>Bodies</h2>\n");
    for (name, schema) in object(&document["components"]["schemas"]) {
        let _ =
            writeln!(html, "<h3 id=\"{name}\">{name}</h3>\n{}{}", paragraphs(&schema["description"]), members(schema));
    }
    html.push_str("</body>\n</html>\n");
    html
}

fn operation_section(document: &Value, path: &str, method: &str, operation: &Value) -> String {
    let mut html = format!(
        "<h3 id=\"{id}\"><code>{method} {path}</code></h3>\n<p>{summary}.{token}</p>\n{about}",
        id = text(&operation["operationId"]),
        method = method.to_uppercase(),
        path = escaped(path),
        summary = text(&operation["summary"]),
        token = token(&operation["security"]),
        about = paragraphs(&operation["description"]),
    );
    let parameters: Vec<&Value> = array(&operation["parameters"]).iter().map(|it| resolved(document, it)).collect();
    if !parameters.is_empty() {
        let rows = parameters.iter().map(|parameter| {
            let description = [&parameter["description"], &parameter["schema"]["description"]].map(text).concat();
            let place = text(&parameter["in"]);
            let need = if parameter["required"] == true { "required" } else { "optional" };
            [code(&parameter["name"]), format!("{place}, {need}"), kind(&parameter["schema"]), description]
        });
        html.push_str(&table(["Parameter", "Where", "Value", "Meaning"], rows));
    }
    for (media_type, content) in object(&operation["requestBody"]["content"]) {
        let _ = writeln!(html, "<p>Body: <code>{}</code> {}</p>", escaped(media_type), kind(&content["schema"]));
    }
    let rows = object(&operation["responses"]).iter().map(|(status, answer)| {
        let answer = resolved(document, answer);
        let contents = object(&answer["content"]).iter();
        let contents: Vec<String> =
            contents.map(|(of, content)| format!("{} {}", escaped(of), kind(&content["schema"]))).collect();
        [status.clone(), contents.join("<br>"), lines(&answer["description"])]
    });
    html + &table(["Status", "Body", "Meaning"], rows)
}

/// Whether a token is needed.
fn token(security: &Value) -> &'static str {
    match array(security) {
        [only] if !object(only).is_empty() => " Needs a token.",
        [_] => "",
        _ => " May need a token, if the service is closed.",
    }
}

/// The members of an object's schema, or the words of an enumeration.
fn members(schema: &Value) -> String {
    let required = array(&schema["required"]);
    let rows = object(&schema["properties"]).iter().map(|(name, schema)| {
        let name = Value::from(name.as_str());
        let need = if required.contains(&name) { "always" } else { "optional" };
        [code(&name), need.to_owned(), kind(schema), lines(&schema["description"])]
    });
    if rows.len() == 0 { String::new() } else { table(["Field", "There", "Value", "Meaning"], rows) }
}

/// What values a schema permits, in short.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("<a href=\"#{name}\">{name}</a>");
    }
    if let [of, _] = array(&schema["anyOf"]) {
        return format!("{} or null", kind(of));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        of => of.as_str().into_iter().collect(),
    };
    let mut kind = types.join(" or ");
    if schema.get("items").is_some() {
        kind = format!("{kind} of {}", self::kind(&schema["items"]));
    }
    for keyword in
        ["enum", "const", "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "maxItems", "default"]
    {
        if let Some(value) = schema.get(keyword) {
            let _ = write!(kind, ", {keyword} <code>{}</code>", escaped(&value.to_string()));
        }
    }
    kind
}

fn table<const N: usize>(heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut html = "<table border=\"1\">\n<tr>".to_owned();
    html.extend(heads.map(|head| format!("<th>{head}</th>")));
    html.push_str("</tr>\n");
    for row in rows {
        html.push_str("<tr>");
        html.extend(row.map(|cell| format!("<td>{cell}</td>")));
        html.push_str("</tr>\n");
    }
    html.push_str("</table>\n");
    html
}

/// What a value refers to in the document, or the value itself.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let path = value["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    path.and_then(|path| document.pointer(path)).unwrap_or(value)
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn object(value: &Value) -> &Map<String, Value> {
    static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    value.as_object().unwrap_or(&EMPTY)
}

fn code(value: &Value) -> String {
    format!("<code>{}</code>", text(value))
}

fn text(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

fn lines(value: &Value) -> String {
    text(value).replace('\n', "<br>")
}

fn paragraphs(value: &Value) -> String {
    let html = lines(value);
    if html.is_empty() { html } else { format!("<p>{html}</p>\n") }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
