//! One operation of the document: a method of a path, its parameters, and every answer that it can give.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::schema::reference;
use crate::http::problem::{self, Code};

/// Who may use an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// Everybody.
    Everybody,
    /// Everybody, unless a setting closes it to callers without a token.
    Closable,
    /// The administrator and bearers of tokens.
    Administrator,
}

/// An operation.
pub(super) struct Operation {
    /// In lower case.
    pub(super) method: &'static str,
    /// With its parameters in braces.
    pub(super) path: &'static str,
    id: &'static str,
    summary: &'static str,
    description: Option<String>,
    access: Access,
    parameters: Vec<Value>,
    body: Option<Value>,
    answers: BTreeMap<u16, Value>,
    codes: BTreeSet<Code>,
}

/// What any request can be refused with, before its handler is called.
const ALWAYS: &[Code] = &[
    Code::RequestInvalid,
    Code::HostInvalid,
    Code::TokenInvalid,
    Code::HostNotAllowed,
    Code::RateLimited,
    Code::TooManyConnectionsForClient,
    Code::HeadTooLarge,
    Code::Internal,
    Code::TooManyConnections,
];
const OF_WRITES: &[Code] = &[Code::OriginNotAllowed, Code::ScopeInsufficient];
const OF_CLOSABLE: &[Code] = &[Code::TokenRequired];
const OF_PATHS: &[Code] = &[Code::IdInvalid, Code::UnknownPath, Code::NotFound];
const OF_QUERIES: &[Code] = &[Code::QueryInvalid, Code::QueryTooLong, Code::ParameterRepeated];
const OF_BODIES: &[Code] = &[Code::ContentTypeUnsupported, Code::BodyIncomplete, Code::BodyTooLarge, Code::BodyTimeout];
const OF_JSON: &[Code] = &[Code::JsonInvalid, Code::FieldMissing];

impl Operation {
    /// A GET. HEAD has the same answers without their bodies.
    pub(super) fn get(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("get", path, id, summary)
    }

    pub(super) fn post(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("post", path, id, summary).fails(OF_WRITES)
    }

    pub(super) fn delete(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("delete", path, id, summary).fails(OF_WRITES)
    }

    fn new(method: &'static str, path: &'static str, id: &'static str, summary: &'static str) -> Self {
        let operation = Self {
            method,
            path,
            id,
            summary,
            description: None,
            access: Access::Everybody,
            parameters: Vec::new(),
            body: None,
            answers: BTreeMap::new(),
            codes: BTreeSet::new(),
        };
        let operation = operation.fails(ALWAYS);
        if path.starts_with("/api/admin/") { operation.administrators() } else { operation }
    }

    /// The operation is for the administrator and bearers of tokens. All paths of `/api/admin` are.
    pub(super) fn administrators(self) -> Self {
        Self { access: Access::Administrator, ..self.fails(&[Code::Unauthorized]) }
    }

    /// A setting can close the operation to callers without a token.
    pub(super) fn closable(self) -> Self {
        Self { access: Access::Closable, ..self.fails(OF_CLOSABLE) }
    }

    /// More about the operation than its summary, in Markdown.
    pub(super) fn about(self, description: &str) -> Self {
        Self { description: Some(description.to_owned()), ..self }
    }

    /// The id in the path.
    pub(super) fn id_in_path(mut self, schema: Value) -> Self {
        self.parameters.push(json!({ "name": "id", "in": "path", "required": true, "schema": schema }));
        self.fails(OF_PATHS)
    }

    /// A required parameter of the query.
    pub(super) fn needs(self, name: &str, schema: Value) -> Self {
        self.query(name, schema, true).fails(&[Code::ParameterMissing])
    }

    /// An optional parameter of the query.
    pub(super) fn takes(self, name: &str, schema: Value) -> Self {
        self.query(name, schema, false)
    }

    /// An optional field of the request's header.
    pub(super) fn takes_field(mut self, name: &str, schema: Value) -> Self {
        self.parameters.push(json!({ "name": name, "in": "header", "schema": schema }));
        self
    }

    fn query(mut self, name: &str, mut schema: Value, is_required: bool) -> Self {
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description")).unwrap_or_default();
        let mut parameter = json!({ "name": name, "in": "query", "description": description, "schema": schema });
        if is_required {
            parameter["required"] = json!(true);
        }
        self.parameters.push(parameter);
        self.fails(OF_QUERIES)
    }

    /// A further parameter of the path.
    pub(super) fn also_in_path(mut self, name: &str, schema: Value) -> Self {
        self.parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
        self
    }

    /// A JSON body of the schema with this name.
    pub(super) fn body(self, schema: &str) -> Self {
        self.body_of("application/json", reference(schema)).fails(OF_JSON)
    }

    /// A body of a media type.
    pub(super) fn body_of(mut self, media_type: &str, schema: Value) -> Self {
        self.body = Some(json!({ "required": true, "content": { media_type: { "schema": schema } } }));
        self.fails(OF_BODIES)
    }

    /// An answer with a JSON body.
    pub(super) fn json(self, status: u16, description: &str, schema: Value) -> Self {
        self.answer(status, description, "application/json", schema)
    }

    /// An answer without a body.
    pub(super) fn empty(mut self, status: u16, description: &str) -> Self {
        self.answers.insert(status, json!({ "description": description }));
        self
    }

    /// An answer with a body of a media type.
    pub(super) fn answer(mut self, status: u16, description: &str, media_type: &str, schema: Value) -> Self {
        let headers = json!({
            "RateLimit": { "$ref": "#/components/headers/RateLimit" },
            "RateLimit-Policy": { "$ref": "#/components/headers/RateLimit-Policy" },
        });
        let content = json!({ media_type: { "schema": schema } });
        self.answers.insert(status, json!({ "description": description, "headers": headers, "content": content }));
        self
    }

    /// Problems that the operation can answer with.
    pub(super) fn fails(mut self, codes: &[Code]) -> Self {
        self.codes.extend(codes);
        self
    }

    /// The operation as the document has it. Its problems go to `responses`, unless an earlier operation has the same.
    pub(super) fn document(self, tag: &str, responses: &mut Map<String, Value>) -> Value {
        let mut answers: Map<String, Value> =
            self.answers.into_iter().map(|(status, answer)| (status.to_string(), answer)).collect();
        let mut by_status = BTreeMap::<u16, Vec<Code>>::new();
        for code in self.codes {
            by_status.entry(code.row().0.as_u16()).or_default().push(code);
        }
        for (status, codes) in by_status {
            let name = codes.iter().map(|code| code.row().1).collect::<Vec<_>>().join("-");
            answers.insert(status.to_string(), json!({ "$ref": format!("#/components/responses/{name}") }));
            responses.entry(name).or_insert_with(|| problem(&codes));
        }
        let mut operation = json!({
            "operationId": self.id,
            "summary": self.summary,
            "tags": [tag],
            "responses": answers,
            "security": match self.access {
                Access::Everybody => json!([{}]),
                Access::Closable => json!([{}, { "bearerAuth": [] }]),
                Access::Administrator => json!([{ "bearerAuth": [] }]),
            },
        });
        if let Some(description) = self.description {
            operation["description"] = json!(description);
        }
        if !self.parameters.is_empty() {
            operation["parameters"] = json!(self.parameters);
        }
        if let Some(body) = self.body {
            operation["requestBody"] = body;
        }
        operation
    }
}

/// The answer with one of some problems, which all have the same status.
fn problem(codes: &[Code]) -> Value {
    let meanings = codes.iter().map(|code| format!("- `{}`: {}", code.row().1, code.meaning()));
    let (status, word) = codes[0].row();
    let example = json!({
        "type": "about:blank",
        "title": status.canonical_reason(),
        "status": status.as_u16(),
        "detail": codes[0].meaning(),
        "code": word,
    });
    let mut answer = json!({
        "description": meanings.collect::<Vec<_>>().join("\n"),
        "content": { problem::CONTENT_TYPE: { "schema": reference("Problem"), "example": example } },
        "x-codes": codes.iter().map(|code| code.row().1).collect::<Vec<_>>(),
    });
    let headers: &[&str] = match status.as_u16() {
        401 => &["WWW-Authenticate"],
        429 => &["Retry-After", "RateLimit", "RateLimit-Policy"],
        503 => &["Retry-After"],
        _ => &[],
    };
    for name in headers {
        answer["headers"][*name] = json!({ "$ref": format!("#/components/headers/{name}") });
    }
    answer
}
