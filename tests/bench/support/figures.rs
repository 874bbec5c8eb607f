//! Rates, medians and percentiles.

use std::time::Duration;

pub(crate) fn per_second(count: usize, time: Duration) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from) / time.as_secs_f64()
}

/// Sorts the values.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A percentile of the sorted `times`.
pub(crate) fn percentile(times: &[Duration], percent: usize) -> Duration {
    times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}
