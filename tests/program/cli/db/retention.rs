//! A command that works on the store itself does not know for how long the service keeps mail.
//! Promise: it outlives the code below it.

use super::{damage, send, serve_with};
use crate::support::program::local_with;
use crate::support::until::until;

const TO: &str = "a@example.test";

/// The expiry of the newest mail, as a service that keeps mail for long shows it.
fn expiry(dir: &std::path::Path) -> String {
    let daemon = serve_with(dir, &["--retention", "7d"]);
    let read = daemon.tempmail(&["read", TO, "--latest"]);
    daemon.stop();
    let line = read.stdout.lines().find(|line| line.starts_with("Expires: "));
    line.unwrap_or_else(|| panic!("{read:?}")).to_owned()
}

/// `tempmail inbox` on the data of a stopped service cut every life to the retention that the command knew of, for good.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_shortens_the_life_of_mail() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve_with(dir.path(), &["--retention", "7d"]);
    send(&daemon, TO, "Subject: one\r\n\r\nthe first message").await;
    send(&daemon, TO, "Subject: two\r\n\r\nthe second message").await;
    let shown = daemon.tempmail(&["read", TO, "--latest"]).stdout;
    daemon.stop();
    let wanted = expiry(dir.path());
    assert!(shown.lines().any(|line| line == wanted), "{wanted}\n{shown}");
    let backup = dir.path().join("backup").display().to_string();
    let commands: [&[&str]; 3] =
        [&["db", "backup", &backup], &["db", "restore", &backup, "--yes"], &["db", "check", "--salvage", "--yes"]];
    for command in commands {
        if command[1] == "check" {
            damage(dir.path(), b"the first message");
        }
        local_with(dir.path(), &[("TEMPMAIL_RETENTION", "1s")], command).ok();
        assert_eq!(expiry(dir.path()), wanted, "{command:?}");
    }
    // The service does, as its settings require.
    let daemon = serve_with(dir.path(), &["--retention", "1s"]);
    until("the mail has expired", async || daemon.tempmail(&["read", TO, "--latest"]).code == Some(3)).await;
}
