//! What hostile clients cost honest ones, and what they cost in memory.
//!
//! Honest senders bring messages of 4 KB over kept connections, and their rate is measured alone and beside slow or idle
//! clients, which come from a process of their own and from many addresses of loopback, none of them exempt from a limit.
//! Then one client sends without a line's end, and the memory of the daemon is watched.
//!
//! `cargo bench --bench abuse -- [SLOW] [IDLE]`: how many clients of either kind (2,000 and 10,000 if not said). What is
//! wrong fails; nothing fails for being slow.

mod crowd;
mod flood;
mod honest;
#[allow(dead_code, reason = "the other benchmarks use all of it")]
#[path = "../support/mod.rs"]
mod support;

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use crowd::{Crowd, Habit};
use support::Result;
use support::daemon::Daemon;

const SLOW: usize = 2_000;
const IDLE: usize = 10_000;
/// How long a rate is measured.
const ROUND: Duration = Duration::from_secs(6);
/// What the bounds on one address let through.
const PER_ADDRESS: usize = 50;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let outcome = match crowd::Orders::parse(&args) {
        Some(orders) => orders.obey(),
        None => numbers(&args).and_then(|(slow, idle)| run(slow, idle)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("abuse: {error}");
            ExitCode::FAILURE
        }
    }
}

fn numbers(args: &[String]) -> Result<(usize, usize)> {
    let number = |at: usize, usual: usize| args.get(at).map_or(Ok(usual), |text| text.parse());
    Ok((number(0, SLOW)?, number(1, IDLE)?))
}

fn run(slow: usize, idle: usize) -> Result<()> {
    let places = (slow.max(idle) * 3 / 2).to_string();
    let daemon = Daemon::start(&["--max-smtp-connections", &places, "--limit-exempt", "none"])?;
    let server = daemon.smtp_address();
    let mut alone = honest::rate(server, ROUND)?;
    println!("{alone:.0} messages/s alone, {} KB of memory", daemon.memory_kb("VmRSS:")?);
    for (habit, clients, target) in [(Habit::Slow, slow, 0.8), (Habit::Idle, idle, 0.9)] {
        let crowd = Crowd::gather(habit, clients, server)?;
        let beside = honest::rate(server, ROUND)?;
        let memory_mb = daemon.memory_kb("VmRSS:")? / 1024;
        let left = crowd.disperse()?;
        if left != clients {
            return Err(format!("of {clients} {habit} clients {left} were served to the end").into());
        }
        let after = honest::rate(server, ROUND)?;
        let ratio = beside / f64::midpoint(alone, after);
        let verdict = if ratio >= target { "reached" } else { "missed" };
        println!(
            "{clients} {habit} clients: {beside:.0}/s between {alone:.0}/s and {after:.0}/s alone, ratio {ratio:.2}, {memory_mb} MB; target of {target} {verdict}"
        );
        alone = after;
    }
    turned_away(server)?;
    for place in flood::Place::ALL {
        let grown_kb = flood::endless(&daemon, place)?;
        let verdict = if grown_kb < 256 { "reached" } else { "missed" };
        println!("1 GB without a line's end as {place}: {grown_kb} KB more memory; target of 256 KB {verdict}");
    }
    Ok(())
}

/// The connection beyond those that an address may have gets 421, and another address a greeting.
fn turned_away(server: SocketAddr) -> Result<()> {
    let greedy = Ipv4Addr::new(127, 200, 0, 1);
    let held = (0..PER_ADDRESS).map(|_| crowd::connect(greedy, server)).collect::<Result<Vec<_>>>()?;
    let beyond = crowd::greeting(&crowd::connect(greedy, server)?)?;
    let other = crowd::greeting(&crowd::connect(Ipv4Addr::new(127, 200, 0, 2), server)?)?;
    println!("connection {} of one address: {beyond}; another address: {other}", held.len() + 1);
    if beyond.starts_with("421") && other.starts_with("220") { Ok(()) } else { Err("not as it should be".into()) }
}
