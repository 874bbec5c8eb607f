//! A large store: whether reading, receiving, memory and the start depend on how much is stored.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Report;
use super::clients::{self, Measured, Request};
use crate::support::Result;
use crate::support::daemon::Daemon;
use crate::support::figures::{median, per_second, percentile};
use crate::support::smtp;

const SESSIONS: usize = 20;
const CONNECTIONS: usize = 16;
const ROUND: Duration = Duration::from_secs(5);
/// Emails in each mailbox.
const EMAILS: usize = 10;
/// Emails of the small store that the large one is compared with. Fewer would be listed from memory.
const SMALL: usize = 50_000;
/// The page that is compared with the first one.
const PAGE: usize = 1000;
/// Messages that arrive, alone and beside lists.
const ARRIVING: usize = 10_000;
const OCTETS: usize = 4096;
/// Messages of a large store are small, so that filling it takes less time.
const SMALL_OCTETS: usize = 500;

pub(crate) fn run(stored: usize, report: Report) -> Result<()> {
    // What comes beside what is stored has room.
    let room = (2 * stored + 10 * ARRIVING).to_string();
    let daemon = Daemon::start(&["--retention", "24h", "--max-emails", &room])?;
    let begun = Instant::now();
    fill(&daemon, 0, SMALL.min(stored))?;
    let small = lists(&daemon, SMALL.min(stored))?;
    fill(&daemon, SMALL.min(stored), stored)?;
    let (rate, unit) = (per_second(stored, begun.elapsed()), "per s");
    report.figure("messages filled in", rate, unit, "");
    report.figure("memory when filled", megabytes(&daemon)?, "MB", "200 at 1,000,000 Emails");
    let large = lists(&daemon, stored)?;
    report.figure(&format!("list of {EMAILS} at {SMALL} Emails"), small.rate, unit, "");
    report.figure(&format!("list of {EMAILS} at {stored} Emails"), large.rate, unit, "");
    report.figure("ratio", large.rate / small.rate, "", "at least 0.8");
    report.figure("p99 at all", large.p99.as_secs_f64() * 1e3, "ms", "");
    report.figure("memory after lists", megabytes(&daemon)?, "MB", "");
    pages(&daemon, stored / 10, report)?;
    let registry_octets = fs::metadata(daemon.data_dir().join("store/registry.redb"))?.len();
    let emails = u32::try_from(stored + stored / 10)?;
    let registry_octets = f64::from(u32::try_from(registry_octets / 1024)?) * 1024.0;
    report.figure("octets of the registry for each Email", registry_octets / f64::from(emails), "octets", "under 400");
    receiving(&daemon, stored, report)?;
    report.figure("memory after both loads", megabytes(&daemon)?, "MB", "");
    start(daemon, report)
}

/// Fills mailboxes one after another, each with [`EMAILS`], in an order that spreads the mail of each over time.
fn fill(daemon: &Daemon, from: usize, to: usize) -> Result<()> {
    let mailboxes: Vec<String> = (from / EMAILS..to / EMAILS).map(mailbox).collect();
    smtp::send(daemon.smtp_address(), SESSIONS, &mailboxes, to - from, SMALL_OCTETS).map(drop)
}

fn mailbox(number: usize) -> String {
    format!("user{number}@example.test")
}

fn list(address: &str, page: usize) -> Request {
    Request { path: format!("/api/mail/messages?to={address}&limit={EMAILS}&page={page}") }
}

/// Lists of mailboxes all over the first `stored` Emails.
fn lists(daemon: &Daemon, stored: usize) -> Result<Measured> {
    let mailboxes = stored / EMAILS;
    // A step without a common divisor visits all of them.
    let requests: Vec<_> = (0..mailboxes).map(|at| list(&mailbox(at * 7919 % mailboxes), 1)).collect();
    clients::run(daemon.http_address(), CONNECTIONS, ROUND, &requests)
}

/// The first page of a large mailbox beside a far one.
fn pages(daemon: &Daemon, emails: usize, report: Report) -> Result<()> {
    let address = "large@example.test".to_owned();
    smtp::send(daemon.smtp_address(), SESSIONS, std::slice::from_ref(&address), emails, SMALL_OCTETS)?;
    let far = PAGE.min(emails / EMAILS);
    let (mut first_times, mut far_times) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        for (page, times) in [(1, &mut first_times), (far, &mut far_times)] {
            let time = Duration::from_secs(1);
            times.push(clients::run(daemon.http_address(), 1, time, &[list(&address, page)])?.p50.as_secs_f64());
        }
    }
    let (first, far_time) = (median(&mut first_times), median(&mut far_times));
    report.figure(&format!("page 1 of {emails} Emails"), first * 1e3, "ms", "");
    report.figure(&format!("page {far} of {emails} Emails / page 1"), far_time / first, "", "at most 3");
    Ok(())
}

/// Mail that arrives alone, and while lists are read at full rate.
fn receiving(daemon: &Daemon, stored: usize, report: Report) -> Result<()> {
    let to: Vec<String> = (0..1000).map(|number| format!("new{number}@example.test")).collect();
    let receive = || smtp::timed(daemon.smtp_address(), SESSIONS, &to, ARRIVING, OCTETS);
    let (alone, mut alone_times) = receive()?;
    let is_done = AtomicBool::new(false);
    let (beside, mut beside_times) = thread::scope(|scope| -> Result<_> {
        let reading = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                lists(daemon, stored).map_err(|error| error.to_string())?;
            }
            Ok::<_, String>(())
        });
        let received = receive();
        is_done.store(true, Ordering::Relaxed);
        reading.join().map_err(|_| "a reader panicked")??;
        received
    })?;
    let ratio = alone.as_secs_f64() / beside.as_secs_f64();
    report.figure("mail received beside lists / alone", ratio, "", "at least 0.4");
    let p99 = |times: &mut Vec<Duration>| {
        times.sort();
        percentile(times, 99).as_secs_f64() * 1e3
    };
    let (alone, beside) = (p99(&mut alone_times), p99(&mut beside_times));
    report.figure("p99 of 250 alone", alone, "ms", "");
    report.figure("p99 of 250 beside lists / alone", beside / alone, "", "at most 4");
    Ok(())
}

/// From the start of the process after a kill to the first greeting.
fn start(daemon: Daemon, report: Report) -> Result<()> {
    let dir = daemon.kill();
    let begun = Instant::now();
    let daemon = Daemon::start_in(dir, &["--retention", "24h"]);
    smtp::Session::open(daemon.smtp_address())?;
    report.figure("from start to 220 after a kill", begun.elapsed().as_secs_f64(), "s", "1 at 1,000,000 Emails");
    Ok(())
}

fn megabytes(daemon: &Daemon) -> Result<f64> {
    Ok(f64::from(u32::try_from(daemon.memory_kb("VmRSS:"))?) / 1024.0)
}
