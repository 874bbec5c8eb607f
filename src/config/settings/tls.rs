//! Settings of TLS.

use std::path::PathBuf;
use std::time::Duration;

use super::one;
use crate::config::parse::optional_file;
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, show_duration};

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "tls-cert",
        Shape::One,
        "FILE",
        "Certificate in PEM with the chain behind it; read again when it changes and at SIGHUP",
        |c, v| one(v, optional_file).map(|path| c.tls_certificate = path),
        |c| shown(c.tls_certificate.as_ref()),
    ),
    Setting::new(
        "tls-key",
        Shape::One,
        "FILE",
        "Private key of tls-cert in PEM: RSA, EC or Ed25519",
        |c, v| one(v, optional_file).map(|path| c.tls_key = path),
        |c| shown(c.tls_key.as_ref()),
    )
    .with_default("none; the file of tls-cert where that is set"),
    Setting::new(
        "tls-self-signed",
        Shape::Switch,
        "BOOL",
        "Create a self-signed certificate at the start, for development",
        |c, v| one(v, value::switch).map(|on| c.tls_self_signed = on),
        |c| vec![c.tls_self_signed.to_string()],
    ),
    Setting::new(
        "tls-handshake-timeout",
        Shape::One,
        "DURATION",
        "How long a TLS handshake may take, 100ms to 5m",
        |c, v| {
            let bounds = Duration::from_millis(100)..=Duration::from_mins(5);
            one(v, |t| value::duration(t, bounds)).map(|time| c.tls_handshake_timeout = time)
        },
        |c| vec![show_duration(c.tls_handshake_timeout)],
    ),
];

fn shown(path: Option<&PathBuf>) -> Vec<String> {
    vec![path.map_or_else(|| "none".to_owned(), |path| path.display().to_string())]
}
