//! How fast mail comes in while every webhook fails, beside mail that no webhook is told of.

use super::receiver::{Conduct, Receiver};
use super::sender;
use super::{median, per_second, register};
use crate::support::Result;
use crate::support::daemon::Daemon;

const ROUNDS: usize = 5;
const RECIPIENTS: usize = 16;
const SESSIONS: usize = 20;
const MAILS: usize = 3_000;
const OCTETS: usize = 4096;

/// Measures and prints.
pub(crate) fn run() -> Result<()> {
    let failing = Receiver::start(RECIPIENTS, Conduct::Fails)?;
    let daemon = Daemon::start(&["--webhook-allow", "127.0.0.0/8", "--webhook-schedule", "1s,5s"])?;
    let address = |who: &str| (0..RECIPIENTS).map(|number| format!("{who}{number}@example.test")).collect::<Vec<_>>();
    let (alone, told) = (address("alone"), address("told"));
    for (recipient, receiver) in told.iter().zip(failing.addresses()) {
        register(&daemon, recipient, &format!("http://{receiver}/hook"))?;
    }
    println!(
        "\nmails per second of 4 KB, {SESSIONS} sessions, {MAILS} a round, data in {}",
        daemon.data_dir().display()
    );
    println!("{:>6} {:>12} {:>12} {:>8}", "round", "no webhook", "failing", "ratio");
    let mut ratios = Vec::new();
    for round in 1..=ROUNDS {
        let rate = |to: &[String]| -> Result<f64> {
            let time = sender::send(daemon.smtp_address(), SESSIONS, to, MAILS, OCTETS)?;
            Ok(per_second(MAILS, time))
        };
        let (without, with) = (rate(&alone)?, rate(&told)?);
        ratios.push(with / without);
        println!("{round:>6} {without:12.0} {with:12.0} {:8.2}", with / without);
    }
    println!("{:>6} {:>34.2}; {} requests failed meanwhile", "median", median(&mut ratios), failing.count());
    Ok(())
}
