//! Which mailbox an address is for a caller, and reading one Email by its id, for those who may.

use std::sync::Arc;

use crate::http::authentication::closed;
use crate::http::{Api, Caller, Code, Problem, Room};
use crate::model::{Address, EmailId, Listed, Mailbox, StoredEmail};
use crate::reader;
use crate::store::StoreError;

impl Api {
    /// The mailbox that an address is for a caller: that of its lease for the holder and the administrator, and for everybody
    /// else the one that it has without a lease, so that a stranger's request is never about mail of a lease. Refuses a mailbox
    /// that the caller may not use.
    ///
    /// Every handler gets its mailboxes here. The address counts as opened by the caller.
    pub(in crate::http) async fn mailbox(&self, caller: &mut Caller, address: &Address) -> Result<Mailbox, Problem> {
        let mailbox = self.mailbox_of(caller, address).await?;
        caller.lease = mailbox.lease();
        if caller.is_confined && caller.lease.is_none() {
            return Err(closed("mail of other addresses than those of your key"));
        }
        self.check_role(caller, &mailbox)?;
        self.leases.opened(&mailbox, caller.who).await?;
        Ok(mailbox)
    }

    /// Whether a mailbox is still the one that an address is for a caller. A lease that begins gives another one to whoever
    /// may read its mail, and then nothing more arrives at this one.
    pub(super) async fn is_current(
        &self,
        caller: &Caller,
        address: &Address,
        mailbox: &Mailbox,
    ) -> Result<bool, StoreError> {
        Ok(self.mailbox_of(caller, address).await? == *mailbox)
    }

    async fn mailbox_of(&self, caller: &Caller, address: &Address) -> Result<Mailbox, StoreError> {
        self.leases.mailbox(address, caller.reader()).await
    }

    /// Whether a caller may use a mailbox, as far as leases say.
    pub(in crate::http) async fn opens(&self, caller: &Caller, mailbox: &Mailbox) -> Result<bool, Problem> {
        let is_closed = caller.is_confined && mailbox.lease().is_none();
        Ok(!is_closed && self.leases.may_read(mailbox, caller.reader()).await?)
    }

    /// A number of all Emails or mailboxes, for a caller who may know it: for others while nobody has a private inbox.
    pub(in crate::http) async fn known_total(
        &self,
        caller: &Caller,
        total: Option<u64>,
    ) -> Result<Option<u64>, StoreError> {
        let is_known = caller.is_administrator() || self.store.lease_counts(None).await?.all == 0;
        Ok(total.filter(|_| is_known))
    }

    /// Refuses a mailbox of a role, which only the administrator may use.
    pub(in crate::http) fn check_role(&self, caller: &Caller, mailbox: &Mailbox) -> Result<(), Problem> {
        let is_role = || self.config.mail.role_addresses.contains(&mailbox.public(), &self.config.smtp.hostname);
        if !caller.reads_all() && is_role() {
            return Err(Problem::new(
                Code::RoleAddress,
                "mail of this address could prove control of its domain, so only the administrator may read it",
            ));
        }
        Ok(())
    }

    /// Loads the Email with this id, if `caller` may read it, and reserves room for its octets.
    pub(in crate::http) async fn email(
        self: &Arc<Self>,
        caller: &Caller,
        id: EmailId,
    ) -> Result<(StoredEmail, Room), Problem> {
        let listed = self.find(id).await?;
        let room = self.reserve(caller, listed.size_octets).await?;
        let email = Arc::clone(self).load(caller.clone(), listed);
        // The loading ends even if the caller goes away, so the room belongs to it.
        reader::load(async move { Ok((email.await?, room)) }).await
    }

    /// Reads the Email with this id, if `caller` may. `render` gets it on a thread of the reader, with room for its JSON.
    pub(in crate::http) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        caller: &Caller,
        id: EmailId,
        render: impl FnOnce(StoredEmail, Room) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let listed = self.find(id).await?;
        let room = self.reserve_rendered(caller, [listed.size_octets]).await?;
        let email = Arc::clone(self).load(caller.clone(), listed);
        self.reader.run(async move { render(email.await?, room) }).await
    }

    async fn find(&self, id: EmailId) -> Result<Listed, Problem> {
        self.store.find(id, self.clock.now()).await?.ok_or_else(Problem::no_such_email)
    }

    async fn load(self: Arc<Self>, caller: Caller, listed: Listed) -> Result<StoredEmail, Problem> {
        let email = self.store.load(&listed).await?.ok_or_else(Problem::no_such_email)?;
        let Some(mailbox) = email.mailbox() else {
            tracing::error!(id = %listed.id, "an Email can't be shown, since its envelope does not name it");
            return Err(Problem::internal());
        };
        if caller.ticket == Some(email.listed.id) {
            return Ok(email);
        }
        if !self.opens(&caller, mailbox).await? {
            return Err(Problem::no_such_email());
        }
        self.check_role(&caller, mailbox)?;
        Ok(email)
    }
}
