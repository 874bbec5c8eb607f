//! `tempmail doctor`: checks of a service that runs, and of the machine below it. It changes nothing.
//!
//! Each check asks, and a pure function judges. What `serve` refuses or warns about at its start is no check here. The checks
//! of names, of DNS and of the certificate, are in [`names`].

mod names;

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Context;
use super::listener::reachable;
use super::output::{Column, Format, Kind, time};
use crate::client::{Client, Destination, Failure, text, texts};
use crate::config::{self, Config, SettingInEffect, Sources, StoreLocation};
use crate::error::{Error, Exit};

/// How long the daemon may take for one answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// How long a check may take, but that of all domains.
const CHECK_WITHIN: Duration = Duration::from_secs(10);
const DOMAINS_WITHIN: Duration = Duration::from_secs(40);
/// How long a listener of this machine may take to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// How many writes to the disk are measured; the median counts.
const WRITES: usize = 5;
const WRITE_BYTES: usize = 4096;
/// A disk that takes longer makes senders wait.
const SYNC_SLOW: Duration = Duration::from_millis(100);
const SYNC_TOO_SLOW: Duration = Duration::from_secs(2);
/// The member of a row with what was found and what to do, behind the name in a narrow table.
const BOTH: &str = "both";
/// A narrower table has no room for a column of names: the name stands before what was found.
const NAMES_WIDTH_MIN: u16 = 40;
/// The columns for people.
const SHOWN: [Column; 3] =
    [Kind::State.column("VERDICT", "verdict"), Kind::Text.column("CHECK", "check"), Kind::Prose.column("FOUND", BOTH)];
const NARROW: [Column; 2] = [SHOWN[0], SHOWN[2]];
/// The fields of a line for programs.
const FIELDS: [Column; 4] = [
    Kind::State.column("VERDICT", "verdict"),
    Kind::Id.column("CHECK", "check"),
    Kind::Text.column("FOUND", "found"),
    Kind::Text.column("ADVICE", "advice"),
];

/// Check the service, its settings and this machine
///
/// One line per check: ok, warning or failure, and what to do. Changes nothing, needs no root, and every check ends in time.
/// Exit code 8 if there is a failure, 6 if no service runs: `tempmail serve` says what keeps it from starting.
/// In a pipe a line has four fields: verdict, check, what was found, what to do.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail doctor
  sudo -u tempmail tempmail doctor --config /etc/tempmail/config.toml
  tempmail doctor --json | jq '.findings[] | select(.verdict != \"ok\")'")]
pub(super) struct Doctor {}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    /// The service works, but perhaps not as was meant, or it can't be known.
    Warning,
    /// The service does not work, or soon will not.
    Failure,
}

/// A line of the result.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Finding {
    /// The check: one word.
    check: &'static str,
    verdict: Verdict,
    /// What was found.
    found: String,
    /// What to do, in one sentence; nothing where all is well.
    advice: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, found: found.into(), advice: None }
    }

    fn warning(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Warning, found: found.into(), advice: Some(advice.into()) }
    }

    fn failure(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { verdict: Verdict::Failure, ..Self::warning(check, found, advice) }
    }
}

impl Doctor {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let Destination::Local(sources) = cx.destination()? else {
            return Err(Error::usage("doctor checks the service on this machine; --server names one elsewhere")
                .hint("run it there, or use `tempmail status --server URL`"));
        };
        let findings = examine(cx, &sources, cx.client().await?).await;
        let is_ok = findings.iter().all(|finding| finding.verdict != Verdict::Failure);
        let is_narrow = cx.style.width.is_some_and(|width| width < NAMES_WIDTH_MIN);
        let row = |finding: &Finding| {
            let name = if is_narrow { format!("{}: ", finding.check) } else { String::new() };
            let advice = finding.advice.as_ref().map_or_else(String::new, |advice| format!("; {advice}"));
            let mut row = json!(finding);
            row[BOTH] = [&name, finding.found.as_str(), &advice].concat().into();
            row
        };
        let is_table = cx.style.of_list() == Format::Table;
        let rows: Vec<Value> =
            findings.iter().map(|finding| if is_table { row(finding) } else { json!(finding) }).collect();
        let columns = match (is_table, is_narrow) {
            (true, true) => &NARROW[..],
            (true, false) => &SHOWN,
            (false, _) => &FIELDS,
        };
        cx.list(columns, &rows, &json!({ "ok": is_ok, "findings": findings }))?;
        if is_ok { Ok(()) } else { Err(Error::ending(Exit::CheckFailed)) }
    }
}

/// All checks, those that wait at once; the findings in a fixed order. Without an answer of the daemon only the disk is left.
async fn examine(cx: &Context, sources: &Sources, client: &Client) -> Vec<Finding> {
    let (loaded, mut findings) = settings(sources);
    let told = timeout(ANSWER_WITHIN, async {
        tokio::try_join!(client.status(), client.get("/api/admin/config", &[]), client.get("/api/admin/domains", &[]))
    });
    let timed_out = |_| Err(client.transport().failure(Failure::TimedOut));
    let (status, in_effect, domains): (Value, Vec<SettingInEffect>, Vec<Value>) =
        match told.await.unwrap_or_else(timed_out) {
            Ok(told) => told,
            Err(error) => {
                let advice = "look at its log, and restart it if it hangs";
                findings.push(Finding::failure("daemon", error.to_string(), advice));
                findings.extend(if let Some(config) = loaded { storage(config, false).await } else { Vec::new() });
                return findings;
            }
        };
    findings.extend(daemon(&status));
    let config = Config::from_in_effect(&in_effect);
    let is_full = status["cause"] == "storage_full";
    let (listeners, storage, dns, domains) = tokio::join!(
        listeners(&status),
        storage(config.clone(), is_full),
        within(CHECK_WITHIN, "resolver", names::resolver(&config)),
        within(DOMAINS_WITHIN, "domain", names::domains(client, &domains)),
    );
    findings.extend([listeners, storage, dns, domains].into_iter().flatten());
    findings.push(names::certificate(&status["tls"], &config, cx.now()));
    findings
}

/// The findings of a check, or that it has none in time.
async fn within(limit: Duration, check: &'static str, findings: impl Future<Output = Vec<Finding>>) -> Vec<Finding> {
    timeout(limit, findings).await.unwrap_or_else(|_| {
        let found = format!("there is no result after {} s", limit.as_secs());
        vec![Finding::failure(check, found, "what it asks for hangs; look at that part of the machine")]
    })
}

/// What a start would be told by flags, environment and file.
fn settings(sources: &Sources) -> (Option<Config>, Vec<Finding>) {
    match config::load(sources) {
        Ok(loaded) => {
            let found = match &loaded.file {
                Some(file) => format!("{} is valid", file.display()),
                None => "there is no configuration file, so the defaults hold".to_owned(),
            };
            let warnings = loaded.warnings.iter().map(ToString::to_string);
            let warnings = warnings.map(|text| Finding::warning("settings", text, "unset it or mend it"));
            (Some(loaded.config), std::iter::once(Finding::ok("settings", found)).chain(warnings).collect())
        }
        Err(error) => {
            let advice = "mend it; `tempmail config check FILE` checks a file";
            let problems = error.problems.iter().map(ToString::to_string);
            (None, problems.map(|text| Finding::failure("settings", text, advice)).collect())
        }
    }
}

/// Whether the daemon takes mail, and whether it is of this version.
fn daemon(status: &Value) -> [Finding; 2] {
    let accepting = if status["acceptsMail"] == false {
        let cause = status["cause"].as_str().map_or_else(String::new, |cause| format!(": {cause}"));
        Finding::failure("daemon", format!("it runs and accepts no mail{cause}"), "its log says more")
    } else {
        Finding::ok("daemon", "it runs and accepts mail")
    };
    let (of_daemon, of_binary) = (text(status, "version"), env!("CARGO_PKG_VERSION"));
    let version = if of_daemon == of_binary {
        Finding::ok("version", format!("daemon and this program are both {of_binary}"))
    } else {
        let found = format!("the daemon is {of_daemon}, this program is {of_binary}");
        Finding::warning("version", found, "restart the daemon with the program that is installed")
    };
    [accepting, version]
}

/// Whether the daemon accepts connections where it says that it listens.
async fn listeners(status: &Value) -> Vec<Finding> {
    const LISTS: [(&str, &str); 6] = [
        ("SMTP", "smtpListen"),
        ("SMTPS", "smtpsListen"),
        ("LMTP", "lmtpListen"),
        ("HTTP", "httpListen"),
        ("HTTPS", "httpsListen"),
        ("metrics", "metricsListen"),
    ];
    let of = |(service, member)| texts(&status[member]).map(move |text| accepts(service, text));
    join_all(LISTS.into_iter().flat_map(of)).await
}

/// Connects and says nothing.
async fn accepts(service: &'static str, text: &str) -> Finding {
    let connect = async {
        match text.parse::<SocketAddr>() {
            Ok(address) => TcpStream::connect(reachable(address)).await.map(drop),
            Err(_) => UnixStream::connect(text).await.map(drop),
        }
    };
    let connected = timeout(CONNECT_WITHIN, connect).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let advice = "restart the daemon; a firewall on this machine may also be in the way";
    match connected {
        Ok(()) => Finding::ok("listener", format!("{service} on {text} is the daemon's and accepts connections")),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let advice = "run `tempmail doctor` as a user that may open the socket";
            Finding::warning("listener", format!("{service} on {text}: {error}"), advice)
        }
        Err(error) => Finding::failure("listener", format!("{service} on {text}: {error}"), advice),
    }
}

/// The checks of the data directory. They block as long as its disk takes.
async fn storage(config: Config, is_full: bool) -> Vec<Finding> {
    // A check that panics has found nothing, and the panic is said.
    let checks = async { spawn_blocking(move || data_dir(&config, is_full)).await.unwrap_or_default() };
    within(CHECK_WITHIN, "disk", checks).await
}

/// The data directory: who may enter it, how much room it has, and how long its disk takes.
fn data_dir(config: &Config, is_full: bool) -> Vec<Finding> {
    let dir = &config.data_dir;
    let mode = match std::fs::metadata(dir) {
        Ok(metadata) => permissions(dir, metadata.mode()),
        Err(error) => {
            return vec![Finding::failure("data-dir", format!("{}: {error}", dir.display()), "see that it is there")];
        }
    };
    // With a cluster mail is elsewhere, and the few small files here need neither room nor speed.
    if config.store.location != StoreLocation::Embedded {
        return vec![mode];
    }
    let space = match rustix::fs::statvfs(dir) {
        Ok(of) => {
            let bytes = |blocks: u64| blocks.saturating_mul(of.f_frsize);
            space(dir, bytes(of.f_bavail), bytes(of.f_blocks), is_full)
        }
        Err(error) => Finding::warning("space", format!("{}: {error}", dir.display()), "look at the file system"),
    };
    let disk = match sync_time(dir) {
        Ok(time) => sync(time),
        Err(error) => {
            let found = format!("a file in {} cannot be written: {error}", dir.display());
            Finding::failure("disk", found, "see that the disk has room and can be written")
        }
    };
    vec![mode, space, disk]
}

/// A start sets the mode, so a wider one under a daemon is somebody's doing, and nothing else says it.
fn permissions(dir: &Path, mode: u32) -> Finding {
    let (shown, mode) = (dir.display(), mode & 0o777);
    if mode & 0o077 != 0 {
        let found = format!("{shown} has mode {mode:03o}: other users may look into it");
        return Finding::failure("data-dir", found, format!("run chmod 700 {shown}"));
    }
    Finding::ok("data-dir", format!("{shown} belongs to this user alone"))
}

/// Only the daemon knows how much its store needs: `is_full` is its word.
fn space(dir: &Path, free_bytes: u64, total_bytes: u64, is_full: bool) -> Finding {
    let found = format!("{} of {} are free at {}", time::size(free_bytes), time::size(total_bytes), dir.display());
    if is_full {
        return Finding::failure("space", found, "make room: mail is refused");
    }
    if free_bytes < total_bytes / 20 {
        return Finding::warning("space", found, "make room before mail is refused, or shorten retention");
    }
    Finding::ok("space", found)
}

/// How long a small write takes until the disk has it. Its file has no name, so that nothing stays behind.
fn sync_time(dir: &Path) -> io::Result<Duration> {
    let path = dir.join(format!("doctor-{}", std::process::id()));
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    let mut times = Vec::with_capacity(WRITES);
    for _ in 0..WRITES {
        let start = Instant::now();
        file.write_all(&[0; WRITE_BYTES])?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[WRITES / 2])
}

fn sync(time: Duration) -> Finding {
    let found = format!("a write of 4 KB is on the disk after {:.1} ms", time.as_secs_f64() * 1000.0);
    let advice = "use a faster disk: each mail is on the disk before it is acknowledged";
    match time {
        time if time > SYNC_TOO_SLOW => Finding::failure("disk", found, advice),
        time if time > SYNC_SLOW => Finding::warning("disk", found, advice),
        _ => Finding::ok("disk", found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1 << 30;

    #[tokio::test]
    async fn a_check_that_hangs_is_a_failure_in_time() {
        let findings = within(Duration::from_millis(10), "resolver", std::future::pending()).await;
        assert_eq!((findings.len(), findings[0].verdict), (1, Verdict::Failure));
        assert!(findings[0].found.starts_with("there is no result after"), "{findings:?}");
    }

    #[test]
    fn a_full_store_is_a_failure_and_a_full_disk_a_warning() {
        let of = |free_bytes, is_full| space(Path::new("/data"), free_bytes, 100 * GB, is_full).verdict;
        assert_eq!((of(50 * GB, true), of(4 * GB, false), of(5 * GB, false)), {
            (Verdict::Failure, Verdict::Warning, Verdict::Ok)
        });
        assert_eq!(sync(SYNC_SLOW).verdict, Verdict::Ok);
        assert_eq!(sync(SYNC_SLOW * 2).verdict, Verdict::Warning);
        assert_eq!(sync(SYNC_TOO_SLOW * 2).verdict, Verdict::Failure);
    }

    #[test]
    fn the_measurement_leaves_nothing_behind() {
        let dir = tempfile::tempdir().expect("directory");
        assert!(sync_time(dir.path()).expect("a time") < Duration::from_mins(1));
        assert_eq!(std::fs::read_dir(dir.path()).expect("list").count(), 0);
    }
}
