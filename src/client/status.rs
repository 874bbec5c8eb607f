//! The status of the daemon as the interface shows it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How many domains there are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainCounts {
    /// Domains that mail is received for.
    pub active: u64,
    /// Domains whose MX was found to point elsewhere.
    pub deactivated: u64,
}

/// The state of the service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Of the program.
    pub version: String,
    /// Of the interface: 1 or 2.
    pub revision: u8,
    /// When the daemon started, UTC, `YYYY-MM-DD HH:MM:SS`; `None` where no daemon runs.
    #[serde(default)]
    pub started_at: Option<String>,
    /// Socket addresses of SMTP; empty where no daemon runs.
    #[serde(default)]
    pub smtp_listen: Vec<String>,
    /// Socket addresses of SMTP with TLS from the first octet.
    #[serde(default)]
    pub smtps_listen: Vec<String>,
    /// Socket addresses and paths of LMTP.
    #[serde(default)]
    pub lmtp_listen: Vec<String>,
    /// Socket addresses of HTTP; empty where no daemon runs.
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
    /// The data directory.
    pub data_dir: String,
    /// The name that the daemon gives itself.
    pub hostname: String,
    /// The names that an MX record may point to.
    #[serde(default)]
    pub mx_hosts: Vec<String>,
    /// How long an Email is readable, in seconds.
    pub retention_seconds: u64,
    /// The largest message in octets.
    pub max_message_octets: u64,
    /// How many panics there were since the daemon started; `None` where no daemon runs.
    #[serde(default)]
    pub panics: Option<u64>,
    /// What SMTP has counted since then, in the server's own fields; `None` where no daemon runs.
    #[serde(default)]
    pub smtp: Option<Map<String, Value>>,
    /// Domains by state.
    #[serde(default)]
    pub domains: DomainCounts,
    /// Whether mail is accepted now; `None` of a server that does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepts_mail: Option<bool>,
    /// Why it is not, in the words of `/readyz`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// How much is kept, in the store's own fields.
    #[serde(default)]
    pub store: Map<String, Value>,
    /// Fields of a later server.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}
