//! How long an event takes to a healthy endpoint, with and without bad ones beside it.

use std::time::{Duration, Instant};

use super::receiver::{Conduct, Receiver};
use super::sender::{self, Session};
use super::{percentile, register};
use crate::support::Result;
use crate::support::daemon::Daemon;

const HEALTHY: usize = 100;
/// Mails whose events are timed, each after a pause, to the healthy endpoints in turn.
const SAMPLES: usize = 1_000;
const PAUSE: Duration = Duration::from_millis(3);
/// Webhooks at the black hole and how many events each has: as many as it may.
const DEAD: usize = 10;
const DEAD_MAILS: usize = 1_000;
const ENDLESS_MAILS: usize = 1_000;
/// The ratio of the two 95th percentiles that is meant not to be passed.
const TARGET: f64 = 2.0;

/// Measures and prints.
pub(crate) fn run() -> Result<()> {
    let healthy = Receiver::start(HEALTHY, Conduct::Answers(Duration::ZERO))?;
    let dead = Receiver::start(1, Conduct::Hangs)?;
    let endless = Receiver::start(1, Conduct::NeverEnds)?;
    let daemon = Daemon::start(&[
        "--webhook-allow",
        "127.0.0.0/8",
        "--webhook-per-origin-per-minute",
        "1000000",
        "--webhook-per-address-per-minute",
        "1000000",
    ])?;
    for (number, address) in healthy.addresses().iter().enumerate() {
        register(&daemon, &healthy_address(number), &format!("http://{address}/hook"))?;
    }
    println!("\n{HEALTHY} healthy endpoints, from the last octet of a mail to the receiver, {SAMPLES} mails");
    println!("{:34} {:>10} {:>10}", "", "median", "p95");
    // The first sample of each phase is not counted.
    samples(&daemon, &healthy)?;
    let unloaded = samples(&daemon, &healthy)?;
    show("alone", &unloaded);
    for number in 0..DEAD {
        register(&daemon, "dead@example.test", &format!("http://{}/{number}", dead.addresses()[0]))?;
    }
    register(&daemon, "endless@example.test", &format!("http://{}/hook", endless.addresses()[0]))?;
    sender::send(daemon.smtp_address(), 8, &["dead@example.test".to_owned()], DEAD_MAILS, 0)?;
    let loading = Load::start(&daemon);
    let loaded = samples(&daemon, &healthy)?;
    show("beside bad ones", &loaded);
    loading.join()?;
    let ratio = percentile(&loaded, 95).as_secs_f64() / percentile(&unloaded, 95).as_secs_f64();
    println!("p95 ratio {ratio:.2}, target at most {TARGET}");
    println!("{} requests at the black hole, {} at the endless body", dead.count(), endless.count());
    let after = samples(&daemon, &healthy)?;
    show("beside the black hole alone", &after);
    Ok(())
}

/// Mail for the endless body, while the healthy ones are timed.
struct Load(std::thread::JoinHandle<std::result::Result<(), String>>);

impl Load {
    fn start(daemon: &Daemon) -> Self {
        let server = daemon.smtp_address();
        Self(std::thread::spawn(move || {
            let mut session = Session::open(server).map_err(|error| error.to_string())?;
            for number in 0..ENDLESS_MAILS {
                session.deliver("endless@example.test", number, 0).map_err(|error| error.to_string())?;
                std::thread::sleep(PAUSE);
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

fn show(what: &str, times: &[Duration]) {
    let millis = |percent| percentile(times, percent).as_secs_f64() * 1e3;
    println!("{what:34} {:7.2} ms {:7.2} ms", millis(50), millis(95));
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
