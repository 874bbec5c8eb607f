//! Times of the interface in the forms that people and programs read.

use std::time::Duration;

use crate::model::Timestamp;

/// RFC 3339 with a `Z`; what is no time stays as it is, on one line.
pub fn rfc3339(text: &str) -> String {
    Timestamp::from_text(text).map_or_else(|| super::visible::field(text), Timestamp::to_rfc3339)
}

/// How long ago, or how far ahead: `3 min ago`, `in 2 h`.
pub fn distance(text: &str, now: Timestamp) -> String {
    match Timestamp::from_text(text) {
        None => super::visible::line(text).into_owned(),
        Some(at) if at > now => format!("in {}", duration(at.since(now))),
        Some(at) => format!("{} ago", duration(now.since(at))),
    }
}

/// A length of time in its largest fitting unit, rounded down.
pub fn duration(length: Duration) -> String {
    let seconds = length.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A number of octets as people write it; KB is 1,024.
pub fn size(octets: u64) -> String {
    match octets {
        0..1_024 => format!("{octets} B"),
        1_024..1_048_576 => format!("{} KB", octets.div_ceil(1_024)),
        1_048_576..1_073_741_824 => tenths(octets, 1_048_576, "MB"),
        _ => tenths(octets, 1_073_741_824, "GB"),
    }
}

fn tenths(octets: u64, unit: u64, name: &str) -> String {
    let whole = octets / unit;
    let tenth = (octets % unit) * 10 / unit;
    if tenth == 0 { format!("{whole} {name}") } else { format!("{whole}.{tenth} {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_the_interface_is_utc() {
        assert_eq!(rfc3339("2023-11-14 22:13:20"), "2023-11-14T22:13:20Z");
        assert_eq!(rfc3339("2023-11-14T23:13:20+01:00"), "2023-11-14T22:13:20Z");
        assert_eq!(rfc3339("odd\tone"), "odd one");
    }

    #[test]
    fn a_distance_has_one_unit() {
        let now = Timestamp::from_millis(1_700_000_000_000);
        for (text, shown) in [
            ("2023-11-14 22:13:20", "0 s ago"),
            ("2023-11-14 22:12:21", "59 s ago"),
            ("2023-11-14 21:13:20", "60 min ago"),
            ("2023-11-14 20:13:20", "2 h ago"),
            ("2023-11-10 22:13:20", "4 d ago"),
            ("2023-11-15 00:13:20", "in 2 h"),
            ("soon\u{1b}", "soon␛"),
        ] {
            assert_eq!(distance(text, now), shown);
        }
    }

    #[test]
    fn sizes_count_in_1024() {
        for (octets, shown) in
            [(0, "0 B"), (1_023, "1023 B"), (1_025, "2 KB"), (10 * 1024 * 1024, "10 MB"), (1_610_612_736, "1.5 GB")]
        {
            assert_eq!(size(octets), shown);
        }
    }
}
