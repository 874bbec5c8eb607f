//! The description of the interface: for programs at `/openapi.json`, and for people at `/docs`.
//! Promise: it outlives the code below it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use tempmail::config::{Config, Revision};
use tempmail::http::problem::Code;
use tempmail::http::router;
use tempmail::service::Service;
use tempmail::store::{EmbeddedStore, StoreOptions};

use super::TestServer;
use crate::support::clock::SetClock;
use crate::support::document::Document;
use crate::support::test_disk::TestDisk;
use crate::support::test_server::START;

/// An interface of a revision, and its description.
async fn described(revision: u8) -> (TestServer, Document) {
    let api = TestServer::with(&format!("revision = {revision}")).await;
    let document = Document::of(api.http()).await;
    (api, document)
}

#[tokio::test]
async fn each_path_has_the_described_methods_and_no_others() {
    for revision in [1, 2] {
        let (api, document) = described(revision).await;
        for path in document.paths() {
            let target = path.replace("{id}", "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b");
            let mut described: BTreeSet<String> = document.methods(&path).into_iter().collect();
            // No path has this method.
            let other = api.administrator("PATCH", &target, "").await;
            assert_eq!((other.status.as_u16(), other.problem().as_str()), (405, "method_not_allowed"), "{path}");
            if described.contains("GET") {
                described.insert("HEAD".into());
            }
            let allowed = other.header("allow").expect("Allow").split(',').map(str::to_owned);
            assert_eq!(allowed.collect::<BTreeSet<_>>(), described, "{path}");
        }
        let has_webhooks = document.paths().iter().any(|path| path.contains("webhook"));
        assert_eq!(has_webhooks, revision == 2);
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

/// The paths of the router, as it shows them itself: no request finds one that nobody knows.
async fn paths(revision: Revision) -> Vec<String> {
    let config = Config::of_revision(revision, "/nowhere".into());
    let disk = Arc::new(TestDisk::default());
    let store = EmbeddedStore::open_on(disk, &StoreOptions::from_config(&config)).expect("open");
    let clock = Arc::new(SetClock::at(START));
    let service = Service::open(config, Arc::new(store), clock, None, None).await.expect("a service");
    let shown = format!("{:?}", router(service));
    let paths = shown.split('"').filter(|text| text.starts_with('/') && !text.contains("{*")).map(str::to_owned);
    let paths: Vec<String> = paths.collect();
    assert!(paths.len() > 20, "the router does not show its paths: {shown}");
    paths
}

#[tokio::test]
async fn no_path_is_there_that_is_not_described() {
    for (number, revision) in [(1, Revision::One), (2, Revision::Two)] {
        let (api, document) = described(number).await;
        let described = document.paths();
        for path in paths(revision).await.into_iter().filter(|path| !described.contains(path)) {
            // A path that is there for its 404 only has no methods.
            let answer = api.administrator("PATCH", &path.replace("{id}", "x"), "").await;
            assert_eq!(answer.status, 404, "{path}");
        }
    }
}

/// The interface of another mail catcher belongs to that project, which describes it.
#[tokio::test]
async fn the_interface_of_another_mail_catcher_is_not_described() {
    let (_, document) = described(2).await;
    let api = TestServer::with("compat-api = 'mailpit'").await;
    assert_eq!(api.get("/api/v1/messages").await.status, 200);
    assert_eq!(api.get("/openapi.json").await.json(), document.0);
}

#[tokio::test]
async fn the_description_has_each_code_of_an_error() {
    let (_, document) = described(2).await;
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.row().1).collect();
    assert_eq!(document.0["components"]["schemas"]["Code"]["enum"], Value::from(codes.clone()));
    // Each is that of some operation, except for a method that the path does not have.
    let responses = document.0["components"]["responses"].as_object().expect("responses").values();
    let used: BTreeSet<&str> =
        responses.flat_map(|answer| answer["x-codes"].as_array().expect("codes")).filter_map(Value::as_str).collect();
    let unused: Vec<_> = codes.into_iter().filter(|code| !used.contains(code)).collect();
    assert_eq!(unused, ["method_not_allowed"]);
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
    for revision in [1, 2] {
        let (_, Document(document)) = described(revision).await;
        let found: BTreeSet<&str> = references(&document).into_iter().collect();
        for reference in &found {
            let path = reference.strip_prefix('#').expect("a reference within the document");
            assert!(document.pointer(path).is_some(), "{reference}");
        }
        for (kind, named) in document["components"].as_object().expect("components") {
            for name in named.as_object().expect(kind).keys().filter(|_| kind != "securitySchemes") {
                let reference = format!("#/components/{kind}/{name}");
                assert!(found.contains(&*reference), "nothing refers to {reference}");
            }
        }
        let operations = document["paths"].as_object().expect("paths").values();
        let operations = operations.flat_map(|path| path.as_object().expect("methods").values());
        let ids: Vec<&str> = operations.filter_map(|operation| operation["operationId"].as_str()).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    }
}

#[tokio::test]
async fn the_page_names_each_operation_and_body_and_loads_nothing() {
    for revision in [1, 2] {
        let (api, document) = described(revision).await;
        let answer = api.get("/docs").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        let policy = answer.header("content-security-policy").expect("a policy");
        assert_eq!(policy, "default-src 'none'; frame-ancestors 'none'; sandbox");
        let page = answer.text();
        for (method, path) in document.operations() {
            assert!(page.contains(&format!("<code>{method} {path}</code>")), "{method} {path}");
        }
        for name in document.0["components"]["schemas"].as_object().expect("schemas").keys() {
            assert!(page.contains(&format!("<h3 id=\"{name}\">{name}</h3>")), "{name}");
        }
        for loading in
            ["<script", "<link", "<style", "<img", "<iframe", "src=", "style=", "href=\"http", "url(", "onclick"]
        {
            assert!(!page.contains(loading), "{loading}");
        }
        // Links within the page lead somewhere.
        for link in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
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
