//! The memory of requests that wait.

use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::figure;
use super::waiter::Waiter;
use crate::support::daemon::Daemon;
use crate::support::smtp::Session;
use crate::support::{Result, http};

pub(crate) fn run(requests: usize) -> Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    // A quarter of the connections never wait.
    let (places, connections) = (requests.to_string(), (requests * 4 / 3 + 1).to_string());
    let daemon = Daemon::start(&["--max-http-waiting", &places, "--max-http-connections", &connections])?;
    let before = daemon.memory_kb("VmRSS:");
    let mut waiters = Vec::with_capacity(requests);
    for number in 0..requests {
        let mut waiter = Waiter::connect(daemon.http_address(), &format!("w{number}@example.test"))?;
        waiter.ask()?;
        waiters.push(waiter);
    }
    until_waiting(&daemon, requests)?;
    let with = daemon.memory_kb("VmRSS:");
    let idle_from = daemon.processor_time()?;
    std::thread::sleep(Duration::from_secs(2));
    let idle = daemon.processor_time()?.saturating_sub(idle_from);
    let chosen = requests / 2;
    Session::open(daemon.smtp_address())?.deliver(&format!("w{chosen}@example.test"), 7, 1_000)?;
    let stored_at = Instant::now();
    let mail = waiters[chosen].mail()?;
    until_waiting(&daemon, requests - 1)?;
    println!("{requests} requests that wait, each over a connection of its own");
    let megabytes = |kb: u64| f64::from(u32::try_from(kb).unwrap_or(u32::MAX)) / 1024.0;
    figure("memory before", megabytes(before), "MB", "");
    figure("memory of the requests", megabytes(with.saturating_sub(before)), "MB", "at most 100 MB for 10,000");
    figure("processor time in 2 s without mail", idle.as_secs_f64() * 1e3, "ms", "");
    let late = mail.at.saturating_duration_since(stored_at);
    figure("the sender's 250 to the first octet", late.as_secs_f64() * 1e3, "ms", "");
    Ok(())
}

/// Waits until so many requests wait.
fn until_waiting(daemon: &Daemon, expected: usize) -> Result<()> {
    let line = format!("\ntempmail_http_requests_waiting {expected}\n");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        let (_, metrics) = http::ask(daemon.http_address(), "GET /metrics", "")?;
        if String::from_utf8_lossy(&metrics).contains(&line) {
            return Ok(());
        }
    }
    Err(format!("{expected} requests do not wait").into())
}
