//! The receiver of mail: SMTP and LMTP.
//!
//! A message is accepted (250) only after [`Store::receive`] has returned `Ok`;
//! `session/transaction` is the only place that does so. The files, in the order in which a connection meets them:
//!
//! ```text
//! listener       the sockets; how the service stops
//! accept         from an accepted connection to a session      stream    TCP, Unix and TLS as one type
//! session        one method for each command                   backend   what a session asks the service
//!   io             the connection: lines, octets, replies, and every deadline
//!   line           octets to command lines        command   command lines to commands
//!   path           reverse-paths, forward-paths   auth      exchanges of AUTH
//!   data, body     octets after DATA and BDAT
//! fault          the rules for faults on purpose
//! reply          the replies                      reasons   why a session ended, which limit refused something
//! refusals       log lines of refusals            metrics   counters
//! ```

mod accept;
mod auth;
mod backend;
mod body;
mod command;
mod data;
pub mod fault;
mod io;
mod line;
mod listener;
mod metrics;
mod path;
mod reasons;
mod refusals;
mod reply;
mod session;
mod stream;

use std::sync::Arc;

use fault::Faults;
use tokio::runtime::Handle;

pub use backend::Backend;
pub use data::Decoder;
pub use listener::{Listener, ServiceListener, serve};
pub use metrics::Counters;
pub use reasons::{End, Limit};
pub use refusals::Refusals;
pub use reply::Reply;
pub use session::{Context, Message, converse};
pub use stream::Stream;

use crate::admission::Admission;
use crate::clock::Clock;
use crate::config::Config;
use crate::domains::Registry;
use crate::store::Store;
use crate::tls::Keeper;

/// What a listener is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// SMTP, in the clear until STARTTLS.
    Smtp,
    /// SMTP with TLS from the first octet (RFC 8314 section 3).
    Smtps,
    /// LMTP (RFC 2033), for a mail server in front.
    Lmtp,
}

/// What a session speaks and offers. It follows from the listener of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// What the listener is for.
    pub service: Service,
    /// STARTTLS is offered until the connection is encrypted.
    pub offers_tls: bool,
    /// AUTH is offered and accepts any credentials.
    pub offers_auth: bool,
}

impl Dialect {
    /// Whether the session speaks LMTP.
    pub const fn is_lmtp(self) -> bool {
        matches!(self.service, Service::Lmtp)
    }
}

/// What all sessions share.
pub struct Receiver {
    /// The settings.
    pub config: Arc<Config>,
    /// Where accepted messages are kept.
    pub store: Arc<dyn Store>,
    /// The domains that mail is received for.
    pub domains: Arc<Registry>,
    /// The time at which messages are received.
    pub clock: Arc<dyn Clock>,
    /// What each client may have.
    pub admission: Arc<Admission>,
    /// The certificate, for TLS.
    pub tls: Option<Arc<Keeper>>,
    /// Counters of all sessions.
    pub counters: Arc<Counters>,
    /// The rules for faults on purpose.
    pub faults: Arc<Faults>,
    /// The log lines of refusals.
    pub refusals: Refusals,
    /// The runtime of TLS handshakes, whose arithmetic would keep the sessions of others waiting.
    pub handshakes: Handle,
}
