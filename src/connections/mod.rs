//! What SMTP and HTTP do with connections.
//!
//! ```text
//! listener  accepts connections          stream   TCP, Unix sockets and TLS as one type
//! proxy     PROXY headers, pure          header   reads a PROXY header from a connection
//! closing   closes a connection so that its last octets arrive
//! ```

mod closing;
mod header;
mod listener;
pub mod proxy;
mod stream;

pub use closing::close;
pub use header::{HeaderError, read_header};
pub use listener::{Listener, Listening, Purpose};
pub use stream::Stream;
