//! How many events a second reach a receiver, beside plain POSTs to it and beside one attempt and one connection at a time.

use std::time::Instant;

use super::plain;
use super::receiver::{Conduct, Example, Receiver};
use super::sender;
use super::{median, per_second, register};
use crate::support::Result;
use crate::support::daemon::Daemon;

const ORIGINS: usize = 16;
/// Attempts in flight at one endpoint, as the dispatcher permits.
const PER_ORIGIN: usize = 4;
const ROUNDS: usize = 5;
/// Each makes an event per origin. So many that what is special at the start and at the end counts little.
const MAILS: usize = 8_000;
/// For receivers that take their time.
const MAILS_OF_SLOW: usize = 1_000;
/// For what makes one attempt, or has one connection, at a time.
const FEW_MAILS: usize = 400;
const FEW_MAILS_OF_SLOW: usize = 40;
const TEXT_OCTETS: usize = 1024;
/// What the ratios to plain POSTs and to one connection at a time are meant to reach. Each mail makes an event for every
/// origin, so that one connection at a time means a new one for each event.
const TARGETS: (f64, f64) = (0.5, 5.0);

/// Measures with such a receiver, and prints.
pub(crate) fn run(name: &str, conduct: Conduct) -> Result<()> {
    println!("\nevents per second over {ORIGINS} origins: {name}");
    println!(
        "{:>6} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8} {:>9}",
        "round", "tempmail", "plain", "1 attempt", "1 kept", "1 new", "/ plain", "/ 1 att.", "/ 1 new", "us/event"
    );
    let (mut to_plain, mut to_one, mut to_new) = (Vec::new(), Vec::new(), Vec::new());
    let is_slow = matches!(conduct, Conduct::Answers(after) if !after.is_zero());
    for round in 1..=ROUNDS {
        let (mails, few) = if is_slow { (MAILS_OF_SLOW, FEW_MAILS_OF_SLOW) } else { (MAILS, FEW_MAILS) };
        let Dispatched { rate: one, example, .. } = dispatched(1, few, conduct)?;
        let receiver = Receiver::start(ORIGINS, conduct)?;
        // Before and after: the machine may be faster at one time than at another.
        let plain = || plain::rate(receiver.addresses(), PER_ORIGIN, mails * ORIGINS, &example);
        let before = plain()?;
        let Dispatched { rate: reached, micros, .. } = dispatched(ORIGINS * PER_ORIGIN, mails, conduct)?;
        let plain = 2.0 / (before.recip() + plain()?.recip());
        let kept = plain::rate(&receiver.addresses()[..1], 1, few * ORIGINS, &example)?;
        let new = plain::one_by_one_rate(receiver.addresses(), few * ORIGINS, &example)?;
        let ratios = [reached / plain, reached / one, reached / new];
        to_plain.push(ratios[0]);
        to_one.push(ratios[1]);
        to_new.push(ratios[2]);
        println!(
            "{round:>6} {reached:10.0} {plain:10.0} {one:10.0} {kept:10.0} {new:10.0} {:8.2} {:8.1} {:8.1} {micros:9.1}",
            ratios[0], ratios[1], ratios[2]
        );
    }
    let medians = [&mut to_plain, &mut to_one, &mut to_new].map(|ratios| median(ratios));
    println!("{:>6} {:>63.2} {:8.1} {:8.1}", "median", medians[0], medians[1], medians[2]);
    println!("targets: {} of plain, {} times one connection at a time (1 new)", TARGETS.0, TARGETS.1);
    Ok(())
}

struct Dispatched {
    /// Events per second from the first answer to the last event, all of which wait in the outbox by then. Half as many were
    /// taken before: an endpoint has several attempts in flight from the eighth event on, and the more it took, the more it
    /// may be told that is not noted.
    rate: f64,
    /// Microseconds of the daemon's processor time for each of them.
    micros: f64,
    /// One of them.
    example: Example,
}

fn dispatched(in_flight: usize, mails: usize, conduct: Conduct) -> Result<Dispatched> {
    let receiver = Receiver::start(ORIGINS, conduct)?;
    let daemon = Daemon::start(&[
        "--webhook-allow",
        "127.0.0.0/8",
        "--webhook-timeout",
        "60s",
        "--webhook-per-origin-per-minute",
        "1000000",
        "--webhook-per-address-per-minute",
        "1000000",
        "--max-webhooks-per-recipient",
        &ORIGINS.to_string(),
        "--outbox-events",
        &MAILS.to_string(),
        "--webhook-in-flight",
        // Half of the places are for endpoints that were always prompt.
        &(2 * in_flight).to_string(),
    ])?;
    let to = "bench@example.test".to_owned();
    for address in receiver.addresses() {
        register(&daemon, &to, &format!("http://{address}/hook"))?;
    }
    // An endpoint has more than one turn at once when it has taken some events.
    let to = [to];
    let taken = ORIGINS * mails / 2;
    sender::send(daemon.smtp_address(), 16, &to, mails / 2, TEXT_OCTETS)?;
    receiver.wait_for(taken)?;
    receiver.hold();
    sender::send(daemon.smtp_address(), 16, &to, mails, TEXT_OCTETS)?;
    receiver.wait_for(taken + in_flight)?;
    let events = mails * ORIGINS;
    let (begun, worked) = (Instant::now(), daemon.processor_time()?);
    receiver.let_go();
    let last = receiver.wait_for(taken + events)?;
    if receiver.connections() > 2 * in_flight.max(ORIGINS) {
        println!("{:>6} connections for {in_flight} attempts in flight", receiver.connections());
    }
    let worked = daemon.processor_time()?.saturating_sub(worked);
    let rate = per_second(events - in_flight, last - begun);
    let micros = worked.as_secs_f64() * 1e6 / (rate * (last - begun).as_secs_f64());
    Ok(Dispatched { rate, micros, example: receiver.example() })
}
