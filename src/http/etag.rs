//! Entity tags (RFC 9110 section 8.8.3): whether a caller already has what it asks for.

use std::hash::{BuildHasher, Hash, RandomState};

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Makes entity tags. Its keys are random, so that no tag outlives the process or says anything to a stranger.
#[derive(Clone, Debug, Default)]
pub struct ETags {
    keys: RandomState,
}

impl ETags {
    /// The tag of a representation that `state` determines.
    pub(super) fn of(&self, state: &impl Hash) -> ETag {
        ETag(format!("\"{:016x}\"", self.keys.hash_one(state)))
    }
}

/// An entity tag, with its quotes; a strong one unless it begins with `W/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ETag(String);

impl ETag {
    /// The weak tag of content that everybody may know, from its digest: it holds for each of its codings.
    pub(super) fn of_content(digest: &str) -> Self {
        Self(format!("W/\"{digest}\""))
    }

    /// The header field of an answer.
    pub(super) fn field(&self) -> (HeaderName, HeaderValue) {
        // Quotes and hexadecimal digits are always a valid value.
        (header::ETAG, HeaderValue::from_str(&self.0).unwrap_or(HeaderValue::from_static("\"\"")))
    }

    /// Whether the field If-None-Match names this tag (RFC 9110 section 13.1.2).
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        let fields = headers.get_all(header::IF_NONE_MATCH).into_iter().filter_map(|value| value.to_str().ok());
        fields.flat_map(|value| value.split(',')).map(str::trim).any(|tag| tag == "*" || opaque(tag) == opaque(&self.0))
    }

    /// Whether the field If-Range permits a range of what has this tag (RFC 9110 section 13.1.5).
    pub(super) fn permits_range(&self, headers: &HeaderMap) -> bool {
        headers.get(header::IF_RANGE).is_none_or(|value| value.as_bytes() == self.0.as_bytes())
    }

    /// The answer to a caller that has it.
    pub(super) fn not_modified(&self) -> Response {
        (StatusCode::NOT_MODIFIED, [self.field()]).into_response()
    }
}

/// A tag without the mark of a weak one: this comparison makes no difference between the two.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_in_the_forms_that_the_field_may_have() {
        let tags = ETags::default();
        let tag = tags.of(&(1, 2));
        assert_eq!(tag, tags.of(&(1, 2)));
        assert_ne!(tag, tags.of(&(1, 3)));
        assert_ne!(tag, ETags::default().of(&(1, 2)));
        let own = &tag.0;
        for (field, expected) in [
            (own.clone(), true),
            (format!("W/{own}"), true),
            (format!("\"a\", {own} ,\"b\""), true),
            ("*".into(), true),
            (own.trim_matches('"').into(), false),
            ("\"a\"".into(), false),
            (String::new(), false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_NONE_MATCH, HeaderValue::from_str(&field).expect("a value"));
            assert_eq!(tag.is_in(&headers), expected, "{field}");
        }
        assert!(!tag.is_in(&HeaderMap::new()));
    }
}
