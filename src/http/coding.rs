//! Answers with a content coding (RFC 9110 section 8.4): large ones without a secret, gzip for clients that accept it.
//!
//! Never mail: codes stand beside text of strangers there, who could learn them from the length of answers. An answer is
//! encoded whole before it is sent, so a client that reads slowly holds no more than the answer.

use std::io::Write as _;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::negotiation::weight;

/// The octets of an answer in both forms.
pub(super) struct Coded {
    plain: Bytes,
    gzip: Bytes,
}

impl Coded {
    pub(super) fn of(plain: impl Into<Bytes>) -> Self {
        let plain = plain.into();
        let gzip = gzip(&plain, Compression::best());
        Self { plain, gzip }
    }

    /// The length of the compressed form.
    #[cfg(test)]
    pub(super) fn gzip_octets(&self) -> usize {
        self.gzip.len()
    }

    /// The answer to a request with these header fields.
    pub(super) fn answer(&self, request: &HeaderMap, content_type: &'static str) -> Response {
        if accepts_gzip(request) {
            encoded(self.gzip.clone(), content_type)
        } else {
            plain(self.plain.clone(), content_type)
        }
    }
}

/// The answer with octets that change with each request.
pub(super) fn answer(octets: String, request: &HeaderMap, content_type: &'static str) -> Response {
    if accepts_gzip(request) {
        encoded(gzip(octets.as_bytes(), Compression::fast()), content_type)
    } else {
        plain(octets.into(), content_type)
    }
}

fn plain(octets: Bytes, content_type: &'static str) -> Response {
    ([(header::CONTENT_TYPE, content_type), (header::VARY, "accept-encoding")], octets).into_response()
}

fn encoded(gzip: Bytes, content_type: &'static str) -> Response {
    let mut answer = plain(gzip, content_type);
    answer.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    answer
}

fn gzip(octets: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    // Writing to memory does not fail.
    let _ = encoder.write_all(octets);
    encoder.finish().unwrap_or_default().into()
}

/// Whether the field Accept-Encoding (RFC 9110 section 12.5.3) permits gzip.
fn accepts_gzip(request: &HeaderMap) -> bool {
    let weight = |name| weight(request, header::ACCEPT_ENCODING, name);
    weight("gzip").or_else(|| weight("*")).unwrap_or(0.0) > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_of_gzip_counts_and_else_that_of_any() {
        for (field, is_accepted) in [
            ("gzip", true),
            ("zstd, GZIP;q=0.5", true),
            ("*", true),
            ("*;q=0.1", true),
            ("gzip;q=0", false),
            ("gzip; q=0.000, *", false),
            ("identity", false),
            ("x-gzipped", false),
            ("gzip;q=much", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, field.parse().expect("a value"))]);
            assert_eq!(accepts_gzip(&headers), is_accepted, "{field}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
