//! Which clients, senders and recipients are refused, and whether there is room for a message.

use std::net::IpAddr;

use ipnet::IpNet;

use super::SmtpSettings;
use super::budget::{Budget, Share};
use super::reply::Reply;
use crate::config::Config;
use crate::domains::{DomainTable, Served};
use crate::faults::{Faults, Injected};
use crate::model::{
    Address, Client, DomainName, DomainPattern, FaultMoment, LocalPartPattern, Mailbox, POSTMASTER, RoleAddresses,
    Timestamp,
};
use crate::store::Store;

/// What the administrator refuses; nothing by default.
#[derive(Clone, Debug, Default)]
pub struct PolicySettings {
    /// Networks whose clients get 554 in place of a greeting.
    pub refused_clients: Vec<IpNet>,
    /// Domains whose reverse-paths are refused. The null sender is never refused.
    pub refused_senders: Vec<DomainPattern>,
    /// The local parts that mail is accepted for, in addition to `postmaster` and the role addresses; empty for all.
    pub accepted_local_parts: Vec<LocalPartPattern>,
    /// Addresses of whoever runs the service (RFC 2142), not of its users.
    pub role_addresses: RoleAddresses,
}

impl PolicySettings {
    /// The settings that follow from the daemon's.
    pub(super) fn from_config(config: &Config) -> Self {
        Self {
            refused_clients: config.smtp.refused_clients.clone(),
            refused_senders: config.smtp.refused_senders.clone(),
            accepted_local_parts: config.smtp.accepted_local_parts.clone(),
            role_addresses: config.mail.role_addresses.clone(),
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

    fn mailbox(&self, mailbox: &Mailbox, hostname: &DomainName) -> Result<(), Reply> {
        let accepted = &self.accepted_local_parts;
        let is_accepted = accepted.is_empty()
            || mailbox.local_part() == POSTMASTER
            || self.role_addresses.contains(mailbox, hostname)
            || accepted.iter().any(|pattern| pattern.matches(mailbox));
        if is_accepted { Ok(()) } else { Err(Reply::MAILBOX_UNKNOWN) }
    }
}

/// What a session asks before it answers MAIL, RCPT, DATA and BDAT. No answer waits: each comes from memory, one system
/// call and, where mailboxes have caps, short reads of the index.
pub trait Policy: Send + Sync {
    /// Whether a message from `reverse_path` may begin now; it is empty for the null sender. The error is the reply to
    /// MAIL.
    fn sender(&self, reverse_path: &str) -> Result<(), Reply>;

    /// Whether mail for `address` is accepted in addition to the `earlier` recipients of the transaction. The error is the
    /// reply to RCPT.
    fn recipient(&self, address: &Address, earlier: &[Address]) -> Result<(), Reply>;

    /// Whether to ask about a domain before the answer to RCPT. After [`Action::LookUp`](super::session::Action::LookUp)
    /// nobody asks a second time.
    fn must_look_up(&self, _domain: &DomainName) -> bool {
        false
    }

    /// Reserves memory for a message of so many octets. The error is the reply to DATA or BDAT.
    fn memory(&self, octets: u64) -> Result<Share, Reply>;

    /// The fault on purpose at this moment of a session.
    fn fault(&self, _moment: &FaultMoment<'_>) -> Option<Injected> {
        None
    }
}

/// The policy of the daemon. It accepts what the administrator does not refuse, for active domains, while there is room
/// on the disk, in memory and in the mailbox.
pub(super) struct Rules<'a> {
    pub(super) settings: &'a SmtpSettings,
    pub(super) store: &'a dyn Store,
    pub(super) domains: &'a DomainTable,
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

    fn recipient(&self, address: &Address, earlier: &[Address]) -> Result<(), Reply> {
        match self.domains.served(address.domain()) {
            Served::Active => {}
            Served::Deactivated => return Err(Reply::domain_deactivated(address.domain())),
            Served::Unknown => return Err(Reply::domain_unknown(address.domain())),
        }
        let mailbox_of = |address: &Address| address.mailbox(self.settings.subaddressing);
        let mailbox = mailbox_of(address);
        self.settings.policy.mailbox(&mailbox, &self.settings.hostname)?;
        let mut mailboxes: Vec<Mailbox> = earlier.iter().map(mailbox_of).collect();
        mailboxes.push(mailbox);
        let takes = self.store.check_caps(&mailboxes, (self.now)());
        takes.map_err(|error| Reply::of_store_error(&error).unwrap_or(Reply::STORE_FAILED))
    }

    fn must_look_up(&self, domain: &DomainName) -> bool {
        self.domains.must_look_up(domain)
    }

    fn memory(&self, octets: u64) -> Result<Share, Reply> {
        self.bodies.reserve(self.client, octets).map_err(Reply::of_limit)
    }

    fn fault(&self, moment: &FaultMoment<'_>) -> Option<Injected> {
        self.faults.check(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Subaddressing;

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

    #[test]
    fn a_recipient_is_accepted_by_its_local_part() {
        let hostname: DomainName = "localhost".parse().expect("name");
        let settings = PolicySettings { accepted_local_parts: all(&["test-*", "ann"]), ..PolicySettings::default() };
        for (local_part, is_accepted, is_accepted_without_tag) in [
            ("test-1", true, true),
            ("TEST-1", true, true),
            ("\"Ann\"", true, true),
            ("ann+news", false, true),
            ("bob", false, false),
            ("postmaster", true, true),
            ("PostMaster", true, true),
            ("postmaster2", false, false),
            // Role addresses exist only on domains that can have a certificate.
            ("abuse", false, false),
        ] {
            let address: Address = format!("{local_part}@example.test").parse().expect(local_part);
            let is = |subaddressing| settings.mailbox(&address.mailbox(subaddressing), &hostname).is_ok();
            assert_eq!(is(Subaddressing::Keep), is_accepted, "{local_part}");
            assert_eq!(is(Subaddressing::Strip), is_accepted_without_tag, "{local_part}");
        }
        let is = |address: &str| {
            let address: Address = address.parse().expect("address");
            settings.mailbox(&address.mailbox(Subaddressing::Keep), &hostname).is_ok()
        };
        assert!(is("Abuse@example.org") && is("security@example.org"));
        assert!(!is("sales@example.org"));
    }
}
