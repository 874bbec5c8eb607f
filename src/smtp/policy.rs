//! Which clients, senders and recipients are refused, and whether there is room for a message.

use std::net::IpAddr;

use ipnet::IpNet;

use super::SmtpSettings;
use super::budget::{Budget, Share};
use super::fault::{Faults, Injected, Parties, Stage};
use super::reply::Reply;
use crate::config::Config;
use crate::domains::Registry;
use crate::model::{Address, Client, DomainName, DomainPattern, DomainStatus, Timestamp};
use crate::store::Store;

/// What the administrator refuses; nothing by default.
#[derive(Clone, Debug, Default)]
pub struct PolicySettings {
    /// Networks whose clients get 554 in place of a greeting.
    pub refused_clients: Vec<IpNet>,
    /// Domains whose reverse-paths are refused. The null sender is never refused.
    pub refused_senders: Vec<DomainPattern>,
}

impl PolicySettings {
    /// The settings that follow from the daemon's.
    pub(super) fn from_config(config: &Config) -> Self {
        Self {
            refused_clients: config.smtp.refused_clients.clone(),
            refused_senders: config.smtp.refused_senders.clone(),
        }
    }

    /// Whether a client at this address is served; the error replaces the greeting.
    pub(super) fn client(&self, client: IpAddr) -> Result<(), Reply> {
        let client = client.to_canonical();
        let is_refused = self.refused_clients.iter().any(|network| network.contains(&client));
        if is_refused { Err(Reply::CLIENT_REFUSED) } else { Ok(()) }
    }

    fn sender(&self, reverse_path: &str) -> Result<(), Reply> {
        if self.refused_senders.is_empty() {
            return Ok(());
        }
        // Neither the null sender nor an address literal has a domain name.
        let domain = reverse_path.rsplit_once('@').and_then(|(_, domain)| domain.parse::<DomainName>().ok());
        let is_refused = domain.is_some_and(|name| self.refused_senders.iter().any(|pattern| pattern.matches(&name)));
        if is_refused { Err(Reply::SENDER_REFUSED) } else { Ok(()) }
    }
}

/// What a session asks before it answers MAIL, RCPT, DATA and BDAT. No answer waits: each comes from memory, one system
/// call and, where mailboxes have a cap, short reads of the index.
pub trait Policy: Send + Sync {
    /// Whether a message from `reverse_path` may begin now; it is empty for the null sender. The error is the reply to
    /// MAIL.
    fn sender(&self, reverse_path: &str) -> Result<(), Reply>;

    /// Whether mail for `address` is accepted. The error is the reply to RCPT.
    fn recipient(&self, address: &Address) -> Result<(), Reply>;

    /// Whether to ask about a domain before the answer to RCPT. After [`Action::LookUp`](super::session::Action::LookUp)
    /// nobody asks a second time.
    fn must_look_up(&self, _domain: &DomainName) -> bool {
        false
    }

    /// Reserves memory for a message of so many octets. The error is the reply to DATA or BDAT.
    fn memory(&self, octets: u64) -> Result<Share, Reply>;

    /// The fault on purpose at this moment of a session.
    fn fault(&self, _stage: Stage, _parties: Parties<'_>) -> Option<Injected> {
        None
    }
}

/// The policy of the daemon. It accepts what the administrator does not refuse, for active domains, while there is room
/// on the disk, in memory and in the mailbox.
pub(super) struct Rules<'a> {
    pub(super) settings: &'a SmtpSettings,
    pub(super) store: &'a dyn Store,
    pub(super) domains: &'a Registry,
    pub(super) bodies: &'a Budget,
    pub(super) faults: &'a Faults,
    /// The client whose part of the memory is used; `None` for a client without limits.
    pub(super) client: Option<Client>,
    /// Tells the time of a question.
    pub(super) now: &'a (dyn Fn() -> Timestamp + Sync),
}

impl Policy for Rules<'_> {
    fn sender(&self, reverse_path: &str) -> Result<(), Reply> {
        self.settings.policy.sender(reverse_path)?;
        // At MAIL the store has got nothing yet, so even an unknown outcome is a plain failure.
        self.store.accepts().map_err(|error| Reply::of_store_error(&error).unwrap_or(Reply::STORE_FAILED))
    }

    fn recipient(&self, address: &Address) -> Result<(), Reply> {
        match self.domains.table.status(address.domain()) {
            Some(DomainStatus::Active) => {}
            Some(DomainStatus::Deactivated) => return Err(Reply::domain_deactivated(address.domain())),
            None => return Err(Reply::domain_unknown(address.domain())),
        }
        let takes = self.store.check_cap(&address.mailbox(self.settings.subaddressing), (self.now)());
        takes.map_err(|error| Reply::of_store_error(&error).unwrap_or(Reply::STORE_FAILED))
    }

    fn must_look_up(&self, domain: &DomainName) -> bool {
        self.domains.must_look_up(domain)
    }

    fn memory(&self, octets: u64) -> Result<Share, Reply> {
        self.bodies.reserve(self.client, octets).map_err(Reply::of_limit)
    }

    fn fault(&self, stage: Stage, parties: Parties<'_>) -> Option<Injected> {
        self.faults.check(stage, parties)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<T: std::str::FromStr<Err: std::fmt::Debug>>(texts: &[&str]) -> Vec<T> {
        texts.iter().map(|text| text.parse().expect(text)).collect()
    }

    #[test]
    fn a_client_is_refused_by_its_network() {
        let settings = PolicySettings {
            refused_clients: all(&["192.0.2.0/24", "198.51.100.7/32", "2001:db8:bad::/48"]),
            ..PolicySettings::default()
        };
        for (client, is_refused) in [
            ("192.0.2.0", true),
            ("192.0.2.255", true),
            ("192.0.3.0", false),
            ("::ffff:192.0.2.9", true),
            ("198.51.100.7", true),
            ("198.51.100.8", false),
            ("2001:db8:bad:1::1", true),
            ("2001:db8:bae::1", false),
        ] {
            let refused = settings.client(client.parse().expect(client)).is_err();
            assert_eq!(refused, is_refused, "{client}");
        }
        assert_eq!(PolicySettings::default().client(IpAddr::from([192, 0, 2, 1])), Ok(()));
    }

    #[test]
    fn a_sender_is_refused_by_its_domain() {
        let settings = PolicySettings {
            refused_senders: all(&["spam.example", "*.bulk.example", "b\u{fc}cher.example"]),
            ..PolicySettings::default()
        };
        for (reverse_path, is_refused) in [
            ("", false),
            ("a@spam.example", true),
            ("A@SPAM.Example", true),
            ("\"a@b\"@spam.example", true),
            ("a@sub.spam.example", false),
            ("a@notspam.example", false),
            ("a@bulk.example", false),
            ("a@one.bulk.example", true),
            ("a@one.two.bulk.example", true),
            ("a@xn--bcher-kva.example", true),
            ("a@B\u{dc}CHER.example", true),
            ("a@[192.0.2.1]", false),
            ("spam.example@good.example", false),
        ] {
            let expected = if is_refused { Err(Reply::SENDER_REFUSED) } else { Ok(()) };
            assert_eq!(settings.sender(reverse_path), expected, "{reverse_path}");
        }
    }
}
