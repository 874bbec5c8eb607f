//! Postfix as a sender and as a receiver.

use std::fmt::from_fn;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::programs;
use super::until::blocking;

const FLUSH_EVERY: Duration = Duration::from_secs(5);

/// An instance of Postfix with its own configuration, queue and log. It listens on a socket in its queue directory alone. It
/// is stopped when this is dropped.
pub(crate) struct Postfix {
    postfix: PathBuf,
    dir: tempfile::TempDir,
}

impl Postfix {
    /// An instance that sends all mail by `transport`, in the form of transport(5) with a next hop.
    pub(crate) fn start(transport: &str) -> Self {
        Self::configured(&format!("default_transport = {transport}\n{SENDER_CF}"))
    }

    /// An instance that takes mail for one domain from anybody, with strict paths and after a greeting alone, and discards it.
    pub(crate) fn receiving(domain: &str) -> Self {
        Self::configured(&format!("relay_domains = {domain}\n{RECEIVER_CF}"))
    }

    fn configured(settings: &str) -> Self {
        let postfix = programs::find("postfix");
        programs::need_root();
        let dir = tempfile::tempdir().expect("directory");
        // Postfix's processes are of another user.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("mode");
        for name in ["conf", "queue", "data"] {
            fs::create_dir(dir.path().join(name)).expect("directory");
        }
        chown(dir.path().join("data"), Some(user("postfix")), None).expect("owner");
        fs::write(dir.path().join("conf/main.cf"), main_cf(dir.path(), settings)).expect("main.cf");
        fs::write(dir.path().join("conf/master.cf"), MASTER_CF).expect("master.cf");
        let instance = Self { postfix, dir };
        programs::run(instance.command("postfix").arg("start"), "");
        instance
    }

    /// One of Postfix's commands for this instance.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.postfix.with_file_name(program));
        command.arg("-c").arg(self.dir.path().join("conf"));
        command
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("queue/public/source")
    }

    /// A connection to its SMTP server.
    pub(crate) fn connect(&self) -> UnixStream {
        UnixStream::connect(self.socket()).expect("connect")
    }

    /// Sends messages to it by smtp-source with these arguments.
    pub(crate) fn take_messages(&self, args: &[&str]) {
        let mut command = Command::new(self.postfix.with_file_name("smtp-source"));
        command.args(args).arg(format!("unix:{}", self.socket().display()));
        programs::run(&mut command, "");
    }

    /// Its log so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    /// How many of its attempts ended like this: `sent`, `deferred`, `bounced`.
    pub(crate) fn attempts(&self, status: &str) -> usize {
        self.log().matches(&format!(" status={status} ")).count()
    }

    /// Waits until a condition holds.
    pub(crate) fn wait_for(&self, what: &str, mut is_so: impl FnMut(&Self) -> bool) {
        blocking::until(from_fn(|f| write!(f, "{what}; {}", self.state())), || is_so(self));
    }

    /// The content of its queue, and the last lines of its log.
    pub(crate) fn state(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        format!(
            "its queue:\n{}the end of its log:\n{}",
            self.queue(),
            lines[lines.len().saturating_sub(20)..].join("\n")
        )
    }

    /// Waits until it has sent or given up so many messages in all. Its log tells: a list of its queue may miss a message
    /// that moves within the queue, and be empty before the last line is in the log. Now and then this has it retry deferred
    /// mail at once, since on a busy machine it may leave one of those alone for more than a minute.
    pub(crate) fn wait_until_done_with(&self, messages: usize) {
        let mut flushed_at = Instant::now();
        self.wait_for("removals from its queue", |postfix| {
            if flushed_at.elapsed() > FLUSH_EVERY {
                // Its queue manager may be too busy for the command, which is then repeated.
                postfix.command("postqueue").arg("-f").output().expect("postqueue");
                flushed_at = Instant::now();
            }
            postfix.log().lines().filter(|line| line.ends_with(": removed")).count() >= messages
        });
    }

    fn queue(&self) -> String {
        let output = programs::run(self.command("postqueue").arg("-p"), "");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Postfix {
    fn drop(&mut self) {
        // `postfix stop` ends the processes of this instance alone, by the pid that it wrote.
        let stopped = self.command("postfix").arg("stop").output();
        if !std::thread::panicking() {
            assert!(stopped.is_ok_and(|output| output.status.success()), "Postfix was not stopped");
        }
    }
}

fn user(name: &str) -> u32 {
    let output = programs::run(Command::new("id").args(["-u", name]), "");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
}

fn main_cf(dir: &Path, settings: &str) -> String {
    let dir = dir.display();
    format!(
        "compatibility_level = 3.6
queue_directory = {dir}/queue
data_directory = {dir}/data
maillog_file = {dir}/log
maillog_file_prefixes = {dir}
myhostname = postfix.test
mydestination =
local_recipient_maps =
alias_maps =
alias_database =
mynetworks = 127.0.0.0/8
fast_flush_domains =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
{settings}"
    )
}

const SENDER_CF: &str = "smtp_host_lookup = native
smtp_connection_cache_on_demand = no
smtpd_relay_restrictions = permit_mynetworks, reject_unauth_destination
minimal_backoff_time = 1s
maximal_backoff_time = 2s
queue_run_delay = 1s
";

/// No client waits for its errors or for a full queue.
const RECEIVER_CF: &str = "relay_transport = discard:
smtpd_relay_restrictions = reject_unauth_destination
smtpd_helo_required = yes
strict_rfc821_envelopes = yes
smtpd_error_sleep_time = 0
smtpd_soft_error_limit = 1000
smtpd_hard_error_limit = 1000
in_flow_delay = 0
";

/// What takes mail from a socket, keeps it and sends it on by SMTP or LMTP, or discards it; nothing is in a changed root.
const MASTER_CF: &str = "
source    unix       n - n - -   smtpd
cleanup   unix       n - n - 0   cleanup
qmgr      unix       n - n 300 1 qmgr
rewrite   unix       - - n - -   trivial-rewrite
bounce    unix       - - n - 0   bounce
defer     unix       - - n - 0   bounce
trace     unix       - - n - 0   bounce
smtp      unix       - - n - -   smtp
lmtp      unix       - - n - -   lmtp
discard   unix       - - n - -   discard
error     unix       - - n - -   error
retry     unix       - - n - -   error
showq     unix       n - n - -   showq
proxymap  unix       - - n - -   proxymap
anvil     unix       - - n - 1   anvil
postlog   unix-dgram n - n - 1   postlogd
";
