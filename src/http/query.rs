//! Query strings, read strictly.
//!
//! A `+` is a literal plus, since clients send addresses that way. A space is `%20`. Unknown parameters are ignored,
//! and a known parameter may appear only once, unless it says otherwise.

use std::fmt::Display;
use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::problem::{Code, Problem};
use crate::model::{Address, Id};

/// The longest query in octets. It has room for the longest address with each octet percent-encoded.
const QUERY_OCTETS_MAX: usize = 8 * 1024;
/// The most parameters of a query. Each takes some memory, however short it is.
const PARAMETERS_MAX: usize = 256;
/// The longest text that is parsed, in octets. The longest value is an address: a local part of 64, and a domain of 253
/// in A-labels, which is longer in U-labels.
const VALUE_OCTETS_MAX: usize = 1024;

/// The decoded parameters of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses the text after the `?`.
    pub(super) fn parse(query: &str) -> Result<Self, Problem> {
        let too_long = |detail| Err(Problem::new(Code::QueryTooLong, detail));
        if query.len() > QUERY_OCTETS_MAX {
            return too_long(format!("the query is longer than {QUERY_OCTETS_MAX} octets"));
        }
        if query.split('&').count() > PARAMETERS_MAX {
            return too_long(format!("the query has more than {PARAMETERS_MAX} parameters"));
        }
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode(name)?, decode(value)?))
        });
        let pairs = pairs.collect::<Option<_>>();
        pairs.map(Self).ok_or_else(|| Problem::new(Code::ParameterInvalid, "the query is not percent-encoded UTF-8"))
    }

    /// The text of an optional parameter.
    pub(super) fn get(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.values(name);
        let value = values.next();
        if values.next().is_some() {
            return Err(Problem::misplaced(name, format!("the parameter '{name}' appears more than once")));
        }
        Ok(value)
    }

    /// The text of a required parameter.
    pub(super) fn text(&self, name: &str) -> Result<&str, Problem> {
        let missing = || Problem::new(Code::ParameterMissing, format!("the parameter '{name}' is missing"));
        self.get(name)?.ok_or_else(missing)
    }

    /// The value of an optional parameter.
    pub(super) fn opt<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, Problem> {
        self.get(name)?.map(|text| parse(name, text)).transpose()
    }

    /// The value of a required parameter.
    pub(super) fn req<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, Problem> {
        parse(name, self.text(name)?)
    }

    /// The values of a parameter that may appear several times.
    pub(super) fn all<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Vec<T>, Problem> {
        self.values(name).map(|text| parse(name, text)).collect()
    }

    /// The address in a required parameter.
    pub(super) fn address(&self, name: &str) -> Result<Address, Problem> {
        self.req(name)
    }

    /// The number of a page, from 1, which is also the default.
    pub(super) fn page(&self) -> Result<u64, Problem> {
        let page = self.get("page")?.map_or(Some(1), number).and_then(|page| page.try_into().ok());
        page.ok_or_else(|| Problem::invalid("page", "'page' must be a whole number from 1 to 18446744073709551615"))
    }

    /// The size of a page, from 1 to `max`. A larger number is taken as `max`.
    pub(super) fn limit(&self, default: usize, max: usize) -> Result<usize, Problem> {
        let limit = self.get("limit")?.map_or(Some(default as u128), number);
        let limit = limit.ok_or_else(|| Problem::invalid("limit", "'limit' must be a whole number of at least 1"))?;
        Ok(usize::try_from(limit).unwrap_or(max).min(max))
    }

    /// The cursor of a walk as the sequence number below which it goes on; `u64::MAX` if it is empty.
    pub(super) fn cursor(&self) -> Result<Option<u64>, Problem> {
        let Some(cursor) = self.get("cursor")? else { return Ok(None) };
        // A sign is no digit, although the standard library reads one.
        let is_number = cursor.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = || u64::from_str_radix(cursor, 16).ok().filter(|_| is_number);
        let below = if cursor.is_empty() { Some(u64::MAX) } else { number() };
        let invalid = || Problem::invalid("cursor", "'cursor' must be empty or the 'nextCursor' of an answer");
        below.map(Some).ok_or_else(invalid)
    }

    /// The boolean in a parameter; `false` if the parameter is missing.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Problem> {
        let invalid = || Problem::invalid(name, format!("'{name}' must be 'true' or 'false'"));
        self.get(name)?.unwrap_or("false").parse().map_err(|_| invalid())
    }

    /// The texts of a parameter that may appear several times.
    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::parse(parts.uri.query().unwrap_or_default())
    }
}

/// A number of at least 1 in decimal digits, or [`u128::MAX`] if it is larger.
fn number(text: &str) -> Option<u128> {
    let is_number = text.bytes().all(|digit| digit.is_ascii_digit()) && text.bytes().any(|digit| digit != b'0');
    is_number.then(|| text.parse().unwrap_or(u128::MAX))
}

/// The value in a text from outside, which has this name there.
pub(super) fn parse<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, Problem> {
    if text.len() > VALUE_OCTETS_MAX {
        return Err(Problem::invalid(name, format!("'{name}' is longer than {VALUE_OCTETS_MAX} octets")));
    }
    text.parse().map_err(|error| Problem::invalid(name, format!("'{name}': {error}")))
}

/// The id in a text from outside.
pub(super) fn id<const VERSION: u8>(text: &str) -> Result<Id<VERSION>, Problem> {
    parse("id", text)
}

/// Decodes percent-encoding; `None` if it is malformed or not UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&octet, tail)) = rest.split_first() {
        rest = tail;
        octets.push(match octet {
            b'%' => {
                let digits = rest.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
                rest = &rest[2..];
                u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?
            }
            octet => octet,
        });
    }
    String::from_utf8(octets).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DomainName, WebhookId};

    fn query(text: &str) -> Query {
        Query::parse(text).expect(text)
    }

    fn code<T: std::fmt::Debug>(result: Result<T, Problem>) -> Code {
        result.expect_err("a problem").code()
    }

    #[test]
    fn a_plus_is_a_plus_and_a_blank_is_percent_20() {
        assert_eq!(query("to=a+b@x.test").get("to"), Ok(Some("a+b@x.test")));
        assert_eq!(query("to=a%2Bb%40x.test").get("to"), Ok(Some("a+b@x.test")));
        assert_eq!(query("to=%22a%20b%22@x.test").get("to"), Ok(Some("\"a b\"@x.test")));
        assert_eq!(query("%74o=%C3%BC").get("to"), Ok(Some("ü")));
        assert_eq!(query("&&to&x=1=2").get("to"), Ok(Some("")));
        assert_eq!(query("to&x=1=2").get("x"), Ok(Some("1=2")));
        assert_eq!(query("").get("to"), Ok(None));
    }

    #[test]
    fn what_is_malformed_is_refused() {
        for bad in ["to=%", "to=%4", "to=%zz", "to=%+1", "to=%ff", "%ff=1", "other=%"] {
            assert_eq!(code(Query::parse(bad)), Code::ParameterInvalid, "{bad}");
        }
        assert_eq!(code(Query::parse(&"a".repeat(QUERY_OCTETS_MAX + 1))), Code::QueryTooLong);
        assert_eq!(code(Query::parse(&"a&".repeat(PARAMETERS_MAX))), Code::QueryTooLong);
        assert_eq!(query(&"a&".repeat(PARAMETERS_MAX - 1)).values("a").count(), PARAMETERS_MAX - 1);
    }

    #[test]
    fn a_known_parameter_may_be_there_once() {
        let query = query("to=a&x=1&x=2&t%6F=b");
        assert_eq!(code(query.get("to")), Code::ParameterInvalid);
    }

    #[test]
    fn numbers_are_digits_from_one() {
        let page = |text: &str| query(text).page();
        let limit = |text: &str| query(text).limit(7, 100);
        assert_eq!((page(""), limit("")), (Ok(1), Ok(7)));
        assert_eq!((page("page=1"), limit("limit=1")), (Ok(1), Ok(1)));
        assert_eq!((page("page=0012"), limit("limit=0012")), (Ok(12), Ok(12)));
        assert_eq!(page("page=18446744073709551615"), Ok(u64::MAX));
        assert_eq!(code(page("page=18446744073709551616")), Code::ParameterInvalid, "it could not be echoed");
        assert_eq!(limit("limit=18446744073709551616"), Ok(100));
        for bad in ["=", "", "=0", "=00", "=-1", "=+1", "=1.0", "=1e3", "=%201", "=x"] {
            assert_eq!(code(page(&format!("page{bad}"))), Code::ParameterInvalid, "{bad}");
            assert_eq!(code(limit(&format!("limit{bad}"))), Code::ParameterInvalid, "{bad}");
        }
    }

    #[test]
    fn each_kind_of_value_has_its_code() {
        assert_eq!(code(query("").address("to")), Code::ParameterMissing);
        assert_eq!(code(query("to=").address("to")), Code::AddressInvalid);
        assert_eq!(code(query(&format!("to={}@x.test", "a".repeat(2000))).address("to")), Code::AddressInvalid);
        assert_eq!(code(query("domain=-").req::<DomainName>("domain")), Code::DomainInvalid);
        assert_eq!(super::id::<7>("1").expect_err("no id").code(), Code::IdInvalid);
        assert_eq!(code(query("id=1").all::<WebhookId>("id")), Code::IdInvalid);
        assert_eq!(code(query("force=yes").flag("force")), Code::ParameterInvalid);
        assert_eq!(query("force=true").flag("force"), Ok(true));
    }
}
