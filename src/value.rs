//! Values as people write them: sizes, durations, numbers.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// How much of a refused value an error repeats, in characters.
const GIVEN_CHARS_MAX: usize = 80;

/// Units of sizes, largest first. Both KB and KiB are 1,024 octets.
const SIZE_UNITS: [(&str, u64); 4] = [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1)];

/// Units of durations in milliseconds, largest first.
const DURATION_UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// Why a text is no value of a setting: one line that says what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ValueError(String);

impl ValueError {
    /// `given` is not `accepted`, which has an example.
    pub fn malformed(given: &str, accepted: &str) -> Self {
        Self(format!("'{}' is not {accepted}", excerpt(given)))
    }

    /// `given` has the form of what is accepted but is wrong for `reason`.
    pub fn invalid(given: &str, reason: &impl Display, accepted: &str) -> Self {
        Self(format!("'{}': {reason}; accepted is {accepted}", excerpt(given)))
    }

    /// There is no value where one is needed.
    pub fn missing(accepted: &str) -> Self {
        Self(format!("there is no value; accepted is {accepted}"))
    }
}

/// A text as an error may repeat it: one line, no control characters, not long.
pub(crate) fn excerpt(text: &str) -> String {
    let mut shown: String = text.chars().take(GIVEN_CHARS_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(GIVEN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// The value that a text means, if it has one within `range`.
fn within<T: PartialOrd>(
    text: &str,
    value: Option<T>,
    range: &RangeInclusive<T>,
    show: impl Fn(&T) -> String,
) -> Result<T, ValueError> {
    value.filter(|value| range.contains(value)).ok_or_else(|| {
        let (low, high) = (show(range.start()), show(range.end()));
        ValueError(format!("'{}' is out of range; accepted is {low} to {high}", excerpt(text)))
    })
}

/// Reads a whole decimal number within `range`.
pub fn number<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, ValueError> + Clone
where
    T: FromStr + PartialOrd + Display + Clone,
{
    move |text| {
        if text.is_empty() || !text.bytes().all(|octet| octet.is_ascii_digit()) {
            return Err(ValueError::malformed(text, "a whole number"));
        }
        within(text, text.parse().ok(), &range, T::to_string)
    }
}

/// Reads a size in octets within `range`: a whole number and B, KB, MB or GB (K, KiB and so on are the same; KB is 1,024
/// octets). A bare number is octets. Case and a blank before the unit do not matter.
pub fn size(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u64, ValueError> + Clone {
    move |text| {
        let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, unit) = text.split_at(split);
        let factor = match unit.trim_start().to_ascii_lowercase().as_str() {
            _ if digits.is_empty() => None,
            "" | "b" => Some(1),
            "k" | "kb" | "kib" => Some(1 << 10),
            "m" | "mb" | "mib" => Some(1 << 20),
            "g" | "gb" | "gib" => Some(1 << 30),
            _ => None,
        };
        let accepted = "a size such as 300KB, 10MB or 1GB (a whole number and B, KB, MB or GB)";
        let factor = factor.ok_or_else(|| ValueError::malformed(text, accepted))?;
        let octets = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(factor));
        within(text, octets, &range, |octets| show_size(*octets))
    }
}

/// A size in the largest unit that divides it; [`size`] reads it back.
pub fn show_size(octets: u64) -> String {
    let (unit, factor) =
        SIZE_UNITS.into_iter().find(|(_, factor)| octets > 0 && octets.is_multiple_of(*factor)).unwrap_or(("B", 1));
    format!("{}{unit}", octets / factor)
}

/// Reads a duration within `range`: whole numbers, each with d, h, m, s or ms, largest unit first, such as `1h30m`.
pub fn duration(range: RangeInclusive<Duration>) -> impl Fn(&str) -> Result<Duration, ValueError> + Clone {
    move |text| {
        let accepted = "a duration such as 2h, 90s, 7d or 1h30m (whole numbers, each with d, h, m, s or ms)";
        let millis = millis(text).ok_or_else(|| ValueError::malformed(text, accepted))?;
        let duration = u64::try_from(millis).ok().map(Duration::from_millis);
        within(text, duration, &range, |duration| show_duration(*duration))
    }
}

/// The milliseconds of a duration, of which there may be too many.
fn millis(text: &str) -> Option<u128> {
    let (mut rest, mut units, mut sum) = (text, DURATION_UNITS.iter(), 0_u128);
    while !rest.is_empty() || text.is_empty() {
        let (count, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let (unit, after) = after.split_at(after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len()));
        // Going on in `units` from where the last one was found is what keeps them in order and single.
        let (_, factor) = units.find(|(name, _)| *name == unit && !count.is_empty())?;
        let count = count.parse().unwrap_or(u128::MAX);
        sum = sum.saturating_add(count.saturating_mul(u128::from(*factor)));
        rest = after.trim_start_matches(' ');
    }
    Some(sum)
}

/// A duration in whole units, largest first; what is below a millisecond is dropped. [`duration`] reads it back.
pub fn show_duration(duration: Duration) -> String {
    let mut millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut shown = String::new();
    for (unit, factor) in DURATION_UNITS {
        if millis >= factor {
            shown.extend([(millis / factor).to_string().as_str(), unit]);
            millis %= factor;
        }
    }
    if shown.is_empty() { "0s".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_out_of_range<T>(read: &Result<T, ValueError>) -> bool {
        read.as_ref().is_err_and(|error| error.to_string().contains(" is out of range; "))
    }

    fn any_size(text: &str) -> Result<u64, ValueError> {
        size(0..=u64::MAX)(text)
    }

    fn any_duration(text: &str) -> Result<Duration, ValueError> {
        duration(Duration::ZERO..=Duration::MAX)(text)
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, octets) in [
            ("0", 0),
            ("1", 1),
            ("512B", 512),
            ("300KB", 307_200),
            ("300kb", 307_200),
            ("300 KB", 307_200),
            ("300K", 307_200),
            ("300KiB", 307_200),
            ("10MB", 10_485_760),
            ("10MiB", 10_485_760),
            ("2GB", 2_147_483_648),
            ("2G", 2_147_483_648),
        ] {
            assert_eq!(any_size(text), Ok(octets), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_an_example() {
        for bad in ["", "KB", "-1", "+1", "1.5MB", "1e3", "10TB", "10 M B", "1KBx", " 1KB", "１KB", "0x10", "1,000"] {
            let error = any_size(bad).expect_err(bad);
            assert!(error.to_string().contains(" is not a size such as 300KB"), "{bad}: {error}");
        }
    }

    #[test]
    fn a_size_that_does_not_fit_is_out_of_range() {
        for bad in ["18446744073709551616", "17179869184GB", "99999999999999999999GB"] {
            assert!(is_out_of_range(&any_size(bad)), "{bad}");
        }
        let error = size(1024..=50 << 20)("0").expect_err("too small");
        assert_eq!(error.to_string(), "'0' is out of range; accepted is 1KB to 50MB");
        assert!(size(1024..=50 << 20)("50MB").is_ok());
        assert!(size(1024..=50 << 20)("52428801").is_err());
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in [
            ("2h", 7_200_000),
            ("90s", 90_000),
            ("30m", 1_800_000),
            ("7d", 604_800_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("500ms", 500),
            ("1d2h3m4s5ms", 93_784_005),
            ("0s", 0),
        ] {
            assert_eq!(any_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_with_an_example() {
        for bad in ["", "2", "h", "2H", "1.5h", "-1h", "1m1h", "1h1h", "2 h", "2hours", "1h30", "h1", "1h,2m", "1é"] {
            let error = any_duration(bad).expect_err(bad);
            assert!(error.to_string().contains(" is not a duration such as 2h, 90s, 7d or 1h30m"), "{bad}: {error}");
        }
    }

    #[test]
    fn a_duration_that_does_not_fit_is_out_of_range() {
        for bad in ["18446744073709551616ms", "999999999999999999d", "213503982334d18446744073709551615ms"] {
            assert!(is_out_of_range(&any_duration(bad)), "{bad}");
        }
        let bounds = || Duration::from_secs(1)..=Duration::from_hours(365 * 24);
        let error = duration(bounds())("0s").expect_err("too small");
        assert_eq!(error.to_string(), "'0s' is out of range; accepted is 1s to 365d");
        assert!(duration(bounds())("365d").is_ok());
        assert!(duration(bounds())("365d1ms").is_err());
    }

    #[test]
    fn numbers_are_digits_within_bounds() {
        assert_eq!(number(1..=300_usize)("300"), Ok(300));
        for bad in ["0", "301", "99999999999999999999999"] {
            assert!(is_out_of_range(&number(1..=300_usize)(bad)), "{bad}");
        }
        for bad in ["", "+1", "-1", "1.0", "one", "1_000"] {
            assert!(number(1..=300_usize)(bad).expect_err(bad).to_string().contains(" is not a whole number"), "{bad}");
        }
    }

    #[test]
    fn an_error_repeats_a_value_in_one_short_line() {
        let error = any_size(&format!("\x1b[31m\n{}", "x".repeat(1000))).expect_err("no size").to_string();
        assert!(!error.contains(['\x1b', '\n']));
        assert!(error.chars().count() < 250, "{error}");
    }

    proptest! {
        #[test]
        fn a_size_that_is_shown_reads_back(octets in any::<u64>(), shift in 0_u32..64) {
            let octets = octets >> shift << (shift / 2);
            prop_assert_eq!(any_size(&show_size(octets)), Ok(octets));
        }

        #[test]
        fn a_duration_that_is_shown_reads_back(millis in any::<u64>(), shift in 0_u32..64) {
            let duration = Duration::from_millis(millis >> shift);
            prop_assert_eq!(any_duration(&show_duration(duration)), Ok(duration));
        }

        #[test]
        fn any_text_is_a_value_or_an_error(text in "\\PC{0,40}") {
            let _ = (any_size(&text), any_duration(&text), number(0..=u32::MAX)(&text));
        }
    }
}
