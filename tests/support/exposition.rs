//! Prometheus' text format (version 0.0.4), read as strictly as its description permits: whatever is not in it, or is there
//! twice, or out of order, fails the test.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::from_fn;
use std::net::SocketAddr;

use super::http;
use super::until::until;

type Labels = BTreeMap<String, String>;

/// All metrics of one scrape.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    pub(crate) families: BTreeMap<String, Family>,
}

/// The metrics of one name.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) kind: String,
    pub(crate) help: String,
    samples: BTreeMap<(String, Labels), f64>,
}

impl Family {
    /// The names of its labels.
    pub(crate) fn labels(&self) -> BTreeSet<&str> {
        let names = self.samples.keys().flat_map(|(_, labels)| labels.keys());
        names.map(String::as_str).filter(|name| *name != "le").collect()
    }
}

impl Exposition {
    /// Scrapes a server.
    pub(crate) async fn of(server: SocketAddr) -> Self {
        let answer = http::client().get(format!("http://{server}/metrics")).send().await.expect("an answer");
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
        Self::parse(&answer.text().await.expect("text"))
    }

    /// Scrapes a server until the metrics are as wanted.
    pub(crate) async fn until(server: SocketAddr, what: &str, wanted: impl Fn(&Self) -> bool) -> Self {
        let last = RefCell::new(Self::default());
        until(from_fn(|f| write!(f, "{what}: {:#?}", last.borrow())), async || {
            let exposition = Self::of(server).await;
            let is_wanted = wanted(&exposition);
            last.replace(exposition);
            is_wanted
        })
        .await;
        last.into_inner()
    }

    pub(crate) fn parse(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line has no end");
        let mut exposition = Self::default();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let (name, help) = comment(line, "HELP");
            let (typed, kind) = comment(lines.next().expect("a line after HELP"), "TYPE");
            assert_eq!(typed, name, "HELP and TYPE are of different families");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            let mut family = Family { kind: kind.to_owned(), help: unescaped(help), samples: BTreeMap::new() };
            while let Some(line) = lines.next_if(|line| !line.starts_with('#')) {
                let (key, value) = sample(line);
                assert!(family.samples.insert(key, value).is_none(), "there twice: {line}");
            }
            family.check(name);
            assert!(exposition.families.insert(name.to_owned(), family).is_none(), "there twice: {name}");
        }
        exposition
    }

    /// The one sample with this name and these labels, which is a whole number.
    pub(crate) fn value(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        let labels: Labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let family = name.strip_suffix("_count").unwrap_or(name);
        let family = self.families.get(family).unwrap_or_else(|| panic!("no {name}"));
        let sample = family.samples.get(&(name.to_owned(), labels));
        sample.unwrap_or_else(|| panic!("no such {name}: {family:?}")).to_string().parse().expect("a whole number")
    }

    /// How many samples there are.
    pub(crate) fn samples(&self) -> usize {
        self.families.values().map(|family| family.samples.len()).sum()
    }

    /// Whether each counter of an earlier scrape is still there, and no smaller.
    pub(crate) fn follows(&self, before: &Self) -> bool {
        before.families.iter().filter(|(_, family)| family.kind != "gauge").all(|(name, family)| {
            let now = &self.families[name];
            family.samples.iter().all(|(key, value)| now.samples.get(key).is_some_and(|now| now >= value))
        })
    }
}

impl Family {
    fn check(&self, name: &str) {
        assert!(is_name(name, true), "{name}");
        assert!(!self.help.is_empty() && !self.samples.is_empty(), "{name}");
        let names = self.samples.keys().map(|(name, labels)| (name.as_str(), labels.keys().collect::<Vec<_>>()));
        let names: BTreeSet<_> = names.collect();
        if self.kind == "histogram" {
            return self.check_histogram(name);
        }
        assert_eq!(self.kind == "counter", name.ends_with("_total"), "{name}");
        assert!(names.len() == 1 && names.iter().all(|(other, _)| *other == name), "{name}: {names:?}");
        assert!(self.samples.values().all(|value| value.is_finite() && *value >= 0.0), "{name}");
    }

    fn check_histogram(&self, name: &str) {
        let of = |ending: &str| {
            let wanted = format!("{name}{ending}");
            self.samples.iter().filter(move |((name, _), _)| *name == wanted)
        };
        let mut buckets: Vec<(f64, f64)> =
            of("_bucket").map(|((_, labels), count)| (labels["le"].parse().expect("a bound"), *count)).collect();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name}: {buckets:?}");
        let (count, sum): (Vec<_>, Vec<_>) = (of("_count").collect(), of("_sum").collect());
        assert_eq!((count.len(), sum.len(), buckets.len() + 2), (1, 1, self.samples.len()), "{name}");
        assert_eq!(buckets.last(), Some(&(f64::INFINITY, *count[0].1)), "{name}");
    }
}

/// The name and the rest of a comment of this kind.
fn comment<'t>(line: &'t str, kind: &str) -> (&'t str, &'t str) {
    let rest = line.strip_prefix("# ").and_then(|rest| rest.strip_prefix(kind)?.strip_prefix(' '));
    rest.and_then(|rest| rest.split_once(' ')).unwrap_or_else(|| panic!("no {kind}: {line}"))
}

fn is_name(name: &str, may_have_colons: bool) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || (may_have_colons && c == ':');
    !name.is_empty() && name.chars().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// A name, labels and a value; a time is permitted by the format but not here.
fn sample(line: &str) -> ((String, Labels), f64) {
    let end = line.find(['{', ' ']).unwrap_or_else(|| panic!("no value: {line}"));
    let (name, mut rest) = line.split_at(end);
    assert!(is_name(name, true), "{line}");
    let mut labels = Labels::new();
    if let Some(mut inner) = rest.strip_prefix('{') {
        loop {
            let (label, after) = inner.split_once("=\"").unwrap_or_else(|| panic!("no label: {line}"));
            assert!(is_name(label, false) && !label.starts_with("__"), "{line}");
            let end = end_of_value(after).unwrap_or_else(|| panic!("a label without an end: {line}"));
            let is_new = labels.insert(label.to_owned(), unescaped(&after[..end])).is_none();
            assert!(is_new, "a label is there twice: {line}");
            match after.as_bytes().get(end + 1) {
                Some(b',') => inner = &after[end + 2..],
                Some(b'}') => {
                    rest = &after[end + 2..];
                    break;
                }
                _ => panic!("neither , nor }}: {line}"),
            }
        }
    }
    let value = rest.strip_prefix(' ').unwrap_or_else(|| panic!("no blank before the value: {line}"));
    ((name.to_owned(), labels), value.parse().unwrap_or_else(|_| panic!("no value: {line}")))
}

/// Where the quotation mark is that ends a label's value.
fn end_of_value(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|octet| {
        let ends = octet == b'"' && !is_escaped;
        is_escaped = octet == b'\\' && !is_escaped;
        ends
    })
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('n') => plain.push('\n'),
                Some(c @ ('\\' | '"')) => plain.push(c),
                other => panic!("an unknown escape {other:?}: {text}"),
            },
            '\n' | '"' => panic!("not escaped: {text}"),
            c => plain.push(c),
        }
    }
    plain
}

#[test]
fn what_the_format_does_not_permit_is_noticed() {
    let good = "# HELP a_total A \\\\ b.\n# TYPE a_total counter\na_total{x=\"\\\"\\n\"} 1\n# HELP g G.\n# TYPE g gauge\ng 2\n\
                # HELP h H.\n# TYPE h histogram\nh_bucket{le=\"0.1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3.5\nh_count 2\n";
    let exposition = Exposition::parse(good);
    assert_eq!((exposition.value("a_total", &[("x", "\"\n")]), exposition.value("h_count", &[])), (1, 2));
    for (from, to) in [
        ("# HELP g G.\n", ""),
        ("# TYPE g gauge\n", ""),
        ("TYPE g gauge", "TYPE g counter"),
        ("TYPE g gauge", "TYPE g summary"),
        ("TYPE g gauge", "TYPE a_total gauge"),
        ("HELP g G.", "HELP g \"G\"."),
        ("HELP a_total A \\\\ b.", "HELP a_total A \\ b."),
        ("g 2\n", "g 2\ng 2\n"),
        ("g 2\n", ""),
        ("g 2\n", "g two\n"),
        ("g 2\n", "g  2\n"),
        ("g 2\n", "g 2 1700000000\n"),
        ("g 2\n", "other 2\n"),
        ("g 2\n", "g{a=\"1\"} 2\ng{b=\"1\"} 2\n"),
        ("x=\"\\\"\\n\"", "x=\"\\\"\\n\",x=\"\""),
        ("x=\"\\\"\\n\"", "1x=\"\""),
        ("x=\"\\\"\\n\"", "x=\"\\t\""),
        ("x=\"\\\"\\n\"", "x=\""),
        ("} 1\n", "} -1\n"),
        ("le=\"0.1\"} 1", "le=\"0.1\"} 3"),
        ("h_bucket{le=\"+Inf\"} 2\n", ""),
        ("h_count 2", "h_count 3"),
        ("h_sum 3.5\n", ""),
        ("h_count 2\n", "h_count 2"),
        ("# HELP h H.\n# TYPE h histogram\n", "# HELP g G.\n# TYPE g gauge\ng 2\n# HELP h H.\n# TYPE h histogram\n"),
    ] {
        assert!(good.contains(from), "{from}");
        let bad = good.replacen(from, to, 1);
        assert!(std::panic::catch_unwind(|| Exposition::parse(&bad)).is_err(), "{from:?} as {to:?} went by");
    }
}
