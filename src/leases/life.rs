//! What is true of a lease in time. Nothing here reads a clock.

use std::fmt;
use std::time::Duration;

use crate::config::LeasesConfig;
use crate::model::{LeaseRecord, Timestamp};
use crate::value::show_duration;

/// The shortest time without a reading after which a lease may end.
const IDLE_MIN: u64 = 60;
/// The most messages that a lease may be limited to.
const MESSAGES_MAX: u64 = 1_000_000;
/// How long a lease lives after the last message that it takes, so that it can still be read.
const AFTER_LAST_MESSAGE: Duration = Duration::from_mins(10);
/// A reading is noted once this part of the idle time has passed since the last note.
const NOTED_PARTS: u32 = 16;

/// What is asked for a lease. What is `None` is as the settings say, or stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// How long it lives from now on.
    pub life: Option<Duration>,
    /// How long it lives after its mail was last read; zero for no such end.
    pub idle: Option<Duration>,
    /// How many messages it still takes; 0 for any number.
    pub messages: Option<u32>,
    /// How long its mail is kept.
    pub keep: Option<Duration>,
}

/// One of the [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// [`Terms::life`]
    Life,
    /// [`Terms::idle`]
    Idle,
    /// [`Terms::messages`]
    Messages,
    /// [`Terms::keep`]
    Keep,
}

/// A term is not within its bounds. Zero is permitted for [`Term::Idle`] and [`Term::Messages`], too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct OutOfRange {
    /// Which term.
    pub term: Term,
    /// The least, in seconds or messages.
    pub least: u64,
    /// The most, likewise.
    pub most: u64,
}

/// Says the bounds as durations, and in seconds for who sends those.
impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { term, least, most } = self;
        let zero = if matches!(term, Term::Idle | Term::Messages) { "0, or " } else { "" };
        if *term == Term::Messages {
            return write!(f, "accepted is {zero}{least} to {most}");
        }
        let [low, high] = [*least, *most].map(|seconds| show_duration(Duration::from_secs(seconds)));
        write!(f, "accepted is {zero}{low} to {high} ({least} to {most} seconds)")
    }
}

impl Terms {
    /// Checks that the settings permit all of it.
    pub(super) fn check(&self, config: &LeasesConfig) -> Result<(), OutOfRange> {
        let (life_max, keep_max) = (config.life_max.as_secs(), config.keep_max.as_secs());
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs());
        for (term, given, least, most) in [
            (Term::Life, seconds(self.life), 1, life_max),
            (Term::Idle, seconds(self.idle).filter(|idle| *idle > 0), IDLE_MIN, life_max),
            (Term::Messages, self.messages.map(u64::from).filter(|messages| *messages > 0), 1, MESSAGES_MAX),
            (Term::Keep, seconds(self.keep), 1, keep_max),
        ] {
            if given.is_some_and(|given| !(least..=most).contains(&given)) {
                return Err(OutOfRange { term, least, most });
            }
        }
        Ok(())
    }

    /// Changes a lease as of `now`.
    pub(super) fn apply(&self, lease: &mut LeaseRecord, now: Timestamp) {
        if let Some(life) = self.life {
            lease.expires_at = now.plus(life);
        }
        if let Some(idle) = self.idle {
            lease.idle = Some(whole_seconds(idle)).filter(|idle| *idle > 0);
        }
        if let Some(messages) = self.messages {
            lease.messages_left = Some(messages).filter(|messages| *messages > 0);
        }
        if let Some(keep) = self.keep {
            lease.keep = whole_seconds(keep);
        }
        lease.read_at = lease.read_at.max(now);
    }
}

/// The lease after one more message was stored at `now`; `None` if it does not count them, or takes no more.
pub(super) fn with_message(lease: &LeaseRecord, now: Timestamp) -> Option<LeaseRecord> {
    let left = lease.messages_left?.checked_sub(1)?;
    let last = now.plus(AFTER_LAST_MESSAGE);
    let expires_at = if left == 0 { lease.expires_at.min(last) } else { lease.expires_at };
    Some(LeaseRecord { messages_left: Some(left), expires_at, ..lease.clone() })
}

/// The lease after it was read at `now`; `None` if that need not be noted.
pub(super) fn with_reading(lease: &LeaseRecord, now: Timestamp) -> Option<LeaseRecord> {
    let idle = Duration::from_secs(lease.idle?.into());
    (now.since(lease.read_at) >= idle / NOTED_PARTS).then(|| LeaseRecord { read_at: now, ..lease.clone() })
}

fn whole_seconds(time: Duration) -> u32 {
    u32::try_from(time.as_secs()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Revision};
    use crate::model::{Address, LeaseId, Subaddressing};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn config() -> LeasesConfig {
        Config::of_revision(Revision::Two, "unused".into()).leases
    }

    /// A lease that was taken at the epoch.
    fn lease(terms: Terms) -> LeaseRecord {
        let mut lease = LeaseRecord {
            id: LeaseId::from_octets([1; 16]),
            mailbox: "ann@example.test".parse::<Address>().expect("address").mailbox(Subaddressing::Strip),
            key: [2; 32],
            client: None,
            created_at: at(0),
            expires_at: at(0),
            idle: None,
            read_at: at(0),
            messages_left: None,
            keep: 0,
            ended_at: None,
        };
        Terms { life: terms.life.or(Some(config().life)), ..terms }.apply(&mut lease, at(0));
        lease
    }

    #[test]
    fn without_terms_a_lease_lives_a_day_and_keeps_its_mail_as_long() {
        let day = Duration::from_hours(24);
        let keep = |lease: &LeaseRecord| lease.keep(config().keep_max);
        let plain = lease(Terms::default());
        assert_eq!((plain.ends_at(), keep(&plain), plain.messages_left), (at(86_400), day, None));
        let mut long = lease(Terms { life: Some(30 * day), ..Terms::default() });
        assert_eq!((long.ends_at(), keep(&long)), (at(30 * 86_400), 7 * day));
        Terms { keep: Some(3 * day), ..Terms::default() }.apply(&mut long, at(10));
        assert_eq!(keep(&long), 3 * day);
        // What is prolonged keeps its mail longer, unless its holder said how long.
        for (keep_given, expected) in [(None, 2 * day), (Some(day / 2), day / 2)] {
            let mut lease = lease(Terms { keep: keep_given, ..Terms::default() });
            Terms { life: Some(day), ..Terms::default() }.apply(&mut lease, at(86_400));
            assert_eq!((lease.ends_at(), keep(&lease)), (at(2 * 86_400), expected));
        }
    }

    #[test]
    fn zero_takes_a_term_away_and_none_leaves_it() {
        let terms = Terms { idle: Some(Duration::from_mins(5)), messages: Some(3), ..Terms::default() };
        let mut lease = lease(terms);
        assert_eq!((lease.idle, lease.messages_left, lease.ends_at()), (Some(300), Some(3), at(300)));
        Terms { life: Some(Duration::from_mins(1)), ..Terms::default() }.apply(&mut lease, at(100));
        assert_eq!((lease.idle, lease.messages_left, lease.ends_at()), (Some(300), Some(3), at(160)));
        Terms { idle: Some(Duration::ZERO), messages: Some(0), ..Terms::default() }.apply(&mut lease, at(110));
        assert_eq!((lease.idle, lease.messages_left, lease.ends_at()), (None, None, at(160)));
    }

    #[test]
    fn the_settings_bound_the_terms() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let out_of_range = |terms: Terms| terms.check(&config()).err().map(|error| error.term);
        assert_eq!(out_of_range(Terms::default()), None);
        for (terms, expected) in [
            (Terms { life: seconds(0), ..Terms::default() }, Some(Term::Life)),
            (Terms { life: seconds(30 * 86_400), ..Terms::default() }, None),
            (Terms { life: seconds(30 * 86_400 + 1), ..Terms::default() }, Some(Term::Life)),
            (Terms { idle: seconds(0), messages: Some(0), ..Terms::default() }, None),
            (Terms { idle: seconds(59), ..Terms::default() }, Some(Term::Idle)),
            (Terms { messages: Some(1_000_001), ..Terms::default() }, Some(Term::Messages)),
            (Terms { keep: seconds(0), ..Terms::default() }, Some(Term::Keep)),
            (Terms { keep: seconds(7 * 86_400 + 1), ..Terms::default() }, Some(Term::Keep)),
        ] {
            assert_eq!(out_of_range(terms), expected, "{terms:?}");
        }
    }

    #[test]
    fn the_last_message_leaves_time_to_read_it() {
        let first = lease(Terms { messages: Some(2), ..Terms::default() });
        let second = with_message(&first, at(10)).expect("counted");
        assert_eq!((second.messages_left, second.ends_at()), (Some(1), first.ends_at()));
        let last = with_message(&second, at(20)).expect("counted");
        assert_eq!((last.messages_left, last.ends_at()), (Some(0), at(620)));
        // Two that arrive at once.
        assert_eq!(with_message(&last, at(30)), None);
        assert_eq!(with_message(&lease(Terms::default()), at(10)), None);
        // It can be prolonged, with room for more messages or without.
        let day = Some(Duration::from_hours(24));
        for (messages, left) in [(None, Some(0)), (Some(0), None), (Some(5), Some(5))] {
            let mut longer = last.clone();
            Terms { life: day, messages, ..Terms::default() }.apply(&mut longer, at(30));
            assert_eq!((longer.messages_left, longer.ends_at()), (left, at(30 + 86_400)));
        }
    }

    #[test]
    fn readings_are_noted_now_and_then() {
        let lease = lease(Terms { idle: Some(Duration::from_secs(160)), ..Terms::default() });
        assert_eq!(with_reading(&lease, at(9)), None);
        assert_eq!(with_reading(&lease, at(10)).map(|read| read.ends_at()), Some(at(170)));
        assert_eq!(with_reading(&super::tests::lease(Terms::default()), at(10)), None);
    }
}
