//! The speed of webhooks: events per second, the effect of bad receivers on others, and of failing webhooks on mail.
//!
//! Figures that are compared come from the same run. The receiver runs in this process. Slowness never fails the benchmark.
//!
//! `cargo bench --bench webhooks -- [throughput|isolation|failing]` runs one part, or all three without an argument.

mod failing;
mod isolation;
mod plain;
mod receiver;
#[path = "../support/mod.rs"]
mod support;
mod throughput;

use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

use receiver::Conduct;
use support::Result;
use support::daemon::Daemon;
use support::http;

/// Two receivers answer at once: bare sockets and a real HTTP server. One takes as long as a disk write, and one as long as
/// a receiver that is not far away.
const RECEIVERS: [(&str, Conduct); 4] = [
    ("bare sockets answer at once", Conduct::Answers(Duration::ZERO)),
    ("axum answers at once", Conduct::Serves),
    ("bare sockets answer after 1 ms", Conduct::Answers(Duration::from_millis(1))),
    ("bare sockets answer after 10 ms", Conduct::Answers(Duration::from_millis(10))),
];

fn main() -> ExitCode {
    // Cargo adds --bench by itself.
    let parts: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match run(&parts) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("webhooks: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(parts: &[String]) -> Result<()> {
    let names = ["throughput", "isolation", "failing"];
    if parts.iter().any(|part| !names.contains(&part.as_str())) {
        return Err(format!("usage: cargo bench --bench webhooks -- [{}]", names.join("|")).into());
    }
    let is_wanted = |name: &str| parts.is_empty() || parts.iter().any(|part| part == name);
    if is_wanted("throughput") {
        RECEIVERS.into_iter().try_for_each(|(name, conduct)| throughput::run(name, conduct))?;
    }
    if is_wanted("isolation") {
        isolation::run()?;
    }
    if is_wanted("failing") {
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
