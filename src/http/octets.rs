//! Answers with octets that never change: whole, or a range of them (RFC 9110 section 14).

use std::convert::Infallible;
use std::ops::Range;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use futures_util::stream;

use super::problem::{Code, Problem};

/// The content of an answer.
#[derive(Debug)]
pub(super) struct Octets {
    /// The content, one piece after the other.
    pub(super) pieces: Vec<Bytes>,
}

impl Octets {
    /// The answer to a request: 200, or 206 for one range. A range behind the end is 416.
    ///
    /// A field Range with several ranges is ignored, as RFC 9110 section 14.2 permits. Only GET has ranges.
    pub(super) fn answer(self, method: &Method, headers: &HeaderMap) -> Result<Response, Problem> {
        let length: usize = self.pieces.iter().map(Bytes::len).sum();
        let range =
            headers.get(header::RANGE).filter(|_| method == Method::GET).and_then(|value| wanted(value, length));
        let (status, range) = match range {
            None => (StatusCode::OK, 0..length),
            Some(range) if range.is_empty() => return Err(not_satisfiable(length)),
            Some(range) => (StatusCode::PARTIAL_CONTENT, range),
        };
        let fields = [
            (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
            (header::CONTENT_LENGTH, HeaderValue::from(range.len())),
        ];
        let shown = (status == StatusCode::PARTIAL_CONTENT).then(|| {
            AppendHeaders([(header::CONTENT_RANGE, format!("bytes {}-{}/{length}", range.start, range.end - 1))])
        });
        let pieces: Vec<_> = cut(self.pieces, range).into_iter().map(Ok::<_, Infallible>).collect();
        Ok((status, fields, shown, Body::from_stream(stream::iter(pieces))).into_response())
    }
}

/// The range that a field names, cut at `length`. It is empty if it begins behind the end. `None` if the field is not one
/// range of octets.
fn wanted(field: &HeaderValue, length: usize) -> Option<Range<usize>> {
    let (unit, range) = field.to_str().ok()?.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    if first.is_empty() {
        return Some(length.saturating_sub(number(last)?)..length);
    }
    let first = number(first)?;
    let end = if last.is_empty() { length } else { number(last)?.saturating_add(1) };
    // Such a field is not valid, however long the content is.
    if !last.is_empty() && end <= first {
        return None;
    }
    Some(first..end.min(length))
}

/// A number in digits. One that is too large is the largest.
fn number(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}

/// The octets of `range` in `pieces`.
fn cut(pieces: Vec<Bytes>, range: Range<usize>) -> Vec<Bytes> {
    let mut start = 0;
    let cut = pieces.into_iter().map(|piece| {
        let within = |position: usize| position.saturating_sub(start).min(piece.len());
        let kept = piece.slice(within(range.start)..within(range.end));
        start += piece.len();
        kept
    });
    cut.filter(|piece| !piece.is_empty()).collect()
}

fn not_satisfiable(length: usize) -> Problem {
    let problem = Problem::new(Code::RangeNotSatisfiable, format!("the content has {length} octets"));
    match HeaderValue::from_str(&format!("bytes */{length}")) {
        Ok(field) => problem.with_header(header::CONTENT_RANGE, field),
        Err(_) => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_read_as_the_field_may_have_it() {
        for (field, expected) in [
            ("bytes=0-0", Some(0..1)),
            ("bytes=2-5", Some(2..6)),
            ("Bytes = 2-5", Some(2..6)),
            ("bytes=2-", Some(2..10)),
            ("bytes=2-99999999999999999999999", Some(2..10)),
            ("bytes=-3", Some(7..10)),
            ("bytes=-99", Some(0..10)),
            ("bytes=5-2", None),
            ("bytes=0-1,3-4", None),
            ("bytes=a-b", None),
            ("bytes=-", None),
            ("bytes=+1-2", None),
            ("lines=0-1", None),
            ("0-1", None),
            ("", None),
        ] {
            assert_eq!(wanted(&HeaderValue::from_static(field), 10), expected, "{field}");
        }
        for (field, length) in
            [("bytes=10-", 10), ("bytes=99999999999999999999999-", 10), ("bytes=-0", 10), ("bytes=0-", 0)]
        {
            let range = wanted(&HeaderValue::from_static(field), length).expect("a range");
            assert!(range.is_empty(), "{field} {range:?}");
        }
    }

    #[test]
    fn a_range_may_begin_and_end_in_any_piece() {
        let pieces = || vec![Bytes::from_static(b"abc"), Bytes::new(), Bytes::from_static(b"defg")];
        for start in 0..7 {
            for end in start..=7 {
                assert_eq!(cut(pieces(), start..end).concat(), &b"abcdefg"[start..end]);
            }
        }
    }
}
