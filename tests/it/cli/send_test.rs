//! `tempmail send-test`
//! Promise: it outlives the code below it.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};

use serde_json::json;

use super::{Service, TO};
use crate::support::front::Answer;
use crate::support::smtp_peer::SmtpPeer;

/// An SMTP server that refuses the recipient, or takes a message. What it takes is lost, and somebody else sends another with
/// its subject to the service at `elsewhere`.
fn smtp(refusal: Option<&'static str>, elsewhere: Option<SocketAddr>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address");
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("accept");
        let mut writer = stream.try_clone().expect("clone");
        let mut say = |reply: &str| write!(writer, "{reply}\r\n").expect("write");
        say("220 x.test ESMTP");
        let (mut is_data, mut subject) = (false, String::new());
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if is_data {
                if line.starts_with("Subject: ") {
                    subject = line;
                } else if line == "." {
                    is_data = false;
                    if let Some(service) = elsewhere {
                        send(service, &subject);
                    }
                    say("250 2.0.0 stored");
                }
                continue;
            }
            match line.split([' ', ':']).next() {
                Some("DATA") => {
                    is_data = true;
                    say("354 go on");
                }
                Some("RCPT") => say(refusal.unwrap_or("250 2.1.5 ok")),
                Some("QUIT") => say("221 2.0.0 bye"),
                _ => say("250 ok"),
            }
        }
    });
    address
}

fn send(service: SocketAddr, subject: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let message = format!("{subject}\r\n\r\nof somebody else");
    runtime.block_on(async { SmtpPeer::greeted(service).await.deliver(TO, &message).await });
}

#[tokio::test(flavor = "multi_thread")]
async fn the_daemons_own_listener_is_used_and_the_mail_found() {
    let service = Service::with_mails(&["older"]).await;
    let outcome = service.run_local(&["send-test", TO, "-o", "id"]).await;
    let newest = service.ids(TO).await.swap_remove(0);
    assert_eq!((outcome.code, outcome.stdout), (Some(0), format!("{newest}\n")), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("accepted it: 250 2.0.0 Stored"), "{}", outcome.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_elsewhere_gets_its_smtp_port_named() {
    let service = Service::start().await;
    let address = service.server.smtp().to_string();
    let outcome = service.run(&["send-test", TO, "--smtp", &address]).await.ok();
    assert!(outcome.stdout.starts_with(&service.ids(TO).await[0]), "{}", outcome.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_has_the_exit_code_of_its_cause() {
    let service = Service::start().await;
    for (refusal, code) in [("550 5.1.2 no such domain", 3), ("452 4.3.1 disk full", 1), ("451 4.3.0 later", 6)] {
        let address = smtp(Some(refusal), None).to_string();
        let outcome = service.run(&["send-test", TO, "--smtp", &address]).await;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), ""), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(refusal), "{}", outcome.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_that_does_not_show_up_is_a_check_that_says_no() {
    let service = Service::start().await;
    let address = smtp(None, None).to_string();
    let outcome = service.run(&["send-test", TO, "--smtp", &address]).await;
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(8), ""), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("250 2.0.0 stored"), "{}", outcome.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_did_not_arrive_is_not_the_mail_of_somebody_else() {
    let service = Service::start().await;
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), "Subject: mine\n\ntext\n").expect("a file");
    let address = smtp(None, Some(service.server.smtp())).to_string();
    let path = file.path().to_str().expect("path");
    let ours = service.run(&["send-test", TO, "--smtp", &address, "--file", path, "-o", "id"]).await;
    assert_eq!((ours.code, ours.stdout.as_str()), (Some(8), ""), "{}", ours.stderr);
    assert_eq!(service.ids(TO).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_arrived_is_found() {
    let service = Service::start().await;
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), "Subject: mine\n\n.text\n\n").expect("a file");
    let path = file.path().to_str().expect("path");
    let outcome = service.run_local(&["send-test", TO, "--file", path, "-o", "id"]).await;
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (Some(0), 1), "{}", outcome.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn smtp_that_is_not_there_is_exit_code_6() {
    let service = Service::start().await;
    let status = service.server.admin_get("/api/admin/status").await;
    for listen in [json!(["127.0.0.1:1"]), json!([])] {
        let mut status = status.clone();
        status["smtpListen"] = listen;
        service.answers("GET /api/admin/status", Answer::json(&status));
        assert_eq!(service.run_local(&["send-test", TO]).await.code, Some(6));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn smtp_that_waits_for_a_proxy_is_distinguished_from_no_smtp() {
    let service = Service::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address").to_string();
    std::thread::spawn(move || drop(listener.accept()));
    let outcome = service.run(&["send-test", TO, "--smtp", &address]).await;
    assert_eq!(outcome.code, Some(6), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("without a reply"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("proxy-from"), "{}", outcome.stderr);
}
