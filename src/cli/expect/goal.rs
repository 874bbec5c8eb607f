//! How many mails are expected, and what is said if others came.

use std::time::Duration;

use super::super::output;
use super::tally::{Match, Tally};
use crate::config::value::show_duration;
use crate::error::{Error, Exit};
use crate::model::Address;

/// The most mails that are judged.
pub(super) const MAILS_MAX: usize = 1_000;
/// The most mails that are listed.
const LISTED_MAX: usize = 5;

/// How many mails are expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// One or more.
    Some,
    /// As many as this, and no more.
    Exactly(usize),
    /// None.
    None,
}

impl Goal {
    /// After how many mails that are as expected no other is waited for.
    pub(super) const fn enough(self) -> usize {
        match self {
            Self::Some | Self::None => 1,
            Self::Exactly(count) => count,
        }
    }

    /// Whether these mails are what was expected. The error says what came instead.
    pub(super) fn reached(self, tally: &Tally, to: &Address, within: Duration) -> Result<(), Error> {
        let within = show_duration(within);
        let (judged, matches) = (tally.judged(), tally.matches.as_slice());
        let cause = match self {
            Self::None if matches.is_empty() && judged < MAILS_MAX => return Ok(()),
            Self::Some if !matches.is_empty() => return Ok(()),
            Self::Exactly(count) if matches.len() == count => return Ok(()),
            Self::None if !matches.is_empty() => {
                format!("mail came for {to} that is not to come within {within}{}", listed(matches))
            }
            Self::Some | Self::Exactly(_) if judged == 0 => {
                return Err(Error::new(Exit::TimedOut, format!("no mail for {to} within {within}"))
                    .hint(format!("`tempmail inbox {to}` lists what came before")));
            }
            _ if judged >= MAILS_MAX => format!("{judged} mails for {to} were judged, and that is the most"),
            Self::Exactly(count) => {
                let mails = output::mails(matches.len() as u64);
                let are = if matches.len() == 1 { "is" } else { "are" };
                format!("{mails} for {to} {are} as expected within {within}, not {count}{}", listed(matches))
            }
            Self::Some | Self::None => {
                format!("{} came for {to} within {within}, none of them as expected", output::mails(judged as u64))
            }
        };
        Err(with_nearest(self, cause, tally))
    }
}

fn with_nearest(goal: Goal, cause: String, tally: &Tally) -> Error {
    let is_lacking = tally.matches.len() < goal.enough() && goal != Goal::None;
    match tally.nearest.as_ref().filter(|_| is_lacking) {
        Some(nearest) => Error::new(Exit::CheckFailed, format!("{cause}\n{}", nearest.diff()))
            .hint(format!("`tempmail read {}` shows it", super::verdict::shown(&nearest.id))),
        None => Error::new(Exit::CheckFailed, cause),
    }
}

/// The mails, a line each.
fn listed(matches: &[Match]) -> String {
    let mut lines: Vec<String> = matches.iter().take(LISTED_MAX).map(|it| it.title.clone()).collect();
    if matches.len() > LISTED_MAX {
        lines.push(format!("and {} more", matches.len() - LISTED_MAX));
    }
    lines.iter().flat_map(|line| ["\n  ", line]).collect()
}
