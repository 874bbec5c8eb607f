//! An Email: what one recipient sees of a received message.

use bytes::Bytes;

use super::{EmailId, Envelope, Mailbox, Recipient, Timestamp};

/// Where a store keeps the octets of an Email. Opaque to everything but the store that gave it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(pub [u8; 16]);

/// One line of a mailbox's list: all that is known of an Email without reading its octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The Email's id.
    pub id: EmailId,
    /// The order within a mailbox: a later Email has a higher number, whatever the clock did. A cursor.
    pub sequence: u64,
    /// When it was received.
    pub received_at: Timestamp,
    /// The first millisecond in which it is no longer readable.
    pub expires_at: Timestamp,
    /// Length of the octets as received.
    pub size_octets: u64,
    /// Where its octets are.
    pub place: Place,
}

/// An Email with its octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEmail {
    /// What a list shows of it.
    pub listed: Listed,
    /// Who sent the message to whom; all its recipients.
    pub envelope: Envelope,
    /// The octets exactly as received.
    pub raw: Bytes,
}

impl StoredEmail {
    /// The recipient that this Email belongs to; `None` only if the store gave out an Email that its envelope lacks.
    pub fn recipient(&self) -> Option<&Recipient> {
        self.envelope.recipients.iter().find(|recipient| recipient.id == self.listed.id)
    }

    /// The mailbox that this Email lies in.
    pub fn mailbox(&self) -> Option<&Mailbox> {
        self.recipient().map(|recipient| &recipient.mailbox)
    }
}
