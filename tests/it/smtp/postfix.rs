//! Postfix as a sending MTA, while the receiver is stopped and killed.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::binary::Binary;
use crate::support::programs;

const TEST: &str = "mail from Postfix";
/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

const MESSAGES: usize = 2000;
/// So many have been delivered when the receiver is stopped, and then when it is killed.
const STOPPED_AFTER: usize = 300;
const KILLED_AFTER: usize = 900;
/// How many connections Postfix delivers over at once, as it does by default.
const CONCURRENCY: usize = 20;
/// Each message has its own number before this.
const RECIPIENT: &str = "mail@example.test";
/// Whom a bounce would reach: the receiver takes mail for it, so none can hide.
const SENDER: &str = "bounces@example.test";

/// An instance of Postfix with its own configuration, queue and log, which sends everything to one receiver. It listens
/// on a socket in its queue directory alone. It is stopped when this is dropped.
struct Postfix {
    postfix: PathBuf,
    dir: tempfile::TempDir,
}

impl Postfix {
    /// `None` after saying what is skipped.
    fn start(relay: SocketAddr) -> Option<Self> {
        let postfix = programs::find("postfix", TEST)?;
        if !programs::is_root(TEST) {
            return None;
        }
        let dir = tempfile::tempdir().expect("directory");
        // Postfix's processes are of another user.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("mode");
        for name in ["conf", "queue", "data"] {
            fs::create_dir(dir.path().join(name)).expect("directory");
        }
        chown(dir.path().join("data"), Some(user("postfix")), None).expect("owner");
        fs::write(dir.path().join("conf/main.cf"), main_cf(dir.path(), relay)).expect("main.cf");
        fs::write(dir.path().join("conf/master.cf"), MASTER_CF).expect("master.cf");
        let instance = Self { postfix, dir };
        programs::run(instance.command("postfix").arg("start"), "");
        Some(instance)
    }

    /// One of Postfix's commands for this instance.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.postfix.with_file_name(program));
        command.arg("-c").arg(self.dir.path().join("conf"));
        command
    }

    /// Gives it the messages, each for a recipient of its own.
    fn take_messages(&self) {
        let mut command = Command::new(self.postfix.with_file_name("smtp-source"));
        command.args(["-s", "20", "-m", &MESSAGES.to_string(), "-l", "2000", "-N", "-f", SENDER, "-t", RECIPIENT]);
        command.arg(format!("unix:{}", self.dir.path().join("queue/public/source").display()));
        programs::run(&mut command, "");
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    /// How many of its attempts ended like this: `sent`, `deferred`, `bounced`.
    fn attempts(&self, status: &str) -> usize {
        self.log().matches(&format!(" status={status} ")).count()
    }

    fn wait_for(&self, what: &str, mut is_so: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < deadline, "{what}: not in time; the end of Postfix's log:\n{}", self.end_of_log());
            std::thread::sleep(PAUSE);
        }
    }

    fn end_of_log(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    fn is_queue_empty(&self) -> bool {
        let output = programs::run(self.command("postqueue").arg("-p"), "");
        output.stdout.starts_with(b"Mail queue is empty")
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

fn main_cf(dir: &Path, relay: SocketAddr) -> String {
    let dir = dir.display();
    format!(
        "compatibility_level = 3.6
queue_directory = {dir}/queue
data_directory = {dir}/data
maillog_file = {dir}/log
maillog_file_prefixes = {dir}
myhostname = sender.test
mydestination =
local_recipient_maps =
alias_maps =
alias_database =
mynetworks = 127.0.0.0/8
fast_flush_domains =
relayhost = [{}]:{}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
smtp_host_lookup = native
smtp_connection_cache_on_demand = no
smtpd_relay_restrictions = permit_mynetworks, reject_unauth_destination
default_destination_concurrency_limit = {CONCURRENCY}
minimal_backoff_time = 1s
maximal_backoff_time = 2s
queue_run_delay = 1s
",
        relay.ip(),
        relay.port()
    )
}

/// What takes mail from a socket, keeps it and sends it on; nothing is in a changed root.
const MASTER_CF: &str = "
source    unix       n - n - -   smtpd
cleanup   unix       n - n - 0   cleanup
qmgr      unix       n - n 300 1 qmgr
rewrite   unix       - - n - -   trivial-rewrite
bounce    unix       - - n - 0   bounce
defer     unix       - - n - 0   bounce
trace     unix       - - n - 0   bounce
smtp      unix       - - n - -   smtp
error     unix       - - n - -   error
retry     unix       - - n - -   error
showq     unix       n - n - -   showq
proxymap  unix       - - n - -   proxymap
anvil     unix       - - n - 1   anvil
postlog   unix-dgram n - n - 1   postlogd
";

/// How many mails each recipient has, of those that have not exactly one.
async fn counts_but_one(http: SocketAddr) -> BTreeMap<String, u64> {
    let client = reqwest::Client::new();
    let mut found = BTreeMap::new();
    for number in 1..=MESSAGES {
        let to = format!("{number}{RECIPIENT}");
        let page: Value = client
            .get(format!("http://{http}/api/mail/messages?to={to}&limit=1"))
            .send()
            .await
            .expect("an answer")
            .json()
            .await
            .expect("JSON");
        let total = page["total"].as_u64().expect("total");
        if total != 1 {
            found.insert(to, total);
        }
    }
    found
}

#[tokio::test]
async fn all_that_postfix_has_arrives_though_the_receiver_is_stopped_and_killed() {
    let dir = tempfile::tempdir().expect("directory");
    // An address that no other test listens on or connects from, so that the port stays free while nobody has it.
    let anywhere = SocketAddr::from(([127, 0, 83, 1], 0));
    let daemon = Binary::serve_at(anywhere, dir.path(), &["--domain", "example.test"]);
    let smtp = daemon.smtp;
    let Some(postfix) = Postfix::start(smtp) else { return };

    let daemon = std::thread::scope(|scope| {
        let source = scope.spawn(|| postfix.take_messages());
        postfix.wait_for("deliveries", |postfix| postfix.attempts("sent") >= STOPPED_AFTER);
        daemon.stop();
        postfix.wait_for("attempts at a stopped receiver", |postfix| postfix.log().contains("Connection refused"));
        let daemon = Binary::serve_at(smtp, dir.path(), &["--domain", "example.test"]);

        postfix.wait_for("deliveries after the stop", |postfix| postfix.attempts("sent") >= KILLED_AFTER);
        daemon.kill();
        let refused = postfix.log().matches("Connection refused").count();
        let is_refused_again = |postfix: &Postfix| postfix.log().matches("Connection refused").count() > refused;
        postfix.wait_for("attempts at a killed receiver", is_refused_again);
        let daemon = Binary::serve_at(smtp, dir.path(), &["--domain", "example.test"]);

        source.join().expect("smtp-source");
        postfix.wait_for("an empty queue", Postfix::is_queue_empty);
        daemon
    });

    assert_eq!((postfix.attempts("sent"), postfix.attempts("bounced")), (MESSAGES, 0), "{}", postfix.end_of_log());
    let counts = counts_but_one(daemon.http).await;
    let lost: Vec<_> = counts.iter().filter(|(_, total)| **total == 0).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    // Stored and killed before its 250: the sender can't know, and sends it again.
    assert!(counts.len() <= CONCURRENCY, "{counts:?}");
    let log = postfix.log();
    for (to, total) in counts {
        let was_cut = |line: &&str| line.contains(&format!("to=<{to}>")) && line.contains("lost connection with");
        assert_eq!(total, 2, "{to}");
        assert!(log.lines().find(was_cut).is_some(), "{to} came twice, but not for the kill");
    }
    assert_eq!(crate::support::http::total(daemon.http, SENDER).await, 0);
    drop(postfix);
    daemon.stop();
}
