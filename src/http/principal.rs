//! The caller of a request, and what it may do.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;

use super::edge::Peer;
use crate::model;

/// Who asks: what the transport knows of the caller, kept in the request's extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Principal {
    /// Anybody.
    #[default]
    Public,
    /// The administrator: a user who may open the local socket or the data directory.
    Administrator,
}

impl<S: Sync> FromRequestParts<S> for Principal {
    type Rejection = Infallible;

    /// A request without one is the public's.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or_default())
    }
}

/// Who is counted for what a request takes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requester {
    /// The administrator, for whom nothing is counted.
    Administrator,
    /// Who asks from there; all of whom no address is known are one.
    At(model::Client),
}

impl Requester {
    pub(super) fn of(extensions: &Extensions) -> Self {
        if extensions.get() == Some(&Principal::Administrator) {
            return Self::Administrator;
        }
        let peer = extensions.get().map_or(Ipv4Addr::UNSPECIFIED.into(), |Peer(peer)| peer.ip());
        Self::At(model::Client::of(peer))
    }

    /// Who it is as the one who registers a webhook.
    pub(super) fn registrant(self) -> Option<model::Client> {
        match self {
            Self::Administrator => None,
            Self::At(registrant) => Some(registrant),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Requester {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions))
    }
}
