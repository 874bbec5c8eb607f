//! A certificate chain and the key of its first certificate.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error as TlsError, InconsistentKeys};

use super::error::CertificateError;
use super::files::CertificateFiles;
use super::provider;
use super::x509::{self, Fields};
use crate::model::{DomainName, Timestamp};

/// A certificate that a server can use.
#[derive(Clone, Debug)]
pub struct Certificate {
    certified: Arc<CertifiedKey>,
    /// The end of its validity, in whole seconds.
    pub not_after: Timestamp,
    /// The DNS names that it lists; the common name of its subject, as `CN=NAME`, if it lists none.
    pub names: Vec<String>,
    /// Whether it was generated at the start, so that no client trusts it.
    pub is_self_signed: bool,
}

impl Certificate {
    /// Reads the certificate and key from `files`. An expired certificate is no error.
    pub fn read(files: &CertificateFiles) -> Result<Self, CertificateError> {
        let (chain, key) = (files.chain()?, files.key()?);
        let malformed = |reason: String| CertificateError::Malformed { path: files.certificate.clone(), reason };
        let signing = provider()
            .key_provider
            .load_private_key(key)
            .map_err(|error| CertificateError::KeyKind { path: files.key.clone(), reason: error.to_string() })?;
        let certified = CertifiedKey::new(chain, signing);
        certified.keys_match().map_err(|error| match error {
            TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                CertificateError::KeyMismatch { certificate: files.certificate.clone(), key: files.key.clone() }
            }
            other => malformed(other.to_string()),
        })?;
        Self::of(certified, false).map_err(malformed)
    }

    /// Generates a certificate for `hostname` and the names of loopback, with a new EC key that exists only in memory.
    ///
    /// It serves clients that do not verify certificates.
    pub fn self_signed(hostname: &DomainName) -> Result<Self, CertificateError> {
        let failed = |reason: String| CertificateError::SelfSigned { reason };
        let names = [hostname.as_str(), "localhost", "127.0.0.1", "::1"];
        let names = if hostname.as_str() == "localhost" { &names[1..] } else { &names[..] };
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).map_err(|error| failed(error.to_string()))?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let signing = provider().key_provider.load_private_key(key).map_err(|error| failed(error.to_string()))?;
        Self::of(CertifiedKey::new(vec![made.cert.der().clone()], signing), true).map_err(failed)
    }

    /// Reads names and expiry from the first certificate. The error is a text.
    fn of(certified: CertifiedKey, is_self_signed: bool) -> Result<Self, String> {
        let first: &[u8] = certified.cert.first().map_or(&[], |first: &CertificateDer<'_>| first.as_ref());
        let fields = x509::read(first).ok_or("its end can't be read; RFC 5280 says what is in a certificate")?;
        let Fields { not_after, names } = fields;
        Ok(Self { not_after, names, is_self_signed, certified: Arc::new(certified) })
    }

    /// Whether its validity has ended at `now`.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        now > self.not_after.plus(Duration::from_millis(999))
    }

    /// The chain and key in the form that rustls uses.
    pub(super) fn certified(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.certified)
    }
}
