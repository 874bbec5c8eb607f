//! AUTH (RFC 4954) for applications under test that insist on a login: PLAIN (RFC 4616) and LOGIN accept any credentials.
//!
//! Credentials are decoded, checked for their form, and dropped here. No value that leaves this file holds a name or a
//! password.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::reply::Reply;

/// The longest line of an exchange in octets, CRLF included (RFC 4954 section 4).
pub(super) const LINE_OCTETS_MAX: usize = 12_288;

/// The message that the client must send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// The only message of PLAIN.
    Plain,
    /// The name in LOGIN.
    LoginName,
    /// The password in LOGIN.
    LoginPassword,
}

/// How far an exchange is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The client must send another message.
    Challenge(Exchange),
    /// The client is authenticated.
    Succeeded,
}

/// Begins an exchange, with the mechanism and the initial response if there is one.
pub(super) fn begin(mechanism: &[u8], initial: Option<&[u8]>) -> Result<Progress, Reply> {
    let exchange = if mechanism.eq_ignore_ascii_case(b"PLAIN") {
        Exchange::Plain
    } else if mechanism.eq_ignore_ascii_case(b"LOGIN") {
        Exchange::LoginName
    } else {
        return Err(Reply::MECHANISM_UNKNOWN);
    };
    match initial {
        None => Ok(Progress::Challenge(exchange)),
        // RFC 4954 section 4: an empty initial response is written as an equals sign.
        Some(b"=") => exchange.take(b""),
        Some(initial) => exchange.take(initial),
    }
}

impl Exchange {
    /// The challenge to the client, in base64.
    pub(super) const fn challenge(self) -> Reply {
        match self {
            Self::Plain => Reply::challenge(""),
            Self::LoginName => Reply::challenge("VXNlcm5hbWU6"),
            Self::LoginPassword => Reply::challenge("UGFzc3dvcmQ6"),
        }
    }

    /// Takes a line of the client.
    pub(super) fn respond(self, line: &[u8]) -> Result<Progress, Reply> {
        if line == b"*" { Err(Reply::AUTH_CANCELLED) } else { self.take(line) }
    }

    fn take(self, encoded: &[u8]) -> Result<Progress, Reply> {
        let response = STANDARD.decode(encoded).map_err(|_| Reply::NOT_BASE64)?;
        match self {
            Self::Plain if is_plain(&response) => Ok(Progress::Succeeded),
            Self::Plain => Err(Reply::NOT_PLAIN),
            Self::LoginName => Ok(Progress::Challenge(Self::LoginPassword)),
            Self::LoginPassword => Ok(Progress::Succeeded),
        }
    }
}

/// Whether this is a PLAIN message: authorization identity, NUL, name, NUL, password. The name must not be empty.
fn is_plain(message: &[u8]) -> bool {
    let mut parts = message.split(|&octet| octet == 0).skip(1);
    parts.next().is_some_and(|name| !name.is_empty()) && parts.next().is_some() && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_credentials_succeed_in_the_form_of_their_mechanism() {
        for (mechanism, initial, expected) in [
            ("PLAIN", None, Ok(Progress::Challenge(Exchange::Plain))),
            ("plain", Some("AGFubgBzZWNyZXQ="), Ok(Progress::Succeeded)),
            ("PLAIN", Some("eABhbm4A"), Ok(Progress::Succeeded)),
            ("PLAIN", Some("="), Err(Reply::NOT_PLAIN)),
            ("PLAIN", Some("YW5u"), Err(Reply::NOT_PLAIN)),
            ("PLAIN", Some("AABwYXNz"), Err(Reply::NOT_PLAIN)),
            ("PLAIN", Some("AGEAYgBj"), Err(Reply::NOT_PLAIN)),
            ("PLAIN", Some("AGFubgBzZWNyZXQ"), Err(Reply::NOT_BASE64)),
            ("PLAIN", Some("!"), Err(Reply::NOT_BASE64)),
            ("LOGIN", None, Ok(Progress::Challenge(Exchange::LoginName))),
            ("Login", Some("YW5u"), Ok(Progress::Challenge(Exchange::LoginPassword))),
            ("LOGIN", Some("="), Ok(Progress::Challenge(Exchange::LoginPassword))),
            ("CRAM-MD5", None, Err(Reply::MECHANISM_UNKNOWN)),
        ] {
            assert_eq!(begin(mechanism.as_bytes(), initial.map(str::as_bytes)), expected, "{mechanism} {initial:?}");
        }
    }

    #[test]
    fn an_asterisk_cancels() {
        for exchange in [Exchange::Plain, Exchange::LoginName, Exchange::LoginPassword] {
            assert_eq!(exchange.respond(b"*"), Err(Reply::AUTH_CANCELLED));
            assert_eq!(exchange.respond(b"**"), Err(Reply::NOT_BASE64));
        }
        assert_eq!(Exchange::LoginPassword.respond(b""), Ok(Progress::Succeeded));
    }
}
