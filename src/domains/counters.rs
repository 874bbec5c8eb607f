//! Counters of domains and MX checks. None of them names a domain.

use std::fmt;

use super::Registry;
use crate::dns::{Failure, MxReport};
use crate::metrics::{IntCounterVec, Measured, MetricFamily, collect, counters, numbers};
use crate::model::DomainStatus;

/// The results of MX checks since the start.
pub(super) struct Counters(IntCounterVec);

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

impl Measured for Registry {
    /// Each domain counts once, and a wildcard counts as one active domain.
    fn metrics(&self) -> Vec<MetricFamily> {
        let domains = self.table.list();
        let active = domains.iter().filter(|entry| entry.status() == DomainStatus::Active).count();
        let help = "Domains, fixed and registered; a wildcard counts as one.";
        let by_status = [(["active"], active as u64), (["deactivated"], (domains.len() - active) as u64)];
        let mut metrics = numbers("tempmail_domains", help, ["status"], by_status);
        metrics.extend(collect(&[&self.counters.0]));
        metrics
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}
