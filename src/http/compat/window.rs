//! Which part of a list a caller wants, and who the caller is.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::refusal::Refusal;
use crate::http::memory::Asker;
use crate::http::principal::Principal;
use crate::http::problem::{Code, Problem};
use crate::http::query::Query;

/// The last message that a list reaches, counted from the newest.
pub(super) const DEPTH_MAX: usize = 10_000;
/// How many messages are listed where a request does not say.
const LIMIT_DEFAULT: usize = 50;

/// The caller of a request, and for which answer memory is reserved.
#[derive(Clone, Debug)]
pub(super) struct Viewer {
    pub(super) principal: Principal,
    pub(super) asker: Asker,
}

impl<S: Sync> FromRequestParts<S> for Viewer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let principal = Principal::from_request_parts(parts, state).await?;
        Ok(Self { principal, asker: Asker::from_request_parts(parts, state).await? })
    }
}

/// The query of a request as forms encode it: a `+` is a blank.
#[derive(Clone, Debug)]
pub(super) struct FormQuery(Query);

impl<S: Sync> FromRequestParts<S> for FormQuery {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        Ok(Self(Query::parse(&parts.uri.query().unwrap_or_default().replace('+', "%20"))?))
    }
}

impl FormQuery {
    /// The value of a parameter, empty if it is missing.
    pub(super) fn get(&self, name: &str) -> Result<&str, Refusal> {
        Ok(self.0.get(name)?.unwrap_or_default().trim())
    }

    /// The part of a list that `start` and `limit` name. A value that is no number means the default, as in the originals.
    pub(super) fn window(&self, limit_max: usize) -> Result<Window, Refusal> {
        let number = |name: &str| Ok::<_, Refusal>(self.get(name)?.parse::<usize>().ok().filter(|number| *number > 0));
        let limit = number("limit")?.unwrap_or(LIMIT_DEFAULT).min(limit_max);
        let start = number("start")?.unwrap_or(0);
        if start.saturating_add(limit) > DEPTH_MAX {
            let detail = format!("lists reach the newest {DEPTH_MAX} messages; narrow them by a search");
            return Err(Problem::new(Code::PageInvalid, detail).into());
        }
        Ok(Window { start, limit })
    }
}

/// A part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// How many of the newest messages to skip.
    pub(super) start: usize,
    /// The most messages to list.
    pub(super) limit: usize,
}

impl Window {
    /// The end of this part, counted from the newest message.
    pub(super) const fn end(self) -> usize {
        self.start + self.limit
    }

    /// This part of a whole list.
    pub(super) fn of<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.start).take(self.limit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(query: &str) -> Result<Window, Refusal> {
        FormQuery(Query::parse(query).expect("a query")).window(500)
    }

    #[test]
    fn a_window_has_defaults_and_bounds() {
        for (query, start, limit) in [
            ("", 0, 50),
            ("start=7&limit=3", 7, 3),
            ("start=-1&limit=x", 0, 50),
            ("limit=0", 0, 50),
            ("limit=100000", 0, 500),
            ("start=9500&limit=500", 9_500, 500),
        ] {
            assert_eq!(window(query).expect(query), Window { start, limit }, "{query}");
        }
        assert!(window("start=9501&limit=500").is_err());
        assert!(window("start=18446744073709551615").is_err());
    }
}
