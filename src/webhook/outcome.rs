//! The outcome of an attempt, and what follows from it.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The most octets of a response's body that are recorded.
pub const RESPONSE_OCTETS_MAX: usize = 1024;

/// The outcome of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The status of the response, if there was one.
    pub status: Option<u16>,
    /// What went wrong; `None` for a status of 200 to 299.
    pub class: Option<ErrorClass>,
    /// The time from the start to the end of the attempt.
    pub duration: Duration,
    /// The wait that a 429 or 503 asks for with `Retry-After`, however long it is.
    pub retry_after: Option<Duration>,
    /// The start of the response's body, at most 1,024 octets. Octets that are not UTF-8 are replaced.
    pub response: String,
    /// What went wrong, as text for the administrator. It is empty if there was a response.
    pub detail: String,
}

/// What went wrong with an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The host's name has no address, or DNS gave no answer.
    Dns,
    /// The guard refuses the address or the port.
    RefusedAddress,
    /// There was no TCP connection, or none within the connect timeout.
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

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What follows from an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// The receiver has the event.
    Delivered,
    /// The receiver wants no more events (410): the webhook is disabled.
    Gone,
    /// The event is retried.
    Retry {
        /// The shortest wait that the receiver asks for.
        after: Option<Duration>,
    },
}

impl Outcome {
    /// The outcome of an attempt without a response.
    pub(super) fn unanswered(class: ErrorClass, duration: Duration, detail: &str) -> Self {
        Self {
            status: None,
            class: Some(class),
            duration,
            retry_after: None,
            response: String::new(),
            detail: detail.to_owned(),
        }
    }

    /// What follows from the attempt. The status alone decides, whatever happens to the response's body.
    pub fn disposition(&self) -> Disposition {
        match self.status {
            Some(200..=299) => Disposition::Delivered,
            Some(410) => Disposition::Gone,
            Some(429 | 503) => Disposition::Retry { after: self.retry_after },
            _ => Disposition::Retry { after: None },
        }
    }
}

/// The start of a response's body as text of at most [`RESPONSE_OCTETS_MAX`] octets.
pub(super) fn response_start(octets: &[u8]) -> String {
    let octets = &octets[..octets.len().min(RESPONSE_OCTETS_MAX)];
    cut(&String::from_utf8_lossy(octets), RESPONSE_OCTETS_MAX)
}

/// At most `octets_max` of `text`, ending between two characters.
pub(super) fn cut(text: &str, octets_max: usize) -> String {
    text[..text.floor_char_boundary(octets_max)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_decides() {
        let asked = Some(Duration::from_secs(7));
        let wait = Disposition::Retry { after: asked };
        let retry = Disposition::Retry { after: None };
        for (status, disposition) in [
            (Some(200), Disposition::Delivered),
            (Some(204), Disposition::Delivered),
            (Some(299), Disposition::Delivered),
            (Some(410), Disposition::Gone),
            (Some(429), wait),
            (Some(503), wait),
            (Some(199), retry),
            (Some(300), retry),
            (Some(302), retry),
            (Some(400), retry),
            (Some(404), retry),
            (Some(500), retry),
            (None, retry),
        ] {
            let outcome = Outcome {
                status,
                class: None,
                duration: Duration::ZERO,
                retry_after: asked,
                response: String::new(),
                detail: String::new(),
            };
            assert_eq!(outcome.disposition(), disposition, "{status:?}");
        }
    }

    #[test]
    fn the_recorded_start_of_a_response_is_limited_whatever_its_octets() {
        assert_eq!(response_start(b"ok"), "ok");
        assert_eq!(response_start(&[b'x'; 5000]).len(), RESPONSE_OCTETS_MAX);
        // Each octet becomes a character of three octets.
        assert_eq!(response_start(&[0xff; 5000]), "\u{fffd}".repeat(RESPONSE_OCTETS_MAX / 3));
        assert_eq!(cut("aé", 2), "a");
    }

    #[test]
    fn the_words_are_the_same_in_json() {
        for (at, class) in ErrorClass::ALL.into_iter().enumerate() {
            assert_eq!(serde_json::to_value(class).expect("json"), class.as_str());
            assert_eq!(class as usize, at);
        }
    }
}
