//! An Email as JSON, and who may read it.

use std::sync::Arc;

use serde::Serialize;

use super::Api;
use super::memory::{Asker, Room};
use super::principal::Principal;
use super::problem::{Code, Problem};
use crate::mime::Message;
use crate::model::{EmailId, Listed, Mailbox, StoredEmail};
use crate::reader;

/// The six fields of an Email in every answer. No field is ever absent or null.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EmailJson<'a> {
    id: EmailId,
    recipient: &'a str,
    from: &'a str,
    subject: &'a str,
    message: &'a str,
    received_at: String,
}

impl<'a> EmailJson<'a> {
    /// The fields of an Email; `None` only if its envelope lacks it.
    pub(super) fn of(email: &'a StoredEmail, message: &'a Message<'_>) -> Option<Self> {
        Some(Self {
            id: email.listed.id,
            recipient: &email.recipient()?.address,
            from: message.from().unwrap_or(&email.envelope.reverse_path),
            subject: message.subject(),
            message: message.html(),
            received_at: email.listed.received_at.to_interface(),
        })
    }
}

impl Api {
    /// Refuses a mailbox that only the administrator may use.
    pub(super) fn permit(&self, principal: Principal, mailbox: &Mailbox) -> Result<(), Problem> {
        let is_role = || self.config.mail.role_addresses.contains(mailbox, &self.config.smtp.hostname);
        if principal == Principal::Public && is_role() {
            return Err(Problem::new(
                Code::RoleAddress,
                "mail of this address could prove control of its domain, so only the administrator may read it",
            ));
        }
        Ok(())
    }

    /// Loads the Email with this id, if `principal` may read it, and reserves room for its octets.
    pub(super) async fn email(
        self: &Arc<Self>,
        principal: Principal,
        asker: &Asker,
        id: EmailId,
    ) -> Result<(StoredEmail, Room), Problem> {
        let listed = self.find(id).await?;
        let room = self.reserve(asker, listed.size_octets).await?;
        let email = Arc::clone(self).load(principal, listed);
        // The loading ends even if the caller goes away, so the room belongs to it.
        reader::load(async move { Ok((email.await?, room)) }).await
    }

    /// Reads the Email with this id, if `principal` may. `render` gets it on a thread of the reader, with room for its JSON.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        principal: Principal,
        asker: &Asker,
        id: EmailId,
        render: impl FnOnce(StoredEmail, Room) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let listed = self.find(id).await?;
        let room = self.reserve_rendered(asker, [listed.size_octets]).await?;
        let email = Arc::clone(self).load(principal, listed);
        self.reader.run(async move { render(email.await?, room) }).await
    }

    async fn find(&self, id: EmailId) -> Result<Listed, Problem> {
        self.store.find(id, self.clock.now()).await?.ok_or_else(Problem::no_such_email)
    }

    async fn load(self: Arc<Self>, principal: Principal, listed: Listed) -> Result<StoredEmail, Problem> {
        let email = self.store.load(&listed).await?.ok_or_else(Problem::no_such_email)?;
        let Some(mailbox) = email.mailbox() else {
            tracing::error!(id = %listed.id, "an Email can't be shown, since its envelope does not name it");
            return Err(Problem::internal());
        };
        self.permit(principal, mailbox)?;
        Ok(email)
    }
}
