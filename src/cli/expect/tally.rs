//! The mails judged so far.

use std::collections::HashSet;

use serde::Serialize;

use super::assertion::Assertion;
use super::verdict::Verdict;
use crate::client::EmailDetail;

/// A mail that is as expected.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Match {
    pub(super) id: String,
    from: String,
    subject: String,
    received_at: String,
    /// The best one-time code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<String>,
    #[serde(skip)]
    pub(super) title: String,
}

/// The mails that are as expected, and the nearest of the others.
#[derive(Debug, Default)]
pub(super) struct Tally {
    judged: HashSet<String>,
    pub(super) matches: Vec<Match>,
    pub(super) nearest: Option<Verdict>,
}

impl Tally {
    /// Judges a mail; whether it is as expected. One that was judged before is not.
    pub(super) fn judge(&mut self, detail: &EmailDetail, assertions: &[Assertion]) -> bool {
        if !self.judged.insert(detail.email.id.clone()) {
            return false;
        }
        let verdict = Verdict::of(detail, assertions);
        let holds = verdict.holds();
        if holds {
            let email = &detail.email;
            self.matches.push(Match {
                id: email.id.clone(),
                from: email.from.clone(),
                subject: email.subject.clone(),
                received_at: email.received_at.clone(),
                code: detail.codes.first().map(|code| code.code.clone()),
                title: verdict.title(),
            });
        } else if self.nearest.as_ref().is_none_or(|nearest| verdict.is_as_near_as(nearest)) {
            self.nearest = Some(verdict);
        }
        holds
    }

    /// How many mails were judged.
    pub(super) fn judged(&self) -> usize {
        self.judged.len()
    }
}
