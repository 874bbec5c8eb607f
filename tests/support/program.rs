//! The binary itself as a daemon, in a process of its own.

use std::ffi::OsStr;
use std::fmt::from_fn;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;

use super::terminal::{self, Screen};
use super::until::blocking;
use crate::support::command::{Outcome, tempmail};

/// How long a test waits for an expected event.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(10);
const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A running `tempmail serve`. It is killed when this is dropped.
pub(crate) struct Program {
    child: Child,
    data_dir: PathBuf,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
    /// Where SMTP listens.
    pub(crate) smtp: SocketAddr,
    /// Where HTTP listens.
    pub(crate) http: SocketAddr,
}

/// A command for `tempmail serve` on free ports of loopback, without those variables of the caller that it reads.
pub(crate) fn serve_command(data_dir: &Path) -> Command {
    serve_command_at(data_dir, ANY_PORT)
}

/// A command for `tempmail serve` with this address for SMTP.
fn serve_command_at(data_dir: &Path, smtp: SocketAddr) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tempmail"));
    let heeded = |name: &OsStr| name.to_string_lossy().starts_with("TEMPMAIL_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| heeded(name)) {
        command.env_remove(name);
    }
    for name in ["RUST_LOG", "STATE_DIRECTORY", "XDG_RUNTIME_DIR", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
        command.env_remove(name);
    }
    // Just enough for two of the largest messages, because each start fills two segments with zeros.
    command.env("TEMPMAIL_SEGMENT_SIZE", "20MB");
    // The daemon must not read the configuration of the person who runs the tests.
    command.env("XDG_CONFIG_HOME", data_dir);
    command.args(["serve", "--smtp-listen", &smtp.to_string(), "--http-listen", "127.0.0.1:0"]);
    command.args(["--log-format", "json"]);
    command.arg("--data-dir").arg(data_dir).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

impl Program {
    /// Starts the daemon on `data_dir` and waits until it is ready.
    pub(crate) fn serve(data_dir: &Path, args: &[&str]) -> Self {
        Self::serve_with(data_dir, args, |_| {})
    }

    /// Starts the daemon with this address for SMTP, which is the same after a restart.
    pub(crate) fn serve_at(smtp: SocketAddr, data_dir: &Path, args: &[&str]) -> Self {
        Self::started(serve_command_at(data_dir, smtp), smtp, data_dir, args, |_| {})
    }

    /// Starts the daemon after `set` has changed the command.
    pub(crate) fn serve_with(data_dir: &Path, args: &[&str], set: impl FnOnce(&mut Command)) -> Self {
        Self::started(serve_command(data_dir), ANY_PORT, data_dir, args, set)
    }

    fn started(
        mut command: Command,
        smtp: SocketAddr,
        data_dir: &Path,
        args: &[&str],
        set: impl FnOnce(&mut Command),
    ) -> Self {
        set(command.args(args).stderr(Stdio::piped()));
        let mut child = command.spawn().expect("the binary");
        let log = Arc::<Mutex<String>>::default();
        let reader = read_log(child.stderr.take().expect("stderr"), Arc::clone(&log));
        let mut binary = Self { child, data_dir: data_dir.into(), log, reader: Some(reader), smtp, http: ANY_PORT };
        let ready = binary.logged("ready");
        let first = |field: &str| ready[field].as_str().and_then(|list| list.split(", ").next());
        let address = |field: &str| first(field).expect(field).parse().expect(field);
        (binary.smtp, binary.http) = (address("smtp"), address("http"));
        binary
    }

    /// Waits for a line of the log whose message begins like this.
    pub(crate) fn logged(&self, message: &str) -> Value {
        blocking::until_some(from_fn(|f| write!(f, "{message:?} in the log:\n{}", self.log())), || {
            let log = self.log();
            let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.find(|line| line["message"].as_str().is_some_and(|text| text.starts_with(message)))
        })
    }

    /// The log so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().expect("log").clone()
    }

    /// The number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// A value of the process's memory in KB: `VmRSS` is the current size, and `VmHWM` the largest so far.
    pub(crate) fn memory_kb(&self, what: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process())).expect("its status");
        let line = status.lines().find_map(|line| line.strip_prefix(what)).expect(what);
        line.trim_matches(|c: char| !c.is_ascii_digit()).parse().expect(what)
    }

    /// A command of the binary on the same data directory, without `--server`.
    pub(crate) fn tempmail(&self, args: &[&str]) -> Outcome {
        local(&self.data_dir, args)
    }

    /// Sends a signal. After SIGSTOP it returns when all threads stand still.
    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.child);
        kill_process(id, signal).expect("kill");
        if signal == Signal::STOP {
            waitid(WaitId::Pid(id), WaitIdOptions::STOPPED).expect("wait");
        }
    }

    /// Waits for the end of the process, and how it ended.
    pub(crate) fn ended_within(mut self, patience: Duration) -> ExitStatus {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(status) = self.child.try_wait().expect("wait") {
                return status;
            }
            let log = self.log.lock().expect("log").clone();
            assert!(Instant::now() < deadline, "it has not ended within {patience:?}:\n{log}");
            std::thread::sleep(PAUSE);
        }
    }

    /// Stops it in order.
    pub(crate) fn stop(self) {
        self.signal(Signal::TERM);
        let status = self.ended_within(PATIENCE);
        assert_eq!(status.code(), Some(0));
    }

    /// Ends it as a power cut ends a process: at once.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("kill");
        self.child.wait().expect("wait");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// A command of the binary on a data directory of this machine.
pub(crate) fn local(data_dir: &Path, args: &[&str]) -> Outcome {
    local_with(data_dir, &[], args)
}

/// A command of the binary on a data directory of this machine, with these variables.
pub(crate) fn local_with(data_dir: &Path, env: &[(&str, &str)], args: &[&str]) -> Outcome {
    let mut command = tempmail();
    command.env("XDG_CONFIG_HOME", data_dir).env("TEMPMAIL_DATA_DIR", data_dir).envs(env.iter().copied()).args(args);
    command.output().expect("run").into()
}

/// A command of the binary on a data directory of this machine, on a terminal. `answers` are typed at once.
pub(crate) fn on_terminal(data_dir: &Path, columns: u16, answers: &str, args: &[&str]) -> Screen {
    terminal::on_terminal(terminal_command(data_dir, args), columns, answers)
}

/// The same command, to be changed before it runs.
pub(crate) fn terminal_command(data_dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tempmail"));
    for name in ["TEMPMAIL_SERVER", "TEMPMAIL_TOKEN", "STATE_DIRECTORY", "XDG_RUNTIME_DIR", "COLUMNS", "PAGER", "LESS"]
    {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", data_dir).env("TEMPMAIL_DATA_DIR", data_dir).env("NO_COLOR", "1").args(args);
    command
}

/// A command of the binary that asks a server over HTTP.
pub(crate) fn remote(server: SocketAddr, args: &[&str]) -> Outcome {
    let mut command = tempmail();
    command.env("TEMPMAIL_SERVER", format!("http://{server}")).args(args);
    command.output().expect("run").into()
}

fn read_log(stderr: ChildStderr, log: Arc<Mutex<String>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            let mut log = log.lock().expect("log");
            log.push_str(&line);
            log.push('\n');
        }
    })
}
