//! Tokens as the interface shows them.

use axum::http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::transport::ApiRequest;
use super::{Client, ClientError, OCTETS_MAX, query};
use crate::model::{Scope, TokenName};

/// A token without its secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenEntry {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What its bearer may do: `admin` or `read`.
    pub scope: String,
    /// `active` or `expired`.
    pub status: String,
    /// UTC, `YYYY-MM-DD HH:MM:SS`.
    pub created_at: String,
    /// In the same form; `None` for a token that is valid until it is revoked.
    pub expires_at: Option<String>,
    /// Fields of a later server. In the answer to a creation, `token` is the token itself.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A token to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    /// Its name.
    pub name: TokenName,
    /// What its bearer may do.
    pub scope: Scope,
    /// Its life in seconds; `None` for no end.
    pub expires_in_seconds: Option<u64>,
}

impl TokenEntry {
    /// The token itself, in the answer to its creation.
    pub fn token(&self) -> Option<&str> {
        self.other.get("token").and_then(Value::as_str)
    }
}

/// The operations on tokens. All are the administrator's.
impl Client {
    /// Creates a token. Only this answer has the token itself.
    pub async fn add_token(&self, new: &NewToken) -> Result<TokenEntry, ClientError> {
        let mut body = json!({ "name": new.name, "scope": new.scope });
        if let Some(seconds) = new.expires_in_seconds {
            body["expiresInSeconds"] = seconds.into();
        }
        let path = "/api/admin/tokens".to_owned();
        self.read(&self.ask(ApiRequest { method: Method::POST, path, body: Some(body), octets_max: OCTETS_MAX }).await?)
    }

    /// Every token, in the order of creation.
    pub async fn tokens(&self) -> Result<Vec<TokenEntry>, ClientError> {
        self.get("/api/admin/tokens".to_owned(), OCTETS_MAX).await
    }

    /// Revokes the token with this name or id; `false` if there is none.
    pub async fn revoke_token(&self, which: &str) -> Result<bool, ClientError> {
        Ok(self.delete(format!("/api/admin/tokens{}", query(&[("id", Some(which.to_owned()))]))).await? > 0)
    }
}
