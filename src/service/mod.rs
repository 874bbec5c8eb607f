//! What the rooms of the service share. The daemon builds it once. `history` has its last hour as numbers.

pub mod history;

use std::sync::Arc;

use crate::admission::Admission;
use crate::clock::Clock;
use crate::config::Config;
use crate::connections::Listening;
use crate::domains::Registry;
use crate::leases::Leases;
use crate::model::Timestamp;
use crate::panics::Panics;
use crate::reader::Reader;
use crate::sender::Senders;
use crate::smtp::Receiver;
use crate::store::Storage;
use crate::tls::Keeper;
use crate::tokens::Tokens;
use crate::webhook::{EventSender, Guard};

pub use history::History;

/// The parts that work together.
pub struct Service {
    /// The settings in effect, with the domain that a first start gets.
    pub config: Arc<Config>,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
    /// Where mail is kept.
    pub store: Arc<dyn Storage>,
    /// What each client may have.
    pub admission: Arc<Admission>,
    /// The domains that mail is received for.
    pub domains: Arc<Registry>,
    /// Private inboxes, and where mail goes.
    pub leases: Arc<Leases>,
    /// The tokens of remote callers.
    pub tokens: Arc<Tokens>,
    /// The threads that read messages for HTTP.
    pub reader: Reader,
    /// What checks who sent mail.
    pub senders: Arc<Senders>,
    /// The rules for the URLs of webhooks.
    pub guard: Arc<Guard>,
    /// What sends events to webhooks.
    pub webhooks: Arc<EventSender>,
    /// The certificate, if there is one.
    pub tls: Option<Arc<Keeper>>,
    /// What receives mail.
    pub smtp: Arc<Receiver>,
    /// When the process started.
    pub started_at: Timestamp,
    /// Where it listens.
    pub listening: Listening,
    /// The panics of the process.
    pub panics: Panics,
    /// The last hour.
    pub history: History,
}
