//! The status of the daemon, as far as commands decide by it.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The state of the service.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Of the program.
    pub version: String,
    /// Socket addresses of SMTP.
    #[serde(default)]
    pub smtp_listen: Vec<String>,
    /// Socket addresses of SMTP with TLS from the first octet.
    #[serde(default)]
    pub smtps_listen: Vec<String>,
    /// Socket addresses and paths of LMTP.
    #[serde(default)]
    pub lmtp_listen: Vec<String>,
    /// Socket addresses of HTTP.
    #[serde(default)]
    pub http_listen: Vec<String>,
    /// Socket addresses of HTTP with TLS from the first octet.
    #[serde(default)]
    pub https_listen: Vec<String>,
    /// Socket addresses of metrics alone.
    #[serde(default)]
    pub metrics_listen: Vec<String>,
    /// The certificate in use, in the server's own fields; `None` without one.
    #[serde(default)]
    pub tls: Option<Map<String, Value>>,
    /// The name that the daemon gives itself.
    pub hostname: String,
    /// The largest message in octets.
    pub max_message_octets: u64,
    /// Whether mail is accepted now; `None` of a server that does not say.
    #[serde(default)]
    pub accepts_mail: Option<bool>,
    /// Why it is not, in the words of `/readyz`.
    #[serde(default)]
    pub cause: Option<String>,
    /// How much is kept, in the store's own fields.
    #[serde(default)]
    pub store: Map<String, Value>,
}
