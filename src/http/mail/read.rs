//! Reading one Email by its id, for those who may.

use std::sync::Arc;

use crate::http::{Api, Caller, Code, Problem, Room};
use crate::model::{EmailId, Listed, Mailbox, StoredEmail};
use crate::reader;

impl Api {
    /// Refuses a mailbox that only the administrator may use.
    pub(in crate::http) fn permit(&self, caller: &Caller, mailbox: &Mailbox) -> Result<(), Problem> {
        let is_role = || self.config.mail.role_addresses.contains(mailbox, &self.config.smtp.hostname);
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
        self.permit(&caller, mailbox)?;
        Ok(email)
    }
}
