//! Which addresses without a lease take mail.

use std::time::Duration;

use super::sweep::CLOSE_EVERY;
use super::{LeaseError, Leases};
use crate::admission::{Bound, OPENED_FOR, Refused, What, Who};
use crate::config::Accept;
use crate::model::Mailbox;
use crate::store::StoreError;

/// The most mailboxes that are open at a time.
const OPENED_MAX: u64 = 1_000_000;
/// A mailbox that is open for so much less than it would be is opened again.
const OPENED_AGAIN_AFTER: Duration = Duration::from_hours(1);

impl Leases {
    /// Whether a public mailbox takes mail by the setting `accept`.
    pub(super) async fn is_open(&self, mailbox: &Mailbox) -> Result<bool, StoreError> {
        let config = &self.config;
        match config.leases.accept {
            Accept::Any => Ok(true),
            _ if config.mail.role_addresses.has(mailbox) => Ok(true),
            Accept::Leased => Ok(false),
            Accept::Opened => {
                let is_open = self.store.is_mailbox_open(mailbox, self.clock.now()).await?;
                Ok(is_open || !self.store.webhooks(mailbox).await?.is_empty())
            }
        }
    }

    /// Notes that somebody reads a mailbox, waits for its mail, or has been given its address: with `accept = opened` it takes
    /// mail for a day from now on. Costs no write while that is nearly so already.
    pub async fn opened(&self, mailbox: &Mailbox, who: Who) -> Result<(), LeaseError> {
        if self.config.leases.accept != Accept::Opened || mailbox.lease().is_some() {
            return Ok(());
        }
        let until = self.clock.now().plus(OPENED_FOR);
        if self.store.is_mailbox_open(mailbox, until.before(OPENED_AGAIN_AFTER)).await? {
            return Ok(());
        }
        self.admission.spend(who, What::Opened, 1).map_err(LeaseError::TooMany)?;
        if self.store.open_mailbox(mailbox, until, OPENED_MAX).await? {
            return Ok(());
        }
        let refused = Refused { what: What::Opened, by: Bound::All, retry_after: CLOSE_EVERY };
        Err(LeaseError::TooMany(refused))
    }
}
