//! Certificates for tests, and clients that trust only one of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

/// A certificate for `localhost` with its key.
pub(crate) struct Pair {
    pub(crate) certificate: rcgen::Certificate,
    pub(crate) key: KeyPair,
}

/// Where a certificate and its key were written.
pub(crate) struct Files {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Pair {
    /// A certificate with a new EC key.
    pub(crate) fn fresh() -> Self {
        Self::of(KeyPair::generate().expect("a key"))
    }

    /// A certificate with this key, valid for a very long time.
    pub(crate) fn of(key: KeyPair) -> Self {
        Self::until(key, 4096)
    }

    /// A certificate with this key, valid until the first day of a year.
    pub(crate) fn until(key: KeyPair, year: i32) -> Self {
        let mut params = CertificateParams::new(["localhost".to_owned()]).expect("names");
        params.not_after = date_time_ymd(year, 1, 1);
        Self { certificate: params.self_signed(&key).expect("a certificate"), key }
    }

    /// Writes both into a directory, one after the other.
    pub(crate) fn write(&self, dir: &Path) -> Files {
        let files = Files { certificate: dir.join("cert.pem"), key: dir.join("key.pem") };
        std::fs::write(&files.certificate, self.certificate.pem()).expect("write");
        std::fs::write(&files.key, self.key.serialize_pem()).expect("write");
        files
    }

    /// A client that trusts only this certificate.
    pub(crate) fn connector(&self) -> TlsConnector {
        connector(self.certificate.der())
    }
}

/// A client that trusts one certificate.
fn connector(trusted: &CertificateDer<'static>) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).expect("a root");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.expect("versions").with_root_certificates(roots).with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}
