//! Builders of JSON Schemas (draft 2020-12), of which `OpenAPI` 3.1 describes bodies and parameters.

use serde_json::{Map, Value, json};

/// A member of an object, with its name.
pub(super) type Member = (&'static str, Value);

/// A schema of the document by its name.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// A text.
pub(super) fn text(description: &str, example: &str) -> Value {
    json!({ "type": "string", "description": description, "example": example })
}

/// One of some words.
pub(super) fn word(description: &str, words: &[&str]) -> Value {
    json!({ "type": "string", "description": description, "enum": words })
}

/// A UUID.
pub(super) fn uuid(description: &str) -> Value {
    let example = "01a1fd4b-693f-754c-9969-aa4ca5fbedfb";
    json!({ "type": "string", "format": "uuid", "description": description, "example": example })
}

/// An address of mail.
pub(super) fn address(description: &str) -> Value {
    json!({
        "type": "string",
        "format": "idn-email",
        "maxLength": 1024,
        "description": description,
        "example": "hello@example.test",
    })
}

/// The name of a domain.
pub(super) fn domain(description: &str) -> Value {
    json!({
        "type": "string",
        "format": "idn-hostname",
        "maxLength": 1024,
        "description": description,
        "example": "example.org",
    })
}

/// A point in time as the service writes it.
pub(super) fn time(description: &str) -> Value {
    json!({
        "type": "string",
        "pattern": r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$",
        "description": format!("{description} UTC, `YYYY-MM-DD HH:MM:SS`."),
        "example": "2026-01-31 12:00:00",
    })
}

/// A whole number from `minimum`.
pub(super) fn whole(description: &str, minimum: u64) -> Value {
    json!({ "type": "integer", "format": "int64", "minimum": minimum, "description": description })
}

/// A number of things or octets.
pub(super) fn count(description: &str) -> Value {
    whole(description, 0)
}

/// `true` or `false`.
pub(super) fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

/// A list.
pub(super) fn list(description: &str, items: Value) -> Value {
    json!({ "type": "array", "description": description, "items": items })
}

/// A list of texts.
pub(super) fn texts(description: &str) -> Value {
    list(description, json!({ "type": "string" }))
}

/// A value of this schema, or null.
pub(super) fn or_null(mut schema: Value) -> Value {
    match schema.get("type").cloned() {
        Some(of) => schema["type"] = json!([of, "null"]),
        None => return json!({ "anyOf": [schema, { "type": "null" }] }),
    }
    if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    }
    schema
}

/// The schema with a further keyword.
pub(super) fn with(mut schema: Value, keyword: &str, value: impl Into<Value>) -> Value {
    schema[keyword] = value.into();
    schema
}

/// An object, with members that are always there and members that may be absent. Others may be added some day.
pub(super) fn object(
    description: &str,
    required: impl IntoIterator<Item = Member>,
    optional: impl IntoIterator<Item = Member>,
) -> Value {
    let mut properties: Map<String, Value> = Map::new();
    let mut names = Vec::new();
    for (name, schema) in required {
        names.push(name);
        properties.insert(name.to_owned(), schema);
    }
    properties.extend(optional.into_iter().map(|(name, schema)| (name.to_owned(), schema)));
    let mut object = json!({ "type": "object", "description": description, "properties": properties });
    if !names.is_empty() {
        object["required"] = json!(names);
    }
    object
}
