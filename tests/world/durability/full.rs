//! The binary on a file system that is full.
//! Promise: it outlives the code below it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::command::{fed, on_data};
use crate::support::exposition::Exposition;
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;
use crate::support::{http, programs};

const TO: &str = "hello@example.test";

/// A file system in memory, unmounted when this is dropped.
struct Tmpfs(TempDir);

impl Tmpfs {
    fn mount(size: &str) -> Self {
        programs::need_root();
        let dir = tempfile::tempdir().expect("directory");
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(dir.path());
        programs::run(&mut command, "");
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        // The daemon of a failed test may still be running.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

/// Fills every free block.
fn fill(file: &Path) {
    use std::io::Write;
    let mut file = std::fs::File::create(file).expect("create");
    let mut octets = vec![0; 1 << 20];
    while !octets.is_empty() {
        while file.write_all(&octets).is_ok() {}
        octets.truncate(octets.len() / 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs root, which may mount a file system"]
async fn on_a_full_disk_mail_is_refused_for_now_and_all_else_goes_on() {
    let tmpfs = Tmpfs::mount("24m");
    let data = tmpfs.path().join("data");
    let server = Program::serve(&data, &["--retention", "15s"]);
    let status = || -> Value { serde_json::from_str(&server.tempmail(&["status", "--json"]).stdout).expect("JSON") };
    let mut peer = SmtpPeer::greeted(server.smtp).await;
    for _ in 0..4 {
        peer.deliver(TO, "Subject: kept\r\n\r\nkept\r\n").await;
    }
    assert_eq!((&status()["acceptsMail"], &status()["cause"]), (&Value::Bool(true), &Value::Null));
    let ballast = tmpfs.path().join("ballast");
    fill(&ballast);

    peer.command("MAIL FROM:<ann@sender.test>", "452 4.3.1").await;
    let answer = http::client().get(format!("http://{}/readyz", server.http)).send().await.expect("an answer");
    assert_eq!(answer.status(), 503);
    assert_eq!(answer.json::<Value>().await.expect("JSON")["cause"], "storage_full");
    assert_eq!((&status()["acceptsMail"], &status()["cause"]), (&Value::Bool(false), &Value::from("storage_full")));
    let metrics = Exposition::of(server.http).await;
    let full = [("cause", "storage_full")];
    assert_eq!(
        (metrics.value("tempmail_store_accepts_mail", &[]), metrics.value("tempmail_store_trouble", &full)),
        (0, 1)
    );
    for (args, code, said) in [
        (["send-test", TO], 1, "refused MAIL: 452 4.3.1 No space to store a message; try again later\nhint: "),
        (["sendmail", TO], 75, "refused MAIL: 452 4.3.1 No space to store a message; try again later\n"),
    ] {
        let refused = fed(&mut on_data(&data, &args), "Subject: more\n\ntext\n");
        assert!(refused.code == Some(code) && refused.stderr.contains(said), "{args:?}: {refused:?}");
    }
    let inbox = http::inbox(server.http, TO).await;
    assert_eq!(inbox["emails"].as_array().expect("emails").len(), 4);
    let id = inbox["emails"][0]["id"].as_str().expect("id").to_owned();
    assert!(http::raw(server.http, &id).await.is_some());
    assert_eq!(server.tempmail(&["delete", "--yes", "--id", &id]).code, Some(0));
    assert_eq!(http::total(server.http, TO).await, 3);
    until("expiry goes on", async || status()["store"]["emails"] == 0).await;

    std::fs::remove_file(&ballast).expect("remove");
    until("mail is accepted again", async || {
        let mut peer = SmtpPeer::greeted(server.smtp).await;
        peer.command("EHLO client.test", "250").await;
        peer.try_exchange("MAIL FROM:<ann@sender.test>\r\n").await.starts_with("250")
    })
    .await;
    SmtpPeer::greeted(server.smtp).await.deliver(TO, "Subject: again\r\n\r\n").await;
    assert_eq!(http::total(server.http, TO).await, 1);
    server.stop();
}
