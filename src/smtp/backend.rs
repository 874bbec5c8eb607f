//! What a session asks the service: which clients, senders and recipients it takes mail of, and to keep a message.

use std::net::IpAddr;

use futures_util::future::BoxFuture;

use super::Receiver;
use super::reply::Reply;
use super::session::Message;
use crate::config::SmtpConfig;
use crate::fault::{Fault, Parties, Stage};
use crate::leases::Mail;
use crate::model::{Address, DomainName, DomainStatus};
use crate::store::StoreError;

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// How many Emails. None if no recipient takes mail any more.
    pub emails: u64,
    /// How many Emails of the usual life take as much of the store.
    pub weight: u64,
}

/// What a session asks the service.
pub trait Backend: Send + Sync {
    /// Whether a message from `reverse_path` may begin now; it is empty for the null sender. The error is the reply to
    /// MAIL.
    fn sender(&self, reverse_path: &str) -> Result<(), Reply>;

    /// Whether mail for `address` is accepted. The error is the reply to RCPT.
    fn recipient<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, Result<(), Reply>>;

    /// Keeps a message. `Ok`: the Emails that it became are on the disk and visible.
    fn receive(&self, message: Message) -> BoxFuture<'_, Result<Kept, StoreError>>;

    /// The fault on purpose at this moment of a session, and the number of its rule.
    fn fault(&self, _stage: Stage, _parties: Parties<'_>) -> Option<(u64, Fault)> {
        None
    }
}

/// The daemon takes what the administrator does not refuse, for active domains, while there is room on the disk and in
/// the mailbox.
pub(super) struct Mailroom<'a> {
    pub(super) receiver: &'a Receiver,
    /// The client's address.
    pub(super) address: IpAddr,
}

impl Backend for Mailroom<'_> {
    fn sender(&self, reverse_path: &str) -> Result<(), Reply> {
        refuse_sender(&self.receiver.config.smtp, reverse_path)?;
        // At MAIL the store has got nothing yet, so even an unknown outcome is a plain failure.
        self.receiver.store.accepts().map_err(|error| Reply::of_store_error(&error).unwrap_or(Reply::STORE_FAILED))
    }

    fn recipient<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, Result<(), Reply>> {
        let Receiver { domains, store, leases, clock, .. } = self.receiver;
        Box::pin(async move {
            if domains.must_look_up(address.domain()) {
                domains.look_up(address.domain()).await;
            }
            match domains.table.status(address.domain()) {
                Some(DomainStatus::Active) => {}
                Some(DomainStatus::Deactivated) => return Err(Reply::domain_deactivated(address.domain())),
                None => return Err(Reply::domain_unknown(address.domain())),
            }
            let failed = |error: StoreError| Reply::of_store_error(&error).unwrap_or(Reply::STORE_FAILED);
            let mailbox = leases.accepts(address).await.map_err(failed)?.ok_or(Reply::RECIPIENT_UNKNOWN)?;
            store.check_cap(&mailbox, clock.now()).map_err(failed)
        })
    }

    fn receive(&self, message: Message) -> BoxFuture<'_, Result<Kept, StoreError>> {
        let Message { helo, protocol, reverse_path, recipients, raw } = message;
        let mail = Mail { client: self.address, helo, protocol, reverse_path, recipients, raw };
        Box::pin(async move {
            let stored = self.receiver.leases.deliver(mail).await;
            if let Err(error) = &stored {
                tracing::warn!(client = %self.address, %error, "message not stored; its sender retries");
            }
            stored.map(|stored| Kept { emails: stored.emails.len() as u64, weight: stored.weight })
        })
    }

    fn fault(&self, stage: Stage, parties: Parties<'_>) -> Option<(u64, Fault)> {
        self.receiver.faults.check(stage, parties)
    }
}

/// Refuses clients of `refuse-client`; the reply takes the place of the greeting.
pub(super) fn refuse_client(config: &SmtpConfig, client: IpAddr) -> Result<(), Reply> {
    let client = client.to_canonical();
    let is_refused = config.refused_clients.iter().any(|network| network.contains(&client));
    if is_refused { Err(Reply::CLIENT_REFUSED) } else { Ok(()) }
}

/// Refuses senders of `refuse-sender-domain`. The null sender is never refused.
fn refuse_sender(config: &SmtpConfig, reverse_path: &str) -> Result<(), Reply> {
    if config.refused_senders.is_empty() {
        return Ok(());
    }
    // Neither the null sender nor an address literal has a domain name.
    let domain = reverse_path.rsplit_once('@').and_then(|(_, domain)| domain.parse::<DomainName>().ok());
    let is_refused = domain.is_some_and(|name| config.refused_senders.iter().any(|pattern| pattern.matches(&name)));
    if is_refused { Err(Reply::SENDER_REFUSED) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Revision};

    fn all<T: std::str::FromStr<Err: std::fmt::Debug>>(texts: &[&str]) -> Vec<T> {
        texts.iter().map(|text| text.parse().expect(text)).collect()
    }

    #[test]
    fn a_client_is_refused_by_its_network() {
        let mut config = Config::of_revision(Revision::Two, "unused".into()).smtp;
        config.refused_clients = all(&["192.0.2.0/24", "198.51.100.7/32", "2001:db8:bad::/48"]);
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
            let refused = refuse_client(&config, client.parse().expect(client)).is_err();
            assert_eq!(refused, is_refused, "{client}");
        }
        config.refused_clients = Vec::new();
        assert_eq!(refuse_client(&config, IpAddr::from([192, 0, 2, 1])), Ok(()));
    }

    #[test]
    fn a_sender_is_refused_by_its_domain() {
        let mut config = Config::of_revision(Revision::Two, "unused".into()).smtp;
        config.refused_senders = all(&["spam.example", "*.bulk.example", "b\u{fc}cher.example"]);
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
            assert_eq!(refuse_sender(&config, reverse_path), expected, "{reverse_path}");
        }
    }
}
