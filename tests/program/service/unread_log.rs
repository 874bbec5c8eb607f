//! A service whose log nobody reads.
//! Promise: it outlives the code below it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::support::program::serve_command;
use crate::support::smtp_peer::SmtpPeer;

const TO: &str = "hello@example.test";

/// A daemon that is killed when this is dropped.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The message of a line.
fn message(line: &str) -> String {
    let line: Value = serde_json::from_str(line).expect("a whole line");
    line["message"].as_str().expect("a message").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_nobody_reads_loses_lines_and_does_not_stop_the_mail() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve_command(dir.path()).arg("-vv").stderr(Stdio::piped()).spawn();
    let mut daemon = Daemon(daemon.expect("the binary"));
    let mut log = BufReader::new(daemon.0.stderr.take().expect("stderr"));
    let ready = loop {
        let mut line = String::new();
        log.read_line(&mut line).expect("a line");
        if message(&line) == "ready" {
            break line;
        }
    };
    let ready: Value = serde_json::from_str(&ready).expect("JSON");
    let smtp = ready["smtp"].as_str().expect("an address").parse().expect("an address");
    // A session logs more than 300 octets, and a pipe has 64 KB.
    for number in 0..300 {
        SmtpPeer::greeted(smtp).await.deliver(TO, &format!("Subject: {number}\r\n\r\n")).await;
    }
    let half_empty = spawn_blocking(move || {
        log.read_exact(&mut [0; 16 * 1024]).expect("a full pipe");
        log
    });
    let mut log = half_empty.await.expect("a thread");
    let rest = spawn_blocking(move || {
        let mut rest = String::new();
        log.read_to_string(&mut rest).expect("the end");
        rest
    });
    SmtpPeer::greeted(smtp).await.deliver(TO, "Subject: read\r\n\r\n").await;
    kill_process(Pid::from_child(&daemon.0), Signal::TERM).expect("a signal");
    assert_eq!(daemon.0.wait().expect("an end").code(), Some(0));
    let rest = rest.await.expect("a thread");
    let messages: Vec<String> = rest.lines().skip(1).filter(|line| !line.is_empty()).map(message).collect();
    for said in ["lines of the log were lost", "smtp session ended", "stopping"] {
        assert!(messages.iter().any(|message| message.starts_with(said)), "{said}: {rest}");
    }
}
