//! Port 25: mail comes in.
//!
//! ```text
//! listener    sockets, how many at once, stopping
//! entrance    from accepted to served: the PROXY header, implicit TLS
//!   proxy     headers of the PROXY protocol    stream  TCP, Unix and TLS as one type
//! admission   connections by address, by network and per minute
//! places      connections in all, and who makes room
//! pace        how long a client may take                rate    octets of a message, and how fast they are to come
//! patience    waiting for a client no longer than that
//! connection  one socket: reads, writes, waits, hands messages to the store
//! session     the protocol, without I/O: octets in, replies and steps out
//!   line      octets to command lines        command lines to commands
//!   path      reverse-paths, forward-paths   auth    exchanges of AUTH
//!   data      octets after DATA              chunk   octets after BDAT
//!   text      how long the lines of a message are
//!   body      a message on its way in        hops    how many servers it came through
//! policy      who is refused and why         reply   what is said
//! budget      memory for messages on their way in       tally   the log line of a session, counters
//! holdings    what an address and a network have of connections and of memory
//! ```
//!
//! Knows nothing of HTTP. The invariant: a message is accepted (250) only after [`Store::receive`] has returned `Ok`, and
//! [`Session::stored`] is the only place that does so.

mod admission;
mod auth;
mod body;
mod budget;
mod chunk;
mod command;
mod connection;
mod data;
mod entrance;
mod holdings;
mod hops;
mod line;
mod listener;
mod pace;
mod path;
mod patience;
mod places;
mod policy;
pub mod proxy;
mod rate;
mod reply;
mod session;
mod stream;
mod tally;
mod text;

use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;

use admission::{Admission, AdmissionLimits};
use pace::PaceLimits;
use places::Places;
use rate::Rate;

pub use budget::{Budget, Share};
pub use data::Decoder;
pub use listener::{Entrance, Listener, serve};
pub use places::WAITING_MAX;
pub use policy::{Policy, PolicySettings};
pub use reply::Reply;
pub use session::{End, Message, Session, Step};
pub use tally::{Bound, Counters};

use crate::clock::Clock;
use crate::config::{Config, SmtpAuth, SmtpBounds};
use crate::domains::DomainTable;
pub use crate::model::TlsSession;
use crate::model::{DomainName, Subaddressing};
use crate::store::Store;
use crate::tls::Keeper;

/// What a listener is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// SMTP, in the clear until STARTTLS.
    Smtp,
    /// SMTP with TLS from the first octet (RFC 8314 section 3).
    Smtps,
    /// LMTP (RFC 2033), for an MTA in front.
    Lmtp,
}

/// What a session speaks and offers, by the listener that its connection came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// What the listener is for.
    pub service: Service,
    /// STARTTLS is there until the connection is secured.
    pub offers_tls: bool,
    /// AUTH is there and takes any credentials.
    pub offers_auth: bool,
}

impl Dialect {
    /// Whether it is LMTP.
    pub const fn is_lmtp(self) -> bool {
        matches!(self.service, Service::Lmtp)
    }
}

/// The settings of the receiver.
#[derive(Clone, Debug)]
pub struct SmtpSettings {
    /// The name in the greeting, and the domain of `<postmaster>`.
    pub hostname: DomainName,
    /// The largest message in octets, as RFC 1870 counts them.
    pub message_octets_max: u64,
    /// The longest line of a message after DATA in octets, CRLF included; RFC 5321 section 4.5.3.1.6 asks for 1,000 at least.
    pub text_line_octets_max: u64,
    /// The most octets of memory for all messages that are coming in; at least `message_octets_max`.
    pub bodies_octets_max: u64,
    /// The most recipients of one message; RFC 5321 section 4.5.3.1.8 asks for 100 at least.
    pub recipients_max: usize,
    /// The most Received fields of a message; RFC 5321 section 6.3 asks for 100 at least.
    pub hops_max: usize,
    /// AUTH is there on SMTP and SMTPS and takes any credentials.
    pub accepts_any_auth: bool,
    /// The most connections at once, over all listeners.
    pub connections_max: usize,
    /// What one client may have and take.
    pub bounds: SmtpBounds,
    /// How long a TLS handshake may take.
    pub handshake_timeout: Duration,
    /// Networks whose connections, those for LMTP excepted, must begin with a header of the PROXY protocol; from no other one
    /// is taken.
    pub proxy_from: Vec<IpNet>,
    /// How long such a header may take.
    pub proxy_timeout: Duration,
    /// How long sessions may take to end once the service stops.
    pub drain_timeout: Duration,
    /// How long a received Email is readable.
    pub retention: Duration,
    /// What `+tag` means.
    pub subaddressing: Subaddressing,
    /// What the administrator refuses.
    pub policy: PolicySettings,
}

impl SmtpSettings {
    /// How long a header of the PROXY protocol may take unless set otherwise: a proxy sends it at once.
    pub const PROXY_TIMEOUT: Duration = Duration::from_secs(5);
    /// How long sessions may take to end unless set otherwise: the daemon has 10 s in all.
    pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(8);

    /// The settings that follow from the daemon's.
    pub fn from_config(config: &Config) -> Self {
        Self {
            hostname: config.smtp.hostname.clone(),
            message_octets_max: config.mail.message_octets_max,
            text_line_octets_max: config.smtp.text_line_octets_max,
            bodies_octets_max: config.smtp.bodies_octets_max,
            recipients_max: config.smtp.recipients_max,
            hops_max: config.smtp.hops_max,
            accepts_any_auth: config.smtp.auth == SmtpAuth::AcceptAny,
            connections_max: config.smtp.connections_max,
            bounds: config.smtp.bounds.clone(),
            handshake_timeout: config.tls.handshake_timeout,
            proxy_from: config.smtp.proxy_from.clone(),
            proxy_timeout: Self::PROXY_TIMEOUT,
            drain_timeout: Self::DRAIN_TIMEOUT,
            retention: config.mail.retention,
            subaddressing: config.mail.subaddressing,
            policy: PolicySettings::from_config(config),
        }
    }

    fn admission_limits(&self) -> AdmissionLimits {
        AdmissionLimits {
            per_address_max: self.bounds.connections_per_address_max,
            per_network_max: self.bounds.connections_per_network_max,
            per_minute_max: self.bounds.connections_per_minute_max,
            exempt: self.bounds.exempt.clone(),
        }
    }

    fn pace_limits(&self) -> PaceLimits {
        PaceLimits {
            idle: self.bounds.idle_timeout,
            command: self.bounds.command_timeout,
            message: self.bounds.message_timeout,
            rate: Rate {
                octets_per_second: self.bounds.rate_min,
                // Dots that are doubled come on top of what a message may have.
                octets_max: self.message_octets_max.saturating_mul(2),
            },
            life: self.bounds.session_life,
            stress: self.bounds.stress_timeout,
        }
    }
}

/// What every session shares.
pub struct Receiver {
    settings: SmtpSettings,
    /// Memory for the messages that are coming in.
    bodies: Budget,
    store: Arc<dyn Store>,
    domains: DomainTable,
    clock: Arc<dyn Clock>,
    tls: Option<Arc<Keeper>>,
    places: Arc<Places>,
    admission: Arc<Admission>,
    counters: Arc<Counters>,
}

impl Receiver {
    /// A receiver that keeps what it accepts in `store`.
    pub fn new(settings: SmtpSettings, store: Arc<dyn Store>, domains: DomainTable, clock: Arc<dyn Clock>) -> Self {
        let SmtpBounds { bodies_octets_per_address_max, bodies_octets_per_network_max, .. } = settings.bounds;
        let bodies =
            Budget::parted(settings.bodies_octets_max, bodies_octets_per_address_max, bodies_octets_per_network_max);
        let places = Arc::new(Places::new(settings.connections_max, settings.pace_limits()));
        let admission = Arc::new(Admission::new(settings.admission_limits()));
        Self { settings, bodies, store, domains, clock, tls: None, places, admission, counters: Arc::default() }
    }

    /// The same, with a certificate to secure connections with.
    #[must_use]
    pub fn with_tls(self, tls: Option<Arc<Keeper>>) -> Self {
        Self { tls, ..self }
    }

    /// The same, which counts there.
    #[must_use]
    pub fn counting(self, counters: Arc<Counters>) -> Self {
        Self { counters, ..self }
    }
}
