//! The length of a request's head over HTTP/2, as RFC 9113 section 6.5.2 counts it.
//!
//! h2 refuses a long head with a bare 431. So it accepts somewhat longer ones than the service does, and those are refused
//! here, with a problem. Over HTTP/1.1 the connection does both.

use axum::extract::Request;
use axum::http::Version;

use super::problem::{Code, Problem};

/// The longest head, in octets.
const OCTETS_MAX: usize = 16 * 1024;
/// The longest head that h2 accepts. With the number of requests at once it bounds the memory of a connection.
pub(super) const ACCEPTED_OCTETS_MAX: u32 = 24 * 1024;
/// What each field counts beside its name and value.
const FIELD_OCTETS: usize = 32;

/// Refuses a head over HTTP/2 that is too long.
pub(super) fn check(request: &Request) -> Result<(), Problem> {
    if request.version() != Version::HTTP_2 || octets(request) <= OCTETS_MAX {
        return Ok(());
    }
    let detail = format!("the head of the request is longer than {} KB", OCTETS_MAX / 1024);
    Err(Problem::new(Code::HeadTooLarge, detail))
}

fn octets(request: &Request) -> usize {
    let uri = request.uri();
    let path = uri.path_and_query().map_or(1, |path| path.as_str().len());
    let pseudo = [
        (":method", request.method().as_str().len()),
        (":scheme", uri.scheme_str().map_or(0, str::len)),
        (":authority", uri.authority().map_or(0, |authority| authority.as_str().len())),
        (":path", path),
    ];
    let fields = request.headers().iter().map(|(name, value)| (name.as_str(), value.len()));
    pseudo.into_iter().chain(fields).map(|(name, value)| name.len() + value + FIELD_OCTETS).sum()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn a_head_counts_as_the_standard_counts_it() {
        let request = Request::get("https://a.test/x?y").header("ab", "cde").body(Body::empty()).expect("a request");
        let pseudo = [":methodGET", ":schemehttps", ":authoritya.test", ":path/x?y"].map(|field| field.len() + 32);
        assert_eq!(octets(&request), pseudo.into_iter().sum::<usize>() + 2 + 3 + 32);
    }
}
