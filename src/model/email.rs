//! An Email, which is a received message as one recipient sees it.

use bytes::Bytes;

use super::{EmailId, Envelope, LeaseId, Mailbox, Recipient, Timestamp};

/// The place of an Email's octets in a store. Only that store can interpret it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(pub [u8; 16]);

/// An Email in the list of a mailbox, without its octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The Email's id.
    pub id: EmailId,
    /// The position within the mailbox. A later Email has a higher number, even if the clock was set back.
    pub sequence: u64,
    /// When it was received.
    pub received_at: Timestamp,
    /// The first millisecond in which it is no longer readable.
    pub expires_at: Timestamp,
    /// The number of octets as received.
    pub size_octets: u64,
    /// The place of its octets.
    pub place: Place,
}

/// An Email with its octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEmail {
    /// The Email as in a list.
    pub listed: Listed,
    /// The envelope of the message, with all recipients.
    pub envelope: Envelope,
    /// The octets exactly as received.
    pub raw: Bytes,
}

impl StoredEmail {
    /// The recipient of this Email; `None` only if the envelope lacks it.
    pub fn recipient(&self) -> Option<&Recipient> {
        self.envelope.recipients.iter().find(|recipient| recipient.id == self.listed.id)
    }

    /// The mailbox of this Email.
    pub fn mailbox(&self) -> Option<&Mailbox> {
        self.recipient().map(|recipient| &recipient.mailbox)
    }

    /// The lease that its mailbox is of; `None` if it is public.
    pub fn lease(&self) -> Option<LeaseId> {
        self.mailbox().and_then(Mailbox::lease)
    }
}
