//! The commands of a remote administrator: the binary with a token against the binary as a daemon.
//! Promise: it outlives the code below it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::command::{Outcome, on_server, outcome, tempmail};
use crate::support::program::{Program, serve_command};
use crate::support::smtp_peer::SmtpPeer;

/// A daemon with a token, and a place for the files of its remote administrator.
struct Remote {
    daemon: Program,
    dir: tempfile::TempDir,
    token: PathBuf,
}

impl Remote {
    fn start(scope: &str) -> Self {
        let dir = tempfile::tempdir().expect("directory");
        let data = dir.path().join("data");
        std::fs::create_dir(&data).expect("directory");
        let daemon = Program::serve(&data, &["--domain", "example.com", "--http-allowed-hosts", "mail.test"]);
        let created = daemon.tempmail(&["token", "new", "--name", "me", "--scope", scope, "--expires", "90d"]).ok();
        let token = dir.path().join("token");
        std::fs::write(&token, &created.stdout).expect("write");
        std::fs::set_permissions(&token, Permissions::from_mode(0o600)).expect("mode");
        Self { daemon, dir, token }
    }

    fn run(&self, args: &[&str]) -> Outcome {
        outcome(on_server(self.daemon.http, args).arg("--token-file").arg(&self.token))
    }

    fn ok(&self, args: &[&str]) -> Outcome {
        self.run(args).ok()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[args, &["--json"]].concat()).stdout).expect("JSON")
    }
}

#[tokio::test]
async fn a_remote_administrator_does_what_the_local_one_does() {
    let remote = Remote::start("admin");
    SmtpPeer::greeted(remote.daemon.smtp).await.deliver("admin@example.com", "Subject: code\r\n\r\n1234").await;

    assert_eq!(remote.json(&["status"])["store"]["emails"], 1);
    remote.ok(&["domain", "add", "kept.test", "--owner", "Olga", "--skip-dns-check"]);
    let domains = remote.json(&["domain", "ls"]);
    let kept = domains.as_array().expect("array").iter().find(|it| it["domain"] == "kept.test").expect("kept.test");
    assert_eq!(kept["owner"], "Olga");
    assert_eq!(remote.run(&["domain", "verify"]).code, Some(6), "no mx-host is set");
    remote.ok(&["domain", "rm", "kept.test", "--yes"]);
    let mail = remote.ok(&["inbox", "admin@example.com", "-o", "id"]).stdout;
    assert!(remote.ok(&["read", mail.trim()]).stdout.contains("1234"));

    let all = remote.ok(&["inbox"]).stdout;
    assert!(all.starts_with(mail.trim()) && all.ends_with("\tcode\tadmin@example.com\n"), "{all}");
    let mailboxes = remote.json(&["inbox", "--mailboxes", "--domain", "example.com"]);
    assert_eq!(mailboxes["mailboxes"][0]["address"], "admin@example.com", "{mailboxes}");

    let webhook = remote.ok(&["webhook", "add", "root@example.com", "https://hooks.test/path", "-o", "id"]).stdout;
    let listed = remote.ok(&["webhook", "ls", "--all"]).stdout;
    assert!(listed.contains("https://hooks.test/path"), "{listed}");
    remote.ok(&["webhook", "deliveries", webhook.trim()]);
    remote.ok(&["webhook", "replay", webhook.trim(), "--failed"]);
    remote.ok(&["webhook", "rm", "--origin", "https://hooks.test", "--yes"]);

    assert_eq!(remote.json(&["status", "--all"])["store"]["emails"], 1);
    let backup = remote.dir.path().join("backup");
    remote.ok(&["db", "backup", backup.to_str().expect("path")]);
    assert!(backup.metadata().expect("file").len() > 100);
    remote.ok(&["delete", "--id", mail.trim(), "--yes"]);

    let other = remote.ok(&["token", "new", "--name", "other", "--scope", "read"]).stdout;
    assert!(other.starts_with("tm_"), "{other}");
    let names: Vec<String> = remote.ok(&["token", "ls"]).stdout.lines().map(first_field).collect();
    assert_eq!(names, ["me", "other"]);
    assert!(!remote.ok(&["token", "ls", "--json"]).stdout.contains("tm_"));
    remote.ok(&["token", "rm", "other"]);
    assert_eq!(remote.run(&["token", "rm", "other"]).code, Some(3));
    // The last thing that a token can do.
    remote.ok(&["token", "rm", "me"]);
    let refused = remote.run(&["status"]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.contains("tempmail token list"), "{refused:?}");
}

#[test]
fn a_token_goes_into_a_file_of_its_owner_and_others_who_may_read_it_are_said() {
    let daemon = Program::fresh(&[]);
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("token");
    let path = file.to_str().expect("path");
    let made = ["token", "new", "--name", "me", "--out", path];
    assert_eq!(daemon.tempmail(&made).ok().stdout, format!("{path}\n"));
    assert_eq!(std::fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o600);
    let status = || outcome(on_server(daemon.http, &["status"]).arg("--token-file").arg(&file)).ok().stderr;
    assert_eq!(status(), "");
    std::fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("mode");
    assert!(status().contains("others can read the token"));

    let again = daemon.tempmail(&["token", "new", "--name", "other", "--out", path]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(5), ""), "{again:?}");
    let nowhere = daemon.tempmail(&["token", "new", "--name", "other", "--out", "/nowhere/token"]);
    assert_eq!((nowhere.code, nowhere.stdout.as_str()), (Some(1), ""), "{nowhere:?}");
    assert_eq!(daemon.tempmail(&["token", "ls"]).stdout.lines().count(), 1, "nothing was made");
}

fn first_field(line: &str) -> String {
    line.split('\t').next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_reader_reads_and_is_told_which_scope_a_write_needs() {
    let remote = Remote::start("read");
    SmtpPeer::greeted(remote.daemon.smtp).await.deliver("admin@example.com", "Subject: code\r\n\r\n").await;
    assert_eq!(remote.json(&["status"])["store"]["emails"], 1);
    remote.ok(&["domain", "ls"]);
    assert_eq!(remote.ok(&["inbox", "admin@example.com"]).stdout.lines().count(), 1);
    for write in [
        &["domain", "rm", "example.com", "--yes"][..],
        &["domain", "add", "x.test", "--skip-dns-check"],
        &["token", "new", "--name", "more"],
        &["delete", "admin@example.com", "--yes"],
    ] {
        let refused = remote.run(write);
        assert_eq!(refused.code, Some(4), "{write:?}: {refused:?}");
        assert!(refused.stderr.contains("scope"), "{refused:?}");
    }
}

#[test]
fn a_token_that_goes_over_the_network_without_encryption_is_warned_about() {
    let remote = Remote::start("admin");
    // The proxy is the daemon itself, so that nothing leaves this machine.
    let through = |server: &str, token: Option<&Path>| -> Outcome {
        let mut command = tempmail(remote.dir.path());
        command.env("http_proxy", format!("http://{}", remote.daemon.http));
        command.args(["--server", server, "status"]);
        if let Some(token) = token {
            command.arg("--token-file").arg(token);
        }
        outcome(&mut command)
    };
    let warned = through("http://mail.test", Some(&remote.token)).ok();
    assert!(warned.stderr.contains("without encryption"), "{warned:?}");
    assert!(!through("http://mail.test", None).stderr.contains("without encryption"));
    assert!(!remote.ok(&["status"]).stderr.contains("without encryption"), "loopback");
}

#[test]
fn a_short_token_in_the_environment_stops_the_start() {
    let dir = tempfile::tempdir().expect("directory");
    let refused = outcome(serve_command(dir.path()).env("TEMPMAIL_ADMIN_TOKEN", "hunter2"));
    assert_eq!(refused.code, Some(78));
    let is_said = refused.stderr.contains("TEMPMAIL_ADMIN_TOKEN") && !refused.stderr.contains("hunter2");
    assert!(is_said, "{refused:?}");
}
