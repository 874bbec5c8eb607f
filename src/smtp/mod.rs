//! The receiver of mail: SMTP and LMTP.
//!
//! A message is accepted (250) only after [`Store::receive`] has returned `Ok`; [`Session::stored`] is the only place
//! that does so. The files, in the order in which a connection meets them:
//!
//! [`connections`](crate::connections) has the limits that HTTP shares.
//!
//! ```text
//! listener       the sockets; how the service stops
//! accept         from an accepted connection to a session
//!   eviction       which session is evicted       stream    TCP, Unix and TLS as one type
//! connection     reads, writes and waits for a session, and hands its messages to the store
//!   timeout        waits until a deadline         deadlines how long a client may take
//! session        the protocol, without I/O: octets in, replies and actions out
//!   line           octets to command lines        command   command lines to commands
//!   path           reverse-paths, forward-paths   auth      exchanges of AUTH
//!   data, body     octets after DATA and BDAT     content   what a message is refused for
//! policy         which clients, senders and recipients are refused
//! fault          the rules for faults on purpose
//! budget         memory for incoming messages
//! reply          the replies                      reasons   why a session ended, which limit refused something
//! settings       settings and constants           metrics   counters
//! ```

mod accept;
mod auth;
mod body;
mod budget;
mod command;
mod connection;
mod content;
mod data;
mod deadlines;
mod eviction;
pub mod fault;
mod line;
mod listener;
mod metrics;
mod path;
mod policy;
mod reasons;
mod reply;
mod session;
mod settings;
mod stream;
mod timeout;

use std::sync::Arc;

use eviction::Slots;
use fault::Faults;

pub use budget::{Budget, Share};
pub use data::Decoder;
pub use listener::{Listener, ServiceListener, serve};
pub use metrics::Counters;
pub use policy::{Policy, PolicySettings};
pub use reasons::{End, Limit};
pub use reply::Reply;
pub use session::{Action, Message, Session};
pub use settings::SmtpSettings;

use crate::clock::Clock;
use crate::connections::Clients;
use crate::domains::Registry;
pub use crate::model::TlsSession;
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

/// What every session shares.
pub struct Receiver {
    settings: SmtpSettings,
    bodies: Budget,
    store: Arc<dyn Store>,
    domains: Arc<Registry>,
    clock: Arc<dyn Clock>,
    tls: Option<Arc<Keeper>>,
    slots: Arc<Slots>,
    clients: Arc<Clients>,
    counters: Arc<Counters>,
    faults: Arc<Faults>,
}

impl Receiver {
    /// A receiver that stores in `store` what it accepts.
    pub fn new(settings: SmtpSettings, store: Arc<dyn Store>, domains: Arc<Registry>, clock: Arc<dyn Clock>) -> Self {
        let bodies = Budget::per_client(settings.bodies_octets_max, settings.bodies_octets_per_client_max);
        let slots = Arc::new(Slots::new(settings.connections_max, settings.timeouts()));
        let clients = Arc::new(Clients::new(settings.client_limits()));
        Self {
            settings,
            bodies,
            store,
            domains,
            clock,
            tls: None,
            slots,
            clients,
            counters: Arc::default(),
            faults: Arc::default(),
        }
    }

    /// Adds a certificate for TLS.
    #[must_use]
    pub fn with_tls(self, tls: Option<Arc<Keeper>>) -> Self {
        Self { tls, ..self }
    }

    /// Counts in `counters` instead of counters of its own.
    #[must_use]
    pub fn counting(self, counters: Arc<Counters>) -> Self {
        Self { counters, ..self }
    }

    /// Adds rules for faults on purpose.
    #[must_use]
    pub fn with_faults(self, faults: Arc<Faults>) -> Self {
        Self { faults, ..self }
    }
}
