//! What is true of a lease in time. Nothing here reads a clock.

use std::time::Duration;

use crate::config::LeasesConfig;
use crate::model::{LeaseRecord, Timestamp};

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
#[error("accepted is {least} to {most}")]
pub struct OutOfRange {
    /// Which term.
    pub term: Term,
    /// The least, in seconds or messages.
    pub least: u64,
    /// The most, likewise.
    pub most: u64,
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

    /// The same terms for a new lease, with what the settings say.
    pub(super) fn or_default(self, config: &LeasesConfig) -> Self {
        let life = self.life.unwrap_or(config.life);
        // Mail that goes before its inbox would surprise.
        Self { life: Some(life), keep: Some(self.keep.unwrap_or(life.min(config.keep_max))), ..self }
    }
}

/// The lease after one more message was stored at `now`; `None` if it does not count them.
pub(super) fn with_message(lease: &LeaseRecord, now: Timestamp) -> Option<LeaseRecord> {
    let left = lease.messages_left?.saturating_sub(1);
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
