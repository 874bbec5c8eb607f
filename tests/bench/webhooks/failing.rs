//! How fast mail comes in while every webhook fails: beside mail that no webhook is told of, and beside mail whose webhooks
//! all take their events, so that what a webhook costs is told from what its failing costs.

use std::time::Duration;

use super::receiver::{Conduct, Receiver};
use super::sender;
use super::{median, per_second, register};
use crate::support::Result;
use crate::support::daemon::Daemon;

const ROUNDS: usize = 7;
const RECIPIENTS: usize = 16;
const SESSIONS: usize = 20;
/// Twice as many as may wait for the recipients' webhooks: in the second half each makes another event way.
const MAILS: usize = 32_000;
const OCTETS: usize = 4096;

/// Measures and prints.
pub(crate) fn run() -> Result<()> {
    let daemon = start()?;
    println!(
        "\nmails per second of 4 KB, {SESSIONS} sessions, {MAILS} a round, data in {}; ratio to mail without a webhook",
        daemon.data_dir().display()
    );
    drop(daemon);
    println!("{:>6} {:>12} {:>12} {:>6} {:>12} {:>6}", "round", "no webhook", "succeeding", "", "failing", "");
    let (mut to_succeeding, mut to_failing) = (Vec::new(), Vec::new());
    let mut requests = (0, 0);
    for round in 1..=ROUNDS {
        let (alone, _) = rate(None)?;
        let (succeeding, succeeded) = rate(Some(Conduct::Answers(Duration::ZERO)))?;
        let (failing, failed) = rate(Some(Conduct::Fails))?;
        requests = (requests.0 + succeeded, requests.1 + failed);
        to_succeeding.push(succeeding / alone);
        to_failing.push(failing / alone);
        println!(
            "{round:>6} {alone:12.0} {succeeding:12.0} {:6.2} {failing:12.0} {:6.2}",
            succeeding / alone,
            failing / alone
        );
    }
    println!("{:>6} {:>32.2} {:>19.2}", "median", median(&mut to_succeeding), median(&mut to_failing));
    println!("{} requests succeeded and {} failed meanwhile", requests.0, requests.1);
    Ok(())
}

fn start() -> Result<Daemon> {
    Daemon::start(&[
        "--webhook-allow",
        "127.0.0.0/8",
        "--webhook-schedule",
        "1s,5s",
        "--webhook-per-origin-per-minute",
        "1000000",
        "--webhook-per-address-per-minute",
        "1000000",
    ])
}

/// Mails per second to recipients whose webhooks fare like this, and the requests that were made meanwhile. In a daemon of
/// its own: none pays for what another has left to do.
fn rate(conduct: Option<Conduct>) -> Result<(f64, usize)> {
    let daemon = start()?;
    let recipients: Vec<String> = (0..RECIPIENTS).map(|number| format!("bench{number}@example.test")).collect();
    let receiver = conduct.map(|conduct| Receiver::start(RECIPIENTS, conduct)).transpose()?;
    for (recipient, address) in recipients.iter().zip(receiver.iter().flat_map(Receiver::addresses)) {
        register(&daemon, recipient, &format!("http://{address}/hook"))?;
    }
    let time = sender::send(daemon.smtp_address(), SESSIONS, &recipients, MAILS, OCTETS)?;
    Ok((per_second(MAILS, time), receiver.as_ref().map_or(0, Receiver::count)))
}
