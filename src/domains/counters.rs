//! Counters of domains and MX checks. None of them names a domain.

use crate::dns::{Failure, MxReport};
use crate::metrics::{IntCounterVec, counters};

/// The results of MX checks since the start.
pub(super) struct Counters(pub(super) IntCounterVec);

impl Default for Counters {
    fn default() -> Self {
        Self(counters(
            "tempmail_domain_checks_total",
            "MX checks of domains, by result: the MX points here, it points elsewhere, or DNS gave no answer.",
            "result",
            ["here", "elsewhere", "noAnswer"],
        ))
    }
}

impl Counters {
    /// Counts a check.
    pub(super) fn checked(&self, result: &Result<MxReport, Failure>) {
        let word = match result {
            Ok(report) if report.ok => "here",
            Ok(_) => "elsewhere",
            Err(_) => "noAnswer",
        };
        self.0.with_label_values(&[word]).inc();
    }
}
