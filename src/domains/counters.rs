//! Counters of domains and MX checks. None of them names a domain.

use std::sync::atomic::{AtomicU64, Ordering};

use super::DomainTable;
use crate::dns::{Failure, MxReport};
use crate::model::{Count, Counts};

/// The result of a check.
const RESULTS: [&str; 3] = ["here", "elsewhere", "noAnswer"];

/// The number of domains, and the results of MX checks since the start.
#[derive(Debug)]
pub(super) struct Counters {
    table: DomainTable,
    checks: [AtomicU64; RESULTS.len()],
}

impl Counters {
    pub(super) fn new(table: DomainTable) -> Self {
        Self { table, checks: Default::default() }
    }

    /// Counts a check.
    pub(super) fn checked(&self, result: &Result<MxReport, Failure>) {
        let at = match result {
            Ok(report) if report.ok => 0,
            Ok(_) => 1,
            Err(_) => 2,
        };
        self.checks[at].fetch_add(1, Ordering::Relaxed);
    }
}

impl Counts for Counters {
    fn read(&self) -> Vec<Count> {
        let (active, deactivated) = self.table.count();
        let mut counts = vec![
            Count::labelled("domains", "active", active as u64),
            Count::labelled("domains", "deactivated", deactivated as u64),
        ];
        counts.extend(Count::family("checks", RESULTS, &self.checks));
        counts
    }
}
