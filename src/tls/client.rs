//! TLS for clients, with the roots that this machine trusts.

use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use super::{CertificateError, provider};

/// The name of HTTP/1.1 in the negotiation of protocols (RFC 7301).
const ALPN_HTTP1: &[u8] = b"http/1.1";

/// The configuration for clients of HTTPS servers, which trusts this machine's roots.
///
/// Reading the roots takes some milliseconds. If there are none, the log says so, and every handshake fails.
pub fn client_config() -> Result<Arc<ClientConfig>, CertificateError> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| CertificateError::Provider { reason: error.to_string() })?;
    let mut config = match Verifier::new(provider()) {
        Ok(verifier) => {
            let verifier: Arc<dyn ServerCertVerifier> = Arc::new(verifier);
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
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
