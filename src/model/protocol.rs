//! The protocol by which a message was received, for the `with` clause of a `Received` field.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The TLS session of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsSession {
    /// The version of TLS, such as `TLSv1.3`.
    pub version: String,
    /// The name of the cipher suite in IANA's registry.
    pub cipher: String,
}

/// The command of a client's greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Greeting {
    /// HELO, for SMTP without extensions.
    Helo,
    /// EHLO, for SMTP with extensions.
    Ehlo,
    /// LHLO, for LMTP (RFC 2033).
    Lhlo,
    /// None: the message came over HTTP.
    Http,
}

/// The protocol of one message (RFC 5321 section 4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protocol {
    /// The client's greeting.
    pub greeting: Greeting,
    /// Whether MAIL had the parameter SMTPUTF8.
    pub is_utf8: bool,
    /// Whether AUTH had succeeded.
    pub is_authenticated: bool,
    /// The TLS session of the connection, if it had one.
    pub tls: Option<Box<TlsSession>>,
}

impl Protocol {
    /// The protocol of a greeting, without TLS and AUTH.
    pub const fn plain(greeting: Greeting) -> Self {
        Self { greeting, is_utf8: false, is_authenticated: false, tls: None }
    }
}

/// Shows the name in IANA's registry (RFC 3848, RFC 6531 section 4.3), or `HTTP`. After HELO there is only one name.
impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match (self.greeting, self.is_utf8) {
            (Greeting::Helo, _) => return f.write_str("SMTP"),
            (Greeting::Http, _) => return f.write_str("HTTP"),
            (Greeting::Ehlo, false) => "ESMTP",
            (Greeting::Ehlo, true) => "UTF8SMTP",
            (Greeting::Lhlo, false) => "LMTP",
            (Greeting::Lhlo, true) => "UTF8LMTP",
        };
        let secured = if self.tls.is_some() { "S" } else { "" };
        let authenticated = if self.is_authenticated { "A" } else { "" };
        write!(f, "{name}{secured}{authenticated}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_has_the_word_of_the_registry() {
        let tls = || Some(Box::new(TlsSession { version: "TLSv1.3".into(), cipher: "TLS_AES_128_GCM_SHA256".into() }));
        for (greeting, is_utf8, names) in [
            (Greeting::Helo, false, ["SMTP", "SMTP", "SMTP", "SMTP"]),
            (Greeting::Ehlo, false, ["ESMTP", "ESMTPA", "ESMTPS", "ESMTPSA"]),
            (Greeting::Ehlo, true, ["UTF8SMTP", "UTF8SMTPA", "UTF8SMTPS", "UTF8SMTPSA"]),
            (Greeting::Lhlo, false, ["LMTP", "LMTPA", "LMTPS", "LMTPSA"]),
            (Greeting::Lhlo, true, ["UTF8LMTP", "UTF8LMTPA", "UTF8LMTPS", "UTF8LMTPSA"]),
            (Greeting::Http, false, ["HTTP", "HTTP", "HTTP", "HTTP"]),
        ] {
            let each = [(None, false), (None, true), (tls(), false), (tls(), true)];
            let shown =
                each.map(|(tls, is_authenticated)| Protocol { greeting, is_utf8, is_authenticated, tls }.to_string());
            assert_eq!(shown, names);
        }
    }
}
