//! TLS for servers and clients: one certificate with its key, which can be replaced while connections live.
//!
//! ```text
//! files        reads the two PEM files, and says whether they have changed
//! certificate  a chain and its key: until when they are valid, and for which names
//! keeper       the certificate in use; reads its files again, and ignores broken ones
//! error        everything that can be wrong with them
//! client       TLS for connections to servers, with the certificates that this machine trusts
//! ```
//!
//! rustls with the cryptography of aws-lc offers TLS 1.2 and 1.3. No provider is installed for the whole process.

mod certificate;
mod client;
mod error;
mod files;
mod keeper;

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};

pub use certificate::Certificate;
pub use client::client_config;
pub use error::CertificateError;
pub use files::CertificateFiles;
pub use keeper::{CertificateSource, Fault, Keeper, watch};

/// The one implementation of cryptography that is used.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}
