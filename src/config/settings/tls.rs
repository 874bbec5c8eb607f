//! Settings of TLS.

use std::path::PathBuf;
use std::time::Duration;

use super::one;
use crate::config::parse::optional_file;
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, show_duration};

/// What secures SMTP and HTTP.
#[derive(Clone, Debug)]
pub struct TlsConfig {
    /// PEM with the certificate and the chain behind it.
    pub certificate: Option<PathBuf>,
    /// PEM with the certificate's key; set where `certificate` is set.
    pub key: Option<PathBuf>,
    /// Whether a self-signed certificate is made at the start.
    pub self_signed: bool,
    /// How long a TLS handshake may take.
    pub handshake_timeout: Duration,
}

impl TlsConfig {
    /// Whether there is a certificate to secure connections with.
    pub fn is_set(&self) -> bool {
        self.self_signed || self.certificate.is_some()
    }
}

impl Default for TlsConfig {
    fn default() -> Self {
        Self { certificate: None, key: None, self_signed: false, handshake_timeout: Duration::from_secs(10) }
    }
}

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "tls-cert",
        Shape::One,
        "FILE",
        "Certificate in PEM with the chain behind it; read again when it changes and at SIGHUP",
        |c, v| one(v, optional_file).map(|path| c.tls.certificate = path),
        |c| shown(c.tls.certificate.as_ref()),
    ),
    Setting::new(
        "tls-key",
        Shape::One,
        "FILE",
        "Private key of tls-cert in PEM: RSA, EC or Ed25519",
        |c, v| one(v, optional_file).map(|path| c.tls.key = path),
        |c| shown(c.tls.key.as_ref()),
    )
    .with_default("none; the file of tls-cert where that is set"),
    Setting::new(
        "tls-self-signed",
        Shape::Switch,
        "BOOL",
        "Create a self-signed certificate at the start, for development",
        |c, v| one(v, value::switch).map(|on| c.tls.self_signed = on),
        |c| vec![c.tls.self_signed.to_string()],
    ),
    Setting::new(
        "tls-handshake-timeout",
        Shape::One,
        "DURATION",
        "How long a TLS handshake may take, 100ms to 5m",
        |c, v| {
            let bounds = Duration::from_millis(100)..=Duration::from_mins(5);
            one(v, |t| value::duration(t, bounds)).map(|time| c.tls.handshake_timeout = time)
        },
        |c| vec![show_duration(c.tls.handshake_timeout)],
    ),
];

fn shown(path: Option<&PathBuf>) -> Vec<String> {
    vec![path.map_or_else(|| "none".to_owned(), |path| path.display().to_string())]
}
