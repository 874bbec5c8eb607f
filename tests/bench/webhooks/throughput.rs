//! How many events per second reach a receiver with eight webhooks, and what each costs the daemon, beside plain POSTs over
//! kept connections.

use std::time::Instant;

use super::plain;
use super::receiver::{Conduct, Example, Receiver};
use super::register;
use crate::support::Result;
use crate::support::daemon::Daemon;
use crate::support::figures::{median, per_second};
use crate::support::smtp;

const WEBHOOKS: usize = 8;
/// Attempts in flight of one webhook, as the dispatcher permits.
const PER_WEBHOOK: usize = 4;
const ROUNDS: usize = 3;
/// Mails, each with an event per origin. There are so many that the start and the end of a run count little.
const MAILS: usize = 4_000;
/// The number of mails for slow receivers.
const MAILS_OF_SLOW: usize = 1_000;
const TEXT_OCTETS: usize = 1024;
/// The aim in events per second on two cores, which the receiver shares.
const TARGET: f64 = 2_000.0;

/// Measures with such a receiver, and prints the figures.
pub(crate) fn run(name: &str, conduct: Conduct) -> Result<()> {
    println!("\nevents per second of {WEBHOOKS} webhooks at one receiver: {name}");
    println!("{:>6} {:>10} {:>9} {:>10} {:>8}", "round", "tempmail", "us/event", "plain", "/ plain");
    let (mut rates, mut costs) = (Vec::new(), Vec::new());
    let is_slow = matches!(conduct, Conduct::Answers(after) if !after.is_zero());
    for round in 1..=ROUNDS {
        let mails = if is_slow { MAILS_OF_SLOW } else { MAILS };
        let Dispatched { rate, micros, example } = dispatched(mails, conduct)?;
        let receiver = Receiver::start(1, conduct)?;
        let plain = plain::rate(receiver.addresses(), WEBHOOKS * PER_WEBHOOK, mails * WEBHOOKS, &example)?;
        println!("{round:>6} {rate:10.0} {micros:9.1} {plain:10.0} {:8.2}", rate / plain);
        rates.push(rate);
        costs.push(micros);
    }
    let (rate, cost) = (median(&mut rates), median(&mut costs));
    println!("{:>6} {rate:10.0} {cost:9.1}   target of {TARGET:.0} {}", "median", verdict(rate >= TARGET));
    Ok(())
}

const fn verdict(is_reached: bool) -> &'static str {
    if is_reached { "reached" } else { "missed" }
}

struct Dispatched {
    /// Events per second from the first response to the last event. All events are pending at the start.
    rate: f64,
    /// Microseconds of the daemon's processor time for each event.
    micros: f64,
    /// One request.
    example: Example,
}

fn dispatched(mails: usize, conduct: Conduct) -> Result<Dispatched> {
    let receiver = Receiver::start(1, conduct)?;
    let daemon = Daemon::start(&[
        "--webhook-allow",
        "127.0.0.0/8",
        "--webhook-timeout",
        "60s",
        "--webhook-per-address-per-minute",
        "1000000",
        "--max-webhooks-per-recipient",
        &WEBHOOKS.to_string(),
        "--outbox-events",
        &MAILS.to_string(),
    ])?;
    let to = "bench@example.test".to_owned();
    for number in 0..WEBHOOKS {
        register(&daemon, &to, &format!("http://{}/hook?{number}", receiver.addresses()[0]))?;
    }
    // A proven webhook may have more than a few pending events.
    let to = [to];
    smtp::send(daemon.smtp_address(), 1, &to, 1, TEXT_OCTETS)?;
    receiver.wait_for(WEBHOOKS)?;
    std::thread::sleep(std::time::Duration::from_millis(500));
    receiver.hold();
    smtp::send(daemon.smtp_address(), 16, &to, mails, TEXT_OCTETS)?;
    let in_flight = WEBHOOKS * PER_WEBHOOK;
    receiver.wait_for(WEBHOOKS + in_flight)?;
    let events = mails * WEBHOOKS;
    let (begun, worked) = (Instant::now(), daemon.processor_time()?);
    receiver.let_go();
    let last = receiver.wait_for(WEBHOOKS + events)?;
    let worked = daemon.processor_time()?.saturating_sub(worked);
    let rate = per_second(events - in_flight, last - begun);
    let micros = worked.as_secs_f64() * 1e6 / (rate * (last - begun).as_secs_f64());
    Ok(Dispatched { rate, micros, example: receiver.example() })
}
