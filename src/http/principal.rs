//! The caller of a request, and what it may do.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;

use super::edge::Peer;
use crate::admission::{Admission, Who};
use crate::model;

/// The caller of a request, in the request's extensions. The transport or a token sets it.
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

/// The client that limits count a request for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requester {
    /// The administrator, or the bearer of a valid token. Neither has limits of its own.
    Administrator,
    /// A client by its address. Clients without a known address count as one.
    At(model::Client),
}

impl Requester {
    pub(super) fn of(extensions: &Extensions) -> Self {
        if let Some(Principal::Administrator | Principal::Reader) = extensions.get() {
            return Self::Administrator;
        }
        Self::At(model::Client::of(address(extensions)))
    }

    /// The client, which is also the registrant of a webhook or domain; `None` for the administrator.
    pub(super) fn client(self) -> Option<model::Client> {
        match self {
            Self::Administrator => None,
            Self::At(client) => Some(client),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Requester {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions))
    }
}

/// The client's address. Clients without a known one count as one.
fn address(extensions: &Extensions) -> IpAddr {
    extensions.get().map_or(Ipv4Addr::UNSPECIFIED.into(), |Peer(peer)| peer.ip())
}

/// Whose shares a request counts for.
pub(super) fn who(extensions: &Extensions, admission: &Admission) -> Who {
    match Requester::of(extensions) {
        Requester::Administrator => Who::Administrator,
        Requester::At(_) => admission.who(address(extensions)),
    }
}

/// The same for the handlers, as the edge has found it.
pub(super) fn asker(extensions: &Extensions) -> Who {
    extensions.get().copied().unwrap_or(Who::Client(model::Client::of(address(extensions))))
}
