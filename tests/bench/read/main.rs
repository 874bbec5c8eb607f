//! How fast mail is read, beside the daemon's own `/healthz` and other servers in the same run.
//!
//! `cargo bench --bench read -- [speed] [--peer NAME=PATH]… [--json]`: lists, single messages and polls over 16 connections,
//! in interleaved rounds. Peers are Inbucket and Mailpit, if they are on the PATH or given.
//!
//! `cargo bench --bench read -- stored [EMAILS] [--json]`: how lists, mail that arrives meanwhile, memory and the start fare
//! with so many Emails (200,000 if not said), ten in each mailbox, and pages of a mailbox that holds a tenth of them.
//!
//! Nothing fails for being slow.

mod clients;
mod peers;
mod speed;
mod stored;
#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use clients::Measured;
use support::Result;

const USAGE: &str =
    "usage: cargo bench --bench read -- [speed] [--peer NAME=PATH]... [--json] | stored [EMAILS] [--json]";
/// Emails of `stored` if not said.
const STORED: usize = 200_000;

fn main() -> ExitCode {
    match begin() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("read: {error}");
            ExitCode::FAILURE
        }
    }
}

fn begin() -> Result<()> {
    // Cargo adds --bench by itself.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench").peekable();
    let part = args.next_if(|arg| !arg.starts_with('-')).unwrap_or_else(|| "speed".to_owned());
    let stored = args.next_if(|arg| part == "stored" && !arg.starts_with('-'));
    let (mut peers, mut report) = (Vec::new(), Report { is_json: false });
    while let Some(arg) = args.next() {
        match (arg.as_str(), part.as_str()) {
            ("--json", _) => report.is_json = true,
            ("--peer", "speed") => peers.push(args.next().ok_or(USAGE)?),
            _ => return Err(USAGE.into()),
        }
    }
    match part.as_str() {
        "speed" => speed::run(&peers, report),
        "stored" => stored::run(stored.map_or(Ok(STORED), |emails| emails.parse().map_err(|_| USAGE))?, report),
        _ => Err(USAGE.into()),
    }
}

/// Prints figures as a table, or as a line of JSON each.
#[derive(Clone, Copy)]
struct Report {
    is_json: bool,
}

impl Report {
    /// What was measured at once, with the lowest and highest rate of its rounds, beside a reference.
    fn measured(self, name: &str, median: Measured, (low, high): (f64, f64), ratio: f64, target: &str) {
        let Measured { rate, p50, p99 } = median;
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        if self.is_json {
            println!(
                "{}",
                json!({"name": name, "rate": rate, "low": low, "high": high, "p50Millis": millis(p50),
                       "p99Millis": millis(p99), "ratio": ratio, "target": target})
            );
        } else {
            let (p50, p99) = (millis(p50), millis(p99));
            println!("{name:30} {rate:9.0} {low:8.0}-{high:<8.0} {p50:8.2} {p99:8.2} {ratio:7.2}  {target}");
        }
    }

    fn head(self) {
        if !self.is_json {
            println!(
                "{:30} {:>9} {:^17} {:>8} {:>8} {:>7}  target of the ratio",
                "", "per s", "spread", "p50 ms", "p99 ms", "ratio"
            );
        }
    }

    fn figure(self, name: &str, value: f64, unit: &str, target: &str) {
        if self.is_json {
            println!("{}", json!({"name": name, "value": value, "unit": unit, "target": target}));
        } else {
            println!("{name:48} {value:10.2} {unit:10} {target}");
        }
    }
}
