//! Postfix as a sending MTA while the receiver is stopped and killed, and Postfix in front of the receiver, by LMTP.
//! Promise: it outlives the code below it.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::http;
use crate::support::postfix::Postfix;
use crate::support::program::Program;

const MESSAGES: usize = 2000;
/// How many mails are delivered before the receiver is stopped, and before it is killed.
const STOPPED_AFTER: usize = 300;
const KILLED_AFTER: usize = 900;
/// How many connections Postfix delivers over at once, as it does by default.
const CONCURRENCY: usize = 20;
/// Each message has its own number before this.
const RECIPIENT: &str = "mail@example.test";
/// The address for bounces. The receiver accepts mail for it, so no bounce goes unseen.
const SENDER: &str = "bounces@example.test";

/// The recipients that do not have exactly one mail, and how many they have.
async fn counts_but_one(http: SocketAddr) -> BTreeMap<String, u64> {
    let client = http::client();
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
#[ignore = "needs Postfix and root"]
async fn all_that_postfix_has_arrives_though_the_receiver_is_stopped_and_killed() {
    let dir = tempfile::tempdir().expect("directory");
    // No other test listens on this address or connects from it, so the port stays free while the receiver is down.
    let anywhere = SocketAddr::from(([127, 0, 83, 1], 0));
    let daemon = Program::serve_at(anywhere, dir.path(), &["--domain", "example.test"]);
    let smtp = daemon.smtp;
    let relay = format!("smtp:[{}]:{}", smtp.ip(), smtp.port());
    let postfix = Postfix::start(&relay);

    let daemon = std::thread::scope(|scope| {
        let source = scope.spawn(|| {
            let messages = MESSAGES.to_string();
            postfix.take_messages(&["-s", "20", "-m", &messages, "-l", "2000", "-N", "-f", SENDER, "-t", RECIPIENT]);
        });
        postfix.wait_for("deliveries", |postfix| postfix.attempts("sent") >= STOPPED_AFTER);
        daemon.stop();
        postfix.wait_for("attempts at a stopped receiver", |postfix| postfix.log().contains("Connection refused"));
        let daemon = Program::serve_at(smtp, dir.path(), &["--domain", "example.test"]);

        postfix.wait_for("deliveries after the stop", |postfix| postfix.attempts("sent") >= KILLED_AFTER);
        daemon.kill();
        let refused = postfix.log().matches("Connection refused").count();
        let is_refused_again = |postfix: &Postfix| postfix.log().matches("Connection refused").count() > refused;
        postfix.wait_for("attempts at a killed receiver", is_refused_again);
        let daemon = Program::serve_at(smtp, dir.path(), &["--domain", "example.test"]);

        source.join().expect("smtp-source");
        postfix.wait_until_done_with(MESSAGES);
        daemon
    });

    assert_eq!((postfix.attempts("sent"), postfix.attempts("bounced")), (MESSAGES, 0), "{}", postfix.state());
    let counts = counts_but_one(daemon.http).await;
    let lost: Vec<_> = counts.iter().filter(|(_, total)| **total == 0).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    // A message may be stored but not acknowledged when the process is killed. Its sender sends it again.
    assert!(counts.len() <= CONCURRENCY, "{counts:?}");
    let log = postfix.log();
    for (to, total) in counts {
        let was_cut = |line: &&str| line.contains(&format!("to=<{to}>")) && line.contains("lost connection with");
        assert_eq!(total, 2, "{to}");
        assert!(log.lines().find(was_cut).is_some(), "{to} came twice, but not for the kill");
    }
    assert_eq!(http::total(daemon.http, SENDER).await, 0);
    drop(postfix);
    daemon.stop();
}

#[tokio::test]
#[ignore = "needs Postfix and root"]
async fn postfix_in_front_delivers_by_lmtp() {
    let (dir, shared) = (tempfile::tempdir().expect("directory"), tempfile::tempdir().expect("directory"));
    // Postfix connects as a user of its own.
    fs::set_permissions(shared.path(), fs::Permissions::from_mode(0o755)).expect("mode");
    let socket = shared.path().join("lmtp");
    let socket = socket.to_str().expect("UTF-8");
    let lmtp = ["--lmtp-listen", socket, "--lmtp-listen", "127.0.0.1:0", "--lmtp-socket-mode", "666"];
    let daemon = Program::serve(dir.path(), &[&lmtp[..], &["--domain", "example.test"]].concat());
    let listening = daemon.logged("ready")["lmtp"].to_string();
    let tcp = listening.split(['"', ',', ' ']).find(|name| name.starts_with("127.")).expect("an address").to_owned();
    let (ip, port) = tcp.split_once(':').expect("a port");
    for (number, next_hop) in [format!("unix:{socket}"), format!("inet:[{ip}]:{port}")].iter().enumerate() {
        let postfix = Postfix::start(&format!("lmtp:{next_hop}"));
        // Each message has three recipients: this name, and this name behind a 2 and behind a 3.
        let to = format!("lmtp{number}@example.test");
        postfix.take_messages(&["-m", "20", "-r", "3", "-f", SENDER, "-t", &to]);
        postfix.wait_until_done_with(20);
        assert_eq!((postfix.attempts("sent"), postfix.attempts("deferred")), (60, 0), "{}", postfix.state());
        for number in ["", "2", "3"] {
            assert_eq!(http::total(daemon.http, &format!("{number}{to}")).await, 20, "{number}{to} by {next_hop}");
        }
    }
    let raw = daemon.tempmail(&["read", "lmtp0@example.test", "--latest", "--raw"]).stdout;
    assert!(raw.contains("with LMTP"), "{raw}");
    daemon.stop();
}

#[tokio::test]
#[ignore = "needs Postfix and root"]
async fn postfix_retries_after_a_451_and_after_a_drop_and_its_mail_arrives_once() {
    let to = "hello@example.test";
    let dir = tempfile::tempdir().expect("directory");
    let rules = ["--fault", "RCPT hello@* #1 451 4.3.0", "--fault", "end #1 451 4.3.0 Again", "--fault", "end #2 drop"];
    let daemon = Program::serve(dir.path(), &rules);
    let relay = format!("smtp:[{}]:{}", daemon.smtp.ip(), daemon.smtp.port());
    let postfix = Postfix::start(&relay);
    postfix.take_messages(&["-m", "1", "-f", "ann@sender.test", "-t", to]);
    postfix.wait_until_done_with(1);
    assert_eq!((postfix.attempts("deferred"), postfix.attempts("sent")), (3, 1), "{}", postfix.state());
    assert!(postfix.log().contains("451 4.3.0 Again"), "{}", postfix.state());
    assert_eq!(http::total(daemon.http, to).await, 1, "neither lost nor twice");
}
