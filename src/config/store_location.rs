//! Where mail is kept: in the data directory, or in a cluster of Apache Cassandra, which a URL names.

use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use url::form_urlencoded;

use crate::value::{ValueError, excerpt, number};

/// The port of Cassandra's native protocol.
const PORT: u16 = 9042;
/// The servers that keep each row: with three, one may be lost.
const REPLICATION: u32 = 3;
const REPLICATION_MAX: u32 = 100;
/// The longest name of a keyspace in octets, as Cassandra has it.
const KEYSPACE_OCTETS_MAX: usize = 48;
/// The longest name of a host in octets (RFC 1035 section 2.3.4).
const HOST_OCTETS_MAX: usize = 253;
const SCHEME: &str = "cassandra://";
/// The word for the authorities that this machine trusts.
const SYSTEM: &str = "system";

/// Where mail is kept. It reads as it is written: `embedded`, or
/// `cassandra://HOST[:PORT][,HOST[:PORT]…]/KEYSPACE[?dc=NAME&replication=N&user=NAME&password-file=FILE&ca=FILE|system]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StoreLocation {
    /// In the data directory.
    #[default]
    Embedded,
    /// In a cluster of Apache Cassandra.
    Cassandra(Cluster),
}

/// A cluster, and how it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Servers to begin with, at least one, each as `host:port`; an IPv6 address is in brackets.
    pub contact_points: Vec<String>,
    /// The keyspace: lower-case letters, digits and underscores.
    pub keyspace: String,
    /// The only data centre whose servers are asked, as `nodetool status` names it.
    pub data_center: Option<String>,
    /// How many servers keep each row, in a keyspace that is made.
    pub replication: u32,
    /// The user that the cluster knows, and the file with its password.
    pub credentials: Option<(String, PathBuf)>,
    /// Who vouches for the certificates of the servers; `None` without TLS.
    pub trust: Option<Trust>,
}

/// The authorities whose certificates are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Those that this machine trusts.
    System,
    /// Those of a file in PEM.
    File(PathBuf),
}

impl FromStr for StoreLocation {
    type Err = ValueError;

    /// The error shows no user and no password.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        if text == "embedded" {
            return Ok(Self::Embedded);
        }
        text.parse().map(Self::Cassandra).map_err(|reason: String| {
            let place = text.split_once('?').map_or(text, |(place, _)| place);
            let shown = place.rsplit_once('@').map_or_else(|| place.to_owned(), |(_, rest)| format!("…@{rest}"));
            let accepted = "embedded, or a cluster and a keyspace such as cassandra://10.0.0.1,10.0.0.2/tempmail";
            ValueError::invalid(&shown, &reason, accepted)
        })
    }
}

impl FromStr for Cluster {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix(SCHEME) else {
            return Err(format!("it is neither 'embedded' nor a URL that begins with '{SCHEME}'"));
        };
        // Before anything that an error repeats, and in the whole text, since a password may have a slash.
        if rest.contains('@') {
            return Err(
                "a user and a password do not belong here; ?user=NAME&password-file=FILE at the end names them, \
                 with %40 for '@'"
                    .to_owned(),
            );
        }
        if rest.contains('#') {
            return Err("a URL of a cluster has no '#'; write %23 in a name".to_owned());
        }
        let (place, of_query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, name) = place.split_once('/').unwrap_or((place, ""));
        let (keyspace, mut contact_points) = (keyspace(name)?, Vec::new());
        for host in hosts.split(',') {
            let point = contact_point(host)?;
            if !contact_points.contains(&point) {
                contact_points.push(point);
            }
        }
        let mut said = query(of_query)?;
        let credentials = match (said.remove("user"), said.remove("password-file")) {
            (Some(user), Some(file)) => Some((user, file.into())),
            (None, None) => None,
            (Some(_), None) => return Err("a user without a password; add password-file".to_owned()),
            (None, Some(_)) => return Err("a password without a user; add user".to_owned()),
        };
        let trust = said.remove("ca").map(|ca| if ca == SYSTEM { Trust::System } else { Trust::File(ca.into()) });
        let replication = said.remove("replication").map_or(Ok(REPLICATION), |text| {
            let wrong = |_| format!("'{}' is no replication from 1 to {REPLICATION_MAX}", excerpt(&text));
            number(1..=REPLICATION_MAX)(&text).map_err(wrong)
        })?;
        let data_center = said.remove("dc");
        Ok(Self { contact_points, keyspace, data_center, replication, credentials, trust })
    }
}

/// What the query says of the cluster, by its keys.
fn query(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut said = BTreeMap::new();
    // A plus is one: forms alone write blanks so.
    for (key, value) in form_urlencoded::parse(text.replace('+', "%2B").as_bytes()) {
        let shown = excerpt(&key);
        if value.is_empty() || value.trim() != value || value.chars().any(char::is_control) {
            return Err(format!("'{shown}' in it has no value"));
        }
        let is_path = ["password-file", "ca"].contains(&&*key);
        if is_path && (value == "none" || value.starts_with('~')) {
            return Err(format!("'{shown}' is the path of a file; '~' is expanded by shells alone"));
        }
        if !is_path && !["dc", "replication", "user"].contains(&&*key) {
            return Err(format!("'{shown}' is none of dc, replication, user, password-file and ca"));
        }
        if said.insert(key.into_owned(), value.into_owned()).is_some() {
            return Err(format!("'{shown}' is there twice"));
        }
    }
    Ok(said)
}

impl StoreLocation {
    /// Makes its files relative to `dir`.
    pub(super) fn settle_paths(&mut self, dir: &Path) {
        if let Self::Cassandra(Cluster { credentials, trust, .. }) = self {
            if let Some((_, file)) = credentials {
                *file = dir.join(&*file);
            }
            if let Some(Trust::File(file)) = trust {
                *file = dir.join(&*file);
            }
        }
    }
}

/// `host:port` of `host` or `host:port`.
fn contact_point(text: &str) -> Result<String, String> {
    if text.is_empty() || text.starts_with(':') {
        return Err("a host is missing".to_owned());
    }
    // The colons in brackets, or of an address without them, precede no port.
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let host = match bracketed.map(str::parse::<Ipv6Addr>) {
        Some(Ok(address)) => format!("[{address}]"),
        None if host.len() <= HOST_OCTETS_MAX && host.chars().all(is_of_name) => host.to_ascii_lowercase(),
        _ => {
            let shown = excerpt(text);
            return Err(format!("'{shown}' is no host: neither a name nor an IP address, IPv6 in brackets"));
        }
    };
    let port = port.map_or(Ok(PORT), |port| number(1..=u16::MAX)(port).map_err(|_| port));
    let port = port.map_err(|port| format!("'{}' is no port from 1 to 65535", excerpt(port)))?;
    Ok(format!("{host}:{port}"))
}

fn keyspace(name: &str) -> Result<String, String> {
    let is_of_name = |octet: u8| octet.is_ascii_lowercase() || octet.is_ascii_digit() || octet == b'_';
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(is_of_name);
    if name.is_empty() {
        Err("the keyspace is missing, such as /tempmail at the end".to_owned())
    } else if !is_plain || name.len() > KEYSPACE_OCTETS_MAX {
        let shown = excerpt(name);
        Err(format!("'{shown}' is no keyspace: a letter, then at most 47 lower-case letters, digits or underscores"))
    } else if name == "system" || name.starts_with("system_") {
        Err(format!("the keyspace '{name}' is Cassandra's own"))
    } else {
        Ok(name.to_owned())
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            Self::Cassandra(cluster) => cluster.fmt(f),
        }
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = format!(":{PORT}");
        let hosts = self.contact_points.iter().map(|point| point.strip_suffix(&usual).unwrap_or(point));
        let trust = self.trust.as_ref().map(|trust| match trust {
            Trust::System => SYSTEM.to_owned(),
            Trust::File(file) => file.display().to_string(),
        });
        let (user, file) =
            self.credentials.as_ref().map(|(user, file)| (user.clone(), file.display().to_string())).unzip();
        let copies = (self.replication != REPLICATION).then(|| self.replication.to_string());
        let query = [
            ("dc", self.data_center.clone()),
            ("replication", copies),
            ("user", user),
            ("password-file", file),
            ("ca", trust),
        ];
        let query = query.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", escaped(&value?))));
        let query = query.collect::<Vec<_>>();
        let mark = if query.is_empty() { "" } else { "?" };
        write!(f, "{SCHEME}{}/{}{mark}{}", hosts.collect::<Vec<_>>().join(","), self.keyspace, query.join("&"))
    }
}

/// A value of the query without what ends it.
fn escaped(value: &str) -> String {
    ["%", "&", "#", "@"].iter().fold(value.to_owned(), |text, mark| {
        text.replace(mark, &form_urlencoded::byte_serialize(mark.as_bytes()).collect::<String>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Cluster {
        match text.parse() {
            Ok(StoreLocation::Cassandra(cluster)) => cluster,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_url_names_hosts_ports_and_a_keyspace() {
        for (text, points, keyspace) in [
            ("cassandra://10.0.0.1/tempmail", &["10.0.0.1:9042"][..], "tempmail"),
            ("cassandra://10.0.0.1,10.0.0.2:9142/t_2", &["10.0.0.1:9042", "10.0.0.2:9142"], "t_2"),
            ("cassandra://Node-1.Example.org,node_2/t", &["node-1.example.org:9042", "node_2:9042"], "t"),
            ("cassandra://[::1],[2001:DB8::1]:9142/t", &["[::1]:9042", "[2001:db8::1]:9142"], "t"),
            ("cassandra://a,a:9042,b/t", &["a:9042", "b:9042"], "t"),
        ] {
            let cluster = parsed(text);
            assert_eq!(
                (cluster.contact_points, &*cluster.keyspace),
                (points.iter().map(ToString::to_string).collect(), keyspace)
            );
        }
        assert_eq!("embedded".parse(), Ok(StoreLocation::Embedded));
    }

    #[test]
    fn its_query_says_how_the_cluster_is_asked() {
        let bare = parsed("cassandra://a/t");
        assert_eq!((bare.data_center, bare.credentials, bare.trust, bare.replication), (None, None, None, 3));
        let trial = "cassandra://a/t?dc=b&replication=1";
        assert_eq!((parsed(trial).replication, &*parsed(trial).to_string()), (1, trial));
        let whole = parsed("cassandra://a/t?ca=/ca.pem&dc=DC 1&user=ann&password-file=/p");
        assert_eq!(whole.data_center.as_deref(), Some("DC 1"));
        assert_eq!(whole.credentials, Some(("ann".to_owned(), "/p".into())));
        assert_eq!(whole.trust, Some(Trust::File("/ca.pem".into())));
        assert_eq!(parsed("cassandra://a/t?ca=system").trust, Some(Trust::System));
        let odd = parsed("cassandra://a/t?user=svc%40corp&password-file=/a%26b%23c%25d+e");
        assert_eq!(odd.credentials, Some(("svc@corp".to_owned(), "/a&b#c%d+e".into())));
        assert_eq!(odd.to_string(), "cassandra://a/t?user=svc%40corp&password-file=/a%26b%23c%25d+e");
    }

    #[test]
    fn each_malformed_part_has_its_error() {
        let long = format!("cassandra://a/{}", "k".repeat(49));
        for (text, error) in [
            ("", "neither 'embedded' nor"),
            ("Embedded", "neither 'embedded' nor"),
            ("cassandra:/a/t", "neither 'embedded' nor"),
            ("scylla://a/t", "neither 'embedded' nor"),
            ("cassandra://ann:secret@a/t", "?user=NAME&password-file=FILE"),
            ("cassandra://ann:se/cret@a/t", "?user=NAME&password-file=FILE"),
            ("cassandra://a/t?tls=on", "'tls' is none of dc, replication, user, password-file and ca"),
            ("cassandra://a/t?dc", "'dc' in it has no value"),
            ("cassandra://a/t?dc=", "'dc' in it has no value"),
            ("cassandra://a/t?dc= a", "'dc' in it has no value"),
            ("cassandra://a/t?dc=a&dc=b", "'dc' is there twice"),
            ("cassandra://a/t?replication=0", "'0' is no replication from 1 to 100"),
            ("cassandra://a/t?replication=101", "'101' is no replication from 1 to 100"),
            ("cassandra://a/t?replication=+3", "'+3' is no replication from 1 to 100"),
            ("cassandra://a/t?ca=a&ca=system", "'ca' is there twice"),
            ("cassandra://a/t?user=ann", "add password-file"),
            ("cassandra://a/t?ca=none", "'ca' is the path of a file"),
            ("cassandra://a/t?user=ann&password-file=~/p", "'password-file' is the path of a file"),
            ("cassandra://a/t?password-file=/p", "add user"),
            ("cassandra://a/t#x", "no '#'"),
            ("cassandra:///t", "a host is missing"),
            ("cassandra://a,,b/t", "a host is missing"),
            ("cassandra://:9042/t", "a host is missing"),
            ("cassandra://::1/t", "a host is missing"),
            ("cassandra://2001:db8::1/t", "'2001:db8::1' is no host"),
            ("cassandra://[::1/t", "'[::1' is no host"),
            ("cassandra://[::1]9042/t", "'[::1]9042' is no host"),
            ("cassandra://[a]/t", "'[a]' is no host"),
            ("cassandra://a b/t", "'a b' is no host"),
            ("cassandra://a:/t", "'' is no port"),
            ("cassandra://a:0/t", "'0' is no port"),
            ("cassandra://a:65536/t", "'65536' is no port"),
            ("cassandra://a:+1/t", "'+1' is no port"),
            ("cassandra://[::1]:x/t", "'x' is no port"),
            ("cassandra://a", "the keyspace is missing"),
            ("cassandra://a/", "the keyspace is missing"),
            ("cassandra://a/t/u", "'t/u' is no keyspace"),
            ("cassandra://a/Tempmail", "'Tempmail' is no keyspace"),
            ("cassandra://a/1t", "'1t' is no keyspace"),
            ("cassandra://a/t-1", "'t-1' is no keyspace"),
            (&long, "is no keyspace"),
            ("cassandra://a/system_auth", "is Cassandra's own"),
        ] {
            let found = text.parse::<StoreLocation>().expect_err(text).to_string();
            assert!(found.contains(error), "{text}: {found}");
        }
    }

    #[test]
    fn a_location_is_shown_as_it_is_read() {
        let whole = "cassandra://a/t?dc=east&user=ann&password-file=/p&ca=system";
        for text in ["embedded", "cassandra://a/t", "cassandra://a,b:9142,[::1],[::1]:90/t", whole] {
            assert_eq!(text.parse::<StoreLocation>().map(|location| location.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn an_error_of_a_store_shows_no_password() {
        for text in ["cassandra://ann:secret@a/t", "cassandra://ann:sec@ret@a/t", "cassandra:ann:secret@a/t"] {
            let error = text.parse::<StoreLocation>().expect_err(text).to_string();
            assert!(!error.contains("ann") && !error.contains("ret@") && error.contains("'…@a/t'"), "{error}");
        }
        let text = "cassandra://a/t?user=ann&password=hunter2";
        let error = text.parse::<StoreLocation>().expect_err(text).to_string();
        assert!(
            !error.contains("ann") && !error.contains("hunter2") && error.contains("'password' is none"),
            "{error}"
        );
    }
}
