//! What hostile clients cost honest ones, and what they cost in memory.
//!
//! Honest senders bring messages of 4 KB over kept connections. Their rate is measured alone and beside slow or idle
//! clients in turns, since no machine is the same for long, and the medians are compared. They come from 127.0.0.1, which is
//! exempt from the limits of a client, since no honest client sends as much. The crowd comes from a process
//! of its own and from many addresses of loopback, none of them exempt from a limit; who is ended by the daemon connects
//! again at its next turn. One client sends without a line's end, and the memory of the daemon is watched.
//!
//! Slow clients of HTTP are measured by how long they stay, and by how long others wait meanwhile.

mod crowd;
mod flood;
mod honest;
mod web;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use clap::ValueEnum;

use crate::support::Result;
use crate::support::daemon::Daemon;
use crowd::{Crowd, Habit};

pub(crate) use crowd::Orders;

/// How long a rate is measured at once, and how often, alone and beside a crowd.
const ROUND: Duration = Duration::from_secs(6);
const ROUNDS: usize = 3;
/// What the bounds on one address let through.
const PER_ADDRESS: usize = 50;
/// What the daemon may have beside idle clients, and what a line without an end may cost.
const MEMORY_MB_MAX: u64 = 300;
const GROWTH_KB_MAX: u64 = 1024;

/// Honest clients that a part has beside the others, and their connections.
const SPARE_PLACES: usize = 1_000;

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Part {
    Slow,
    Idle,
    /// More connections than one address may have.
    Address,
    /// A line without an end.
    Endless,
    /// Slow clients of HTTP.
    Web,
}

/// Measures one part, or all of them, with so many clients.
pub(crate) fn run(part: Option<Part>, clients: Option<usize>) -> Result<()> {
    let parts = part.as_ref().map_or_else(Part::value_variants, std::slice::from_ref);
    parts.iter().try_for_each(|part| part.run(clients))
}

impl Part {
    fn run(self, clients: Option<usize>) -> Result<()> {
        let clients = clients.unwrap_or(match self {
            Self::Slow => 2_000,
            Self::Idle => 10_000,
            Self::Web => 5_000,
            Self::Address | Self::Endless => 0,
        });
        let start = || -> Result<Daemon> {
            let places = (SPARE_PLACES + clients * 3 / 2).to_string();
            let connections = ["--max-smtp-connections", &places, "--max-http-connections", &places];
            Daemon::start(&[&connections[..], &["--limit-exempt", "127.0.0.1/32"]].concat())
        };
        match self {
            Self::Slow => beside(&start()?, Habit::Slow, clients),
            Self::Idle => beside(&start()?, Habit::Idle, clients),
            Self::Address => turned_away(start()?.smtp_address()),
            Self::Web => web::slow(start()?.http_address(), clients),
            Self::Endless => flood::Place::ALL.into_iter().try_for_each(|place| endless(&start()?, place)),
        }
    }
}

fn endless(daemon: &Daemon, place: flood::Place) -> Result<()> {
    let grown_kb = flood::endless(daemon, place)?;
    let verdict = verdict(grown_kb < GROWTH_KB_MAX);
    println!("1 GB without a line's end as {place}: {grown_kb} KB more; target of {GROWTH_KB_MAX} KB {verdict}");
    Ok(())
}

/// The rate of honest senders alone and beside a crowd.
fn beside(daemon: &Daemon, habit: Habit, clients: usize) -> Result<()> {
    let server = daemon.smtp_address();
    let rss_mb = || daemon.memory_kb("VmRSS:") / 1024;
    // What is made once is not measured.
    honest::rate(server, ROUND / 3)?;
    let (mut alone, mut crowded, mut memory_mb, mut again) = (Vec::new(), Vec::new(), 0, 0);
    for _ in 0..ROUNDS {
        alone.push(honest::rate(server, ROUND)?);
        let crowd = Crowd::gather(habit, clients, server)?;
        crowded.push(honest::rate(server, ROUND)?);
        memory_mb = memory_mb.max(rss_mb());
        again += crowd.disperse()?;
        eprintln!("alone {alone:.0?}, beside the crowd {crowded:.0?} messages/s");
    }
    let (alone, crowded) = (median(alone), median(crowded));
    let (ratio, target) = (crowded / alone, habit.target());
    println!(
        "{clients} {habit} clients: {crowded:.0} messages/s, {alone:.0}/s alone, ratio {ratio:.2}; target of {target} {}",
        verdict(ratio >= target)
    );
    println!("  memory {memory_mb} MB; target of {MEMORY_MB_MAX} MB {}", verdict(memory_mb < MEMORY_MB_MAX));
    println!("  {again} were ended and connected again");
    Ok(())
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

const fn verdict(is_reached: bool) -> &'static str {
    if is_reached { "reached" } else { "missed" }
}

/// The connection beyond those that an address may have gets 421, and another address is served.
fn turned_away(server: SocketAddr) -> Result<()> {
    let greedy = Ipv4Addr::new(127, 200, 0, 1);
    let held = (0..PER_ADDRESS).map(|_| crowd::connect(greedy, server)).collect::<Result<Vec<_>>>()?;
    for stream in &held {
        if !crowd::reply(stream)?.starts_with("220") {
            return Err("one within the limit is not greeted".into());
        }
    }
    let beyond = crowd::reply(&crowd::connect(greedy, server)?)?;
    let other = crowd::reply(&crowd::connect(Ipv4Addr::new(127, 200, 0, 2), server)?)?;
    println!("connection {} of one address: {beyond}; another address: {other}", held.len() + 1);
    if beyond.starts_with("421") && other.starts_with("220") { Ok(()) } else { Err("not as it should be".into()) }
}
