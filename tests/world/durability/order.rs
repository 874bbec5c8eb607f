//! The order of the binary's system calls.
//! Promise: it outlives the code below it.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::command::isolate;
use crate::support::program::Program;
use crate::support::programs;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

const MARK: &str = "a-mark-that-is-in-this-mail-alone";
const CALLS: &str = "trace=fdatasync,fsync,pwrite64,pwritev,write,writev,sendto,sendmsg";

/// The command, followed from its first call on: a thread that begins while strace attaches could be missed.
fn followed(command: &Command, home: &Path, trace: &Path) -> Command {
    let mut strace = Command::new(programs::find("strace"));
    isolate(&mut strace, home);
    // With -D the daemon itself is the child.
    strace.args(["-D", "-f", "-y", "-s", "4096", "-e", CALLS, "-o"]).arg(trace);
    strace.arg(command.get_program()).args(command.get_args());
    strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    strace
}

/// Of a trace: the line in which the mail goes into the journal, the one in which an fdatasync of that file, begun
/// later, returns, and the one in which the reply begins to be written.
fn moments(trace: &str) -> [Option<usize>; 3] {
    let lines: Vec<&str> = trace.lines().collect();
    let is_journal = |line: &str| line.contains("journal-");
    let wrote = lines.iter().position(|line| line.contains("pwrite64(") && is_journal(line) && line.contains(MARK));
    let mut syncing = Vec::new();
    let mut synced = None;
    for (at, line) in lines.iter().enumerate().skip(wrote.map_or(lines.len(), |wrote| wrote + 1)) {
        let thread = line.split(' ').next().unwrap_or_default();
        let is_begun = line.contains(" fdatasync(") && is_journal(line);
        let is_over = is_begun || line.contains("<... fdatasync resumed>") && syncing.contains(&thread);
        if is_over && line.ends_with("= 0") {
            synced = synced.or(Some(at));
        } else if is_begun {
            syncing.push(thread);
        }
    }
    [wrote, synced, lines.iter().position(|line| line.contains("250 2.0.0 Stored"))]
}

#[tokio::test]
#[ignore = "needs strace"]
async fn fdatasync_returns_before_the_reply_is_written() {
    let dir = tempfile::tempdir().expect("directory");
    let trace = dir.path().join("trace");
    let data = dir.path().join("data");
    let daemon = Program::serve_with(&data, &["--max-message-size", "10KB"], |command| {
        *command = followed(command, &data, &trace);
    });
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    peer.deliver("ann@example.test", &format!("Subject: order\r\n\r\n{MARK}")).await;
    // The peer may have its reply before strace has written it down.
    until("the reply in the trace", async || {
        moments(&std::fs::read_to_string(&trace).unwrap_or_default())[2].is_some()
    })
    .await;
    daemon.stop();
    let trace = std::fs::read_to_string(trace).expect("trace");
    let [Some(wrote), Some(synced), Some(replied)] = moments(&trace) else { panic!("{:?}:\n{trace}", moments(&trace)) };
    assert!(wrote < synced && synced < replied, "{wrote} {synced} {replied}:\n{trace}");
}

/// If a power cut loses the name of the data directory, the store is lost, however durable its files are.
#[test]
#[ignore = "needs strace"]
fn the_names_of_directories_that_are_made_are_synced() {
    let dir = tempfile::tempdir().expect("directory");
    let root = dir.path().canonicalize().expect("a path");
    let (trace, data, backup) = (root.join("trace"), root.join("a/b"), root.join("no-backup"));
    std::fs::write(&backup, "garbage").expect("write");
    let mut command = Command::new(programs::find("strace"));
    command.args(["-f", "-y", "-e", "trace=mkdir,mkdirat,fsync", "-o"]).arg(&trace);
    // The daemon creates the directory, and then refuses the file.
    command.args([env!("CARGO_BIN_EXE_tempmail"), "db", "restore", "--yes", "--data-dir"]).arg(&data).arg(&backup);
    isolate(&mut command, &root);
    let ended = command.output().expect("strace");
    assert!(data.is_dir(), "{}", String::from_utf8_lossy(&ended.stderr));
    let trace = std::fs::read_to_string(trace).expect("trace");
    let made = trace.find(&format!("{}\", 0700", data.display())).expect("mkdir");
    for parent in [root.join("a"), root] {
        let synced = trace[made..].find(&format!("<{}>)", parent.display()));
        assert!(synced.is_some(), "{} is not synced:\n{trace}", parent.display());
    }
}

#[test]
fn a_trace_is_read_by_thread() {
    let wrote = format!("7 pwrite64(9</d/journal-1>, \"{MARK}\", 99, 512) = 99\n");
    let reply = "8 sendto(12<TCP:[1]>, \"250 2.0.0 Stored\\r\\n\", 18, 0, NULL, 0) = 18\n";
    let resumed = "7 <... fdatasync resumed>)           = 0\n";
    let good =
        format!("{wrote}7 fdatasync(9</d/journal-1> <unfinished ...>\n9 write(1, \"x\", 1) = 1\n{resumed}{reply}");
    assert_eq!(moments(&good), [Some(0), Some(3), Some(4)]);
    let early = format!("{wrote}7 fdatasync(9</d/journal-1> <unfinished ...>\n{reply}{resumed}");
    assert_eq!(moments(&early), [Some(0), Some(3), Some(2)]);
    let other_file = format!("{wrote}7 fdatasync(9</d/index.redb>) = 0\n{reply}");
    assert_eq!(moments(&other_file), [Some(0), None, Some(2)]);
    let failed = format!("{wrote}7 fdatasync(9</d/journal-1>) = -1 EIO\n{reply}");
    assert_eq!(moments(&failed), [Some(0), None, Some(2)]);
}
