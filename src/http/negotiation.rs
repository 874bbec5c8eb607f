//! What a request accepts (RFC 9110 section 12.4.2).

use axum::http::{HeaderMap, HeaderName};

/// The weight of `name` in a field that lists what is accepted, from 0 to 1; `None` if the field does not name it.
///
/// A weight that is no number counts as 0.
pub(super) fn weight(headers: &HeaderMap, field: HeaderName, name: &str) -> Option<f32> {
    let values = headers.get_all(field).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).find_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        parts.next().filter(|found| found.eq_ignore_ascii_case(name))?;
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        Some(weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
    })
}
