//! Where mail is kept: in the data directory, or in a cluster of Apache Cassandra.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use super::value::ValueError;

/// The port of Cassandra's native protocol.
const PORT: u16 = 9042;
/// The longest name of a keyspace in octets, as Cassandra has it.
const KEYSPACE_OCTETS_MAX: usize = 48;
/// The longest name of a host in octets (RFC 1035 section 2.3.4).
const HOST_OCTETS_MAX: usize = 253;
const SCHEME: &str = "cassandra://";

/// Where mail is kept. It reads as it is written: `embedded`, or `cassandra://HOST[:PORT][,HOST[:PORT]…]/KEYSPACE`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StoreLocation {
    /// In the data directory.
    #[default]
    Embedded,
    /// In a cluster of Apache Cassandra.
    Cassandra {
        /// Nodes to begin with, at least one, each as `host:port`; an IPv6 address is in brackets.
        contact_points: Vec<String>,
        /// The keyspace: lower-case letters, digits and underscores.
        keyspace: String,
    },
}

/// What is wrong with the text of a [`StoreLocation`]. It repeats no password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreLocationError {
    /// Neither `embedded` nor the URL of a cluster.
    #[error("it is neither 'embedded' nor a URL that begins with '{SCHEME}'")]
    Scheme,
    /// A user or a password.
    #[error("a user and a password do not belong here; set cassandra-user and cassandra-password-file")]
    Credentials,
    /// A query or a fragment.
    #[error("nothing may follow the keyspace; the settings cassandra-* say the rest")]
    Query,
    /// No host, or nothing between two commas.
    #[error("a host is missing")]
    NoHost,
    /// A host that is neither a name nor an IP address.
    #[error("'{0}' is no host: neither a name nor an IP address, IPv6 in brackets")]
    Host(String),
    /// A port that is no number from 1 to 65535.
    #[error("'{0}' is no port from 1 to 65535")]
    Port(String),
    /// No keyspace.
    #[error("the keyspace is missing, such as /tempmail at the end")]
    NoKeyspace,
    /// A keyspace with another name than Cassandra takes without quotes.
    #[error("'{0}' is no keyspace: a letter, then at most 47 lower-case letters, digits or underscores")]
    Keyspace(String),
    /// A keyspace of Cassandra's own.
    #[error("the keyspace '{0}' is Cassandra's own")]
    SystemKeyspace(String),
}

impl FromStr for StoreLocation {
    type Err = StoreLocationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "embedded" {
            return Ok(Self::Embedded);
        }
        let rest = text.strip_prefix(SCHEME).ok_or(StoreLocationError::Scheme)?;
        // Before anything that an error repeats, and in the whole text, since a password may have a slash.
        if rest.contains('@') {
            return Err(StoreLocationError::Credentials);
        }
        if rest.contains(['?', '#']) {
            return Err(StoreLocationError::Query);
        }
        let (hosts, name) = rest.split_once('/').unwrap_or((rest, ""));
        let mut contact_points = Vec::new();
        for host in hosts.split(',') {
            let point = contact_point(host)?;
            if !contact_points.contains(&point) {
                contact_points.push(point);
            }
        }
        Ok(Self::Cassandra { contact_points, keyspace: keyspace(name)? })
    }
}

/// `host:port` of `host` or `host:port`.
fn contact_point(text: &str) -> Result<String, StoreLocationError> {
    let bad_host = || StoreLocationError::Host(text.to_owned());
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, port) = rest.split_once(']').ok_or_else(bad_host)?;
        let address: Ipv6Addr = address.parse().map_err(|_| bad_host())?;
        let port = match port.strip_prefix(':') {
            Some(port) => Some(port),
            None if port.is_empty() => None,
            None => return Err(bad_host()),
        };
        (format!("[{address}]"), port)
    } else {
        let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        match port {
            _ if host.is_empty() => return Err(StoreLocationError::NoHost),
            // An IPv6 address without brackets.
            Some(port) if port.contains(':') => return Err(bad_host()),
            _ if host.len() > HOST_OCTETS_MAX || !host.chars().all(is_name) => return Err(bad_host()),
            port => (host.to_ascii_lowercase(), port),
        }
    };
    let port = match port {
        Some(text) => {
            let digits = Some(text).filter(|text| text.bytes().all(|octet| octet.is_ascii_digit()));
            let port = digits.and_then(|text| text.parse().ok()).filter(|port| *port != 0);
            port.ok_or_else(|| StoreLocationError::Port(text.to_owned()))?
        }
        None => PORT,
    };
    Ok(format!("{host}:{port}"))
}

fn keyspace(name: &str) -> Result<String, StoreLocationError> {
    if name.is_empty() {
        return Err(StoreLocationError::NoKeyspace);
    }
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|octet| octet.is_ascii_lowercase() || octet.is_ascii_digit() || octet == b'_');
    if !is_plain || name.len() > KEYSPACE_OCTETS_MAX {
        return Err(StoreLocationError::Keyspace(name.to_owned()));
    }
    if name == "system" || name.starts_with("system_") {
        return Err(StoreLocationError::SystemKeyspace(name.to_owned()));
    }
    Ok(name.to_owned())
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            Self::Cassandra { contact_points, keyspace } => {
                let usual = format!(":{PORT}");
                let shown = contact_points.iter().map(|point| point.strip_suffix(&usual).unwrap_or(point));
                write!(f, "{SCHEME}{}/{keyspace}", shown.collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// Where mail is kept. An error shows no user and no password.
pub(super) fn store_location(text: &str) -> Result<StoreLocation, ValueError> {
    text.parse().map_err(|reason| {
        let shown = text.rsplit_once('@').map_or_else(|| text.to_owned(), |(_, rest)| format!("…@{rest}"));
        let accepted = "embedded, or a cluster and a keyspace such as cassandra://10.0.0.1,10.0.0.2/tempmail";
        ValueError::invalid(&shown, &reason, accepted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<(Vec<String>, String), StoreLocationError> {
        match text.parse()? {
            StoreLocation::Embedded => panic!("{text} is embedded"),
            StoreLocation::Cassandra { contact_points, keyspace } => Ok((contact_points, keyspace)),
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
            let points = points.iter().map(ToString::to_string).collect();
            assert_eq!(parsed(text), Ok((points, keyspace.to_owned())), "{text}");
        }
        assert_eq!("embedded".parse(), Ok(StoreLocation::Embedded));
    }

    #[test]
    fn each_malformed_part_has_its_error() {
        let long = format!("cassandra://a/{}", "k".repeat(49));
        for (text, error) in [
            ("", StoreLocationError::Scheme),
            ("Embedded", StoreLocationError::Scheme),
            ("cassandra:/a/t", StoreLocationError::Scheme),
            ("scylla://a/t", StoreLocationError::Scheme),
            ("cassandra://ann:secret@a/t", StoreLocationError::Credentials),
            ("cassandra://ann:se/cret@a/t", StoreLocationError::Credentials),
            ("cassandra://a/t?tls=on", StoreLocationError::Query),
            ("cassandra://a/t#x", StoreLocationError::Query),
            ("cassandra:///t", StoreLocationError::NoHost),
            ("cassandra://a,,b/t", StoreLocationError::NoHost),
            ("cassandra://:9042/t", StoreLocationError::NoHost),
            ("cassandra://::1/t", StoreLocationError::NoHost),
            ("cassandra://2001:db8::1/t", StoreLocationError::Host("2001:db8::1".into())),
            ("cassandra://[::1/t", StoreLocationError::Host("[::1".into())),
            ("cassandra://[::1]9042/t", StoreLocationError::Host("[::1]9042".into())),
            ("cassandra://[a]/t", StoreLocationError::Host("[a]".into())),
            ("cassandra://a b/t", StoreLocationError::Host("a b".into())),
            ("cassandra://a:/t", StoreLocationError::Port(String::new())),
            ("cassandra://a:0/t", StoreLocationError::Port("0".into())),
            ("cassandra://a:65536/t", StoreLocationError::Port("65536".into())),
            ("cassandra://a:+1/t", StoreLocationError::Port("+1".into())),
            ("cassandra://[::1]:x/t", StoreLocationError::Port("x".into())),
            ("cassandra://a", StoreLocationError::NoKeyspace),
            ("cassandra://a/", StoreLocationError::NoKeyspace),
            ("cassandra://a/t/u", StoreLocationError::Keyspace("t/u".into())),
            ("cassandra://a/Tempmail", StoreLocationError::Keyspace("Tempmail".into())),
            ("cassandra://a/1t", StoreLocationError::Keyspace("1t".into())),
            ("cassandra://a/t-1", StoreLocationError::Keyspace("t-1".into())),
            (&long, StoreLocationError::Keyspace("k".repeat(49))),
            ("cassandra://a/system_auth", StoreLocationError::SystemKeyspace("system_auth".into())),
        ] {
            assert_eq!(text.parse::<StoreLocation>(), Err(error), "{text}");
        }
    }

    #[test]
    fn a_location_is_shown_as_it_is_read() {
        for text in ["embedded", "cassandra://a/t", "cassandra://a,b:9142,[::1],[::1]:90/t"] {
            assert_eq!(text.parse::<StoreLocation>().map(|location| location.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn an_error_of_a_store_shows_no_password() {
        for text in ["cassandra://ann:secret@a/t", "cassandra://ann:sec@ret@a/t", "cassandra:ann:secret@a/t"] {
            let error = store_location(text).expect_err(text).to_string();
            assert!(!error.contains("ann") && !error.contains("ret@") && error.contains("'…@a/t'"), "{error}");
        }
        let error = store_location("cassandra://ann:secret@a/t").expect_err("a password").to_string();
        assert!(error.contains("set cassandra-user and cassandra-password-file"), "{error}");
    }
}
