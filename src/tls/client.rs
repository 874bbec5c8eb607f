//! TLS for clients, with the roots that this machine trusts.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use rustls::client::danger::ServerCertVerifier;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use rustls_platform_verifier::Verifier;

use super::{CertificateError, ClientTls, files, provider};

/// The name of HTTP/1.1 in the negotiation of protocols (RFC 7301).
const ALPN_HTTP1: &[u8] = b"http/1.1";

/// The configuration for clients of HTTPS servers, which trusts this machine's roots.
///
/// If there are none, the log says so, and every handshake fails.
pub fn client_config() -> Result<ClientTls, CertificateError> {
    let builder = builder()?;
    let mut config = match verifier() {
        Ok(verifier) => verified_by(builder, verifier),
        Err(error) => {
            tracing::warn!(
                %error,
                "the trusted certificates of this system cannot be read, so requests to https URLs will fail; install \
                 them and restart tempmail"
            );
            builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
        }
    };
    config.alpn_protocols = vec![ALPN_HTTP1.to_vec()];
    Ok(Arc::new(config))
}

/// The configuration for connections to servers of one owner, in no particular protocol.
///
/// It trusts the authorities in `authorities`, a file of PEM, or else this machine's roots, which must be readable.
pub fn connection_config(authorities: Option<&Path>) -> Result<ClientTls, CertificateError> {
    let builder = builder()?;
    let Some(path) = authorities else {
        let verifier = verifier().map_err(|reason| CertificateError::Provider { reason })?;
        return Ok(Arc::new(verified_by(builder, verifier)));
    };
    let unusable = |reason: String| CertificateError::Authority { path: path.to_owned(), reason };
    let mut roots = RootCertStore::empty();
    for certificate in files::certificates(path)? {
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unusable("it has no section '-----BEGIN CERTIFICATE-----'".to_owned()));
    }
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, CertificateError> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    builder.map_err(|error| CertificateError::Provider { reason: error.to_string() })
}

/// Checks certificates by this machine's roots. Reading them takes some milliseconds, so a process does it once: changes of
/// them count after a restart.
fn verifier() -> Result<Arc<Verifier>, String> {
    static VERIFIER: LazyLock<Result<Arc<Verifier>, String>> =
        LazyLock::new(|| Verifier::new(provider()).map(Arc::new).map_err(|error| error.to_string()));
    VERIFIER.clone()
}

fn verified_by(
    builder: ConfigBuilder<ClientConfig, WantsVerifier>,
    verifier: Arc<dyn ServerCertVerifier>,
) -> ClientConfig {
    builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
}
