//! The arguments of the tools, and their bounds.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::JsonObject;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The longest wait of a call, in seconds. Programs give up on a call after some minutes.
const TIMEOUT_SECONDS_MAX: u64 = 300;
const TIMEOUT_SECONDS_DEFAULT: u64 = 60;
/// The most mails of a list.
const LIMIT_MAX: u64 = 50;
const LIMIT_DEFAULT: u64 = 20;
/// The longest text to look for, in characters.
const TEXT_CHARS_MAX: usize = 200;

/// A fresh address.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewAddress {
    /// The domain, which must be active; the service chooses one without it
    pub(super) domain: Option<String>,
    /// What the address begins with, before a hyphen and random characters: at most 32 of letters, digits, `-`, `_` and `.`
    pub(super) prefix: Option<String>,
}

/// Which mail to wait for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    /// The address that the mail is for
    pub(super) address: String,
    /// How long to wait, in seconds; 0 only looks
    #[serde(default = "timeout_default")]
    #[schemars(range(min = 0, max = 300))]
    timeout_seconds: u64,
    /// Only mail whose sender contains this, in any case
    #[schemars(length(max = 200))]
    pub(super) from: Option<String>,
    /// Only mail whose subject contains this, in any case
    #[schemars(length(max = 200))]
    pub(super) subject: Option<String>,
    /// Only mail after this: `now`, a duration ago such as 5m, a time such as 2026-01-31T12:00:00Z, or the id of a mail.
    /// Without it mail that is there already counts
    pub(super) since: Option<String>,
}

/// Which list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// The address
    pub(super) address: String,
    /// The most mails, newest first
    #[serde(default = "limit_default")]
    #[schemars(range(min = 1, max = 50))]
    limit: u64,
}

/// Which mail to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    /// The id of the mail
    pub(super) id: String,
}

/// What to delete: exactly one of the two.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Delete {
    /// The id of one mail
    pub(super) id: Option<String>,
    /// The address whose mail goes, all of it
    pub(super) address: Option<String>,
}

fn timeout_default() -> u64 {
    TIMEOUT_SECONDS_DEFAULT
}

fn limit_default() -> u64 {
    LIMIT_DEFAULT
}

impl Wait {
    /// How long to wait; an error if a value is out of its bounds.
    pub(super) fn timeout(&self) -> Result<Duration, ErrorData> {
        for (name, text) in [("from", &self.from), ("subject", &self.subject)] {
            if text.as_ref().is_some_and(|text| text.chars().count() > TEXT_CHARS_MAX) {
                return Err(bad(name, format!("it is longer than {TEXT_CHARS_MAX} characters")));
            }
        }
        if self.timeout_seconds > TIMEOUT_SECONDS_MAX {
            return Err(bad("timeout_seconds", format!("it is more than {TIMEOUT_SECONDS_MAX}")));
        }
        Ok(Duration::from_secs(self.timeout_seconds))
    }
}

impl List {
    /// The most mails; an error if it is out of its bounds.
    pub(super) fn limit(&self) -> Result<u64, ErrorData> {
        if (1..=LIMIT_MAX).contains(&self.limit) {
            Ok(self.limit)
        } else {
            Err(bad("limit", format!("it is not within 1 to {LIMIT_MAX}")))
        }
    }
}

/// The arguments of a call.
pub(super) fn read<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, ErrorData> {
    serde_json::from_value(arguments.unwrap_or_default().into()).map_err(|error| bad("arguments", error))
}

/// The value of an argument.
pub(super) fn value<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, ErrorData> {
    text.parse().map_err(|error| bad(name, error))
}

/// The error of a wrong argument.
pub(super) fn bad(name: &str, reason: impl Display) -> ErrorData {
    ErrorData::invalid_params(format!("{name}: {reason}"), None)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn arguments(value: Value) -> Option<JsonObject> {
        value.as_object().cloned()
    }

    #[test]
    fn bounds_are_kept_and_defaults_hold() {
        let wait = |value| read::<Wait>(arguments(value)).and_then(|wait| wait.timeout());
        assert_eq!(wait(json!({ "address": "a@x.test" })), Ok(Duration::from_secs(60)));
        assert_eq!(wait(json!({ "address": "a@x.test", "timeout_seconds": 300 })), Ok(Duration::from_secs(300)));
        for wrong in [
            json!({}),
            json!({ "address": "a@x.test", "timeout_seconds": 301 }),
            json!({ "address": "a@x.test", "timeout_seconds": -1 }),
            json!({ "address": "a@x.test", "from": "x".repeat(201) }),
            json!({ "address": "a@x.test", "sender": "x" }),
        ] {
            assert!(wait(wrong.clone()).is_err(), "{wrong}");
        }
        let limit = |limit: u64| read::<List>(arguments(json!({ "address": "x", "limit": limit })))?.limit();
        assert_eq!((limit(1), limit(50)), (Ok(1), Ok(50)));
        assert!(limit(0).is_err() && limit(51).is_err());
    }
}
