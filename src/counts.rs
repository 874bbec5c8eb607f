//! Counters and durations for the metrics.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A number at one moment: a counter since the start, which only grows, or a gauge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The name of the number, in camelCase.
    pub name: &'static str,
    /// The labels that distinguish several numbers with one name. The program has a fixed set of them, and none comes
    /// from outside.
    pub labels: Vec<Cow<'static, str>>,
    /// The number.
    pub value: u64,
}

impl Count {
    /// A number without labels.
    pub fn one(name: &'static str, value: u64) -> Self {
        Self { name, labels: Vec::new(), value }
    }

    /// A number with one label.
    pub fn labelled(name: &'static str, label: &'static str, value: u64) -> Self {
        Self { name, labels: vec![label.into()], value }
    }

    /// The label, if there is exactly one.
    pub fn label(&self) -> Option<&str> {
        if let [label] = &self.labels[..] { Some(label) } else { None }
    }

    /// Several counters with one name, each with the label at its position.
    pub fn family(
        name: &'static str,
        labels: impl IntoIterator<Item = &'static str>,
        counters: &[AtomicU64],
    ) -> impl Iterator<Item = Self> {
        let labelled = labels.into_iter().zip(counters);
        labelled.map(move |(label, counter)| Self::labelled(name, label, counter.load(Ordering::Relaxed)))
    }
}

/// A source of counters and durations.
pub trait Counts: std::fmt::Debug + Send + Sync {
    /// All numbers. Numbers with one name are adjacent.
    fn read(&self) -> Vec<Count>;

    /// All distributions of durations.
    fn durations(&self) -> Vec<Durations> {
        Vec::new()
    }
}

/// A distribution of durations since the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Durations {
    /// The name of the measured work, in camelCase.
    pub name: &'static str,
    /// How many durations were at most this long, in rising order. Longer durations are only in `count`.
    pub buckets: Vec<(Duration, u64)>,
    /// The number of all durations.
    pub count: u64,
    /// The sum of all durations.
    pub sum: Duration,
}

/// Counts durations in buckets with the upper bounds [`Stopwatch::BOUNDS`].
#[derive(Debug, Default)]
pub struct Stopwatch {
    /// One counter for each bucket. The last one counts durations above all bounds.
    counters: [AtomicU64; Self::BOUNDS.len() + 1],
    micros: AtomicU64,
}

impl Stopwatch {
    /// The upper bounds of the buckets.
    pub const BOUNDS: [Duration; 13] = [
        Duration::from_micros(200),
        Duration::from_micros(500),
        Duration::from_millis(1),
        Duration::from_millis(2),
        Duration::from_millis(5),
        Duration::from_millis(10),
        Duration::from_millis(20),
        Duration::from_millis(50),
        Duration::from_millis(100),
        Duration::from_millis(200),
        Duration::from_millis(500),
        Duration::from_secs(1),
        Duration::from_secs(5),
    ];

    /// Records one duration.
    pub fn note(&self, took: Duration) {
        let at = Self::BOUNDS.partition_point(|bound| *bound < took);
        self.counters[at].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The distribution of all durations so far.
    pub fn read(&self, name: &'static str) -> Durations {
        let mut count = 0;
        let mut up_to = self.counters.iter().map(|counter| {
            count += counter.load(Ordering::Relaxed);
            count
        });
        let buckets = Self::BOUNDS.into_iter().zip(&mut up_to).collect();
        up_to.for_each(drop);
        Durations { name, buckets, count, sum: Duration::from_micros(self.micros.load(Ordering::Relaxed)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_each_bucket_that_it_does_not_exceed() {
        let stopwatch = Stopwatch::default();
        for micros in [0, 1_000, 1_001, 5_000_000, 5_000_001] {
            stopwatch.note(Duration::from_micros(micros));
        }
        let read = stopwatch.read("x");
        let in_bucket = |millis| read.buckets.iter().find(|(bound, _)| *bound == Duration::from_millis(millis));
        assert_eq!(in_bucket(1).map(|(_, count)| *count), Some(2));
        assert_eq!(in_bucket(2).map(|(_, count)| *count), Some(3));
        assert_eq!(in_bucket(5_000).map(|(_, count)| *count), Some(4));
        assert_eq!((read.count, read.sum), (5, Duration::from_micros(10_002_002)));
        assert!(read.buckets.is_sorted());
    }
}
