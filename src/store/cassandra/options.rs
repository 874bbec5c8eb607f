//! Where the cluster is, and how it is asked.

use std::sync::Arc;
use std::time::Duration;

use crate::model::Secret;

/// The connection to a cluster of Apache Cassandra.
#[derive(Clone, Debug)]
pub struct CassandraOptions {
    /// Nodes to begin with, each as `host:port`. The driver learns the others from them.
    pub contact_points: Vec<String>,
    /// The keyspace that `tempmail db init` made.
    pub keyspace: String,
    /// The data centre whose nodes are asked; `None` in a cluster with one.
    pub data_center: Option<String>,
    /// User and password, if the cluster asks for them.
    pub credentials: Option<(String, Secret)>,
    /// What secures the connections; `None` without TLS.
    pub tls: Option<Arc<rustls::ClientConfig>>,
    /// How long one request may take.
    pub timeout: Duration,
    /// How long events of webhooks outlive their mail.
    pub grace: Duration,
}

impl CassandraOptions {
    /// The usual value of [`CassandraOptions::timeout`].
    pub const TIMEOUT: Duration = Duration::from_secs(2);
}
