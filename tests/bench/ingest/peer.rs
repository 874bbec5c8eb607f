//! The two servers that are compared, each ended by its own process id.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use super::Result;
use super::http;

/// How long a server may take to listen, or to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// A child process that ends with its owner: asked first, so that the daemon closes its store, then forced.
struct Server(Child);

impl Server {
    /// Waits until `is_ready` or the process has ended.
    fn wait_until(&mut self, is_ready: impl Fn() -> bool) -> Result<()> {
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

/// Postfix's smtp-sink: takes every message and throws it away.
pub(crate) struct Sink {
    address: SocketAddr,
    _server: Server,
}

impl Sink {
    pub(crate) fn start(program: &Path) -> Result<Self> {
        let address = free_address()?;
        let mut command = Command::new(program);
        if geteuid().is_root() {
            command.args(["-u", "nobody"]);
        }
        command.args([&address.to_string(), "1024"]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut server = Server(command.spawn()?);
        server.wait_until(|| TcpStream::connect(address).is_ok()).map_err(|error| format!("smtp-sink: {error}"))?;
        Ok(Self { address, _server: server })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// The daemon with a data directory of its own, below `target`: a temporary directory may be in memory, where an
/// fdatasync costs nothing.
pub(crate) struct Daemon {
    smtp: SocketAddr,
    http: SocketAddr,
    // Fields are dropped in order: the process ends before its directory goes.
    _server: Server,
    dir: TempDir,
}

impl Daemon {
    pub(crate) fn start() -> Result<Self> {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let (smtp, web) = (free_address()?, free_address()?);
        let log = dir.path().join("log");
        let mut command = Command::new(env!("CARGO_BIN_EXE_tempmail"));
        command.arg("serve").arg("--data-dir").arg(dir.path().join("data"));
        command.args(["--smtp-listen", &smtp.to_string(), "--http-listen", &web.to_string()]);
        command.args(["--domain", "example.test", "--rate-limit", "off"]);
        // Whatever the user has set for a daemon of theirs is none of ours.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"TEMPMAIL_")) {
            command.env_remove(name);
        }
        command.env("XDG_CONFIG_HOME", dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log)?);
        let mut server = Server(command.spawn()?);
        let is_ready = || http::get(web, "/readyz").is_ok_and(|(code, _)| code == 200);
        server.wait_until(is_ready).map_err(|error| {
            let log = fs::read_to_string(&log).unwrap_or_default();
            format!("the daemon: {error}\n{log}")
        })?;
        Ok(Self { smtp, http: web, _server: server, dir })
    }

    pub(crate) fn smtp_address(&self) -> SocketAddr {
        self.smtp
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Fails unless the mailboxes of `addresses` hold `total` messages together.
    pub(crate) fn expect_total(&self, addresses: &[String], total: u64) -> Result<()> {
        let mut found = 0;
        for address in addresses {
            let (status, body) = http::get(self.http, &format!("/api/mail/messages?to={address}&limit=1"))?;
            let page: serde_json::Value = serde_json::from_slice(&body)?;
            found += page["total"].as_u64().ok_or_else(|| format!("{status} for {address}: {page}"))?;
        }
        if found == total { Ok(()) } else { Err(format!("{total} messages were sent, {found} are there").into()) }
    }
}

/// An address on loopback that nobody listens on.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
