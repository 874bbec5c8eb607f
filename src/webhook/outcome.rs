//! The outcome of an attempt.

use std::time::Duration;

/// The most octets of a response's body that are recorded.
pub const RESPONSE_OCTETS_MAX: usize = 1024;
/// The most octets of an error's text that are recorded.
const DETAIL_OCTETS_MAX: usize = 256;

/// The outcome of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The status of the response, if there was one.
    pub status: Option<u16>,
    /// What went wrong; `None` for a status of 200 to 299.
    pub error: Option<ErrorClass>,
    /// The time from the start to the end of the attempt.
    pub duration: Duration,
    /// The wait that a 429 or 503 asks for with `Retry-After`, however long it is.
    pub retry_after: Option<Duration>,
    /// The start of the response's body, at most [`RESPONSE_OCTETS_MAX`] octets, in which octets that are not UTF-8 are
    /// replaced. Without a response, the error as text for the administrator.
    pub text: String,
}

/// What went wrong with an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The host's name has no address, or DNS gave no answer.
    Dns,
    /// The guard refuses the address or the port.
    RefusedAddress,
    /// There was no TCP connection, or none with its TLS handshake within the connect timeout.
    Connect,
    /// The TLS handshake failed, or the certificate is not valid.
    Tls,
    /// There was no response within the timeout of the attempt.
    Timeout,
    /// A status other than 200 to 299.
    HttpStatus,
    /// The connection ended early, or what came was not an HTTP response within the limits.
    Other,
}

impl ErrorClass {
    /// Every class, in the order of their numbers.
    pub(super) const ALL: [Self; 7] =
        [Self::Dns, Self::RefusedAddress, Self::Connect, Self::Tls, Self::Timeout, Self::HttpStatus, Self::Other];

    /// The class as a stable word of the interface.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::RefusedAddress => "refused_address",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::HttpStatus => "http_status",
            Self::Other => "other",
        }
    }
}

impl Outcome {
    /// The outcome of an attempt that got a response whose body starts with `octets`.
    pub(super) fn answered(status: u16, octets: &[u8], retry_after: Option<Duration>, duration: Duration) -> Self {
        let octets = &octets[..octets.len().min(RESPONSE_OCTETS_MAX)];
        Self {
            status: Some(status),
            error: (!(200..300).contains(&status)).then_some(ErrorClass::HttpStatus),
            duration,
            retry_after: retry_after.filter(|_| matches!(status, 429 | 503)),
            text: cut(&String::from_utf8_lossy(octets), RESPONSE_OCTETS_MAX),
        }
    }

    /// The outcome of an attempt without a response.
    pub(super) fn unanswered(error: ErrorClass, text: &str, duration: Duration) -> Self {
        let text = cut(text, DETAIL_OCTETS_MAX);
        Self { status: None, error: Some(error), duration, retry_after: None, text }
    }

    /// Whether the receiver has the event. The status alone decides, whatever happens to the response's body.
    pub fn is_delivered(&self) -> bool {
        self.error.is_none()
    }

    /// Whether the receiver wants no more events.
    pub fn is_gone(&self) -> bool {
        self.status == Some(410)
    }
}

/// At most `octets_max` of `text`, ending between two characters.
fn cut(text: &str, octets_max: usize) -> String {
    text[..text.floor_char_boundary(octets_max)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Option<Duration> = Some(Duration::from_secs(7));

    #[test]
    fn the_status_decides() {
        for (status, is_delivered, is_gone, retry_after) in [
            (200, true, false, None),
            (204, true, false, None),
            (299, true, false, None),
            (410, false, true, None),
            (429, false, false, ASKED),
            (503, false, false, ASKED),
            (199, false, false, None),
            (300, false, false, None),
            (302, false, false, None),
            (400, false, false, None),
            (404, false, false, None),
            (500, false, false, None),
        ] {
            let outcome = Outcome::answered(status, b"", ASKED, Duration::ZERO);
            let found = (outcome.is_delivered(), outcome.is_gone(), outcome.retry_after);
            assert_eq!(found, (is_delivered, is_gone, retry_after), "{status}");
        }
        let none = Outcome::unanswered(ErrorClass::Tls, "why", Duration::ZERO);
        assert!(!none.is_delivered() && !none.is_gone() && none.text == "why");
    }

    #[test]
    fn the_recorded_start_of_a_response_is_limited_whatever_its_octets() {
        let start = |octets: &[u8]| Outcome::answered(200, octets, None, Duration::ZERO).text;
        assert_eq!(start(b"ok"), "ok");
        assert_eq!(start(&[b'x'; 5000]).len(), RESPONSE_OCTETS_MAX);
        // Each octet becomes a character of three octets.
        assert_eq!(start(&[0xff; 5000]), "\u{fffd}".repeat(RESPONSE_OCTETS_MAX / 3));
        assert_eq!(cut("aé", 2), "a");
    }

    #[test]
    fn each_class_is_at_the_index_of_its_number() {
        assert!(ErrorClass::ALL.into_iter().enumerate().all(|(at, class)| class as usize == at));
    }
}
