//! TLS for servers and clients: one certificate with its key, which can be replaced while connections live.
//!
//! ```text
//! files        what the two PEM files hold, and whether they are others than before
//! certificate  chain and key that fit each other, until when they are valid, for which names
//! keeper       the certificate in use; reads its files again, and keeps what it has where they are broken
//! error        everything that can be wrong with them
//! client       the other side, for who calls servers: whom this machine trusts
//! ```
//!
//! rustls with the cryptography of aws-lc, TLS 1.2 and 1.3. Nothing of it is installed for the whole process.

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
pub use files::Files;
pub use keeper::{Fault, Keeper, Source, watch};

/// The one implementation of cryptography that is used.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}
