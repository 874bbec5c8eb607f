//! The daemons, files and ids that the tables name.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::cases::Place;
use super::commands::Cause;
use crate::support::command::{Outcome, outcome, tempmail};
use crate::support::dns_zone::DnsZone;
use crate::support::files::of_another_user;
use crate::support::in_process::CommandLine;
use crate::support::program::{Program, local, remote};

/// An address where nothing listens.
const NOBODY: &str = "http://127.0.0.1:1";
const MX_HOST: &str = "mx.here.example.org";
const UNKNOWN_ID: &str = "0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b";

/// Everything that the commands of the tables need.
pub(super) struct Places {
    dir: TempDir,
    daemon: Program,
    /// A daemon whose rate limit is used up.
    busy: Program,
    not_ours: PathBuf,
    /// What stands in the tables in braces, and for what.
    names: Vec<(&'static str, String)>,
    _zone: DnsZone,
}

impl Places {
    pub(super) async fn start() -> Self {
        let zone = DnsZone::start().await;
        zone.set_addresses(MX_HOST, &["127.0.0.1"]);
        zone.set_mx("here.example.org", &[(10, MX_HOST)]);
        zone.set_mx("elsewhere.example.org", &[(10, "mx.other.example")]);
        zone.servfail("silent.example");
        let resolver = zone.addr().to_string();

        let made = tokio::task::spawn_blocking(move || {
            let dir = tempfile::tempdir().expect("directory");
            let path = |name: &str| dir.path().join(name);
            for name in ["data", "busy", "stopped", "config"] {
                std::fs::create_dir(path(name)).expect("a directory");
            }
            let flags = ["--domain", "example.test", "--mx-host", MX_HOST, "--resolver", &resolver];
            let daemon = Program::serve(&path("data"), &flags);
            let busy = Program::serve(&path("busy"), &["--rate-limit", "1"]);
            let _ = remote(busy.http, &["inbox", "a@example.test"]);
            Program::serve(&path("stopped"), &[]).stop();
            let not_ours = of_another_user(path("not-ours"));
            let names = fill(&daemon, dir.path());
            (dir, daemon, busy, not_ours, names)
        });
        let (dir, daemon, busy, not_ours, names) = made.await.expect("the places");
        Self { dir, daemon, busy, not_ours, names, _zone: zone }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The words of a command line of the tables. A blank between quotes divides nothing.
    fn words(&self, typed: &str) -> Vec<String> {
        let pieces = typed.split('\'').enumerate();
        let words = pieces.flat_map(|(index, piece)| match index % 2 {
            0 => piece.split_whitespace().map(str::to_owned).collect(),
            _ => vec![piece.to_owned()],
        });
        let named = |word: String| {
            self.names.iter().fold(word, |word, (name, value)| word.replace(&format!("{{{name}}}"), value))
        };
        words.map(named).collect()
    }

    /// The words of a command with this flag before them.
    fn line(&self, flag: &str, value: &str, typed: &str) -> Vec<String> {
        let flag = [flag.to_owned(), value.to_owned()];
        flag.into_iter().chain(self.words(typed)).collect()
    }

    /// A command with the configuration, browser and standard input of the test, and no server and no data directory.
    fn command(&self, words: &[String]) -> CommandLine {
        let mail = std::fs::read(self.path("mail.eml")).expect("the mail");
        CommandLine::new(&self.path("config"), words).env("BROWSER", "true").env("LOGNAME", "me").fed(mail)
    }

    /// Carries out a command in this process, unless it is `serve`, which logs for the whole of a process.
    fn outcome(&self, words: &[String]) -> Outcome {
        if words.iter().any(|word| word == "serve") {
            return outcome(tempmail(&self.path("config")).args(words));
        }
        self.command(words).run()
    }

    fn path_text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Carries out a line of the table of causes that belong to some commands.
    pub(super) fn run(&self, place: Place, typed: &str) -> Outcome {
        self.outcome(&match place {
            Place::Daemon => self.line("--data-dir", &self.path_text("data"), typed),
            Place::Public => self.line("--server", &format!("http://{}", self.daemon.http), typed),
            Place::Stopped => self.line("--data-dir", &self.path_text("stopped"), typed),
        })
    }

    /// Carries out a command where this cause comes to it.
    pub(super) fn caused(&self, cause: Cause, typed: &str) -> Outcome {
        let on_data = self.line("--data-dir", &self.path_text("data"), typed);
        let on_server = |server: &Program| self.line("--server", &format!("http://{}", server.http), typed);
        self.outcome(&match cause {
            Cause::Flag => [on_data, vec!["--no-such-flag".to_owned()]].concat(),
            Cause::NoServer => self.line("--server", NOBODY, typed),
            Cause::NoDirectory => self.line("--data-dir", &self.path_text("missing"), typed),
            Cause::NoToken => on_server(&self.daemon),
            Cause::RateLimit => on_server(&self.busy),
            Cause::Config => self.line("--config", &self.path_text("bad.toml"), typed),
            Cause::NotOurs => self.line("--data-dir", &self.not_ours.display().to_string(), typed),
            Cause::Interrupt => return self.signalled(Signal::INT, typed),
            Cause::Terminate => return self.signalled(Signal::TERM, typed),
            Cause::NoReader => {
                let (reader, writer) = std::io::pipe().expect("a pipe");
                drop(reader);
                let (code, stderr) = self.command(&on_data).run_into(writer);
                return Outcome { code: Some(code), stdout: String::new(), stderr };
            }
        })
    }

    /// Sends a signal to a process with the command as soon as it has asked a server, which does not answer.
    fn signalled(&self, signal: Signal, typed: &str) -> Outcome {
        let silent = TcpListener::bind("127.0.0.1:0").expect("bind");
        let server = format!("http://{}", silent.local_addr().expect("address"));
        let mut command = tempmail(&self.path("config"));
        command.args(self.line("--server", &server, typed)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("run");
        let asked: TcpStream = silent.accept().expect("a request").0;
        asked.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        asked.peek(&mut [0]).expect("a request");
        kill_process(Pid::from_child(&child), signal).expect("kill");
        child.wait_with_output().expect("its end").into()
    }
}

/// Puts something into the daemon and beside it. Returns what the tables name.
fn fill(daemon: &Program, dir: &Path) -> Vec<(&'static str, String)> {
    let file = |name: &str, text: &str| {
        std::fs::write(dir.join(name), text).expect("a file");
        dir.join(name).display().to_string()
    };
    let does = |args: &[&str]| {
        let outcome = local(&dir.join("data"), args).ok();
        outcome.stdout.split_whitespace().next().unwrap_or_default().to_owned()
    };
    let mail = file("mail.eml", "Subject: hello\n\ntext\n");
    let backup = dir.join("backup").display().to_string();
    let mail_id = does(&["send-test", "a@example.test", "--file", &mail]);
    does(&["db", "backup", &backup]);
    does(&["token", "new", "--name", "kept"]);
    does(&["new", "--private", "mine@example.test"]);
    does(&["domain", "add", "here.example.org"]);
    vec![
        ("dir", dir.display().to_string()),
        ("mail", mail),
        ("large", file("large.eml", &format!("Subject: large\n\n{}\n", "x".repeat(400_000)))),
        ("good", file("good.toml", "retention = \"1h\"\n")),
        ("bad", file("bad.toml", "nonsense = 3\n")),
        ("backup", backup),
        ("mail-id", mail_id),
        ("webhook", does(&["webhook", "add", "a@example.test", "https://h.test/"])),
        ("other", does(&["webhook", "add", "other@example.test", "https://h.test/"])),
        ("unknown", UNKNOWN_ID.to_owned()),
        ("smtp", daemon.smtp.to_string()),
    ]
}
