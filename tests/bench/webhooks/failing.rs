//! How fast mail comes in while every webhook fails, compared with mail without webhooks, and with mail whose webhooks all
//! take their events. It is measured first while the outbox has room, and then while each new event makes another one drop.

use std::time::Duration;

use super::receiver::{Conduct, Receiver};
use super::register;
use crate::support::Result;
use crate::support::daemon::Daemon;
use crate::support::figures::{median, per_second};
use crate::support::smtp;

const ROUNDS: usize = 5;
const RECIPIENTS: usize = 16;
const SESSIONS: usize = 20;
/// The most pending events of a webhook, so that the outbox is full after so many mails.
const OUTBOX_EVENTS: usize = 3_000;
/// Twice as many mails as fill the outbox.
const MAILS: usize = 2 * RECIPIENTS * OUTBOX_EVENTS;
const OCTETS: usize = 4096;

/// Measures and prints.
pub(crate) fn run() -> Result<()> {
    let daemon = start()?;
    println!(
        "\nmails per second of 4 KB, {SESSIONS} sessions, twice {} a round, data in {}; ratio to mail without a webhook",
        MAILS / 2,
        daemon.data_dir().display()
    );
    drop(daemon);
    println!(
        "{:>6} {:>12} {:>12} {:>6} {:>12} {:>6} {:>12} {:>6}",
        "round", "no webhook", "succeeding", "", "failing", "", "and full", ""
    );
    let mut ratios = [Vec::new(), Vec::new(), Vec::new()];
    let mut requests = (0, 0);
    for round in 1..=ROUNDS {
        let before = receive(None)?;
        let succeeding = receive(Some(Conduct::Answers(Duration::ZERO)))?;
        let failing = receive(Some(Conduct::FAILS))?;
        // This is measured before and after, because the machine's speed varies.
        let after = receive(None)?;
        let [first, second] = [0, 1].map(|half| 2.0 / (before.rates[half].recip() + after.rates[half].recip()));
        requests = (requests.0 + succeeding.requests, requests.1 + failing.requests);
        let [filling, full] = failing.rates;
        let of_round = [succeeding.rates[0] / first, filling / first, full / second];
        ratios.iter_mut().zip(of_round).for_each(|(ratios, ratio)| ratios.push(ratio));
        println!(
            "{round:>6} {first:12.0} {:12.0} {:6.2} {filling:12.0} {:6.2} {full:12.0} {:6.2}",
            succeeding.rates[0], of_round[0], of_round[1], of_round[2]
        );
    }
    let [succeeding, filling, full] = ratios.each_mut().map(|ratios| median(ratios));
    println!("{:>6} {succeeding:>32.2} {filling:>19.2} {full:>19.2}", "median");
    println!("{} requests succeeded and {} failed meanwhile", requests.0, requests.1);
    Ok(())
}

fn start() -> Result<Daemon> {
    Daemon::start(&[
        "--webhook-allow",
        "127.0.0.0/8",
        "--webhook-schedule",
        "1s,5s",
        "--webhook-per-address-per-minute",
        "1000000",
        "--outbox-events",
        &OUTBOX_EVENTS.to_string(),
    ])
}

struct Received {
    /// Mails per second of the first half and of the second half.
    rates: [f64; 2],
    /// Requests that the webhooks sent meanwhile.
    requests: usize,
}

/// Sends mail to recipients whose receivers behave like this. Each run has its own daemon, so no work of another is left.
fn receive(conduct: Option<Conduct>) -> Result<Received> {
    let daemon = start()?;
    let recipients: Vec<String> = (0..RECIPIENTS).map(|number| format!("bench{number}@example.test")).collect();
    let receiver = conduct.map(|conduct| Receiver::start(RECIPIENTS, conduct)).transpose()?;
    for (recipient, address) in recipients.iter().zip(receiver.iter().flat_map(Receiver::addresses)) {
        register(&daemon, recipient, &format!("http://{address}/hook"))?;
    }
    let half = || smtp::send(daemon.smtp_address(), SESSIONS, &recipients, MAILS / 2, OCTETS);
    let rates = [per_second(MAILS / 2, half()?), per_second(MAILS / 2, half()?)];
    Ok(Received { rates, requests: receiver.as_ref().map_or(0, Receiver::count) })
}
