//! Who may use the mail of all inboxes without a token.

use axum::extract::Request;

use super::edge::Peer;
use super::forwarded::is_forwarded;
use crate::config::Config;

/// The callers without a token to whom the mail of all inboxes is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllMail {
    /// Nobody.
    Closed,
    /// Programs of this machine. Nobody else can reach HTTP.
    Here,
    /// Everybody, in a network of friends.
    Open,
}

impl AllMail {
    /// To whom it may be open at most.
    pub(super) fn of(config: &Config) -> Self {
        let http = &config.http;
        // Pages of any site could read what they get from this machine, or come under a name of their own.
        let is_open_to_pages = match &http.allowed_origins {
            Some(origins) => origins.iter().any(|origin| origin == "*"),
            None => !http.is_local(),
        } || !http.is_local() && http.allowed_hosts.is_empty();
        if is_open_to_pages || !config.http.public.read {
            Self::Closed
        } else if config.dev && config.smtp.trusted_network {
            Self::Open
        } else if config.http.is_local() {
            Self::Here
        } else {
            Self::Closed
        }
    }

    /// Whether it is open to the caller of a request.
    pub(super) fn is_open_to(self, request: &Request) -> bool {
        match self {
            Self::Closed => false,
            Self::Here => is_from_here(request),
            Self::Open => true,
        }
    }
}

/// Whether a program of this machine sent the request, and no proxy passed it on.
fn is_from_here(request: &Request) -> bool {
    let peer = request.extensions().get::<Peer>();
    peer.is_some_and(|Peer(peer)| peer.ip().to_canonical().is_loopback()) && !is_forwarded(request.headers())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn only_a_peer_on_loopback_is_from_here() {
        for (peer, is_here) in
            [("127.0.0.1:1", true), ("[::1]:1", true), ("[::ffff:127.0.0.1]:1", true), ("192.0.2.1:1", false)]
        {
            let peer = Peer(peer.parse().expect(peer));
            let request = |field: &str| {
                Request::builder().extension(peer).header(field, "192.0.2.9").body(Body::empty()).expect("a request")
            };
            assert_eq!(is_from_here(&request("accept")), is_here, "{peer:?}");
            assert!(!is_from_here(&request("x-forwarded-for")), "{peer:?}");
        }
    }
}
