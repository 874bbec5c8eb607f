//! Counters of domains and MX checks. None of them names a domain.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Registry;
use crate::counts::{Count, Counts};
use crate::dns::{Failure, MxReport};
use crate::model::DomainStatus;

/// The result of a check.
const RESULTS: [&str; 3] = ["here", "elsewhere", "noAnswer"];

/// The results of MX checks since the start.
#[derive(Default)]
pub(super) struct Counters([AtomicU64; RESULTS.len()]);

impl Counters {
    /// Counts a check.
    pub(super) fn checked(&self, result: &Result<MxReport, Failure>) {
        let at = match result {
            Ok(report) if report.ok => 0,
            Ok(_) => 1,
            Err(_) => 2,
        };
        self.0[at].fetch_add(1, Ordering::Relaxed);
    }
}

impl Counts for Registry {
    /// Each domain counts once, and a wildcard counts as one active domain.
    fn read(&self) -> Vec<Count> {
        let domains = self.table.list();
        let active = domains.iter().filter(|entry| entry.status() == DomainStatus::Active).count();
        let mut counts = vec![
            Count::labelled("domains", "active", active as u64),
            Count::labelled("domains", "deactivated", (domains.len() - active) as u64),
        ];
        counts.extend(Count::family("checks", RESULTS, &self.counters.0));
        counts
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}
