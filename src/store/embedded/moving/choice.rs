//! Which segments are worth emptying: those in which little lives, and that not only for a short while more.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::store::index::SegmentLife;

/// A segment is emptied when less than one part in so many of its blocks is what lives. So what is moved is at most a third
/// of what that gives back, however often it comes to the same messages.
const PARTS: u64 = 4;

/// The segments before number `end` that may be worth it, the oldest first.
pub(super) fn candidates(alive: &BTreeMap<u64, SegmentLife>, end: u64, retention: Duration) -> Vec<(u64, SegmentLife)> {
    let newest = alive.last_key_value().map_or(0, |(_, life)| life.last_expiry);
    let sealed = alive.range(..end).filter(|(_, life)| life.messages > 0);
    let lasting = sealed.filter(|(_, life)| !is_about_to_end(newest.saturating_sub(life.last_expiry), retention));
    lasting.map(|(number, life)| (*number, *life)).collect()
}

/// Whether all that lives in a segment expires soon, given by how many seconds it does so before what comes in now. What has
/// expired long ago lives for events alone, and they may last.
fn is_about_to_end(ahead: u64, retention: Duration) -> bool {
    let retention = retention.as_secs();
    (retention * 3 / 4 + 1..=retention * 5 / 4).contains(&ahead)
}

/// Whether so little lives in a segment whose file takes `used_octets` of the disk that it is worth emptying.
pub(super) fn is_worth_emptying(life: &SegmentLife, used_octets: u64) -> bool {
    life.octets.saturating_mul(PARTS) < used_octets
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3600;
    const DAY: Duration = Duration::from_hours(24);

    fn life(last_expiry: u64) -> SegmentLife {
        SegmentLife { messages: 1, octets: 1000, last_expiry }
    }

    #[test]
    fn what_is_written_is_left_alone_and_so_is_what_expires_soon() {
        let hours = [0, 26, 30, 35, 36, 50, 60];
        let alive: BTreeMap<u64, SegmentLife> = (1..).zip(hours.map(|hour| life(hour * HOUR))).collect();
        let numbers = |end| candidates(&alive, end, DAY).iter().map(|(number, _)| *number).collect::<Vec<_>>();
        assert_eq!(numbers(7), [1, 2, 6], "those of hours 30 to 36 expire within a quarter of the day");
        assert_eq!(numbers(6), [1, 2]);
    }

    #[test]
    fn a_quarter_is_too_much_to_be_moved() {
        assert!(is_worth_emptying(&life(0), 4001));
        assert!(!is_worth_emptying(&life(0), 4000));
    }
}
