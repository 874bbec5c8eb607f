//! Plain data that every other module shares.
//!
//! Nothing here does I/O or reads a clock. Functions that depend on time take `now` as an argument.

pub mod address;
pub mod client;
pub mod count;
pub mod domain;
pub mod email;
pub mod envelope;
pub mod fault;
pub mod fresh_address;
pub mod id;
pub mod nodes;
pub mod protocol;
pub mod time;
pub mod token;
pub mod webhook;
mod wildcard;

pub use address::{Address, AddressError, Mailbox, POSTMASTER, RoleAddresses, Subaddressing};
pub use client::Client;
pub use count::{Count, Counts, Durations, Stopwatch};
pub use domain::{DomainName, DomainNameError, DomainPattern, DomainRecord, DomainStatus};
pub use email::{Listed, Place, StoredEmail};
pub use envelope::{Delivery, Envelope, Recipient};
pub use fault::{
    AddressPattern, FAULT_DELAY_MAX, FAULTS_MAX, FaultAction, FaultMoment, FaultOutcome, FaultRule, FaultStage,
    FaultTimes,
};
pub use fresh_address::{LocalPartPrefix, LocalPartPrefixError, fresh_local_part};
pub use id::EmailId;
pub use nodes::Nodes;
pub use protocol::{Greeting, Protocol, TlsSession};
pub use time::Timestamp;
pub use token::{Scope, ScopeError, TokenHash, TokenName, TokenNameError, TokenRecord};
pub use webhook::{
    AttemptRecord, EventId, PendingEvent, Secret, Verdict, WebhookId, WebhookLimits, WebhookRecord, WebhookStatus,
};
