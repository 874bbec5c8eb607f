//! How fast mail comes in, beside the ceiling of the generator on the same machine in the same run.
//!
//! Postfix's smtp-source sends messages of 4 KB over 20 sessions to Postfix's smtp-sink, which throws everything away,
//! and to the daemon, which answers 250 when the message is durable; with kept connections and with a new connection for
//! each message, in interleaved rounds, because the speed of a shared machine changes from minute to minute. The daemon's
//! processor time for each message depends less on what else runs there, and the time of an fdatasync after 4 KB, measured
//! before each round, says what the disk takes. After each round the daemon is asked over HTTP whether it has every message.

mod disk;
mod pauses;
mod postfix;
mod sink;

use std::time::Duration;

use serde_json::json;

use crate::support::daemon::Daemon;
use crate::support::{Result, figures, http, programs};
use postfix::{Connections, Load};
use sink::Sink;

pub(crate) use pauses::run as expiry;
pub(crate) use postfix::Mailboxes;

const ROUNDS: usize = 3;

/// Sends so many messages in each round.
pub(crate) fn run(messages: usize, mailboxes: Mailboxes, is_json: bool) -> Result<()> {
    let (Some(source), Some(sink)) = (programs::installed("smtp-source"), programs::installed("smtp-sink")) else {
        eprintln!("skipped: needs smtp-source and smtp-sink, which come with Postfix: apt-get install postfix");
        return Ok(());
    };
    let sink = Sink::start(&sink)?;
    let daemon = Daemon::start(&[])?;
    if !is_json {
        println!("{messages} messages of 4 KB a round, 20 sessions, data in {}", daemon.data_dir().display());
        println!(
            "{:16} {:>6} {:>12} {:>12} {:>6} {:>8} {:>8}",
            "connections", "round", "smtp-sink/s", "tempmail/s", "ratio", "us/mail", "us/sync"
        );
    }
    let mut results = [Vec::new(), Vec::new()];
    let mut rounds_sent = 0;
    for round in 1..=ROUNDS {
        for (connections, results) in [Connections::Kept, Connections::New].into_iter().zip(&mut results) {
            let load = Load { messages, connections, mailboxes };
            let sync_micros = disk::sync_micros(&daemon.data_dir())?;
            let ceiling = rate(messages, load.send(&source, sink.address())?);
            let before = daemon.processor_time()?;
            let reached = rate(messages, load.send(&source, daemon.smtp_address())?);
            let processor_time = daemon.processor_time()?.saturating_sub(before);
            rounds_sent += 1;
            expect_total(&daemon, &mailboxes.addresses(messages), (messages * rounds_sent) as u64)?;
            let micros = 1_000_000.0 / rate(messages, processor_time);
            let measured = Measured { ceiling, reached, ratio: reached / ceiling, micros, sync_micros };
            measured.print(connections, &round.to_string(), is_json);
            results.push(measured);
        }
    }
    for (connections, results) in [Connections::Kept, Connections::New].into_iter().zip(&results) {
        let median = Measured::median(results);
        median.print(connections, "median", is_json);
    }
    Ok(())
}

/// Fails unless the mailboxes of `addresses` hold `total` messages together.
fn expect_total(daemon: &Daemon, addresses: &[String], total: u64) -> Result<()> {
    let mut found = 0;
    for address in addresses {
        let (status, body) =
            http::ask(daemon.http_address(), &format!("GET /api/mail/messages?to={address}&limit=1"), "")?;
        let page: serde_json::Value = serde_json::from_slice(&body)?;
        found += page["total"].as_u64().ok_or_else(|| format!("{status} for {address}: {page}"))?;
    }
    if found == total { Ok(()) } else { Err(format!("{total} messages were sent, {found} are there").into()) }
}

/// Messages per second.
fn rate(messages: usize, time: Duration) -> f64 {
    let messages = u32::try_from(messages).map_or(f64::INFINITY, f64::from);
    messages / time.as_secs_f64()
}

/// One round, in messages per second.
#[derive(Clone, Copy)]
struct Measured {
    ceiling: f64,
    reached: f64,
    ratio: f64,
    /// The daemon's processor time for each message in microseconds.
    micros: f64,
    /// What an fdatasync takes by itself in microseconds.
    sync_micros: f64,
}

impl Measured {
    fn print(&self, connections: Connections, round: &str, is_json: bool) {
        let Self { ceiling, reached, ratio, micros, sync_micros } = self;
        let name = connections.name();
        if is_json {
            let figures = json!({"connections": name, "round": round, "smtpSinkRate": ceiling, "rate": reached,
                                 "ratio": ratio, "microsPerMail": micros, "microsPerSync": sync_micros});
            println!("{figures}");
        } else {
            println!("{name:16} {round:>6} {ceiling:12.0} {reached:12.0} {ratio:6.2} {micros:8.0} {sync_micros:8.0}");
        }
    }

    /// The median of each column: of the ratios too, since each compares two neighbours in time.
    fn median(rounds: &[Self]) -> Self {
        let of = |column: fn(&Self) -> f64| {
            let mut values: Vec<f64> = rounds.iter().map(column).collect();
            figures::median(&mut values)
        };
        Self {
            ceiling: of(|m| m.ceiling),
            reached: of(|m| m.reached),
            ratio: of(|m| m.ratio),
            micros: of(|m| m.micros),
            sync_micros: of(|m| m.sync_micros),
        }
    }
}
