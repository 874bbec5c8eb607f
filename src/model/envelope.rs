//! The envelope of a message, which SMTP sends apart from the message itself.

use std::net::IpAddr;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{EmailId, Mailbox, Protocol, Timestamp};

/// A recipient of a message, with the id of its Email.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    /// The id of the Email.
    pub id: EmailId,
    /// The address with the local part as given and the domain in canonical form.
    pub address: String,
    /// The mailbox of the address.
    pub mailbox: Mailbox,
}

/// The client, reverse-path and recipients of a message (RFC 5321 section 2.3.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The client's address.
    pub client: IpAddr,
    /// The client's name for itself in its greeting.
    pub helo: String,
    /// The protocol of the transfer.
    pub protocol: Protocol,
    /// The reverse-path without its angle brackets and source route; empty for the null sender.
    pub reverse_path: String,
    /// The recipients: at least one, and each mailbox only once.
    pub recipients: Vec<Recipient>,
}

impl Envelope {
    /// An envelope for `recipients` in their order, addresses with their mailboxes. Each mailbox appears once, with an id of its own from `new_id`.
    pub fn new(
        client: IpAddr,
        helo: String,
        protocol: Protocol,
        reverse_path: String,
        recipients: impl IntoIterator<Item = (String, Mailbox)>,
        new_id: impl Fn() -> EmailId,
    ) -> Self {
        let mut seen = std::collections::HashSet::new();
        let recipients = recipients
            .into_iter()
            .filter(|(_, mailbox)| seen.insert(mailbox.clone()))
            .map(|(address, mailbox)| Recipient { id: new_id(), address, mailbox })
            .collect();
        Self { client, helo, protocol, reverse_path, recipients }
    }

    /// Whether all recipients are leases, whose mail lives as they say and not as the retention does.
    pub fn has_own_life(&self) -> bool {
        self.recipients.iter().all(|to| to.mailbox.lease().is_some())
    }
}

/// A received message for the store. The caller sets ids and times, so that passing it twice is harmless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The envelope of the message.
    pub envelope: Envelope,
    /// The octets exactly as received, dot-stuffing removed, without the final dot.
    pub raw: Bytes,
    /// When the end of the message was received.
    pub received_at: Timestamp,
    /// The first millisecond in which it is no longer readable.
    pub expires_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Address, Greeting, Subaddressing};

    #[test]
    fn a_mailbox_named_twice_gets_one_email() {
        let addresses: Vec<Address> =
            ["Ann@example.test", "bob@example.test", "ANN@EXAMPLE.TEST", "\"ann\"@example.test"]
                .iter()
                .map(|text| text.parse().expect(text))
                .collect();
        let envelope = Envelope::new(
            IpAddr::from([127, 0, 0, 1]),
            "client.test".into(),
            Protocol::plain(Greeting::Ehlo),
            String::new(),
            addresses.iter().map(|address| (address.to_string(), address.mailbox(Subaddressing::Keep))),
            || crate::random::email_id(Timestamp::from_millis(0)),
        );
        let shown: Vec<_> = envelope.recipients.iter().map(|recipient| recipient.address.as_str()).collect();
        assert_eq!(shown, ["Ann@example.test", "bob@example.test"]);
        assert_ne!(envelope.recipients[0].id, envelope.recipients[1].id);
    }
}
