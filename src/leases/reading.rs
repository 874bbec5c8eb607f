//! Which mailbox a reader of an address gets.

use super::key::KeyHash;
use super::{Leases, life};
use crate::model::{Address, LeaseRecord, Mailbox, Timestamp};
use crate::store::StoreError;

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Anybody.
    Public,
    /// Whoever has shown a key.
    Holder(KeyHash),
    /// The administrator, who reads all mail, with the key that he has shown, too.
    Administrator(Option<KeyHash>),
}

impl Reader {
    /// Whether a lease is the reader's to read, if it lives.
    pub(super) fn holds(self, lease: &LeaseRecord) -> bool {
        match self {
            Self::Public => false,
            Self::Holder(key) => lease.has_key(&key.0),
            Self::Administrator(_) => true,
        }
    }
}

impl Leases {
    /// The hash of a presented key that has a living lease. A text that has not the form of a key costs no question.
    pub async fn look_up(&self, presented: &str) -> Result<Option<KeyHash>, StoreError> {
        let Some(key) = KeyHash::of(presented) else { return Ok(None) };
        let leases = self.living_of(key, self.clock.now()).await?;
        Ok((!leases.is_empty()).then_some(key))
    }

    /// The mailbox that a reader of an address gets: that of its living lease, if the reader holds that. Notes a reading of
    /// the holder.
    pub async fn mailbox(&self, address: &Address, reader: Reader) -> Result<Mailbox, StoreError> {
        let now = self.clock.now();
        let lease = if reader == Reader::Public { None } else { self.find(address).await? };
        match lease.filter(|lease| lease.is_living(now) && reader.holds(lease)) {
            Some(lease) => {
                self.note_reading(&lease, reader, now).await;
                Ok(lease.private_mailbox())
            }
            None => Ok(address.mailbox(self.config.mail.subaddressing)),
        }
    }

    /// Whether a reader may see what is in a mailbox: always, if it is not of a lease. Notes a reading of the holder.
    pub async fn may_read(&self, mailbox: &Mailbox, reader: Reader) -> Result<bool, StoreError> {
        let Some(id) = mailbox.lease() else { return Ok(true) };
        match reader {
            Reader::Administrator(_) => Ok(true),
            Reader::Public => Ok(false),
            Reader::Holder(_) => {
                let now = self.clock.now();
                let lease = self.store.lease(&mailbox.public()).await?;
                let lease = lease.filter(|lease| lease.id == id && lease.is_living(now) && reader.holds(lease));
                if let Some(lease) = &lease {
                    self.note_reading(lease, reader, now).await;
                }
                Ok(lease.is_some())
            }
        }
    }

    /// Whether a mailbox is of a lease that is over.
    pub async fn is_over(&self, mailbox: &Mailbox) -> Result<bool, StoreError> {
        let Some(id) = mailbox.lease() else { return Ok(false) };
        let lease = self.store.lease(&mailbox.public()).await?;
        Ok(!lease.is_some_and(|lease| lease.id == id && lease.is_living(self.clock.now())))
    }

    /// Notes that the holder reads a lease which ends if nobody does. Writes seldom.
    async fn note_reading(&self, lease: &LeaseRecord, reader: Reader, now: Timestamp) {
        let is_holder = match reader {
            Reader::Public | Reader::Administrator(None) => false,
            Reader::Holder(key) | Reader::Administrator(Some(key)) => lease.has_key(&key.0),
        };
        if is_holder
            && life::with_reading(lease, now).is_some()
            && let Err(error) = self.alter(lease, life::with_reading).await
        {
            tracing::warn!(%error, "it could not be noted that a private inbox was read; the next reading is");
        }
    }
}
