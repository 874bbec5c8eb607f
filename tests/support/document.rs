//! The description of the HTTP interface, and whether answers are as it says.

use std::net::SocketAddr;

use serde_json::{Map, Value};

use super::http;

/// A document of `/openapi.json`.
pub(crate) struct Document(pub(crate) Value);

impl Document {
    /// The document that a service gives out.
    pub(crate) async fn of(server: SocketAddr) -> Self {
        let (status, document) = http::get(server, "/openapi.json").await;
        assert_eq!(status, 200, "{document}");
        let document = Self(document);
        assert!(document.operations().len() > 20, "only {:?}", document.operations());
        document
    }

    /// The document as it is written, of an interface that has every part.
    pub(crate) fn written() -> Self {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/http/openapi.json");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(serde_json::from_str(&text).expect("JSON"))
    }

    /// Every path, with its parameters in braces.
    pub(crate) fn paths(&self) -> Vec<String> {
        members(&self.0["paths"]).keys().cloned().collect()
    }

    /// The methods of a path, in upper case; none if the path is not documented. GET implies HEAD.
    pub(crate) fn methods(&self, path: &str) -> Vec<String> {
        let members = self.0["paths"][path].as_object();
        let methods = members.into_iter().flat_map(Map::keys).filter(|name| !name.starts_with("x-"));
        methods.map(|method| method.to_uppercase()).collect()
    }

    /// Every method with its path.
    pub(crate) fn operations(&self) -> Vec<(String, String)> {
        let of_path = |path: String| self.methods(&path).into_iter().map(move |method| (method, path.clone()));
        self.paths().into_iter().flat_map(of_path).collect()
    }

    /// What is wrong with an answer by the description of its operation; `None` if nothing is.
    ///
    /// A body of JSON must have every required member, and none that is not described.
    pub(crate) fn fault(&self, method: &str, path: &str, status: u16, body: &[u8]) -> Option<String> {
        let answers = &self.0["paths"][path][method.to_lowercase()]["responses"];
        // The answer `default` is a problem.
        let is_error = status >= 400;
        let answer = self.resolved(&answers[if is_error { "default".to_owned() } else { status.to_string() }]);
        if answer.is_null() {
            return Some(format!("{method} {path}: the status {status} is not documented"));
        }
        let Ok(body) = serde_json::from_slice::<Value>(body) else { return None };
        let content = members(&answer["content"]).values().next();
        let found = content.and_then(|content| self.member_fault(&content["schema"], &body));
        let code = (is_error && !self.codes().contains(&body["code"]))
            .then(|| format!("the code {} is not documented", body["code"]));
        found.or(code).map(|fault| format!("{method} {path}: {status}: {fault}: {body}"))
    }

    /// The codes of errors.
    pub(crate) fn codes(&self) -> &[Value] {
        array(&self.0["components"]["schemas"]["Code"]["enum"])
    }

    fn member_fault(&self, schema: &Value, value: &Value) -> Option<String> {
        let schema = self.resolved(schema);
        let parts: Vec<&Value> =
            array(&schema["allOf"]).iter().map(|part| self.resolved(part)).chain([schema]).collect();
        match value {
            Value::Array(items) => items.iter().find_map(|item| self.member_fault(&schema["items"], item)),
            Value::Object(object) if parts.iter().any(|part| part.get("properties").is_some()) => {
                let mut required = parts.iter().flat_map(|part| array(&part["required"])).filter_map(Value::as_str);
                if let Some(name) = required.find(|name| !object.contains_key(*name)) {
                    return Some(format!("'{name}' is missing"));
                }
                object.iter().find_map(|(name, value)| {
                    match parts.iter().find_map(|part| part["properties"].get(name)) {
                        Some(schema) => self.member_fault(schema, value),
                        None => Some(format!("'{name}' is not documented")),
                    }
                })
            }
            _ => None,
        }
    }

    /// What a reference leads to, or the value itself. Of a schema that permits null, the other one.
    fn resolved<'d>(&'d self, value: &'d Value) -> &'d Value {
        let value = value.pointer("/anyOf/0").unwrap_or(value);
        let path = value["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
        path.map_or(value, |path| self.0.pointer(path).unwrap_or_else(|| panic!("nothing is at {path}")))
    }
}

/// The items of a list; none of anything else.
fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn members(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value}"))
}
