//! How long an event takes to a healthy receiver, and how fast mail comes in, with and without bad receivers.

use std::time::{Duration, Instant};

use super::receiver::{Conduct, Receiver};
use super::register;
use crate::support::Result;
use crate::support::daemon::Daemon;
use crate::support::figures::{per_second, percentile};
use crate::support::smtp::{self, Session};

const HEALTHY: usize = 100;
/// Mails whose events are timed. They come one after another, with pauses, for the healthy receivers in turn.
const SAMPLES: usize = 1_000;
const PAUSE: Duration = Duration::from_millis(3);
/// Bad receivers: as many of each kind.
const BAD: [usize; 3] = [10, 100, 500];
/// Mails for each bad receiver while the healthy ones are timed.
const BAD_MAILS: usize = 10;
/// How many mails measure the rate of incoming mail, and how often. The best rate counts, because others use the machine.
const MAILS: usize = 10_000;
const RUNS: usize = 3;
/// The aim: how soon 95 % of the healthy receivers have their event, and which part of its rate mail keeps.
const TARGET: Duration = Duration::from_secs(1);
const RATE_TARGET: f64 = 0.9;

/// Measures and prints.
pub(crate) fn run() -> Result<()> {
    println!("\n{HEALTHY} healthy receivers, from the last octet of a mail to the receiver, {SAMPLES} mails");
    println!("{:24} {:>10} {:>10} {:>10} {:>12}", "", "median", "p95", "p99", "mails/s");
    BAD.into_iter().try_for_each(beside)
}

fn beside(bad: usize) -> Result<()> {
    let healthy = Receiver::start(HEALTHY, Conduct::Answers(Duration::ZERO))?;
    let of_kind = |kind: Conduct| Receiver::start(bad / Conduct::BAD.len(), kind);
    let bad_ones = Conduct::BAD.into_iter().map(of_kind).collect::<Result<Vec<_>>>()?;
    let daemon = Daemon::start(&["--webhook-allow", "127.0.0.0/8", "--webhook-per-address-per-minute", "1000000"])?;
    for (number, address) in healthy.addresses().iter().enumerate() {
        register(&daemon, &healthy_address(number), &format!("http://{address}/hook"))?;
    }
    // The first sample is not counted.
    samples(&daemon, &healthy)?;
    let (alone, rate_alone) = (samples(&daemon, &healthy)?, rate(&daemon)?);
    show("alone", &alone, rate_alone);
    for (number, address) in bad_ones.iter().flat_map(Receiver::addresses).enumerate() {
        register(&daemon, &format!("bad{number}@example.test"), &format!("http://{address}/hook"))?;
    }
    let loading = Load::start(&daemon, bad);
    let beside = samples(&daemon, &healthy)?;
    loading.join()?;
    let rate_beside = rate(&daemon)?;
    show(&format!("beside {bad} bad ones"), &beside, rate_beside);
    let (p95, ratio) = (percentile(&beside, 95), rate_beside / rate_alone);
    println!(
        "  p95 of {:.0} ms, target of {} s: {}",
        p95.as_secs_f64() * 1e3,
        TARGET.as_secs(),
        verdict(p95 <= TARGET)
    );
    println!("  {ratio:.2} of the rate of mail, target of {RATE_TARGET}: {}", verdict(ratio >= RATE_TARGET));
    println!("  {} requests at the bad ones", bad_ones.iter().map(Receiver::count).sum::<usize>());
    Ok(())
}

const fn verdict(is_reached: bool) -> &'static str {
    if is_reached { "reached" } else { "missed" }
}

/// The rate of mail without a webhook, in mails per second.
fn rate(daemon: &Daemon) -> Result<f64> {
    let to = ["plain@example.test".to_owned()];
    let mut best = 0.0_f64;
    for _ in 0..RUNS {
        best = best.max(per_second(MAILS, smtp::send(daemon.smtp_address(), 8, &to, MAILS, 1024)?));
    }
    Ok(best)
}

/// Sends mail for the bad receivers while the healthy ones are timed.
struct Load(std::thread::JoinHandle<std::result::Result<(), String>>);

impl Load {
    fn start(daemon: &Daemon, bad: usize) -> Self {
        let server = daemon.smtp_address();
        Self(std::thread::spawn(move || {
            let mut session = Session::open(server).map_err(|error| error.to_string())?;
            for number in 0..bad * BAD_MAILS {
                let to = format!("bad{}@example.test", number % bad);
                session.deliver(&to, number, 0).map_err(|error| error.to_string())?;
            }
            Ok(())
        }))
    }

    fn join(self) -> Result<()> {
        Ok(self.0.join().map_err(|_| "a sender panicked")??)
    }
}

fn healthy_address(number: usize) -> String {
    format!("h{number}@example.test")
}

fn show(what: &str, times: &[Duration], rate: f64) {
    let millis = |percent| percentile(times, percent).as_secs_f64() * 1e3;
    println!("{what:24} {:7.2} ms {:7.2} ms {:7.2} ms {rate:12.0}", millis(50), millis(95), millis(99));
}

/// How long each event took, in rising order.
fn samples(daemon: &Daemon, healthy: &Receiver) -> Result<Vec<Duration>> {
    let before = healthy.count();
    healthy.take_arrivals();
    let mut session = Session::open(daemon.smtp_address())?;
    let mut sent_at: Vec<Instant> = Vec::with_capacity(SAMPLES);
    for number in 0..SAMPLES {
        sent_at.push(session.deliver(&healthy_address(number % HEALTHY), number, 0)?);
        std::thread::sleep(PAUSE);
    }
    healthy.wait_for(before + SAMPLES)?;
    let mut times: Vec<_> =
        healthy.take_arrivals().into_iter().map(|(number, at)| at.saturating_duration_since(sent_at[number])).collect();
    times.sort();
    Ok(times)
}
