//! Points in time, in milliseconds since the Unix epoch, UTC.

use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The latest possible point in time.
    pub const MAX: Self = Self(i64::MAX);

    /// The point in time at these milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// `self - duration`, stopping at the earliest possible time.
    #[must_use]
    pub fn before(self, by: Duration) -> Self {
        let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.millis().saturating_sub(millis))
    }

    /// `self + duration`, stopping at [`Timestamp::MAX`].
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis))
    }

    /// The time from `earlier` to `self`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Parses the form of the interface (UTC) or RFC 3339.
    pub fn from_text(text: &str) -> Option<Self> {
        let of_interface = || NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").ok().map(|at| at.and_utc());
        let of_rfc3339 = || DateTime::parse_from_rfc3339(text).ok().map(|at| at.to_utc());
        of_interface().or_else(of_rfc3339).map(|at| Self(at.timestamp_millis()))
    }

    /// The form of the interface, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub fn to_interface(self) -> String {
        // chrono would read a format each time.
        self.to_rfc3339().replace('T', " ").replace('Z', "")
    }

    /// RFC 3339 with whole seconds and a trailing `Z`.
    pub fn to_rfc3339(self) -> String {
        self.utc().to_rfc3339_opts(SecondsFormat::Secs, true)
    }

    /// RFC 3339 with milliseconds and a trailing `Z`.
    pub fn to_rfc3339_millis(self) -> String {
        self.utc().to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    /// The date-time of RFC 5322 section 3.3, for a `Received` field.
    pub fn to_rfc5322(self) -> String {
        self.utc().format("%a, %d %b %Y %H:%M:%S +0000").to_string()
    }

    /// Times outside chrono's range of about 260,000 years become the epoch. No clock reaches them.
    fn utc(self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.0).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_shows_the_same_second() {
        let at = Timestamp::from_millis(1_700_000_000_999);
        assert_eq!(at.to_interface(), "2023-11-14 22:13:20");
        assert_eq!(at.to_rfc3339(), "2023-11-14T22:13:20Z");
        assert_eq!(at.to_rfc3339_millis(), "2023-11-14T22:13:20.999Z");
        assert_eq!(at.to_rfc5322(), "Tue, 14 Nov 2023 22:13:20 +0000");
    }

    #[test]
    fn a_text_is_read_in_the_forms_that_are_written() {
        let at = Timestamp::from_millis(1_700_000_000_000);
        for text in ["2023-11-14 22:13:20", "2023-11-14T22:13:20Z", "2023-11-14T23:13:20+01:00"] {
            assert_eq!(Timestamp::from_text(text), Some(at), "{text}");
        }
        for text in ["", "now", "2023-11-14", "2023-11-14T22:13:20", "2023-13-14 22:13:20", "1700000000"] {
            assert_eq!(Timestamp::from_text(text), None, "{text}");
        }
    }

    #[test]
    fn arithmetic_stops_at_the_ends() {
        assert_eq!(Timestamp::MAX.plus(Duration::from_secs(1)), Timestamp::MAX);
        let early = Timestamp::from_millis(5);
        assert_eq!(early.since(Timestamp::from_millis(9)), Duration::ZERO);
        assert_eq!(early.plus(Duration::MAX), Timestamp::MAX);
    }
}
