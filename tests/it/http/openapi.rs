//! The description of the interface: for programs at `/openapi.json`, and for people at `/docs`.

use std::collections::BTreeSet;

use serde_json::Value;
use tempmail::config::{CompatApi, Revision};
use tempmail::http::problem::Code;

use super::TestApi;
use crate::support::document::Document;

/// An interface of a revision, and its description.
async fn described(revision: Revision) -> (TestApi, Document) {
    let api = TestApi::with(|config| {
        config.revision = revision;
        config.http.web = revision == Revision::Two;
    });
    let document = Document(api.get("/openapi.json").await.json());
    (api, document)
}

/// The routes of the router, with their methods, as it shows them itself.
async fn routes(api: &TestApi) -> BTreeSet<(String, String)> {
    let shown = format!("{:?}", api.router);
    let paths: BTreeSet<&str> = shown.split('"').filter(|text| text.starts_with('/')).collect();
    assert!(paths.len() > 20, "the router does not show its paths: {shown}");
    let mut routes = BTreeSet::new();
    for path in paths.into_iter().filter(|path| !path.contains("{*")) {
        // No route has this method. A path that is there for its 404 only has no methods at all.
        let answer = api.administrator("PATCH", &path.replace("{id}", "x"), "").await;
        if answer.status != 404 {
            assert_eq!(answer.status, 405, "{path}");
            let methods = answer.header("allow").expect("Allow").split(',');
            routes.extend(methods.map(|method| (method.to_owned(), path.to_owned())));
        }
    }
    routes
}

#[tokio::test]
async fn each_route_and_method_is_described_and_nothing_else_is() {
    for revision in [Revision::One, Revision::Two] {
        let (api, document) = described(revision).await;
        let mut described: BTreeSet<_> = document.operations().into_iter().collect();
        let heads = described.iter().filter(|(method, _)| method == "GET").map(|(_, path)| path.clone());
        let heads: Vec<_> = heads.map(|path| ("HEAD".to_owned(), path)).collect();
        described.extend(heads);
        assert_eq!(routes(&api).await, described);
        let has_webhooks = document.paths().iter().any(|path| path.contains("webhook"));
        assert_eq!(has_webhooks, revision == Revision::Two);
    }
}

/// The interface of another mail catcher belongs to that project, which describes it.
#[tokio::test]
async fn the_interface_of_another_mail_catcher_adds_paths_of_its_own_and_is_not_described() {
    let (api, document) = described(Revision::Two).await;
    let own = routes(&api).await;
    for compat_api in [CompatApi::Mailpit, CompatApi::MailHog] {
        let api = TestApi::with(|config| config.http.compat_api = compat_api);
        let with_other = routes(&api).await;
        assert!(with_other.is_superset(&own), "{compat_api}");
        let mut others = with_other.difference(&own).peekable();
        assert!(others.peek().is_some(), "{compat_api}");
        for (_, path) in others {
            assert!(["/api/v1/", "/api/v2/", "/view/"].iter().any(|prefix| path.starts_with(prefix)), "{path}");
        }
        assert_eq!(api.get("/openapi.json").await.json(), document.0, "{compat_api}");
    }
}

#[tokio::test]
async fn the_description_has_each_code_of_an_error() {
    let (_, document) = described(Revision::Two).await;
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
    for revision in [Revision::One, Revision::Two] {
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
    for revision in [Revision::One, Revision::Two] {
        let (api, document) = described(revision).await;
        let answer = api.get("/docs").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        let policy = answer.header("content-security-policy").expect("a policy");
        assert_eq!(policy, "default-src 'none'; frame-ancestors 'none'; sandbox");
        let page = String::from_utf8(answer.body.to_vec()).expect("UTF-8");
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
    let api = TestApi::new();
    let index = api.get("/").await.json();
    assert_eq!(index["endpoints"]["openapi"], "GET /openapi.json");
    assert_eq!(index["endpoints"]["docs"], "GET /docs");
}
