//! The numbers that each room counts, as Prometheus' library keeps them.
//!
//! Names contain the unit, `_seconds` or `_bytes`, and those of counters end with `_total`. No label comes from outside.

use std::collections::BTreeMap;

use prometheus::core::Collector;
use prometheus::{HistogramOpts, IntGaugeVec, Opts, TextEncoder};

pub use prometheus::proto::MetricFamily;
pub use prometheus::{Histogram, IntCounter, IntCounterVec, IntGauge};

/// The upper bounds of the buckets of durations, in seconds.
const BOUNDS: [f64; 13] = [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0];

/// A room that counts.
pub trait Measured {
    /// Its metrics with their values of now.
    fn metrics(&self) -> Vec<MetricFamily>;
}

/// The values of these metrics now.
pub fn collect(metrics: &[&dyn Collector]) -> Vec<MetricFamily> {
    metrics.iter().flat_map(|metric| metric.collect()).collect()
}

/// A number that only grows while the process lives.
pub fn counter(name: &str, help: &str) -> IntCounter {
    IntCounter::new(name, help).expect("a constant name")
}

/// Counters that differ by the value of one label. Each of these values is there from the beginning, with 0.
pub fn counters(name: &str, help: &str, label: &str, values: impl IntoIterator<Item = &'static str>) -> IntCounterVec {
    let counters = counters_of(name, help, &[label]);
    for value in values {
        counters.with_label_values(&[value]);
    }
    counters
}

/// Counters that differ by the values of labels, each there from its first count on.
pub fn counters_of(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    IntCounterVec::new(Opts::new(name, help), labels).expect("constant names")
}

/// A number that can go up and down.
pub fn gauge(name: &str, help: &str) -> IntGauge {
    IntGauge::new(name, help).expect("a constant name")
}

/// A number of this moment.
pub fn number(name: &str, help: &str, value: u64) -> Vec<MetricFamily> {
    let gauge = gauge(name, help);
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
    gauge.collect()
}

/// Numbers of this moment that differ by the values of labels.
pub fn numbers<const N: usize>(
    name: &str,
    help: &str,
    labels: [&str; N],
    values: impl IntoIterator<Item = ([&'static str; N], u64)>,
) -> Vec<MetricFamily> {
    let gauges = IntGaugeVec::new(Opts::new(name, help), &labels).expect("constant names");
    for (of, value) in values {
        gauges.with_label_values(&of).set(i64::try_from(value).unwrap_or(i64::MAX));
    }
    gauges.collect()
}

/// A distribution of durations in seconds.
pub fn durations(name: &str, help: &str) -> Histogram {
    Histogram::with_opts(HistogramOpts::new(name, help).buckets(BOUNDS.to_vec())).expect("a constant name")
}

/// The values of counters that differ by one label.
pub fn by_label(counters: &IntCounterVec) -> BTreeMap<String, u64> {
    let families = counters.collect();
    let metrics = families.iter().flat_map(MetricFamily::get_metric);
    // The conversion is exact up to 2^53, which no counter reaches.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let values = metrics.flat_map(|metric| {
        metric.get_label().iter().map(|label| (label.value().to_owned(), metric.get_counter().get_value() as u64))
    });
    values.collect()
}

/// The metrics in Prometheus' text format, version 0.0.4. None may be without a value.
pub fn to_text(families: &[MetricFamily]) -> prometheus::Result<String> {
    TextEncoder::new().encode_to_string(families)
}
