//! Settings of the cluster of Apache Cassandra that the store may be in.

use std::path::PathBuf;
use std::time::Duration;

use super::{one, or_none};
use crate::config::parse::{optional_file, optional_name};
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, show_duration};
use crate::config::words::on_or_off;

/// How the cluster is asked. Where it is, is the setting `store`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CassandraConfig {
    /// The data centre whose nodes are asked.
    pub data_center: Option<String>,
    /// The user that the cluster knows; set where `password_file` is set.
    pub user: Option<String>,
    /// The file with the user's password.
    pub password_file: Option<PathBuf>,
    /// Whether the connections are secured.
    pub tls: bool,
    /// PEM with the certificates of the authorities that are trusted; `None` for those of the machine.
    pub ca: Option<PathBuf>,
    /// How long one request to the cluster may take.
    pub timeout: Duration,
}

impl Default for CassandraConfig {
    fn default() -> Self {
        Self {
            data_center: None,
            user: None,
            password_file: None,
            tls: false,
            ca: None,
            timeout: Duration::from_secs(2),
        }
    }
}

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "cassandra-data-center",
        Shape::One,
        "NAME",
        "Data centre whose nodes are asked first, as nodetool status names it",
        |c, v| one(v, optional_name).map(|name| c.cassandra.data_center = name),
        |c| or_none(c.cassandra.data_center.iter().cloned().collect()),
    ),
    Setting::new(
        "cassandra-user",
        Shape::One,
        "NAME",
        "User of the cluster, where it asks for one; needs cassandra-password-file",
        |c, v| one(v, optional_name).map(|name| c.cassandra.user = name),
        |c| or_none(c.cassandra.user.iter().cloned().collect()),
    ),
    Setting::new(
        "cassandra-password-file",
        Shape::One,
        "FILE",
        "File with the password of cassandra-user, closed to all but its owner and group",
        |c, v| one(v, optional_file).map(|path| c.cassandra.password_file = path),
        |c| or_none(c.cassandra.password_file.iter().map(|path| path.display().to_string()).collect()),
    ),
    Setting::new(
        "cassandra-tls",
        Shape::One,
        "on|off",
        "Whether the connections to the cluster have TLS; certificates name the IP addresses of their nodes",
        |c, v| one(v, on_or_off).map(|on| c.cassandra.tls = on),
        |c| vec![if c.cassandra.tls { "on" } else { "off" }.to_owned()],
    ),
    Setting::new(
        "cassandra-ca",
        Shape::One,
        "FILE",
        "Authorities that issue the certificates of the cluster, in PEM; needs cassandra-tls",
        |c, v| one(v, optional_file).map(|path| c.cassandra.ca = path),
        |c| or_none(c.cassandra.ca.iter().map(|path| path.display().to_string()).collect()),
    )
    .with_default("none; those that this machine trusts"),
    Setting::new(
        "cassandra-timeout",
        Shape::One,
        "DURATION",
        "How long one request to the cluster may take, 100ms to 10s",
        |c, v| {
            let bounds = Duration::from_millis(100)..=Duration::from_secs(10);
            one(v, |t| value::duration(t, bounds)).map(|time| c.cassandra.timeout = time)
        },
        |c| vec![show_duration(c.cassandra.timeout)],
    ),
];
