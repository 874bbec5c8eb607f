//! The protocol by which a message was received, for the `with` clause of a `Received` field.

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
    /// SMTP with extensions, without TLS and AUTH.
    pub const ESMTP: Self = Self::plain(Greeting::Ehlo);
    /// SMTP without extensions.
    pub const SMTP: Self = Self::plain(Greeting::Helo);

    /// The protocol of a greeting, without TLS and AUTH.
    pub const fn plain(greeting: Greeting) -> Self {
        Self { greeting, is_utf8: false, is_authenticated: false, tls: None }
    }

    /// The name in IANA's registry (RFC 3848, RFC 6531 section 4.3), or `HTTP`. After HELO there is only one name.
    pub const fn as_str(&self) -> &'static str {
        match (self.greeting, self.is_utf8, self.tls.is_some(), self.is_authenticated) {
            (Greeting::Helo, ..) => "SMTP",
            (Greeting::Http, ..) => "HTTP",
            (Greeting::Ehlo, false, false, false) => "ESMTP",
            (Greeting::Ehlo, false, false, true) => "ESMTPA",
            (Greeting::Ehlo, false, true, false) => "ESMTPS",
            (Greeting::Ehlo, false, true, true) => "ESMTPSA",
            (Greeting::Ehlo, true, false, false) => "UTF8SMTP",
            (Greeting::Ehlo, true, false, true) => "UTF8SMTPA",
            (Greeting::Ehlo, true, true, false) => "UTF8SMTPS",
            (Greeting::Ehlo, true, true, true) => "UTF8SMTPSA",
            (Greeting::Lhlo, false, false, false) => "LMTP",
            (Greeting::Lhlo, false, false, true) => "LMTPA",
            (Greeting::Lhlo, false, true, false) => "LMTPS",
            (Greeting::Lhlo, false, true, true) => "LMTPSA",
            (Greeting::Lhlo, true, false, false) => "UTF8LMTP",
            (Greeting::Lhlo, true, false, true) => "UTF8LMTPA",
            (Greeting::Lhlo, true, true, false) => "UTF8LMTPS",
            (Greeting::Lhlo, true, true, true) => "UTF8LMTPSA",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_has_the_word_of_the_registry() {
        let tls = TlsSession { version: "TLSv1.3".into(), cipher: "TLS_AES_128_GCM_SHA256".into() };
        let tls = || Some(Box::new(tls.clone()));
        for (greeting, name) in [(Greeting::Ehlo, "SMTP"), (Greeting::Lhlo, "LMTP")] {
            for is_utf8 in [false, true] {
                for tls in [None, tls()] {
                    for is_authenticated in [false, true] {
                        let start = match (is_utf8, greeting) {
                            (true, _) => "UTF8",
                            (false, Greeting::Ehlo) => "E",
                            (false, _) => "",
                        };
                        let secured = if tls.is_some() { "S" } else { "" };
                        let authenticated = if is_authenticated { "A" } else { "" };
                        let protocol = Protocol { greeting, is_utf8, is_authenticated, tls: tls.clone() };
                        assert_eq!(protocol.as_str(), format!("{start}{name}{secured}{authenticated}"));
                    }
                }
            }
        }
        assert_eq!(Protocol { tls: tls(), ..Protocol::SMTP }.as_str(), "SMTP");
    }
}
