//! Who may use the mail of all inboxes without a token.

use super::caller::Caller;
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

    /// Whether it is open to a caller.
    pub(super) const fn is_open_to(self, caller: &Caller) -> bool {
        match self {
            Self::Closed => false,
            Self::Here => caller.is_here,
            Self::Open => true,
        }
    }
}
