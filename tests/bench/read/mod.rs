//! How fast mail is read, beside the daemon's own `/healthz` and other servers in the same run.

mod clients;
mod peers;
mod speed;
mod stored;

use std::time::Duration;

use serde_json::json;

use crate::support::Result;
use clients::Measured;

/// Measures lists, single messages and polls, in interleaved rounds.
pub(crate) fn speed(peers: &[String], is_json: bool) -> Result<()> {
    speed::run(peers, Report { is_json })
}

/// Measures how lists, mail that arrives meanwhile, memory and the start fare with so many Emails, ten in each mailbox, and
/// pages of a mailbox that holds a tenth of them.
pub(crate) fn stored(emails: usize, is_json: bool) -> Result<()> {
    stored::run(emails, Report { is_json })
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
