//! The caller of a request: what it may do, and whose shares it has.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;

use super::edge::Peer;
use crate::admission::{Admission, Who};
use crate::model::Client;

/// What the caller of a request may do, in the request's extensions. The transport or a token sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Principal {
    /// Anybody else.
    #[default]
    Public,
    /// The bearer of a token with the scope `read`, who reads what the administrator reads and changes nothing. With the
    /// setting `dev`, a request of the public that reads counts as such.
    Reader,
    /// The administrator, who is any user with access to the local socket or the data directory, and the bearer of a
    /// token with the scope `admin`.
    Administrator,
}

impl Principal {
    /// Whether the caller reads the mail of all inboxes.
    pub(super) fn reads_all(self) -> bool {
        self != Self::Public
    }
}

impl<S: Sync> FromRequestParts<S> for Principal {
    type Rejection = Infallible;

    /// A request without a principal comes from the public.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or_default())
    }
}

/// Whose shares a request has, as the edge has found it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker(pub(super) Who);

impl Asker {
    /// The client, which is also the registrant of a webhook or domain; `None` for the administrator and the bearers of
    /// tokens.
    pub(super) const fn client(self) -> Option<Client> {
        self.0.client()
    }
}

impl<S: Sync> FromRequestParts<S> for Asker {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(asker(&parts.extensions)))
    }
}

/// Whose shares a request has. The bearers of valid tokens have no limits, and callers without an address count as one
/// client.
pub(super) fn who(extensions: &Extensions, admission: &Admission) -> Who {
    if let Some(Principal::Reader | Principal::Administrator) = extensions.get() {
        return Who::Administrator;
    }
    admission.who(extensions.get().map_or(Ipv4Addr::UNSPECIFIED.into(), |Peer(peer)| peer.ip()))
}

/// The same for the handlers, as the edge has found it.
pub(super) fn asker(extensions: &Extensions) -> Who {
    *extensions.get().expect("the edge is in front of every handler")
}
