//! Commands of the binary that know nothing of who runs the tests.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::Once;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};

use super::files::prepare;
use super::until::blocking;

/// How long a command may take that ends by itself. It says nothing about speed.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);
/// SIGINT ends the commands of these tests.
static INTERRUPTIBLE: Once = Once::new();
/// A home that is not there, for commands that need none.
const NOWHERE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/nowhere");

/// The binary with nothing of the caller's environment but PATH. Its configuration and data are in `home`.
pub(crate) fn tempmail(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tempmail"));
    isolate(&mut command, home);
    command.stdin(Stdio::null());
    command
}

/// Takes the caller's environment from a program that calls the binary.
pub(crate) fn isolate(command: &mut Command, home: &Path) {
    prepare();
    // A test may be asynchronous, and no runtime begins within one.
    INTERRUPTIBLE.call_once(|| thread::spawn(heed_interrupts).join().expect("signals"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
        command.env(name, home);
    }
}

/// A shell lets what it runs in the background ignore SIGINT, and the binary would too. A signal that is caught here has its
/// default action there.
fn heed_interrupts() {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of the tests");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("the ignored signals");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("a mask");
    if ignored >> (Signal::INT.as_raw() - 1) & 1 == 0 {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { drop(signal(SignalKind::interrupt()).expect("a handler")) });
}

/// A command on a data directory of this machine, whose configuration is in the same directory.
pub(crate) fn on_data(data_dir: &Path, args: &[impl AsRef<OsStr>]) -> Command {
    let mut command = tempmail(data_dir);
    command.env("TEMPMAIL_DATA_DIR", data_dir).args(args);
    command
}

/// A command that asks a server over HTTP.
pub(crate) fn on_server(server: SocketAddr, args: &[impl AsRef<OsStr>]) -> Command {
    let mut command = tempmail(Path::new(NOWHERE));
    command.env("TEMPMAIL_SERVER", format!("http://{server}")).args(args);
    command
}

/// Runs the binary without a server, a data directory and a configuration.
pub(crate) fn run(args: &[&str]) -> Outcome {
    outcome(tempmail(Path::new(NOWHERE)).args(args))
}

/// How a process has ended, as a shell tells it: by a signal is 128 and its number.
pub(crate) fn code(status: ExitStatus) -> Option<i32> {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal))
}

/// The result of a command: exit code, standard output, standard error.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: code(output.status),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Outcome {
    /// It has succeeded.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs a command that ends by itself.
pub(crate) fn outcome(command: &mut Command) -> Outcome {
    output(command).into()
}

/// Runs a command that ends by itself, with this on standard input.
pub(crate) fn fed(command: &mut Command, input: impl Into<Vec<u8>>) -> Outcome {
    let mut child = spawn(command.stdin(Stdio::piped()));
    let (mut stdin, input) = (child.stdin.take().expect("stdin"), input.into());
    // A command that reads nothing may have ended by now.
    thread::spawn(move || drop(stdin.write_all(&input)));
    wait(child).into()
}

/// Runs a command that ends by itself. The output is as it was, octet by octet.
pub(crate) fn output(command: &mut Command) -> Output {
    wait(spawn(command))
}

fn spawn(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary")
}

/// Waits for the end of a command, and reads what it writes meanwhile.
pub(crate) fn wait(child: Child) -> Output {
    let (id, (sender, ended)) = (Pid::from_child(&child), channel());
    thread::spawn(move || sender.send(child.wait_with_output()));
    match ended.recv_timeout(LIMIT) {
        Ok(output) => output.expect("its output"),
        Err(RecvTimeoutError::Timeout) => {
            let _ = kill_process(id, Signal::KILL);
            panic!("a command has not ended within {LIMIT:?}");
        }
        Err(RecvTimeoutError::Disconnected) => panic!("its reader has failed"),
    }
}

/// A command that runs beside the test, and its lines as they come. It is killed when this is dropped.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Running {
    /// Starts it. Its standard input stays open, and is empty unless a test says something.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = spawn(command.stdin(Stdio::piped()));
        let (stdout, stderr) = (child.stdout.take().expect("stdout"), child.stderr.take().expect("stderr"));
        Self { stdin: child.stdin.take(), stdout: lines(stdout), stderr: lines(stderr), child }
    }

    /// The number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// The next line of standard output.
    pub(crate) fn line(&self) -> String {
        self.stdout.recv_timeout(LIMIT).expect("a line in time").trim_end_matches('\n').to_owned()
    }

    /// The next line of standard error.
    pub(crate) fn hint(&self) -> String {
        self.stderr.recv_timeout(LIMIT).expect("a hint in time").trim_end_matches('\n').to_owned()
    }

    /// Writes a line to standard input.
    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().expect("stdin"), "{line}").expect("write");
    }

    /// Closes standard input.
    pub(crate) fn hang_up(&mut self) {
        self.stdin.take();
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("kill");
    }

    /// How it ends by itself.
    pub(crate) fn status(&mut self) -> ExitStatus {
        blocking::until_some("the end of a command", || self.child.try_wait().expect("wait"))
    }

    /// Waits for its end. Of its output this has what no test has read yet.
    pub(crate) fn end(mut self) -> Outcome {
        let code = code(self.status());
        Outcome { code, stdout: self.stdout.iter().collect(), stderr: self.stderr.iter().collect() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a stream as they come, each with its end.
pub(crate) fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let (mut stream, mut line) = (BufReader::new(stream), String::new());
        while stream.read_line(&mut line).is_ok_and(|octets| octets > 0) && send.send(std::mem::take(&mut line)).is_ok()
        {
        }
    });
    receive
}
