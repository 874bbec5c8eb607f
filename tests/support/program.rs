//! The binary itself as a daemon, in a process of its own.

use std::fmt::from_fn;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;
use tempfile::TempDir;

use super::command::{Outcome, Running, on_data, on_server, outcome, tempmail};
use super::terminal::{self, Screen};
use super::until::blocking;

const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A running `tempmail serve`. It is killed when this is dropped.
pub(crate) struct Program {
    child: Child,
    data_dir: PathBuf,
    /// The data directory, if it ends with the daemon.
    own: Option<TempDir>,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
    /// Where SMTP listens.
    pub(crate) smtp: SocketAddr,
    /// Where HTTP listens.
    pub(crate) http: SocketAddr,
}

/// A command for `tempmail serve` on free ports of loopback.
pub(crate) fn serve_command(data_dir: &Path) -> Command {
    serve_command_at(data_dir, ANY_PORT)
}

/// A command for `tempmail serve` with this address for SMTP.
fn serve_command_at(data_dir: &Path, smtp: SocketAddr) -> Command {
    let mut command = tempmail(data_dir);
    // Enough for two of the largest messages. Each start fills two segments with zeros.
    command.env("TEMPMAIL_SEGMENT_SIZE", "1MB");
    command.args(["serve", "--smtp-listen", &smtp.to_string(), "--http-listen", "127.0.0.1:0"]);
    command.args(["--log-format", "json"]).arg("--data-dir").arg(data_dir).stdout(Stdio::null());
    command
}

/// A start that is refused, so that it ends by itself.
pub(crate) fn refused(data_dir: &Path, args: &[&str]) -> Outcome {
    outcome(serve_command(data_dir).args(args))
}

impl Program {
    /// Starts the daemon on `data_dir` and waits until it is ready.
    pub(crate) fn serve(data_dir: &Path, args: &[&str]) -> Self {
        Self::serve_with(data_dir, args, |_| {})
    }

    /// Starts a daemon on a data directory of its own, which goes with it.
    pub(crate) fn fresh(args: &[&str]) -> Self {
        let own = tempfile::tempdir().expect("directory");
        let mut started = Self::serve(own.path(), args);
        started.own = Some(own);
        started
    }

    /// Its data directory.
    pub(crate) fn dir(&self) -> &Path {
        &self.data_dir
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
        let mut binary =
            Self { child, data_dir: data_dir.into(), own: None, log, reader: Some(reader), smtp, http: ANY_PORT };
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

    /// A command on the same data directory that runs beside the test.
    pub(crate) fn beside(&self, args: &[&str]) -> Running {
        Running::start(&mut on_data(&self.data_dir, args))
    }

    /// Sends a signal. After SIGSTOP it returns when all threads stand still.
    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.child);
        kill_process(id, signal).expect("kill");
        if signal == Signal::STOP {
            waitid(WaitId::Pid(id), WaitIdOptions::STOPPED).expect("wait");
        }
    }

    /// Waits for the end of the process. Returns its exit code.
    pub(crate) fn ended(mut self) -> Option<i32> {
        let log = Arc::clone(&self.log);
        let what = from_fn(|f| write!(f, "the end of the daemon:\n{}", log.lock().expect("log")));
        blocking::until_some(what, || self.child.try_wait().expect("wait")).code()
    }

    /// Stops it in order.
    pub(crate) fn stop(self) {
        self.signal(Signal::TERM);
        assert_eq!(self.ended(), Some(0));
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

/// Runs a command on a data directory of this machine.
pub(crate) fn local(data_dir: &Path, args: &[&str]) -> Outcome {
    outcome(&mut on_data(data_dir, args))
}

/// Runs a command on a data directory of this machine, with these variables.
pub(crate) fn local_with(data_dir: &Path, env: &[(&str, &str)], args: &[&str]) -> Outcome {
    outcome(on_data(data_dir, args).envs(env.iter().copied()))
}

/// Runs a command that asks a server over HTTP.
pub(crate) fn remote(server: SocketAddr, args: &[&str]) -> Outcome {
    outcome(&mut on_server(server, args))
}

/// A command on a data directory of this machine, on a terminal. `answers` are typed at once.
pub(crate) fn on_terminal(data_dir: &Path, columns: u16, answers: &str, args: &[&str]) -> Screen {
    terminal::on_terminal(terminal_command(data_dir, args), columns, answers)
}

/// The same command, to be changed before it runs.
pub(crate) fn terminal_command(data_dir: &Path, args: &[&str]) -> Command {
    let mut command = on_data(data_dir, args);
    command.env("NO_COLOR", "1");
    command
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
