//! What became of an attempt, and what follows from it.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How much of a response is kept, in octets.
pub const RESPONSE_OCTETS_KEPT: usize = 1024;

/// One attempt, when it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The status of the response, if there was one.
    pub status: Option<u16>,
    /// What went wrong; `None` for a status of 200 to 299.
    pub class: Option<ErrorClass>,
    /// From the start to the end of the attempt.
    pub duration: Duration,
    /// What the response asks to wait, in a status of 429 or 503; not yet cut to the most that is honoured.
    pub retry_after: Option<Duration>,
    /// The start of the response's body, at most 1,024 octets; what is no UTF-8 is replaced. It may hold any character.
    pub response: String,
    /// What went wrong, in words for the administrator; empty if there was a response.
    pub detail: String,
}

/// What went wrong with an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The name of the host has no address, or the DNS gave no answer.
    Dns,
    /// The guard refuses the address or the port.
    RefusedAddress,
    /// No connection: refused, unreachable, or not there within the time for connecting.
    Connect,
    /// A connection, but no TLS on it: no handshake, or a certificate that is not valid.
    Tls,
    /// No status within the time for the whole attempt.
    Timeout,
    /// A status other than 200 to 299.
    HttpStatus,
    /// The connection ended early, or what came was no HTTP response within bounds.
    Other,
}

impl ErrorClass {
    /// Every class, each at the place of its number.
    pub(super) const ALL: [Self; 7] =
        [Self::Dns, Self::RefusedAddress, Self::Connect, Self::Tls, Self::Timeout, Self::HttpStatus, Self::Other];

    /// The word that stands for it in the interface.
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
pub enum Verdict {
    /// The receiver has the event.
    Delivered,
    /// The receiver wants no more events (410): the webhook is disabled.
    Gone,
    /// The event is tried again.
    Retry {
        /// The least wait that the receiver asks for.
        after: Option<Duration>,
    },
}

impl Outcome {
    /// An attempt without a response.
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

    /// The verdict. The status alone decides; what happens to the response's body does not.
    pub fn verdict(&self) -> Verdict {
        match self.status {
            Some(200..=299) => Verdict::Delivered,
            Some(410) => Verdict::Gone,
            Some(429 | 503) => Verdict::Retry { after: self.retry_after },
            _ => Verdict::Retry { after: None },
        }
    }
}

/// The first octets of a response as text within [`RESPONSE_OCTETS_KEPT`].
pub(super) fn kept(octets: &[u8]) -> String {
    let octets = &octets[..octets.len().min(RESPONSE_OCTETS_KEPT)];
    cut(&String::from_utf8_lossy(octets), RESPONSE_OCTETS_KEPT)
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
        let wait = Verdict::Retry { after: asked };
        let retry = Verdict::Retry { after: None };
        for (status, verdict) in [
            (Some(200), Verdict::Delivered),
            (Some(204), Verdict::Delivered),
            (Some(299), Verdict::Delivered),
            (Some(410), Verdict::Gone),
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
            assert_eq!(outcome.verdict(), verdict, "{status:?}");
        }
    }

    #[test]
    fn what_is_kept_of_a_response_has_a_bound_whatever_its_octets() {
        assert_eq!(kept(b"ok"), "ok");
        assert_eq!(kept(&[b'x'; 5000]).len(), RESPONSE_OCTETS_KEPT);
        // Each octet becomes a character of three.
        assert_eq!(kept(&[0xff; 5000]), "\u{fffd}".repeat(RESPONSE_OCTETS_KEPT / 3));
        assert_eq!(cut("aé", 2), "a");
    }

    #[test]
    fn the_words_are_those_of_serde() {
        for (at, class) in ErrorClass::ALL.into_iter().enumerate() {
            assert_eq!(serde_json::to_value(class).expect("json"), class.as_str());
            assert_eq!(class as usize, at);
        }
    }
}
