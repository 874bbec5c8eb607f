//! `tempmail send-test`
//! Promise: it outlives the code below it.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};

use super::service::{Service, email, id_of};
use crate::support::program::Program;

const TO: &str = "hello@example.test";

/// An SMTP server that puts mail into the service, or refuses the recipient.
fn smtp(service: &Service, refusal: Option<&'static str>, is_kept: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address");
    let contents = service.shared();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("accept");
        let mut writer = stream.try_clone().expect("clone");
        let mut say = |reply: &str| write!(writer, "{reply}\r\n").expect("write");
        say("220 x.test ESMTP");
        let (mut is_data, mut subject) = (false, String::new());
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if is_data {
                if let Some(text) = line.strip_prefix("Subject: ") {
                    text.clone_into(&mut subject);
                } else if line == "." {
                    is_data = false;
                    if is_kept {
                        contents.lock().expect("lock").emails.insert(0, email(7, TO, &subject));
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

#[test]
fn the_daemons_own_listener_is_used_and_the_mail_found() {
    let service = Service::start();
    let address = smtp(&service, None, true);
    service.contents().smtp_listen = vec![address.to_string()];
    service.contents().emails = vec![email(1, TO, "older")];
    let outcome = service.run_local(&["send-test", TO, "-o", "id"]);
    assert_eq!((outcome.code, outcome.stdout), (Some(0), format!("{}\n", id_of(7))), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("250 2.0.0 stored"), "{}", outcome.stderr);
}

#[test]
fn a_server_elsewhere_gets_its_smtp_port_named() {
    let service = Service::start();
    let address = smtp(&service, None, true).to_string();
    let outcome = service.run(&["send-test", TO, "--smtp", &address]).ok();
    assert!(outcome.stdout.starts_with(&id_of(7)), "{}", outcome.stdout);
}

#[test]
fn a_refusal_has_the_exit_code_of_its_cause() {
    for (refusal, code) in [("550 5.1.2 no such domain", 3), ("452 4.3.1 disk full", 1), ("451 4.3.0 later", 6)] {
        let service = Service::start();
        let address = smtp(&service, Some(refusal), true).to_string();
        let outcome = service.run(&["send-test", TO, "--smtp", &address]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), ""), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(refusal), "{}", outcome.stderr);
    }
}

#[test]
fn mail_that_does_not_show_up_is_a_check_that_says_no() {
    let service = Service::start();
    let address = smtp(&service, None, false).to_string();
    let outcome = service.run(&["send-test", TO, "--smtp", &address]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(8), ""), "{}", outcome.stderr);
}

#[test]
fn a_file_that_did_not_arrive_is_not_the_mail_of_somebody_else() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("mail.eml");
    let send = |message: &str| {
        let service = Service::start();
        let address = smtp(&service, None, true).to_string();
        std::fs::write(&file, message).expect("a file");
        service.run(&["send-test", TO, "--smtp", &address, "--file", file.to_str().expect("path"), "-o", "id"])
    };
    let ours = send("Subject: mine\n\ntext\n");
    assert_eq!((ours.code, ours.stdout.as_str()), (Some(8), ""), "{}", ours.stderr);
}

#[test]
fn a_file_that_arrived_is_found() {
    let daemon = Program::fresh(&[]);
    let file = daemon.dir().join("mail.eml");
    std::fs::write(&file, "Subject: mine\n\n.text\n\n").expect("a file");
    let file = file.to_str().expect("path");
    let outcome = daemon.tempmail(&["send-test", TO, "--file", file, "-o", "id"]);
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (Some(0), 1), "{}", outcome.stderr);
}

#[test]
fn smtp_that_is_not_there_is_exit_code_6() {
    let service = Service::start();
    service.contents().smtp_listen = vec!["127.0.0.1:1".to_owned()];
    assert_eq!(service.run_local(&["send-test", TO]).code, Some(6));
    service.contents().smtp_listen.clear();
    assert_eq!(service.run_local(&["send-test", TO]).code, Some(6));
}

#[test]
fn smtp_that_waits_for_a_proxy_is_distinguished_from_no_smtp() {
    let service = Service::start();
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address").to_string();
    std::thread::spawn(move || drop(listener.accept()));
    let outcome = service.run(&["send-test", TO, "--smtp", &address]);
    assert_eq!(outcome.code, Some(6), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("without a reply"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("proxy-from"), "{}", outcome.stderr);
}
