//! The certificate of a receiver.

use std::sync::Arc;

use tempfile::TempDir;
use tempmail::model::Timestamp;
use tempmail::tls::{CertificateFiles, CertificateSource, Keeper};
use tokio_rustls::TlsConnector;

use super::certificates::{Files, Pair};

impl From<Files> for CertificateFiles {
    fn from(Files { certificate, key }: Files) -> Self {
        Self { certificate, key }
    }
}

/// The keeper of a new certificate, a client that trusts it, and the directory of its files.
pub(crate) fn keeper() -> (Arc<Keeper>, TlsConnector, TempDir) {
    let dir = tempfile::tempdir().expect("directory");
    let pair = Pair::fresh();
    let files = CertificateSource::Files(pair.write(dir.path()).into());
    let keeper = Keeper::open(files, Timestamp::from_millis(0)).expect("a keeper");
    (Arc::new(keeper), pair.connector(), dir)
}
