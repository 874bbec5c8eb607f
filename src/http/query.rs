//! Query strings, read strictly.
//!
//! A `+` is a literal plus, since clients send addresses that way. A space is `%20`. Unknown parameters are ignored,
//! and a known parameter may appear only once, unless it says otherwise.

use std::num::ParseIntError;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::problem::{Code, Problem};
use crate::model::{Address, DomainName, Id, WebhookId};

/// The longest query in octets. It has room for the longest address with each octet percent-encoded.
const QUERY_OCTETS_MAX: usize = 8 * 1024;
/// The longest address in octets: a local part of 64, and a domain of 253 in A-labels, which is longer in U-labels.
const ADDRESS_OCTETS_MAX: usize = 1024;

/// The decoded parameters of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

/// The most parameters of a query. Each takes some memory, however short it is.
const PARAMETERS_MAX: usize = 256;

impl Query {
    /// Parses the text after the `?`.
    pub(super) fn parse(query: &str) -> Result<Self, Problem> {
        if query.len() > QUERY_OCTETS_MAX {
            return Err(Problem::new(
                Code::QueryTooLong,
                format!("the query is longer than {QUERY_OCTETS_MAX} octets"),
            ));
        }
        if query.split('&').count() > PARAMETERS_MAX {
            let detail = format!("the query has more than {PARAMETERS_MAX} parameters");
            return Err(Problem::new(Code::QueryTooLong, detail));
        }
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode(name)?, decode(value)?))
        });
        let pairs = pairs.collect::<Option<_>>();
        pairs.map(Self).ok_or_else(|| Problem::new(Code::QueryInvalid, "the query is not percent-encoded UTF-8"))
    }

    /// The value of an optional parameter.
    pub(super) fn get(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.0.iter().filter(|(found, _)| found == name).map(|(_, value)| value.as_str());
        let value = values.next();
        if values.next().is_some() {
            return Err(Problem::new(
                Code::ParameterRepeated,
                format!("the parameter '{name}' appears more than once"),
            ));
        }
        Ok(value)
    }

    /// The values of a parameter that may appear several times.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The value of a required parameter.
    pub(super) fn required(&self, name: &str) -> Result<&str, Problem> {
        let missing = || Problem::new(Code::ParameterMissing, format!("the parameter '{name}' is missing"));
        self.get(name)?.ok_or_else(missing)
    }

    /// The address in a required parameter.
    pub(super) fn address(&self, name: &str) -> Result<Address, Problem> {
        let text = self.required(name)?;
        address(text).map_err(|detail| Problem::new(Code::AddressInvalid, format!("'{name}': {detail}")))
    }

    /// The domain in a required parameter.
    pub(super) fn domain(&self, name: &str) -> Result<DomainName, Problem> {
        domain(self.required(name)?)
    }

    /// The id of a webhook in a required parameter.
    pub(super) fn webhook_id(&self, name: &str) -> Result<WebhookId, Problem> {
        id(self.required(name)?)
    }

    /// The number of a page, from 1, which is also the default.
    pub(super) fn page(&self) -> Result<u64, Problem> {
        let invalid =
            || Problem::new(Code::PageInvalid, "'page' must be a whole number from 1 to 18446744073709551615");
        match self.get("page")? {
            None => Ok(1),
            Some(text) => number(text).and_then(Result::ok).ok_or_else(invalid),
        }
    }

    /// The size of a page, from 1 to `max`. A larger number is taken as `max`.
    pub(super) fn limit(&self, default: u64, max: u64) -> Result<u64, Problem> {
        let invalid = || Problem::new(Code::LimitInvalid, "'limit' must be a whole number of at least 1");
        match self.get("limit")? {
            None => Ok(default),
            Some(text) => number(text).ok_or_else(invalid).map(|number| number.unwrap_or(u64::MAX).min(max)),
        }
    }

    /// The boolean in a parameter; `false` if the parameter is missing.
    /// The cursor of a walk as the sequence number below which it goes on; `u64::MAX` if it is empty.
    pub(super) fn cursor(&self) -> Result<Option<u64>, Problem> {
        let invalid = |_| Problem::new(Code::CursorInvalid, "'cursor' must be empty or the 'nextCursor' of an answer");
        self.get("cursor")?
            .map(
                |cursor| {
                    if cursor.is_empty() { Ok(u64::MAX) } else { u64::from_str_radix(cursor, 16).map_err(invalid) }
                },
            )
            .transpose()
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.get(name)? {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(Problem::new(Code::BooleanInvalid, format!("'{name}' must be 'true' or 'false'"))),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::parse(parts.uri.query().unwrap_or_default())
    }
}

/// A number of at least 1 in decimal digits; the error inside is one that is too large for `u64`.
fn number(text: &str) -> Option<Result<u64, ParseIntError>> {
    let is_number = text.bytes().all(|digit| digit.is_ascii_digit()) && text.bytes().any(|digit| digit != b'0');
    is_number.then(|| text.parse())
}

/// Parses an address from outside. The error says why the text is not an address.
pub(super) fn address(text: &str) -> Result<Address, String> {
    if text.len() > ADDRESS_OCTETS_MAX {
        return Err(format!("an address has at most {ADDRESS_OCTETS_MAX} octets"));
    }
    text.parse().map_err(|error: crate::model::AddressError| error.to_string())
}

/// Parses a domain name from outside.
pub(super) fn domain(text: &str) -> Result<DomainName, Problem> {
    if text.len() > ADDRESS_OCTETS_MAX {
        return Err(Problem::new(Code::DomainInvalid, "the domain name is too long"));
    }
    text.parse().map_err(|error: crate::model::DomainNameError| Problem::new(Code::DomainInvalid, error.to_string()))
}

/// Parses an id from outside.
pub(super) fn id<const VERSION: u8>(text: &str) -> Result<Id<VERSION>, Problem> {
    text.parse().map_err(|error: crate::model::IdError| Problem::new(Code::IdInvalid, error.to_string()))
}

/// Decodes percent-encoding; `None` if it is malformed or not UTF-8.
fn decode(text: &str) -> Option<String> {
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
            assert_eq!(code(Query::parse(bad)), Code::QueryInvalid, "{bad}");
        }
        assert_eq!(code(Query::parse(&"a".repeat(QUERY_OCTETS_MAX + 1))), Code::QueryTooLong);
        assert_eq!(code(Query::parse(&"a&".repeat(PARAMETERS_MAX))), Code::QueryTooLong);
        assert_eq!(query(&"a&".repeat(PARAMETERS_MAX - 1)).all("a").count(), PARAMETERS_MAX - 1);
    }

    #[test]
    fn a_known_parameter_may_be_there_once() {
        let query = query("to=a&x=1&x=2&t%6F=b");
        assert_eq!(code(query.get("to")), Code::ParameterRepeated);
    }

    #[test]
    fn numbers_are_digits_from_one() {
        let page = |text: &str| query(text).page();
        let limit = |text: &str| query(text).limit(7, 100);
        assert_eq!((page(""), limit("")), (Ok(1), Ok(7)));
        assert_eq!((page("page=1"), limit("limit=1")), (Ok(1), Ok(1)));
        assert_eq!((page("page=0012"), limit("limit=0012")), (Ok(12), Ok(12)));
        assert_eq!(page("page=18446744073709551615"), Ok(u64::MAX));
        assert_eq!(code(page("page=18446744073709551616")), Code::PageInvalid, "it could not be echoed");
        assert_eq!(limit("limit=18446744073709551616"), Ok(100));
        for bad in ["=", "", "=0", "=00", "=-1", "=+1", "=1.0", "=1e3", "=%201", "=x"] {
            assert_eq!(code(page(&format!("page{bad}"))), Code::PageInvalid, "{bad}");
            assert_eq!(code(limit(&format!("limit{bad}"))), Code::LimitInvalid, "{bad}");
        }
    }

    #[test]
    fn each_kind_of_value_has_its_code() {
        assert_eq!(code(query("").address("to")), Code::ParameterMissing);
        assert_eq!(code(query("to=").address("to")), Code::AddressInvalid);
        assert_eq!(code(query(&format!("to={}@x.test", "a".repeat(2000))).address("to")), Code::AddressInvalid);
        assert_eq!(code(query("domain=-").domain("domain")), Code::DomainInvalid);
        assert_eq!(super::id::<7>("1").expect_err("no id").code(), Code::IdInvalid);
        assert_eq!(code(query("id=1").webhook_id("id")), Code::IdInvalid);
        assert_eq!(code(query("force=yes").flag("force")), Code::BooleanInvalid);
        assert_eq!(query("force=true").flag("force"), Ok(true));
    }
}
