//! AUTH (RFC 4954) for applications under test that have credentials configured: PLAIN (RFC 4616) and LOGIN are played to
//! their end, and whatever was sent succeeds.
//!
//! What is decoded is looked at and dropped here; no value that leaves this file holds a name or a password.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::reply::Reply;

/// The longest line of an exchange in octets, CRLF included (RFC 4954 section 4).
pub(super) const LINE_OCTETS_MAX: usize = 12_288;

/// What the client has to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// The one message of PLAIN.
    Plain,
    /// The name of LOGIN.
    LoginName,
    /// The password of LOGIN.
    LoginPassword,
}

/// How far an exchange is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The client is asked for more.
    Challenge(Exchange),
    /// The client is authenticated.
    Succeeded,
}

/// Begins an exchange: what follows AUTH, a mechanism and perhaps its initial response.
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
        // How an empty response is written where a word must stand.
        Some(b"=") => exchange.take(b""),
        Some(initial) => exchange.take(initial),
    }
}

impl Exchange {
    /// What the client is asked for: in base64 as all of an exchange.
    pub(super) const fn challenge(self) -> Reply {
        match self {
            Self::Plain => Reply::challenge(""),
            Self::LoginName => Reply::challenge("VXNlcm5hbWU6"),
            Self::LoginPassword => Reply::challenge("UGFzc3dvcmQ6"),
        }
    }

    /// Takes the client's line.
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

/// Whether a message is one of PLAIN: authorization identity, NUL, name, NUL, password, and a name is there.
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
