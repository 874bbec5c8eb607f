//! Settings that there are no more. Whoever gives one is told what replaces it, until the next release.

/// Settings that are gone.
pub(super) struct Removed {
    pub(super) keys: &'static [&'static str],
    /// The values that closed or refused nothing and protected nobody; `None` is every value. With them the service starts
    /// and warns; with any other it would be less than it was asked to be, and so it does not start.
    harmless: Option<&'static [&'static str]>,
    /// What its users do instead.
    pub(super) instead: &'static str,
}

impl Removed {
    /// Whether the service can do without it.
    pub(super) fn is_harmless(&self, values: &[String]) -> bool {
        self.harmless.is_none_or(|harmless| values.iter().all(|value| harmless.contains(&value.as_str())))
    }
}

/// What is said of a key that is gone.
pub(super) fn find(key: &str) -> Option<&'static Removed> {
    REMOVED.iter().find(|gone| gone.keys.contains(&key))
}

/// The keys of all of them.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    REMOVED.iter().flat_map(|gone| gone.keys).copied()
}

const fn gone(
    keys: &'static [&'static str],
    harmless: Option<&'static [&'static str]>,
    instead: &'static str,
) -> Removed {
    Removed { keys, harmless, instead }
}

const PUBLIC: &str = "public lists what callers without a token may do, by default read,delete,webhooks,domains,web; leave out \
    of it what is closed";
const STORE: &str = "the URL of store has it: cassandra://HOST/KEYSPACE?dc=NAME&user=NAME&password-file=FILE&ca=FILE, with ca=system \
    for the authorities that this machine trusts";

/// Every setting that is gone.
pub(super) const REMOVED: &[Removed] = &[
    gone(&["forwarded-field"], Some(&["x-forwarded-for"]), "trusted proxies name the client in X-Forwarded-For"),
    gone(&["http-socket-mode"], None, "HTTP has no Unix socket, and a reverse proxy reaches it on loopback"),
    gone(&["peer-listen", "peer-address"], None, "nodes tell each other of mail through the cluster alone"),
    gone(
        &["accept-local-part"],
        Some(&[]),
        "the service takes mail for every local part; let a mail server in front of it refuse the others",
    ),
    gone(
        &["max-messages-per-domain"],
        Some(&["0"]),
        "max-messages-per-mailbox caps each mailbox, and all of them together have the room of the disk",
    ),
    gone(
        &["mailbox-full"],
        Some(&["drop-oldest"]),
        "at max-messages-per-mailbox the oldest mail makes way, but none within a minute of its receipt; then a sender gets 452",
    ),
    gone(&["public-read", "public-delete", "public-webhooks", "public-domains"], Some(&["open"]), PUBLIC),
    gone(&["web"], Some(&["on"]), PUBLIC),
    gone(&["tls-self-signed"], Some(&["false"]), "set tls-cert to self-signed"),
    gone(
        &["cassandra-data-center", "cassandra-user", "cassandra-password-file", "cassandra-ca"],
        Some(&["none"]),
        STORE,
    ),
    gone(&["cassandra-tls"], Some(&["off"]), STORE),
    gone(
        &["webhook-refused-ports"],
        Some(&["25", "465", "587"]),
        "webhooks are refused at ports 25, 465 and 587 alone; let a firewall close others",
    ),
    gone(&["webhook-in-flight"], None, "128 attempts are in flight, and 256 slow ones"),
    gone(
        &["webhook-probation"],
        None,
        "hosts within webhook-allow have no limits, and every other host has those of the guide for webhooks",
    ),
    gone(&["index-cache-size"], None, "it is the same in every installation"),
    gone(&["max-line-size"], None, "max-message-size bounds the lines of a message too"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Setting;

    #[test]
    fn what_is_gone_is_no_setting() {
        for key in keys() {
            assert!(Setting::find(key).is_none(), "{key}");
        }
    }
}
