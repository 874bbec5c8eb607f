//! How many events a second reach a receiver, and what each costs the daemon, beside plain POSTs to it and beside what the
//! daemon made of it before its sending was made anew.

use std::time::Instant;

use super::plain;
use super::receiver::{Conduct, Example, Receiver};
use super::sender;
use super::{median, per_second, register};
use crate::support::Result;
use crate::support::daemon::Daemon;

const ORIGINS: usize = 16;
/// Attempts in flight at one origin, as the dispatcher permits.
const PER_ORIGIN: usize = 4;
const ROUNDS: usize = 3;
/// Each makes an event per origin. So many that what is special at the start and at the end counts little.
const MAILS: usize = 4_000;
/// For receivers that take their time.
const MAILS_OF_SLOW: usize = 1_000;
const TEXT_OCTETS: usize = 1024;
/// Events a second that are enough on two cores, shared with the receiver: SMTP brings 8,000 mails.
const TARGET: f64 = 5_000.0;
/// Events a second, and microseconds for each, of the pacing that this one replaced, where the receiver answers at once.
const BEFORE: (f64, f64) = (72_500.0, 17.5);

/// Measures with such a receiver, and prints.
pub(crate) fn run(name: &str, conduct: Conduct) -> Result<()> {
    println!("\nevents per second over {ORIGINS} origins: {name}");
    println!("{:>6} {:>10} {:>9} {:>10} {:>8}", "round", "tempmail", "us/event", "plain", "/ plain");
    let (mut rates, mut costs) = (Vec::new(), Vec::new());
    let is_slow = matches!(conduct, Conduct::Answers(after) if !after.is_zero());
    for round in 1..=ROUNDS {
        let mails = if is_slow { MAILS_OF_SLOW } else { MAILS };
        let Dispatched { rate, micros, example } = dispatched(mails, conduct)?;
        let receiver = Receiver::start(ORIGINS, conduct)?;
        let plain = plain::rate(receiver.addresses(), PER_ORIGIN, mails * ORIGINS, &example)?;
        println!("{round:>6} {rate:10.0} {micros:9.1} {plain:10.0} {:8.2}", rate / plain);
        rates.push(rate);
        costs.push(micros);
    }
    let (rate, cost) = (median(&mut rates), median(&mut costs));
    println!("{:>6} {rate:10.0} {cost:9.1}   target of {TARGET:.0} {}", "median", verdict(rate >= TARGET));
    if !is_slow {
        println!(
            "{:>6} {:10.0} {:9.1}   with bodies and signatures shared between webhooks, on another day",
            "before", BEFORE.0, BEFORE.1
        );
    }
    Ok(())
}

const fn verdict(is_reached: bool) -> &'static str {
    if is_reached { "reached" } else { "missed" }
}

struct Dispatched {
    /// Events per second from the first answer to the last event, all of which wait in the outbox by then.
    rate: f64,
    /// Microseconds of the daemon's processor time for each of them.
    micros: f64,
    /// One of them.
    example: Example,
}

fn dispatched(mails: usize, conduct: Conduct) -> Result<Dispatched> {
    let receiver = Receiver::start(ORIGINS, conduct)?;
    let daemon = Daemon::start(&[
        "--webhook-allow",
        "127.0.0.0/8",
        "--webhook-timeout",
        "60s",
        "--webhook-per-address-per-minute",
        "1000000",
        "--max-webhooks-per-recipient",
        &ORIGINS.to_string(),
        "--outbox-events",
        &MAILS.to_string(),
    ])?;
    let to = "bench@example.test".to_owned();
    for address in receiver.addresses() {
        register(&daemon, &to, &format!("http://{address}/hook"))?;
    }
    // A webhook may hold more than a few events when its receiver has taken one.
    let to = [to];
    sender::send(daemon.smtp_address(), 1, &to, 1, TEXT_OCTETS)?;
    receiver.wait_for(ORIGINS)?;
    std::thread::sleep(std::time::Duration::from_millis(500));
    receiver.hold();
    sender::send(daemon.smtp_address(), 16, &to, mails, TEXT_OCTETS)?;
    let in_flight = ORIGINS * PER_ORIGIN;
    receiver.wait_for(ORIGINS + in_flight)?;
    let events = mails * ORIGINS;
    let (begun, worked) = (Instant::now(), daemon.processor_time()?);
    receiver.let_go();
    let last = receiver.wait_for(ORIGINS + events)?;
    if receiver.connections() > 2 * in_flight {
        println!("{:>6} connections for {in_flight} attempts in flight", receiver.connections());
    }
    let worked = daemon.processor_time()?.saturating_sub(worked);
    let rate = per_second(events - in_flight, last - begun);
    let micros = worked.as_secs_f64() * 1e6 / (rate * (last - begun).as_secs_f64());
    Ok(Dispatched { rate, micros, example: receiver.example() })
}
