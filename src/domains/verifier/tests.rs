//! The verifier on a clock that the test moves, and a DNS that answers from a list.

use std::sync::Mutex;

use async_trait::async_trait;
use tempfile::TempDir;
use tokio::time::Instant;

use super::super::tests::{active, registry_with};
use super::*;
use crate::clock::Clock;
use crate::config::Config;
use crate::dns::{Addresses, MxAnswer, Resolver};

const HOUR: Duration = Duration::from_hours(1);
const OUR_HOST: &str = "mx.example";

/// Answers for every domain that its mail comes to us, except for those that a test names.
#[derive(Default)]
struct Dns {
    gone: Mutex<Vec<DomainName>>,
    panics: Mutex<Vec<DomainName>>,
    takes: Duration,
    in_progress: Mutex<(usize, usize)>,
    asked: Mutex<Vec<(Instant, DomainName)>>,
}

#[async_trait]
impl Resolver for Dns {
    async fn mx(&self, domain: &DomainName) -> MxAnswer {
        self.asked.lock().expect("asked").push((Instant::now(), domain.clone()));
        assert!(!self.panics.lock().expect("panics").contains(domain), "as the test wants");
        let begin = |(now, most): &mut (usize, usize)| (*now, *most) = (*now + 1, (*most).max(*now + 1));
        begin(&mut self.in_progress.lock().expect("in progress"));
        sleep(self.takes).await;
        self.in_progress.lock().expect("in progress").0 -= 1;
        let is_gone = self.gone.lock().expect("gone").contains(domain);
        if is_gone { MxAnswer::NoSuchName } else { MxAnswer::Records(vec![(10, OUR_HOST.to_owned())]) }
    }

    async fn addresses(&self, _: &str) -> Addresses {
        Addresses::default()
    }
}

/// Goes with tokio's clock, and jumps ahead of it.
struct Ahead {
    start: Instant,
    by: Mutex<Duration>,
}

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0).plus(self.start.elapsed() + *self.by.lock().expect("ahead"))
    }

    fn boot(&self) -> Duration {
        self.start.elapsed()
    }
}

struct Setup {
    _dir: TempDir,
    dns: Arc<Dns>,
    clock: Arc<Ahead>,
    registry: Arc<Registry>,
}

impl Setup {
    /// So many active domains, last checked at the epoch, which is now.
    async fn new(domains: usize, period: Duration, dns: Dns) -> Self {
        let (dns, clock) = (Arc::new(dns), Arc::new(Ahead { start: Instant::now(), by: Mutex::default() }));
        let set = |config: &mut Config| {
            config.domains.mx_hosts = vec![OUR_HOST.parse().expect("name")];
            config.domains.verify_every = period;
        };
        let (dir, registry) = registry_with(set, dns.clone(), clock.clone()).await;
        for number in 0..domains {
            let record = Record::new(active(&format!("d{number}.example")));
            assert!(registry.replace(&record.name, None, Some(record.clone())).await.expect("registered"));
        }
        Self { _dir: dir, dns, clock, registry }
    }

    /// Ticks until `time` after the epoch. No timer runs beside a tick: tokio's clock would go on to it during a write.
    async fn run_until(&self, time: Duration) {
        while self.clock.start.elapsed() < time {
            sleep(TICK.min(self.registry.config.verify_every / 100)).await;
            self.registry.tick().await.expect("the store works");
        }
    }

    /// When each question was asked, since the epoch.
    fn asked(&self) -> Vec<Duration> {
        self.dns.asked.lock().expect("asked").iter().map(|(at, _)| *at - self.clock.start).collect()
    }

    fn record(&self, number: usize) -> Option<Record> {
        self.registry.table.record(&name(number))
    }
}

fn name(number: usize) -> DomainName {
    format!("d{number}.example").parse().expect("name")
}

#[test]
fn a_check_is_due_a_period_after_the_last() {
    let at = |hours: u32| Timestamp::from_millis(0).plus(HOUR * hours);
    for (checked, now, expected) in [
        (Some(88), 100, true),
        (Some(89), 100, false),
        (None, 12, true),
        (None, 11, false),
        (Some(111), 100, false),
        (Some(500), 100, true),
    ] {
        let record = DomainRecord { last_checked_at: checked.map(at), ..active("a.example") };
        assert_eq!(is_due(&record, 12 * HOUR, at(now)), expected, "checked at {checked:?}, now {now}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_domain_is_asked_for_once_a_period() {
    let setup = Setup::new(3, 12 * HOUR, Dns::default()).await;
    setup.run_until((12 * HOUR).saturating_sub(TICK)).await;
    assert!(setup.asked().is_empty());
    setup.run_until(12 * HOUR + 2 * TICK).await;
    assert_eq!(setup.asked().len(), 3);
    setup.run_until(40 * HOUR).await;
    assert_eq!(setup.asked().len(), 9);
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_slept_asks_within_a_tick_and_once() {
    let setup = Setup::new(3, 12 * HOUR, Dns::default()).await;
    setup.run_until(HOUR).await;
    *setup.clock.by.lock().expect("ahead") = 100 * HOUR;
    setup.run_until(HOUR + 2 * TICK).await;
    assert_eq!(setup.asked().len(), 3);
    setup.run_until(12 * HOUR).await;
    assert_eq!(setup.asked().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_round_asks_for_ten_domains_in_a_second_or_ends_in_a_quarter_of_the_period() {
    for (period, gap) in [(12 * HOUR, GAP), (Duration::from_secs(4), Duration::from_millis(50))] {
        let setup = Setup::new(20, period, Dns::default()).await;
        setup.run_until(period + period / 2).await;
        let asked = setup.asked();
        assert_eq!(asked.len(), 20);
        assert!(asked.is_sorted() && asked.windows(2).all(|pair| pair[1] >= pair[0] + gap), "{asked:?}");
        assert!(asked[19] < asked[0] + 20 * gap * 2, "{asked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_than_eight_checks_are_in_progress() {
    let dns = Dns { takes: Duration::from_secs(1), ..Dns::default() };
    let setup = Setup::new(20, 12 * HOUR, dns).await;
    let round = setup.registry.verify(None, false).await.expect("a round");
    assert_eq!(round, Round { checked: 20, ..Round::default() });
    assert_eq!(*setup.dns.in_progress.lock().expect("in progress"), (0, ASKED_AT_ONCE));
}

#[tokio::test(start_paused = true)]
async fn a_periodic_round_asks_again_after_a_pause_before_it_deactivates() {
    let dns = Dns { gone: Mutex::new(vec![name(0)]), ..Dns::default() };
    let setup = Setup::new(3, 12 * HOUR, dns).await;
    setup.run_until(13 * HOUR).await;
    let asked = setup.dns.asked.lock().expect("asked").clone();
    let of_gone: Vec<Instant> = asked.iter().filter(|(_, asked)| *asked == name(0)).map(|(at, _)| *at).collect();
    assert_eq!((asked.len(), of_gone.len()), (4, 2));
    assert!(of_gone[1] - of_gone[0] >= PAUSE);
    assert_eq!(setup.record(0).expect("a record").status, DomainStatus::Deactivated);
    assert_eq!(setup.record(1).expect("a record").status, DomainStatus::Active);
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failed_check_and_the_domain_waits_for_the_next_period() {
    let dns = Dns { panics: Mutex::new(vec![name(0)]), ..Dns::default() };
    let setup = Setup::new(3, 12 * HOUR, dns).await;
    setup.run_until(23 * HOUR).await;
    assert_eq!(setup.asked().len(), 3);
    let record = setup.record(0).expect("a record");
    assert_eq!(record.status, DomainStatus::Active);
    assert_eq!(record.last_check_result.as_deref(), Some("No answer: the check failed"));
    let round = setup.registry.verify(None, false).await.expect("a round");
    assert_eq!(round, Round { checked: 3, failed: 1, ..Round::default() });
}

#[tokio::test(start_paused = true)]
async fn a_domain_that_stays_deactivated_for_30_days_is_removed() {
    let setup = Setup::new(2, 12 * HOUR, Dns::default()).await;
    let gone = setup.record(0).expect("a record");
    let now = setup.clock.now();
    setup.registry.update(&gone, |record| record.deactivate(now)).await.expect("updated").expect("a record");
    setup.dns.gone.lock().expect("gone").push(name(0));
    *setup.clock.by.lock().expect("ahead") = PLACE_KEPT.saturating_sub(3 * HOUR);
    setup.run_until(2 * HOUR).await;
    assert_eq!(setup.record(0).expect("it keeps its place").status, DomainStatus::Deactivated);
    setup.run_until(3 * HOUR + 2 * TICK).await;
    assert_eq!(setup.record(0), None);
    assert!(setup.record(1).is_some());
}
