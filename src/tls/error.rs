//! Everything that can be wrong with a certificate and its key. Each text says what to do about it.

use std::io;
use std::path::PathBuf;

use crate::model::Timestamp;

/// Why a certificate can't be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file that can't be read.
    #[error("{path}: {error}; see that the file is there and that this user may read it")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file that is too large to be one of ours.
    #[error("{path} has more than {octets_max} octets; that is no certificate or key in PEM")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        octets_max: u64,
    },
    /// A file with a section that is cut off or garbled.
    #[error("{path}: {reason}; the file must be PEM, as certbot and openssl write it")]
    Pem {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        reason: String,
    },
    /// A file of certificates without one.
    #[error(
        "{path} holds no certificate; it must have a section '-----BEGIN CERTIFICATE-----', that of the server first"
    )]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// A file of a key without one.
    #[error(
        "{path} holds no private key; it must have a section '-----BEGIN PRIVATE KEY-----' (or RSA or EC PRIVATE KEY)"
    )]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// A key that only a passphrase opens.
    #[error("{path}: the key is encrypted; write it without a passphrase: openssl pkey -in {path} -out NEW")]
    EncryptedKey {
        /// The file.
        path: PathBuf,
    },
    /// A certificate that is no X.509 certificate of version 3.
    #[error("{path}: the first certificate can't be used: {reason}; have it issued again")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        reason: String,
    },
    /// A key of a kind that TLS here has no use for.
    #[error("{path}: {reason}; the key must be RSA (2,048 bits or more), EC (P-256, P-384, P-521) or Ed25519")]
    KeyKind {
        /// The file.
        path: PathBuf,
        /// What the implementation says.
        reason: String,
    },
    /// A certificate and a key of which neither belongs to the other.
    #[error(
        "the key in {key} does not fit the first certificate in {certificate}; name the two that were made together, the server's certificate first"
    )]
    KeyMismatch {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// A certificate that has expired, where one that has not is in use.
    #[error("{path}: the certificate expired on {}; renew it", .not_after.to_rfc3339())]
    Expired {
        /// The file.
        path: PathBuf,
        /// Until when it was valid.
        not_after: Timestamp,
    },
    /// No certificate of our own can be made.
    #[error("a self-signed certificate can't be made: {reason}; set tls-cert and tls-key")]
    SelfSigned {
        /// What the implementation says.
        reason: String,
    },
    /// The implementation does not do what we ask of it.
    #[error("TLS can't be set up: {reason}")]
    Provider {
        /// What the implementation says.
        reason: String,
    },
}
