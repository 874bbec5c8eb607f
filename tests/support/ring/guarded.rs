//! Processes that never outlive that of the tests, even if SIGKILL ends it.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// The shell becomes the program, which so has the process's id. Its guard holds the shell's input and output, reads
/// until the other end is closed, by whatever cause, and then kills the program.
///
/// The end of the tests leaves a group without a parent. If its program is paused, the kernel sends SIGHUP to the group,
/// and the guard must survive it.
const SCRIPT: &str = r#"trap '' HUP
log=$1
shift
exec 3<&0
(cat <&3 >/dev/null; kill -9 $$) 2>/dev/null &
exec "$@" >>"$log" 2>&1 </dev/null 3<&-"#;

/// A running process, which is killed when this is dropped.
pub(super) struct Guarded {
    child: Child,
    /// It ends when the guard does.
    guard: ChildStdout,
}

impl Guarded {
    /// Starts a program in a directory. What it prints is appended to `log`.
    pub(super) fn start(dir: &Path, log: &Path, command: &[impl AsRef<OsStr>]) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "sh"]).arg(log).args(command).current_dir(dir);
        // Signals of the terminal are for the tests. The pipes are closed when those end.
        shell.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = shell.spawn().expect("sh");
        let guard = child.stdout.take().expect("stdout");
        Self { child, guard }
    }

    /// Sends it a signal.
    pub(super) fn signal(&self, signal: Signal) {
        // It cannot be another process's id, since nobody has waited for this one.
        kill_process(Pid::from_child(&self.child), signal).expect("a process");
    }

    /// Closes its input, as the kernel does when the process of the tests ends.
    pub(super) fn close_input(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Whether the program has ended by itself.
    pub(super) fn has_ended(&self) -> bool {
        // Its id stays taken until this waits for it in earnest.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&self.child)), options).expect("a child").is_some()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        // The guard kills it again. Its id is free for others only when that is done.
        self.close_input();
        let _ = self.guard.read_to_end(&mut Vec::new());
        let _ = self.child.wait();
    }
}
