//! The limits of connections that SMTP and HTTP share, and of what one client does at once.
//!
//! ```text
//! slots     connections in all, and which one is evicted when all slots are taken
//! clients   connections of one client, at once and per minute
//! proxy     PROXY headers, pure          header   reads a PROXY header from a connection
//! closing   closes a connection so that its last octets arrive
//! shares    what each client may have of something at once
//! ```

mod clients;
mod closing;
mod header;
pub mod proxy;
pub(crate) mod shares;
mod slots;

pub use clients::{ClientConnection, ClientLimits, Clients, Exceeded};
pub use closing::close;
pub use header::{HeaderError, read_header};
#[cfg(test)]
pub(crate) use slots::{COMPARED_MAX, FREED_WITHIN};
pub use slots::{Occupant, Slot, SlotRequest, Slots, WAITING_MAX, WaitingForSlot};
