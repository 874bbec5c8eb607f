//! Errors of a certificate and its key. Each text says what to do.

use std::io;
use std::path::PathBuf;

use crate::model::Timestamp;

/// Why a certificate can't be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file can't be read.
    #[error("{path}: {error}; see that the file is there and that this user may read it")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file is too large to be a certificate or a key.
    #[error("{path} has more than {octets_max} octets; name a file with a certificate or key in PEM")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most octets that a file may have.
        octets_max: u64,
    },
    /// A file has a truncated or malformed section.
    #[error("{path}: {reason}; the file must be PEM, as certbot and openssl write it")]
    Pem {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        reason: String,
    },
    /// The file of the certificate holds none.
    #[error(
        "{path} holds no certificate; it must have a section '-----BEGIN CERTIFICATE-----', and begin with the server's \
         certificate"
    )]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// A file of authorities holds none, or one that can't be trusted.
    #[error("{path}: {reason}; name the certificates of the authorities in PEM")]
    Authority {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The file of the key holds none.
    #[error(
        "{path} holds no private key; it must have a section '-----BEGIN PRIVATE KEY-----' (or RSA or EC PRIVATE KEY)"
    )]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// The key is encrypted with a passphrase.
    #[error("{path}: the key is encrypted; write it without a passphrase: openssl pkey -in {path} -out NEW")]
    EncryptedKey {
        /// The file.
        path: PathBuf,
    },
    /// The certificate is not an X.509 certificate of version 3.
    #[error("{path}: the first certificate can't be used: {reason}; have it issued again")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        reason: String,
    },
    /// TLS does not support this kind of key.
    #[error("{path}: {reason}; the key must be RSA (2,048 bits or more), EC (P-256, P-384, P-521) or Ed25519")]
    KeyKind {
        /// The file.
        path: PathBuf,
        /// What the implementation says.
        reason: String,
    },
    /// The key does not belong to the certificate.
    #[error(
        "the key in {key} does not belong to the first certificate in {certificate}; name the \
         key of the server's certificate, and put that certificate first in its file"
    )]
    KeyMismatch {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// The new certificate has expired, and the one in use has not.
    #[error("{path}: the certificate expired on {}; renew it", .not_after.to_rfc3339())]
    Expired {
        /// The file.
        path: PathBuf,
        /// The end of its validity.
        not_after: Timestamp,
    },
    /// A self-signed certificate can't be generated.
    #[error("a self-signed certificate can't be generated: {reason}; set tls-cert and tls-key")]
    SelfSigned {
        /// What the implementation says.
        reason: String,
    },
    /// The implementation of TLS rejects its configuration.
    #[error("TLS can't be set up: {reason}")]
    Provider {
        /// What the implementation says.
        reason: String,
    },
}
