//! What hostile clients cost honest ones, and what they cost in memory.
//!
//! Honest senders bring messages of 4 KB over kept connections. Their rate is measured alone and beside slow or idle
//! clients in turns, since no machine is the same for long, and the medians are compared. They come from 127.0.0.1, which is
//! exempt from the limits of a client, since no honest client sends as much. The crowd comes from a process
//! of its own and from many addresses of loopback, none of them exempt from a limit; who is ended by the daemon connects
//! again at its next turn. One client sends without a line's end, and the memory of the daemon is watched.
//!
//! Slow clients of HTTP are measured by how long they stay, and by how long others wait meanwhile.
//!
//! `cargo bench --bench abuse -- [PART [CLIENTS]]`: `slow`, `idle`, `address`, `endless` or `web`, all five if none is named,
//! and how many slow (2,000 if not said) or idle (10,000) clients, or slow clients of HTTP (5,000) there are. What is wrong fails; nothing fails for being slow.

mod crowd;
mod flood;
mod honest;
#[path = "../support/mod.rs"]
mod support;
mod web;

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use crowd::{Crowd, Habit};
use support::Result;
use support::daemon::Daemon;

/// How long a rate is measured at once, and how often, alone and beside a crowd.
const ROUND: Duration = Duration::from_secs(6);
const ROUNDS: usize = 3;
/// What the bounds on one address let through.
const PER_ADDRESS: usize = 50;
/// What the daemon may have beside idle clients, and what a line without an end may cost.
const MEMORY_MB_MAX: u64 = 300;
const GROWTH_KB_MAX: u64 = 1024;

/// What is measured at once.
#[derive(Clone, Copy)]
enum Part {
    Crowd(Habit, usize),
    Address,
    Endless(flood::Place),
    Web(usize),
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let outcome = match crowd::Orders::parse(&args) {
        Some(orders) => orders.obey(),
        None => parts(&args).and_then(|parts| parts.into_iter().try_for_each(run)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("abuse: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parts(args: &[String]) -> Result<Vec<Part>> {
    let crowds = [Part::Crowd(Habit::Slow, 2_000), Part::Crowd(Habit::Idle, 10_000)];
    let endless = flood::Place::ALL.map(Part::Endless);
    let web = Part::Web(5_000);
    let clients = args.get(1).map(|text| text.parse()).transpose()?;
    let crowd = |part: Part| match (part, clients) {
        (Part::Crowd(habit, _), Some(clients)) => Part::Crowd(habit, clients),
        (Part::Web(_), Some(clients)) => Part::Web(clients),
        (part, _) => part,
    };
    let chosen = match args.first().map(String::as_str) {
        None => return Ok(crowds.into_iter().chain([Part::Address]).chain(endless).chain([web]).collect()),
        Some("endless") => return Ok(endless.into()),
        Some("slow") => crowds[0],
        Some("idle") => crowds[1],
        Some("address") => Part::Address,
        Some("web") => web,
        Some(other) => return Err(format!("{other} is none of slow, idle, address, endless, web").into()),
    };
    Ok(vec![crowd(chosen)])
}

fn run(part: Part) -> Result<()> {
    let clients = if let Part::Crowd(_, clients) | Part::Web(clients) = part { clients } else { 0 };
    let places = (1_000 + clients * 3 / 2).to_string();
    let connections = ["--max-smtp-connections", &places, "--max-http-connections", &places];
    let daemon = Daemon::start(&[&connections[..], &["--limit-exempt", "127.0.0.1/32"]].concat())?;
    match part {
        Part::Crowd(habit, clients) => beside(&daemon, habit, clients),
        Part::Address => turned_away(daemon.smtp_address()),
        Part::Web(clients) => web::slow(daemon.http_address(), clients),
        Part::Endless(place) => {
            let grown_kb = flood::endless(&daemon, place)?;
            let verdict = verdict(grown_kb < GROWTH_KB_MAX);
            println!(
                "1 GB without a line's end as {place}: {grown_kb} KB more; target of {GROWTH_KB_MAX} KB {verdict}"
            );
            Ok(())
        }
    }
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
