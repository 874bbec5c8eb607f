//! The speed of webhooks: events per second, the effect of bad receivers on others, and of failing webhooks on mail.
//!
//! Figures that are compared come from the same run. The receiver runs in this process. Slowness never fails the benchmark.

mod failing;
mod isolation;
mod plain;
mod receiver;
mod throughput;

use std::os::unix::net::UnixStream;
use std::time::Duration;

use clap::ValueEnum;

use crate::support::daemon::Daemon;
use crate::support::{Result, http};
use receiver::Conduct;

/// Two receivers answer at once: bare sockets and a real HTTP server. One takes as long as a disk write, and one as long as
/// a receiver that is not far away.
const RECEIVERS: [(&str, Conduct); 4] = [
    ("bare sockets answer at once", Conduct::Answers(Duration::ZERO)),
    ("axum answers at once", Conduct::Serves),
    ("bare sockets answer after 1 ms", Conduct::Answers(Duration::from_millis(1))),
    ("bare sockets answer after 10 ms", Conduct::Answers(Duration::from_millis(10))),
];

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Part {
    Throughput,
    Isolation,
    Failing,
}

/// Measures one part, or all of them.
pub(crate) fn run(part: Option<Part>) -> Result<()> {
    let is_wanted = |it| part.is_none_or(|part| part == it);
    if is_wanted(Part::Throughput) {
        RECEIVERS.into_iter().try_for_each(|(name, conduct)| throughput::run(name, conduct))?;
    }
    if is_wanted(Part::Isolation) {
        isolation::run()?;
    }
    if is_wanted(Part::Failing) {
        failing::run()?;
    }
    Ok(())
}

/// Registers a webhook with a secret, as the administrator: receivers that hang share what one client may have of slow calls.
fn register(daemon: &Daemon, recipient: &str, url: &str) -> Result<()> {
    let body = serde_json::json!({"recipient": recipient, "url": url, "secret": "benchmark"}).to_string();
    let control = UnixStream::connect(daemon.data_dir().join("tempmail.sock"))?;
    let (status, answer) = http::exchange(control, "control", "POST /api/webhooks", &body)?;
    if status == 201 { Ok(()) } else { Err(format!("{status}: {}", String::from_utf8_lossy(&answer)).into()) }
}
