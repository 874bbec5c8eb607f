//! What SMTP says about a message, apart from the message itself.

use std::net::IpAddr;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{Address, EmailId, Mailbox, Protocol, Subaddressing, Timestamp};

/// One recipient of a message, with the id of the Email that it gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    /// The id of the Email.
    pub id: EmailId,
    /// The address as shown: local part as it came in, domain in canonical form.
    pub address: String,
    /// The mailbox that it arrives at.
    pub mailbox: Mailbox,
}

/// Reverse-path, recipients and where they came from (RFC 5321 section 2.3.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The client's address.
    pub client: IpAddr,
    /// What the client called itself.
    pub helo: String,
    /// How it came in.
    pub protocol: Protocol,
    /// The reverse-path without its angle brackets and source route; empty for the null sender.
    pub reverse_path: String,
    /// At least one; no mailbox occurs twice.
    pub recipients: Vec<Recipient>,
}

impl Envelope {
    /// An envelope whose recipients are `addresses` in their order, each mailbox once, each with a fresh id.
    pub fn new(
        client: IpAddr,
        helo: String,
        protocol: Protocol,
        reverse_path: String,
        addresses: &[Address],
        subaddressing: Subaddressing,
        received_at: Timestamp,
    ) -> Self {
        let mut seen = std::collections::HashSet::new();
        let recipients = addresses
            .iter()
            .filter_map(|address| {
                let mailbox = address.mailbox(subaddressing);
                seen.insert(mailbox.clone()).then(|| Recipient {
                    id: EmailId::fresh(received_at),
                    address: address.to_string(),
                    mailbox,
                })
            })
            .collect();
        Self { client, helo, protocol, reverse_path, recipients }
    }
}

/// A received mail as handed to the store. Ids and times are the caller's, so that handing it over twice is harmless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Who sent it to whom.
    pub envelope: Envelope,
    /// The octets exactly as received, dot-stuffing removed, without the final dot.
    pub raw: Bytes,
    /// When the end of the data was seen.
    pub received_at: Timestamp,
    /// The first millisecond in which it is no longer readable.
    pub expires_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

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
            Protocol::ESMTP,
            String::new(),
            &addresses,
            Subaddressing::Keep,
            Timestamp::from_millis(0),
        );
        let shown: Vec<_> = envelope.recipients.iter().map(|recipient| recipient.address.as_str()).collect();
        assert_eq!(shown, ["Ann@example.test", "bob@example.test"]);
        assert_ne!(envelope.recipients[0].id, envelope.recipients[1].id);
    }
}
