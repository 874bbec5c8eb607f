//! Rules for faults of SMTP as the interface shows them.

use axum::http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::transport::ApiRequest;
use super::{Client, ClientError, OCTETS_MAX, query};
use crate::smtp::fault::Rule;

/// A rule in effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultEntry {
    /// Its number.
    pub id: u64,
    /// The rule as it was written.
    pub rule: String,
    /// `settings` or `request`.
    pub source: String,
    /// How often its stage and its pattern have matched.
    pub matched: u64,
    /// How often it has applied.
    pub injected: u64,
    /// Fields of a later server.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The operations on rules for faults. All are the administrator's.
impl Client {
    /// Adds a rule, until the daemon ends.
    pub async fn add_fault(&self, rule: &Rule) -> Result<FaultEntry, ClientError> {
        let body = Some(json!({ "rule": rule.to_string() }));
        let path = "/api/admin/faults".to_owned();
        self.read(&self.ask(ApiRequest { method: Method::POST, path, body, octets_max: OCTETS_MAX }).await?)
    }

    /// Every rule, in the order in which they are checked.
    pub async fn faults(&self) -> Result<Vec<FaultEntry>, ClientError> {
        self.get("/api/admin/faults".to_owned(), OCTETS_MAX).await
    }

    /// Removes the rule with this number, or all; how many there were.
    pub async fn remove_faults(&self, id: Option<u64>) -> Result<u64, ClientError> {
        self.delete(format!("/api/admin/faults{}", query(&[("id", id.map(|id| id.to_string()))]))).await
    }
}
