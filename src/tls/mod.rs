//! TLS for servers and clients. A server has one certificate with its key, which can be replaced without closing
//! connections.
//!
//! ```text
//! files        reads the two PEM files, and detects changes of them
//! certificate  a certificate chain and its key, with its expiry and its names
//! x509         reads these two from a certificate
//! keeper       the certificate in use; reads its files again, and ignores broken ones
//! error        why a certificate can't be used
//! client       TLS for connections to other servers, with the roots that this machine trusts
//! ```
//!
//! rustls with the cryptography of aws-lc offers TLS 1.2 and 1.3. No provider is installed for the whole process.

mod certificate;
mod client;
mod error;
mod files;
mod keeper;
mod x509;

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};

pub use certificate::Certificate;
pub use client::{client_config, connection_config};
pub use error::CertificateError;
pub use files::CertificateFiles;
pub use keeper::{CertificateSource, Fault, Keeper, watch};

/// What secures the connections of a client.
pub type ClientTls = Arc<rustls::ClientConfig>;
/// What secures the connections of a server.
pub type ServerTls = Arc<rustls::ServerConfig>;

/// The implementation of cryptography for all of TLS.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}
