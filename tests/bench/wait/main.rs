//! How soon a request that waits gets its mail, and what requests that wait cost.
//!
//! `cargo bench --bench wait -- [latency]`: 500 mails a second to 50 mailboxes, each with a request that waits. The time is
//! from the sender's 250 to the waiter's first octet, beside one round trip over loopback.
//!
//! `cargo bench --bench wait -- memory [REQUESTS]`: the memory of so many requests that wait (10,000 if not said), and how
//! soon one of them gets its mail.
//!
//! Nothing fails for being slow.

mod latency;
mod memory;
#[path = "../support/mod.rs"]
mod support;
mod waiter;

use std::process::ExitCode;

use support::Result;

const USAGE: &str = "usage: cargo bench --bench wait -- [latency] | memory [REQUESTS]";
/// Requests of `memory` if not said.
const REQUESTS: usize = 10_000;

fn main() -> ExitCode {
    match begin() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wait: {error}");
            ExitCode::FAILURE
        }
    }
}

fn begin() -> Result<()> {
    // Cargo adds --bench by itself.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["latency"] => latency::run(),
        ["memory"] => memory::run(REQUESTS),
        ["memory", requests] => memory::run(requests.parse().map_err(|_| USAGE)?),
        _ => Err(USAGE.into()),
    }
}

/// Prints a figure.
fn figure(name: &str, value: f64, unit: &str, target: &str) {
    println!("{name:48} {value:10.3} {unit:10} {target}");
}
