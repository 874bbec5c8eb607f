//! The description of the interface: for programs at `/openapi.json`, and for people at `/docs`.
//! Promise: it outlives the code below it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tempmail::daemon::{Daemon, Listeners};
use tempmail::http::problem::Code;
use tempmail::mime::codes::{CONFIDENCE_MIN, LinkKind};
use tempmail::panics::Panics;
use tempmail::store::{EmbeddedStore, StoreOptions};

use super::TestServer;
use crate::support::clock::SetClock;
use crate::support::document::Document;
use crate::support::test_disk::TestDisk;
use crate::support::test_server::{START, load};

/// Settings with which the interface has each part, or lacks it: webhooks, the page, and metrics.
const INTERFACES: [&str; 5] = [
    "revision = 1",
    "revision = 1\npublic = ['read', 'web']",
    "revision = 2",
    "revision = 2\npublic = 'read'",
    "revision = 2\nmetrics-listen = '127.0.0.1:0'",
];

/// An interface with these settings, and its description.
async fn described(settings: &str) -> (TestServer, Document) {
    let api = TestServer::with(settings).await;
    let document = Document::of(api.http()).await;
    (api, document)
}

#[tokio::test]
async fn each_path_has_the_described_methods_and_no_others() {
    for settings in INTERFACES {
        let (api, document) = described(settings).await;
        for path in document.paths() {
            let target = path.replace("{id}", "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b");
            let mut described: BTreeSet<String> = document.methods(&path).into_iter().collect();
            // No path has this method.
            let other = api.administrator("PUT", &target, "").await;
            assert_eq!((other.status.as_u16(), other.problem().as_str()), (405, "method_not_allowed"), "{path}");
            if described.contains("GET") {
                described.insert("HEAD".into());
            }
            let allowed = other.header("allow").expect("Allow").split(',').map(str::to_owned);
            assert_eq!(allowed.collect::<BTreeSet<_>>(), described, "{path}");
        }
        // What the root points to is described as well.
        let root = api.get("/").await.json();
        for (name, operation) in root["endpoints"].as_object().expect("endpoints") {
            let (method, target) = operation.as_str().expect("text").split_once(' ').expect("a method and a path");
            let path = target.split(['?', ' ']).next().expect("a path");
            let path = path.replace("INDEX", "{index}").replace("ID", "{id}");
            assert!(document.methods(&path).contains(&method.to_owned()), "{name}: {operation}");
        }
    }
}

#[tokio::test]
async fn webhooks_the_page_and_metrics_are_described_where_they_are_served() {
    for (settings, expected) in INTERFACES.into_iter().zip([
        (false, false, true),
        (false, true, true),
        (true, true, true),
        (true, false, true),
        (true, true, false),
    ]) {
        let (_, document) = described(settings).await;
        let paths = document.paths();
        let has = |part: &str| paths.iter().any(|path| path.contains(part));
        assert_eq!((has("/webhooks"), has("/web/"), has("/metrics")), expected, "{settings}");
        let public = &document.0["components"]["schemas"]["Index"]["properties"]["public"]["properties"];
        assert_eq!(public.get("webhooks").is_some(), expected.0, "{settings}");
        assert!(!document.0.to_string().contains("x-only"), "{settings}");
        let version = &document.0["info"]["version"];
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
    }
}

/// The paths of the router, as it shows them itself: no request finds one that nobody knows.
pub(super) async fn paths(settings: &str) -> Vec<String> {
    let dir = tempfile::tempdir().expect("directory");
    let config = load(dir.path(), settings);
    let disk = Arc::new(TestDisk::default());
    let store = EmbeddedStore::open_on(disk, &StoreOptions::from_config(&config)).expect("open");
    let clock = Arc::new(SetClock::at(START));
    let listeners = Listeners::bind(&config).expect("free ports");
    let daemon = Daemon::new(config, Arc::new(store), listeners, None, clock, Panics::default()).await;
    let shown = format!("{:?}", daemon.expect("a daemon").interface());
    let paths = shown.split('"').filter(|text| text.starts_with('/') && !text.contains("{*")).map(str::to_owned);
    let paths: Vec<String> = paths.collect();
    assert!(paths.len() > 20, "the router does not show its paths: {shown}");
    paths
}

#[tokio::test]
async fn no_path_is_there_that_is_not_described() {
    for settings in INTERFACES {
        let (api, document) = described(settings).await;
        let described = document.paths();
        for path in paths(settings).await.into_iter().filter(|path| !described.contains(path)) {
            // A path that is there for its 404 only has no methods.
            let answer = api.administrator("PUT", &path.replace("{id}", "x"), "").await;
            assert_eq!(answer.status, 404, "{path}");
        }
    }
}

/// The interface of another mail catcher belongs to that project, which describes it.
#[tokio::test]
async fn the_interface_of_another_mail_catcher_is_not_described() {
    let (_, document) = described("").await;
    let api = TestServer::with("compat-api = 'mailpit'").await;
    assert_eq!(api.get("/api/v1/messages").await.status, 200);
    assert_eq!(api.get("/openapi.json").await.json(), document.0);
}

#[tokio::test]
async fn the_description_has_each_code_of_an_error() {
    let (_, document) = described("").await;
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.row().1).collect();
    assert_eq!(document.codes(), codes);
    // Any operation may answer with one.
    for (method, path) in document.operations() {
        let problem = &document.0["paths"][&path][method.to_lowercase()]["responses"]["default"];
        assert_eq!(*problem, json!({ "$ref": "#/components/responses/Problem" }), "{method} {path}");
    }
}

/// What the program takes and gives, as it says itself.
#[tokio::test]
async fn the_description_has_each_field_filter_and_kind() {
    let (api, document) = described("").await;
    let schemas = &document.0["components"]["schemas"];
    let parameters = &document.0["components"]["parameters"];
    let refused = async |query: &str| {
        let answer = api.get(&format!("/api/mail/messages?to=ann@example.test&{query}")).await;
        assert_eq!(answer.status, 400, "{query}");
        let problem: Value = serde_json::from_slice(&answer.body).expect("JSON");
        problem["detail"].as_str().expect("a detail").to_owned()
    };
    let named = refused("fields=nothing").await;
    let named: BTreeSet<&str> = named.rsplit_once(" are ").expect("a list").1.split(", ").collect();
    let fields = schemas["ListedEmail"]["properties"].as_object().expect("fields");
    assert_eq!(fields.keys().map(String::as_str).collect::<BTreeSet<_>>(), named);
    let list = &document.0["paths"]["/api/mail/messages"]["get"]["parameters"];
    let chosen = list.as_array().expect("parameters").iter().find(|it| it["name"] == "fields").expect("fields");
    let words = chosen["schema"]["pattern"].as_str().expect("a pattern").split(['^', '(', '|', ')', ',', '*', '$']);
    assert_eq!(words.filter(|word| !word.is_empty()).collect::<BTreeSet<_>>(), named);
    let named = refused("has=nothing").await;
    let named: Vec<&str> = named.rsplit_once(": ").expect("a list").1.split(", ").collect();
    assert_eq!(parameters["Has"]["schema"]["enum"], json!(named));
    assert_eq!(schemas["Link"]["properties"]["kind"]["enum"], json!(LinkKind::ALL.map(LinkKind::as_str)));
    for found in ["Link", "OneTimeCode"] {
        assert_eq!(schemas[found]["properties"]["confidence"]["minimum"], json!(CONFIDENCE_MIN), "{found}");
    }
    let longest = schemas["NewToken"]["properties"]["expiresInSeconds"]["maximum"].as_u64().expect("a number");
    for (seconds, status) in [(longest, 201), (longest + 1, 400)] {
        let body = json!({ "name": "long", "expiresInSeconds": seconds });
        assert_eq!(api.admin_post("/api/admin/tokens", &body).await.0, status, "{seconds}");
    }
}

#[tokio::test]
async fn an_email_has_no_field_that_is_not_described() {
    let (api, document) = described("").await;
    api.deliver("ann@example.test", "Subject: Your code\r\n\r\nYour code is 482913.\r\n").await;
    let properties = document.0["components"]["schemas"]["ListedEmail"]["properties"].as_object().expect("fields");
    let fields = properties.keys().map(String::as_str).collect::<Vec<_>>().join(",");
    let list = api.get(&format!("/api/mail/messages?to=ann@example.test&fields={fields}")).await;
    assert_eq!(document.fault("GET", "/api/mail/messages", 200, &list.body), None);
    assert_eq!(list.json()["emails"][0].as_object().expect("an Email").len(), properties.len());
    let id = list.json()["emails"][0]["id"].as_str().expect("an id").to_owned();
    let message = api.get(&format!("/api/mail/messages/{id}")).await;
    assert_eq!(document.fault("GET", "/api/mail/messages/{id}", 200, &message.body), None);
}

/// The `$ref`s in a value.
fn references(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(members) => {
            let own = members.get("$ref").and_then(Value::as_str);
            own.into_iter().chain(members.values().flat_map(references)).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn each_reference_leads_somewhere_and_each_id_is_there_once() {
    for settings in INTERFACES {
        let (_, Document(document)) = described(settings).await;
        let found: BTreeSet<&str> = references(&document).into_iter().collect();
        for reference in &found {
            let path = reference.strip_prefix('#').expect("a reference within the document");
            assert!(document.pointer(path).is_some(), "{reference}");
        }
        for (kind, named) in document["components"].as_object().expect("components") {
            for name in named.as_object().expect(kind).keys().filter(|_| kind != "securitySchemes") {
                let reference = format!("#/components/{kind}/{name}");
                assert!(found.contains(&*reference), "nothing refers to {reference}: {settings}");
            }
        }
        let operations = document["paths"].as_object().expect("paths").values();
        let operations = operations.flat_map(|path| path.as_object().expect("methods").values());
        let ids: Vec<&str> = operations.filter_map(|operation| operation["operationId"].as_str()).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    }
}

#[tokio::test]
async fn the_page_names_each_operation_and_loads_nothing() {
    for revision in [1, 2] {
        let (api, document) = described(&format!("revision = {revision}")).await;
        let answer = api.get("/docs").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        let policy = answer.header("content-security-policy").expect("a policy");
        assert_eq!(policy, "default-src 'none'; frame-ancestors 'none'; sandbox");
        let page = answer.text();
        for (method, path) in document.operations() {
            let is_named = ['<', '?'].iter().any(|end| page.contains(&format!("<code>{method} {path}{end}")));
            assert!(is_named, "{method} {path}");
        }
        for loading in
            ["<script", "<link", "<style", "<img", "<iframe", "src=", "style=", "href=\"http", "url(", "onclick"]
        {
            assert!(!page.contains(loading), "{loading}");
        }
        // Links within the page lead somewhere.
        let links: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(links.len() > 3, "{links:?}");
        for link in links {
            assert!(page.contains(&format!("id=\"{link}\"")), "{link}");
        }
        assert_eq!(api.call("HEAD", "/docs").await.status, 200);
        assert_eq!(api.call("POST", "/docs").await.problem(), "method_not_allowed");
    }
}

#[tokio::test]
async fn the_index_leads_to_both() {
    let api = TestServer::start().await;
    let index = api.get("/").await.json();
    assert_eq!(index["endpoints"]["openapi"], "GET /openapi.json");
    assert_eq!(index["endpoints"]["docs"], "GET /docs");
}
