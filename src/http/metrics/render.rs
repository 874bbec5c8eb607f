//! Writes numbers as text, with the names and the order of the catalogue.

use prometheus::TextEncoder;
use prometheus::proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType};

use super::Numbers;
use super::catalogue::{FAMILIES, Family, Kind};
use crate::config::Revision;
use crate::counts::{Count, Durations};
use crate::http::problem::Problem;

/// The content type of the text.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The metrics of this revision with their values in `numbers`.
pub(super) fn text(numbers: &[Numbers], revision: Revision) -> Result<String, Problem> {
    debug_assert_eq!(uncatalogued(numbers), Vec::<String>::new());
    let present = FAMILIES.iter().filter(|family| family.is_of(revision));
    let families: Vec<MetricFamily> = present.filter_map(|family| of_family(family, numbers)).collect();
    TextEncoder::new().encode_to_string(&families).map_err(|error| {
        tracing::error!(%error, "the metrics could not be written");
        Problem::internal()
    })
}

/// The numbers that the catalogue lacks.
fn uncatalogued(numbers: &[Numbers]) -> Vec<String> {
    let names = numbers.iter().flat_map(|Numbers { source, counts, durations }| {
        let counts = counts.iter().map(|count| (count.name, count.labels.len()));
        counts
            .chain(durations.iter().map(|durations| (durations.name, 0)))
            .map(move |(name, labels)| (source, name, labels))
    });
    let is_unknown = |(source, name, labels): &(&&str, &str, usize)| {
        !FAMILIES.iter().any(|it| it.source == **source && it.name == *name && it.labels.len() == *labels)
    };
    names.filter(is_unknown).map(|(source, name, labels)| format!("{source}.{name} with {labels} labels")).collect()
}

/// The metrics of a family with their values; `None` if `numbers` has no value.
fn of_family(family: &Family, numbers: &[Numbers]) -> Option<MetricFamily> {
    let of_source = || numbers.iter().filter(|numbers| numbers.source == family.source);
    let metrics: Vec<Metric> = match family.kind {
        Kind::Histogram => {
            let durations = of_source().flat_map(|numbers| &numbers.durations).filter(|it| it.name == family.name);
            durations.map(histogram).collect()
        }
        kind => {
            let counts = of_source().flat_map(|numbers| &numbers.counts).filter(|it| it.name == family.name);
            counts.map(|count| metric(family, kind, count)).collect()
        }
    };
    if metrics.is_empty() {
        return None;
    }
    let mut written = MetricFamily::default();
    written.set_name(family.metric.to_owned());
    written.set_help(family.help.to_owned());
    written.set_field_type(family.kind.into());
    written.set_metric(metrics);
    Some(written)
}

fn metric(family: &Family, kind: Kind, count: &Count) -> Metric {
    let labels = family.labels.iter().zip(&count.labels).map(|(name, value)| {
        let mut pair = LabelPair::default();
        pair.set_name((*name).to_owned());
        pair.set_value(value.to_string());
        pair
    });
    let mut metric = Metric::from_label(labels.collect());
    // The conversion is exact up to 2^53, which no number reaches.
    #[expect(clippy::cast_precision_loss)]
    let value = count.value as f64;
    if kind == Kind::Counter {
        let mut counter = Counter::default();
        counter.set_value(value);
        metric.set_counter(counter);
    } else {
        let mut gauge = Gauge::default();
        gauge.set_value(value);
        metric.set_gauge(gauge);
    }
    metric
}

fn histogram(durations: &Durations) -> Metric {
    let buckets = durations.buckets.iter().map(|(bound, count)| {
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(bound.as_secs_f64());
        bucket.set_cumulative_count(*count);
        bucket
    });
    let mut histogram = Histogram::default();
    histogram.set_bucket(buckets.collect());
    histogram.set_sample_count(durations.count);
    histogram.set_sample_sum(durations.sum.as_secs_f64());
    let mut metric = Metric::default();
    metric.set_histogram(histogram);
    metric
}

impl From<Kind> for MetricType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Self::COUNTER,
            Kind::Gauge => Self::GAUGE,
            Kind::Histogram => Self::HISTOGRAM,
        }
    }
}
