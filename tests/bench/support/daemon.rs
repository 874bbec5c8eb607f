//! The daemon, and whatever other server a benchmark runs beside it.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::Result;
use super::program::Program;

/// How long a server may take to listen, or to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// A child process that ends with its owner: asked first, then forced.
pub(crate) struct Server(Child);

impl Server {
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        Ok(Self(command.spawn()?))
    }

    /// Waits until `is_ready` or the process has ended.
    pub(crate) fn wait_until(&mut self, is_ready: impl Fn() -> bool) -> Result<()> {
        let begun = Instant::now();
        while !is_ready() {
            if let Some(status) = self.0.try_wait()? {
                return Err(format!("it ended with {status}").into());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("it is not ready after {PATIENCE:?}").into());
            }
            sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.has_ended() {
            return;
        }
        if let Some(id) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(id, Signal::TERM);
        }
        let begun = Instant::now();
        while !self.has_ended() && begun.elapsed() < PATIENCE {
            sleep(Duration::from_millis(10));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The daemon with a data directory of its own, below `target`: a temporary directory may be in memory, where an
/// fdatasync costs nothing.
pub(crate) struct Daemon {
    // Fields are dropped in order: the process ends before its directory goes.
    program: Program,
    dir: TempDir,
}

impl Daemon {
    /// Starts it with `args` beside those that every benchmark needs, and waits until it is ready.
    pub(crate) fn start(args: &[&str]) -> Result<Self> {
        Ok(Self::start_in(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?, args))
    }

    /// Starts it like [`Daemon::start`], with the data of one that was killed.
    pub(crate) fn start_in(dir: TempDir, args: &[&str]) -> Self {
        let program = Program::serve_with(&dir.path().join("data"), args, |command| {
            command.env_remove("TEMPMAIL_SEGMENT_SIZE");
            command.args(["--domain", "example.test", "--rate-limit", "off"]);
            // Everything here is one client's.
            command.args(["--max-webhooks-per-client", "10000", "--webhook-registrations-per-minute", "1000000"]);
        });
        Self { program, dir }
    }

    pub(crate) fn smtp_address(&self) -> SocketAddr {
        self.program.smtp
    }

    /// What the kernel says of its memory in KB: `VmRSS:` is what it has now.
    pub(crate) fn memory_kb(&self, what: &str) -> u64 {
        self.program.memory_kb(what)
    }

    /// Processor time that it has had.
    pub(crate) fn processor_time(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.program.process()))?;
        // The name, in parentheses, may hold blanks; user and system time are the 14th and 15th field of all.
        let fields = stat.rsplit_once(')').ok_or("no name")?.1;
        let ticks: Result<Vec<u64>> =
            fields.split_whitespace().skip(11).take(2).map(|field| Ok(field.parse()?)).collect();
        let ticks_per_second = rustix::param::clock_ticks_per_second();
        Ok(Duration::from_millis(ticks?.iter().sum::<u64>() * 1000 / ticks_per_second))
    }

    /// Kills the process, as a crash would, and returns its data directory.
    pub(crate) fn kill(self) -> TempDir {
        self.program.kill();
        self.dir
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub(crate) fn http_address(&self) -> SocketAddr {
        self.program.http
    }
}

/// Different addresses on loopback on which nothing listens.
pub(crate) fn free_addresses<const N: usize>() -> Result<[SocketAddr; N]> {
    let mut listeners = Vec::with_capacity(N);
    let mut addresses = [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)); N];
    for address in &mut addresses {
        let listener = TcpListener::bind(*address)?;
        *address = listener.local_addr()?;
        listeners.push(listener);
    }
    Ok(addresses)
}
