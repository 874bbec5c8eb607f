//! Who asks: the client of a request, what it may do, and whose shares it has.

use std::convert::Infallible;
use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::admission::{Admission, Who};
use crate::model::{Client, Scope, Secret};

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
}

impl Caller {
    /// The administrator, who is any user with access to the control socket or the data directory.
    pub const fn administrator() -> Self {
        Self { address: None, is_here: true, who: Who::Administrator, scope: Some(Scope::Admin), token: None }
    }

    /// Anybody at an address.
    pub(super) fn public(address: IpAddr, admission: &Admission) -> Self {
        Self { address: Some(address), is_here: false, who: admission.who(address), scope: None, token: None }
    }

    /// Makes the caller the bearer of a valid token, who has no limits.
    pub(super) fn bear(&mut self, token: &str, scope: Scope) {
        (self.who, self.scope, self.token) = (Who::Administrator, Some(scope), Secret::new(token.to_owned()));
    }

    /// Whether the caller reads the mail of all inboxes.
    pub(super) const fn reads_all(&self) -> bool {
        self.scope.is_some()
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
