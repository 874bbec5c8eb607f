//! What strangers try: each method of each path, with the names of a private inbox in each place that takes a value.
//! Mechanism: it changes with the routes and the description.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::document::Document;

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// The parameters of paths that are not described.
const UNDESCRIBED: [&str; 3] = ["query", "start", "ids"];

/// The names of the things that strangers ask for: those of the private inbox, or of things that do not exist.
pub(super) struct Named {
    /// The address first, and an id of a mail at [`Named::ID`].
    pub(super) values: Vec<String>,
}

impl Named {
    pub(super) const ID: usize = 7;

    pub(super) fn new(address: &str, lease: &str, mails: &[String], webhook: &str, position: &str) -> Self {
        let (local_part, domain) = address.split_once('@').expect("an address");
        let tagged = format!("{local_part}%1F{lease}");
        let mut values = vec![
            address.to_owned(),
            format!("{}@Example.Test.", local_part.to_uppercase()),
            format!("%22{local_part}%22@{domain}"),
            format!("{local_part}+tag@{domain}"),
            format!("%22{tagged}%22@{domain}"),
            format!("{tagged}@{domain}"),
            lease.to_owned(),
        ];
        assert_eq!(values.len(), Self::ID);
        values.extend(mails.iter().cloned());
        values.extend([webhook.to_owned(), position.to_owned()]);
        // The same for both.
        values.extend(["wombat", "1", "ffffffff", ""].map(str::to_owned));
        Self { values }
    }

    /// What a required parameter is where another one is tried.
    fn usual(&self, name: &str) -> Option<&str> {
        match name {
            "to" | "recipient" | "address" => Some(&self.values[0]),
            "id" | "event" | "IDs" => Some(&self.values[Self::ID]),
            "domain" => Some("example.test"),
            "timeout" => Some("0"),
            "url" => Some("https://hooks.example/x"),
            _ => None,
        }
    }

    /// The usual values of those that one request can have together.
    fn usual_of(&self, names: &[String]) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for name in names {
            let is_excluded = all.iter().any(|(other, _)| excludes(name, other));
            all.extend(self.usual(name).filter(|_| !is_excluded).map(|value| (name.clone(), value.to_owned())));
        }
        all
    }
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Try {
    pub(super) method: &'static str,
    pub(super) target: String,
    pub(super) body: Option<Value>,
    pub(super) last_event_id: Option<String>,
    /// Whether everything in it is as usual.
    pub(super) is_usual: bool,
}

/// Every request that is tried: each method of each path with each value in each place, the others being as usual. Those that
/// only read come first, and deletions last.
pub(super) fn tries(paths: &BTreeSet<String>, document: &Document, named: &Named) -> Vec<Try> {
    let mut tries = Vec::new();
    for path in paths {
        let is_described = document.0["paths"].get(path).is_some();
        for method in METHODS {
            let operation = &document.0["paths"][path][method.replace("HEAD", "GET").to_lowercase()];
            let (query, members) = places(document, operation, is_described);
            let described = document.methods(path).contains(&method.replace("HEAD", "GET"));
            for (at, target) in targets(path, named, described || !is_described).into_iter().enumerate() {
                let plain = Try { method, target, body: None, last_event_id: None, is_usual: true };
                let (query_usual, body_usual) = (named.usual_of(&query), named.usual_of(&members));
                // The first mail is behind the other spellings of the address.
                let is_usual = (described || !is_described) && [0, 2 * Named::ID].contains(&at);
                let plain = Try { is_usual: false, ..plain };
                tries.extend([plain.clone(), Try { is_usual, ..plain.with(&query_usual, &body_usual) }]);
                // Another value in the path and one in the query are not tried together.
                let is_varied = is_usual && method != "HEAD" && (is_described || ["GET", "DELETE"].contains(&method));
                for value in named.values.iter().filter(|_| is_varied) {
                    for name in query.iter().filter(|name| *name != "timeout") {
                        // Alone, and beside what is usual.
                        let alone = query_usual.iter().filter(|(other, _)| other == "timeout");
                        let beside = query_usual.iter().filter(|(other, _)| other != name && !excludes(name, other));
                        for others in [alone.cloned().collect::<Vec<_>>(), beside.cloned().collect()] {
                            tries.push(plain.with(&and(others, name, value), &body_usual));
                        }
                    }
                    for name in &members {
                        let others = body_usual.iter().filter(|(other, _)| other != name && !excludes(name, other));
                        tries.push(plain.with(&query_usual, &and(others.cloned().collect(), name, value)));
                    }
                    if path == "/api/mail/stream" && method == "GET" {
                        let plain = plain.with(&query_usual, &[]);
                        tries.push(Try { last_event_id: Some(value.clone()), ..plain });
                    }
                }
            }
        }
    }
    // What strangers may change after all must not hide what they may see after all.
    tries.sort_by_key(|it| ["PUT", "POST", "PATCH", "DELETE"].iter().position(|method| *method == it.method));
    tries
}

fn and(mut others: Vec<(String, String)>, name: &str, value: &str) -> Vec<(String, String)> {
    others.push((name.to_owned(), value.to_owned()));
    others
}

/// Whether a request can't have both.
fn excludes(one: &str, other: &str) -> bool {
    [("id", "to"), ("localPart", "address"), ("domain", "address"), ("since", "event"), ("failed", "event")]
        .iter()
        .any(|pair| *pair == (one, other) || *pair == (other, one))
}

/// The names of the parameters of an operation in the query, and in the body.
fn places(document: &Document, operation: &Value, is_described: bool) -> (Vec<String>, Vec<String>) {
    if !is_described {
        return (UNDESCRIBED.map(str::to_owned).into(), vec!["IDs".to_owned()]);
    }
    let resolved = |value: &Value| match value["$ref"].as_str() {
        Some(path) => document.0.pointer(path.trim_start_matches('#')).expect("a reference").clone(),
        None => value.clone(),
    };
    let parameters = operation["parameters"].as_array().into_iter().flatten().map(resolved);
    let query = parameters.filter(|it| it["in"] == "query").map(|it| it["name"].as_str().expect("a name").to_owned());
    let schema = resolved(&operation["requestBody"]["content"]["application/json"]["schema"]);
    let parts: Vec<Value> =
        schema["allOf"].as_array().into_iter().flatten().map(resolved).chain([schema.clone()]).collect();
    let members = parts.iter().filter_map(|part| part["properties"].as_object()).flat_map(|it| it.keys().cloned());
    (query.collect(), members.collect())
}

/// A path with each value in the place of each name.
fn targets(path: &str, named: &Named, is_there: bool) -> Vec<String> {
    if !path.contains('{') {
        return vec![path.to_owned()];
    }
    let values = if is_there { &named.values[..] } else { &named.values[Named::ID..=Named::ID] };
    let filled = |value: &String| {
        ["0", "1"].map(|index| {
            let path = path.replace("{id}", value).replace("{index}", index).replace("{part}", index);
            let extension = if index == "0" { "html" } else { "txt" };
            path.replace("{file}", &format!("{value}.{extension}")).replace("{version}", value)
        })
    };
    values.iter().filter(|value| !value.is_empty()).flat_map(filled).collect()
}

impl Try {
    fn with(&self, query: &[(String, String)], body: &[(String, String)]) -> Self {
        let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let target =
            if query.is_empty() { self.target.clone() } else { format!("{}?{}", self.target, query.join("&")) };
        let member = |(name, value): &(String, String)| {
            let value = value.replace("%22", "\"").replace("%1F", "\u{1f}");
            let number = value.parse::<u64>().ok().filter(|_| name.ends_with("Seconds") || name == "messages");
            let value = number.map_or_else(|| json!(value), Value::from);
            (name.clone(), if name == "IDs" { json!([value]) } else { value })
        };
        let body = (!body.is_empty()).then(|| Value::Object(body.iter().map(member).collect()));
        Self { target, body, ..self.clone() }
    }

    /// Whether the request itself says a text.
    pub(super) fn says(&self, text: &str) -> bool {
        format!("{self:?}").to_lowercase().contains(&text.to_lowercase())
    }
}
