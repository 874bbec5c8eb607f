//! Backed up under load, restored, and compared.
//! Promise: it outlives the code below it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::process::Signal;
use serde_json::Value;

use super::{send, serve};
use crate::support::command::{Running, code, on_data, output};
use crate::support::http;
use crate::support::program::local;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

fn ids(page: &Value) -> Vec<String> {
    page["emails"].as_array().expect("emails").iter().map(|email| email["id"].as_str().expect("id").into()).collect()
}

/// Four senders that send until they are stopped.
fn load(
    server: std::net::SocketAddr,
    sent: &Arc<AtomicUsize>,
    stop: &Arc<AtomicBool>,
) -> Vec<tokio::task::JoinHandle<()>> {
    let sender = |number: usize| {
        let (sent, stop) = (Arc::clone(sent), Arc::clone(stop));
        async move {
            let mut peer = SmtpPeer::greeted(server).await;
            peer.command("EHLO c.test", "250").await;
            while !stop.load(Ordering::Relaxed) {
                let nth = sent.fetch_add(1, Ordering::Relaxed);
                let body = format!("{nth} {:0200x}\r\n", rand::random::<u128>()).repeat(nth % 40 + 1);
                let (one, two) = (format!("m{}@example.test", nth % 7), format!("n{number}@example.test"));
                peer.command(&format!("MAIL FROM:<a@b.test>\r\nRCPT TO:<{one}>\r\nRCPT TO:<{two}>\r\nDATA"), "250")
                    .await;
                for expected in ["250", "250", "354"] {
                    peer.expect(expected).await;
                }
                peer.command(&format!("Subject: {nth}\r\n\r\n{body}."), "250").await;
            }
        }
    };
    (0..4).map(|number| tokio::spawn(sender(number))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_there_when_a_backup_began_is_there_after_it_was_restored() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve(&dir.path().join("data"));
    let secret = dir.path().join("secret");
    std::fs::write(&secret, "a-secret-of-a-webhook").expect("write");
    daemon.tempmail(&["domain", "add", "mine.example", "--skip-dns-check", "--owner", "Ann"]).ok();
    // No mail comes to it, so no event waits.
    let to = ["webhook", "add", "quiet@example.test", "https://hooks.invalid/x", "--secret-file"];
    daemon.tempmail(&[&to[..], &[secret.to_str().expect("path")]].concat()).ok();

    let (sent, stop) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
    let senders = load(daemon.smtp, &sent, &stop);
    until("200 messages are sent", async || sent.load(Ordering::Relaxed) >= 200).await;
    let page = http::inbox(daemon.http, "m2@example.test").await;
    let gone = ids(&page)[0].clone();
    daemon.tempmail(&["delete", "--id", &gone, "--yes"]).ok();
    let mut before = Vec::new();
    for inbox in 0..7 {
        before.extend(ids(&http::inbox(daemon.http, &format!("m{inbox}@example.test")).await));
    }
    let file = dir.path().join("file.backup");
    daemon.tempmail(&["db", "backup", file.to_str().expect("path")]).ok();
    stop.store(true, Ordering::Relaxed);
    for sender in senders {
        sender.await.expect("a sender");
    }

    assert_eq!(std::fs::metadata(&file).expect("metadata").permissions().mode() & 0o777, 0o600);
    let copy = dir.path().join("copy");
    local(&copy, &["db", "restore", file.to_str().expect("path")]).ok();
    let checked = local(&copy, &["db", "check"]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), ""), "{}", checked.stderr);
    // The same once more: messages, Emails, times, domains and webhooks with their secrets, in the same order.
    let again = dir.path().join("again.backup");
    assert_eq!(local(&copy, &["db", "backup", again.to_str().expect("path")]).code, Some(0));
    assert!(
        std::fs::read(&again).expect("octets") == std::fs::read(&file).expect("octets"),
        "the restored store is another"
    );
    let twin = serve(&copy);
    let listed = twin.tempmail(&["inbox", "--all", "-o", "id"]).stdout;
    let restored: Vec<&str> = listed.lines().collect();
    assert!(before.iter().all(|id| restored.contains(&id.as_str())), "an Email that was there is missing");
    assert!(!restored.contains(&gone.as_str()), "a deleted Email is in the backup");

    for inbox in 0..7 {
        let address = format!("m{inbox}@example.test");
        let (old, new) = (http::inbox(daemon.http, &address).await, http::inbox(twin.http, &address).await);
        let of_backup: Vec<String> = ids(&old).into_iter().filter(|id| restored.contains(&id.as_str())).collect();
        // The page of the daemon begins with newer ones.
        assert_eq!(of_backup, ids(&new)[..of_backup.len()], "{address}");
        for id in of_backup.iter().step_by(9) {
            assert!(http::raw(daemon.http, id).await == http::raw(twin.http, id).await, "{id} is another");
            let shown = format!("/api/mail/messages/{id}");
            let (old, new) = (http::get(daemon.http, &shown).await, http::get(twin.http, &shown).await);
            assert!(old.1["expiresAt"].is_string() && old == new, "{old:?} became {new:?}");
        }
    }
    assert_eq!(http::raw(twin.http, &gone).await, None);
    twin.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_come_back_when_they_are_asked_for_and_keep_their_names() {
    let dir = tempfile::tempdir().expect("directory");
    let data = dir.path().join("data");
    // No server has this name, so the event stays pending.
    let daemon = serve(&data);
    daemon.tempmail(&["webhook", "add", "w@example.test", "https://hooks.invalid/x"]).ok();
    send(&daemon, "w@example.test", "Subject: 1\r\n\r\nx").await;
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (file, again) = (path("file.backup"), path("again.backup"));
    let made = daemon.tempmail(&["db", "backup", &file, "-o", "tsv"]);
    assert!(made.code == Some(0) && made.stdout.contains("events\t1\n"), "{made:?}");
    daemon.stop();

    for (asked, waiting) in [(&[][..], 0), (&["--with-events", "--yes"], 1)] {
        let copy = dir.path().join("copy");
        local(&copy, &[&["db", "restore", &file], asked].concat()).ok();
        let checked = local(&copy, &["db", "check"]);
        assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), ""));
        let made = local(&copy, &["db", "backup", &again, "--yes", "-o", "tsv"]);
        assert!(made.code == Some(0) && made.stdout.contains(&format!("events\t{waiting}\n")), "{made:?}");
    }
    // The backup includes the store's secret, from which the names of events follow.
    assert!(std::fs::read(&again).expect("octets") == std::fs::read(&file).expect("octets"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_through_a_pipe_is_the_file() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve(dir.path());
    send(&daemon, "a@example.test", "Subject: 1\r\n\r\nx").await;
    let file = dir.path().join("file.backup");
    let made = daemon.tempmail(&["db", "backup", file.to_str().expect("path"), "-o", "tsv"]);
    let golden = "domains\t0\nemails\t1\nevents\t0\nleases\t0\nmessages\t1\noctets\t17\nwebhooks\t0\n";
    assert_eq!((made.code, made.stdout.as_str()), (Some(0), golden), "{}", made.stderr);
    let output = output(&mut on_data(dir.path(), &["db", "backup", "-"]));
    assert_eq!(output.stdout, std::fs::read(&file).expect("the file"));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("1 Emails, 0 domains and 0 webhooks"));
}

/// Whether a process has a file open in this directory.
fn has_open(process: u32, dir: &Path) -> bool {
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).expect("its files").flatten();
    open.filter_map(|entry| std::fs::read_link(entry.path()).ok()).any(|path| path.starts_with(dir))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_backup_leaves_no_file() {
    let dir = tempfile::tempdir().expect("directory");
    let (data, backups) = (dir.path().join("data"), dir.path().join("backups"));
    std::fs::create_dir(&backups).expect("directory");
    let daemon = serve(&data);
    // So the receiver accepts the connection and never answers.
    daemon.signal(Signal::STOP);
    let backup = Running::start(on_data(&data, &["db", "backup"]).arg(backups.join("file.backup")));
    // It has a name only once it is complete.
    until("a file is begun", async || has_open(backup.process(), &backups)).await;
    backup.signal(Signal::INT);
    assert_eq!(backup.end().code, Some(130));
    daemon.signal(Signal::CONT);
    daemon.stop();
    assert_eq!(std::fs::read_dir(&backups).expect("list").count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_into_a_pipe_that_nobody_reads_is_stopped() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve(dir.path());
    // More than a pipe holds.
    for number in 1..=4 {
        let text = "line\r\n".repeat(7_000);
        send(&daemon, "a@example.test", &format!("Subject: {number}\r\n\r\n{text}")).await;
    }
    for (signal, expected) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let mut command = on_data(dir.path(), &["db", "backup", "-"]);
        let mut backup = command.stdout(std::process::Stdio::piped()).spawn().expect("run");
        let piped = backup.stdout.take().expect("its output");
        // Most of the backup can never be written: a pipe has 64 KB, and some of that stays unused.
        until("the pipe fills", async || rustix::io::ioctl_fionread(&piped).expect("its octets") >= 32 * 1024).await;
        rustix::process::kill_process(rustix::process::Pid::from_child(&backup), signal).expect("signal");
        until("its end", async || backup.try_wait().expect("wait").is_some()).await;
        assert_eq!(code(backup.wait().expect("wait")), Some(expected));
    }
}
