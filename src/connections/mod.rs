//! What SMTP and HTTP do with connections.
//!
//! ```text
//! proxy     PROXY headers, pure          header   reads a PROXY header from a connection
//! closing   closes a connection so that its last octets arrive
//! ```

mod closing;
mod header;
pub mod proxy;

pub use closing::close;
pub use header::{HeaderError, read_header};
