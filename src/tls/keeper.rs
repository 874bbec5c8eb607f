//! The certificate in use, which can be replaced without closing connections.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_util::sync::CancellationToken;

use super::certificate::Certificate;
use super::error::CertificateError;
use super::files::{CertificateFiles, Stamp};
use super::{ServerTls, provider};
use crate::clock::Clock;
use crate::model::{DomainName, Timestamp};

/// How often the files are checked for changes.
///
/// Changed files are read once the next check finds them unchanged. A renewal may write them slowly or one after the
/// other.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The origin of the certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateSource {
    /// Two files, which are read again when they change.
    Files(CertificateFiles),
    /// A self-signed certificate for this name, generated at the start.
    SelfSigned(DomainName),
}

/// Why the last reading of the files did not replace the certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The error, and what to do.
    pub reason: String,
    /// When the files were read.
    pub found_at: Timestamp,
}

/// Holds the certificate in use.
#[derive(Debug)]
pub struct Keeper {
    source: CertificateSource,
    current: Arc<Current>,
    fault: ArcSwapOption<Fault>,
    /// The state of the files when they were last read.
    read: ArcSwapOption<Stamp>,
    config: Arc<ServerConfig>,
}

/// Gives rustls the certificate at each handshake. Existing connections keep the certificate of their handshake.
#[derive(Debug)]
struct Current(ArcSwap<Certificate>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load().certified())
    }
}

impl Keeper {
    /// Reads or generates the certificate.
    ///
    /// An expired certificate is used, with a warning in the log. Most senders of mail do not verify certificates, and
    /// without TLS they would send in the clear.
    pub fn open(source: CertificateSource, now: Timestamp) -> Result<Self, CertificateError> {
        let read = source.stamp().map(Arc::new);
        let certificate = match &source {
            CertificateSource::Files(files) => Certificate::read(files)?,
            CertificateSource::SelfSigned(hostname) => Certificate::self_signed(hostname)?,
        };
        warn_of(&source, &certificate, now);
        let current = Arc::new(Current(ArcSwap::from_pointee(certificate)));
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|error| CertificateError::Provider { reason: error.to_string() })?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&current) as Arc<dyn ResolvesServerCert>);
        Ok(Self {
            source,
            current,
            fault: ArcSwapOption::empty(),
            read: ArcSwapOption::new(read),
            config: Arc::new(config),
        })
    }

    /// The configuration for servers. It always uses the current certificate.
    pub fn server_config(&self) -> ServerTls {
        Arc::clone(&self.config)
    }

    /// TLS for servers of HTTP/1.1, which is all that they offer (ALPN, RFC 7301). It always uses the current certificate.
    pub fn http_config(&self) -> ServerTls {
        let mut config = (*self.config).clone();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Arc::new(config)
    }

    /// The certificate that new handshakes get.
    pub fn certificate(&self) -> Arc<Certificate> {
        self.current.0.load_full()
    }

    /// Why the last reading of the files failed; `None` if their certificate is in use.
    pub fn fault(&self) -> Option<Arc<Fault>> {
        self.fault.load_full()
    }

    /// Reads the files again; whether their certificate is in use then. A self-signed certificate is kept.
    ///
    /// Files with an error do not replace the certificate in use. An expired certificate replaces only another expired
    /// one. The log and [`Keeper::fault`] report both cases.
    pub fn reload(&self, now: Timestamp) -> bool {
        let CertificateSource::Files(files) = &self.source else { return false };
        self.read.store(Some(Arc::new(files.stamp())));
        let read = Certificate::read(files).and_then(|certificate| {
            if certificate.is_expired(now) && !self.certificate().is_expired(now) {
                let (path, not_after) = (files.certificate.clone(), certificate.not_after);
                return Err(CertificateError::Expired { path, not_after });
            }
            Ok(certificate)
        });
        // The log says it last, since whoever waits for its line then looks.
        match read {
            Ok(certificate) => {
                let certificate = Arc::new(certificate);
                self.current.0.store(Arc::clone(&certificate));
                self.fault.store(None);
                warn_of(&self.source, &certificate, now);
                tracing::info!(
                    names = certificate.names.join(", "),
                    not_after = certificate.not_after.to_rfc3339(),
                    "the certificate was read again and is in use"
                );
                true
            }
            Err(error) => {
                self.fault.store(Some(Arc::new(Fault { reason: error.to_string(), found_at: now })));
                tracing::error!(%error, "the certificate could not be replaced; the old one stays in use");
                false
            }
        }
    }

    /// Reads the files again if they have changed since they were read, but not since the last check. Returns their
    /// state.
    fn look(&self, seen: Option<Stamp>, now: Timestamp) -> Option<Stamp> {
        let stamp = self.source.stamp();
        if stamp == seen && stamp != self.read.load().as_deref().copied() {
            self.reload(now);
        }
        stamp
    }
}

impl CertificateSource {
    fn stamp(&self) -> Option<Stamp> {
        match self {
            Self::Files(files) => Some(files.stamp()),
            Self::SelfSigned(_) => None,
        }
    }
}

fn warn_of(source: &CertificateSource, certificate: &Certificate, now: Timestamp) {
    if certificate.is_expired(now) {
        let not_after = certificate.not_after.to_rfc3339();
        tracing::warn!(not_after, "the certificate has expired, so senders that verify it will not send; renew it");
    }
    if let CertificateSource::Files(files) = source
        && files.is_key_world_readable()
    {
        tracing::warn!(key = %files.key.display(), "every user of this machine may read the key; run chmod o-r on it");
    }
}

/// Reads the files again whenever they have changed, until `shutdown` is cancelled.
pub async fn watch(keeper: Arc<Keeper>, clock: Arc<dyn Clock>, shutdown: CancellationToken) {
    let mut seen = None;
    while tokio::time::timeout(POLL_INTERVAL, shutdown.cancelled()).await.is_err() {
        let (keeper, clock) = (Arc::clone(&keeper), Arc::clone(&clock));
        // The files may be on a slow disk.
        let looked = tokio::task::spawn_blocking(move || keeper.look(seen, clock.now())).await;
        seen = looked.unwrap_or(seen);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(0);

    /// A new certificate and its key, in PEM.
    fn pair() -> (String, String) {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(["localhost".to_owned()]).expect("names");
        (params.self_signed(&key).expect("a certificate").pem(), key.serialize_pem())
    }

    #[test]
    fn files_that_are_being_written_are_left_alone_until_they_stay_the_same() {
        let dir = tempfile::tempdir().expect("directory");
        let files = CertificateFiles { certificate: dir.path().join("cert.pem"), key: dir.path().join("key.pem") };
        let put = |(certificate, key): (Option<&str>, Option<&str>)| {
            for (path, text) in [(&files.certificate, certificate), (&files.key, key)] {
                if let Some(text) = text {
                    fs::write(path, text).expect("write");
                }
            }
        };
        let (certificate, key) = pair();
        put((Some(&certificate), Some(&key)));
        let keeper = Keeper::open(CertificateSource::Files(files.clone()), NOW).expect("a keeper");
        let first = keeper.certificate();
        let is_first = || Arc::ptr_eq(&keeper.certificate(), &first);

        let (certificate, key) = pair();
        let seen = keeper.look(None, NOW);
        put((Some(&certificate), None));
        let seen = keeper.look(seen, NOW);
        put((None, Some(&key)));
        let seen = keeper.look(seen, NOW);
        assert!(is_first() && keeper.fault().is_none(), "read while it was written: {:?}", keeper.fault());
        let seen = keeper.look(seen, NOW);
        assert!(!is_first() && keeper.fault().is_none(), "not read: {:?}", keeper.fault());
        let second = keeper.certificate();
        keeper.look(seen, NOW);
        assert!(Arc::ptr_eq(&keeper.certificate(), &second), "read again without a change");
    }
}
