//! The page for people: an inbox in a browser, without a build step and without anything from elsewhere.
//!
//! `files/` has the document, one style sheet, and the modules of the page, one for each view. All files but the document
//! have the version of the page in their path, so a browser keeps them for good and still never mixes two versions.
//!
//! Mail reaches the page as text only. HTML of mail is shown in a frame under `sandbox`, from the route of the interface
//! that makes it safe. The policy for content permits no inline script and no place where text could become one.

mod files;
mod refused;

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::problem::{Code, Problem};
use files::{FILES, File};
pub(super) use refused::{is_document, shown};

/// What the page may load and do. `require-trusted-types-for` without a policy forbids every way from text to markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";
/// What the page never needs.
const NO_PERMISSIONS: &str = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Whether the field Accept (RFC 9110 section 12.4.2) asks for a page, as browsers do. Programs ask for JSON or for anything.
///
/// A weight that is no number counts as 0.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    let weight = values.flat_map(|value| value.split(',')).find_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        parts.next().filter(|found| found.eq_ignore_ascii_case("text/html"))?;
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        Some(weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
    });
    weight.is_some_and(|weight: f32| weight > 0.0)
}

/// The document of the page. A browser asks for it each time.
pub(super) fn document() -> Response {
    let mut answer = answer(&FILES.document, "no-cache");
    let fields = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (PERMISSIONS_POLICY, NO_PERMISSIONS),
        (OPENER_POLICY, "same-origin"),
    ];
    answer.headers_mut().extend(fields.map(|(name, value)| (name, HeaderValue::from_static(value))));
    answer.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    answer
}

/// `GET /web/{version}/{file}`: a file of the page.
pub(super) async fn file(path: Result<Path<(String, String)>, PathRejection>) -> Result<Response, Problem> {
    let file = path.ok().and_then(|Path((version, name))| FILES.find(&version, &name));
    let file = file.ok_or_else(|| Problem::new(Code::UnknownPath, "the page has no such file; load the page again"))?;
    Ok(answer(file, "public, max-age=31536000, immutable"))
}

fn answer(file: &File, caching: &'static str) -> Response {
    let fields = [(header::CONTENT_TYPE, file.content_type), (header::CACHE_CONTROL, caching)];
    (fields, file.octets.clone()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_get_the_page_and_programs_do_not() {
        for (field, expected) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("TEXT/HTML", true),
            ("application/json, text/html; q=0.1", true),
            ("text/html;q=0", false),
            ("*/*", false),
            ("text/*", false),
            ("application/json", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, field.parse().expect("a value"))]);
            assert_eq!(is_wanted(&headers), expected, "{field}");
        }
        assert!(!is_wanted(&HeaderMap::new()));
    }
}
