//! Plain data that every other module shares.
//!
//! Nothing here does I/O, reads a clock, draws a random number or is shared by threads. Functions that depend on time take
//! `now` as an argument.

mod address;
mod client;
mod domain;
mod email;
mod envelope;
mod id;
mod lease;
mod protocol;
mod share;
mod time;
mod token;
mod webhook;

pub(crate) use address::fold;
pub use address::{Address, AddressError, Mailbox, POSTMASTER, RoleAddresses, Subaddressing};
pub use client::{Client, Network};
pub use domain::{DomainName, DomainNameError, DomainPattern, DomainRecord, DomainStatus};
pub use email::{Listed, Place, StoredEmail};
pub use envelope::{Delivery, Envelope, Recipient};
pub use id::{EmailId, EventId, Id, IdError, WebhookId};
pub use lease::{LEASE_REST, LeaseId, LeaseRecord};
pub use protocol::{Greeting, Protocol, TlsSession};
pub use share::Share;
pub use time::Timestamp;
pub use token::{Scope, ScopeError, TokenName, TokenNameError, TokenRecord};
pub use webhook::{AttemptRecord, PendingEvent, Secret, Verdict, WebhookRecord, WebhookStatus};
