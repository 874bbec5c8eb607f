//! Who asks: the client of a request, what it may do, whose shares it has, and the leases that it holds.

use std::convert::Infallible;
use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::admission::{Admission, Who};
use crate::leases::{KeyHash, Reader};
use crate::model::{Client, EmailId, LeaseId, Scope, Secret};

/// The caller of a request, in its extensions. Whoever has the connection says who is at its other end. The edge finds the
/// client behind proxies and the bearer of a token.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The address of the client; `None` at the control socket and within the process. The rules for hosts and origins
    /// apply only to callers with an address, since no browser is without one.
    pub(super) address: Option<IpAddr>,
    /// Whether it is a program of this machine, and no proxy passed the request on.
    pub(super) is_here: bool,
    /// Whose shares it has.
    pub(super) who: Who,
    /// What it may do; `None` for what the public may. The scope `read` is that of a token, or with the setting `dev` that
    /// of a request that only reads.
    pub(super) scope: Option<Scope>,
    /// The token that has the scope.
    pub(super) token: Option<Secret>,
    /// The key of leases that it bears. The key was valid when the request came.
    pub(super) key: Option<KeyHash>,
    /// Whether it may use mailboxes of leases only, since the rest of this part of the interface asks for a token.
    pub(super) is_confined: bool,
    /// The lease whose mailbox the request is about.
    pub(super) lease: Option<LeaseId>,
    /// The Email that it may read whatever else it may do, by a ticket.
    pub(super) ticket: Option<EmailId>,
}

impl Caller {
    /// The administrator, who is any user with access to the control socket or the data directory.
    pub const fn administrator() -> Self {
        let mut caller = Self::without_rights(None, Who::Administrator);
        (caller.is_here, caller.scope) = (true, Some(Scope::Admin));
        caller
    }

    /// Anybody at an address.
    pub(super) fn public(address: IpAddr, admission: &Admission) -> Self {
        Self::without_rights(Some(address), admission.who(address))
    }

    const fn without_rights(address: Option<IpAddr>, who: Who) -> Self {
        Self {
            address,
            is_here: false,
            who,
            scope: None,
            token: None,
            key: None,
            is_confined: false,
            lease: None,
            ticket: None,
        }
    }

    /// Makes the caller the bearer of a valid token, who has no limits.
    pub(super) fn bear(&mut self, token: &str, scope: Scope) {
        (self.who, self.scope, self.token) = (Who::Administrator, Some(scope), Secret::new(token.to_owned()));
    }

    /// Whether the caller reads the mail of all public inboxes.
    pub(super) const fn reads_all(&self) -> bool {
        self.scope.is_some()
    }

    /// Whether it is the administrator, or the bearer of a token: private mail is open to it.
    pub(super) fn is_administrator(&self) -> bool {
        self.who == Who::Administrator
    }

    /// What it is to leases.
    pub(super) fn reader(&self) -> Reader {
        match self.key {
            key if self.is_administrator() => Reader::Administrator(key),
            Some(key) => Reader::Holder(key),
            None => Reader::Public,
        }
    }

    /// Whether a list may show it what is in the mailbox of a lease: only the list of that mailbox, but for the administrator.
    /// Without a lease always.
    pub(super) fn may_list(&self, lease: Option<LeaseId>) -> bool {
        lease.is_none() || lease == self.lease || self.is_administrator()
    }

    /// The client, which is also the registrant of a webhook or domain; `None` for the administrator and the bearers of
    /// tokens.
    pub(super) const fn client(&self) -> Option<Client> {
        self.who.client()
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().expect("the edge is in front of every handler"))
    }
}
