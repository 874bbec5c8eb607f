//! The commands in this process, on a service in this process. A front between them notes what a command asks, and answers in
//! place of the service where a test needs what no service would say in time.

mod config;
mod contract;
mod delete;
mod domain;
mod ended;
mod first_use;
mod hostile;
mod inbox;
mod listen;
mod mcp;
mod open;
mod private;
mod read;
mod removed;
mod send_test;
mod status;
mod webhook;

use std::ops::Deref;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::command::Outcome;
use crate::support::front::Front;
use crate::support::in_process::CommandLine;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::terminal::Screen;
use crate::support::test_server::TestServer;

const TO: &str = "hello@example.test";
/// The id of nothing.
const UNKNOWN: &str = "0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a99";

/// A service whose clock stands at 2023-11-14 22:13:20, with its front.
struct Service {
    front: Front,
    server: TestServer,
}

impl Deref for Service {
    type Target = Front;

    fn deref(&self) -> &Front {
        &self.front
    }
}

impl Service {
    async fn start() -> Self {
        Self::with("").await
    }

    async fn with(settings: &str) -> Self {
        let server = TestServer::with(settings).await;
        Self { front: Front::of((server.http(), server.dir().join("tempmail.sock"))), server }
    }

    /// A service with these mails of Ann to [`TO`], the oldest first.
    async fn with_mails(subjects: &[&str]) -> Self {
        let service = Self::start().await;
        for subject in subjects {
            service.send(TO, subject).await;
        }
        service
    }

    /// Delivers a mail of Ann.
    async fn send(&self, to: &str, subject: &str) {
        self.deliver(to, &format!("Subject: {subject}\r\n\r\nHello\r\n")).await;
    }

    /// Delivers a message of Ann.
    async fn deliver(&self, to: &str, message: &str) {
        let message = format!("From: Ann <ann@sender.test>\r\n{message}");
        SmtpPeer::greeted(self.server.smtp()).await.deliver(to, &message).await;
    }

    /// The ids of the mail of an address, the newest first.
    async fn ids(&self, to: &str) -> Vec<String> {
        let emails = self.emails(to).await;
        emails.iter().map(|email| email["id"].as_str().expect("an id").to_owned()).collect()
    }

    async fn emails(&self, to: &str) -> Vec<Value> {
        let mut emails = Vec::new();
        for page in 1.. {
            let path = format!("/api/mail/messages?to={to}&limit=100&page={page}");
            let answer = self.server.get(&path).await.json();
            let of_page = answer["emails"].as_array().expect("mails").clone();
            if of_page.is_empty() {
                return emails;
            }
            emails.extend(of_page);
        }
        emails
    }

    /// A command of the public, with `--server`.
    fn line(&self, args: &[&str]) -> CommandLine {
        CommandLine::new(self.dir(), &[&["--server", &self.url()], args].concat())
    }

    /// A command of the administrator, with `--data-dir`.
    fn local_line(&self, args: &[&str]) -> CommandLine {
        CommandLine::new(self.dir(), &[&["--data-dir", self.dir().to_str().expect("UTF-8")], args].concat())
    }

    async fn run(&self, args: &[&str]) -> Outcome {
        run(self.line(args)).await
    }

    async fn run_local(&self, args: &[&str]) -> Outcome {
        run(self.local_line(args)).await
    }
}

/// Runs a command beside the service.
async fn run(line: CommandLine) -> Outcome {
    tokio::task::spawn_blocking(|| line.run()).await.expect("the command")
}

/// Runs a command of the administrator on a terminal, where this is typed.
async fn on_terminal(service: &Service, answers: &str, args: &[&str]) -> Screen {
    let line = service.local_line(args).fed(answers);
    tokio::task::spawn_blocking(|| line.on_terminal(80)).await.expect("the command")
}

/// Runs a command that has no service.
fn alone(args: &[&str]) -> Outcome {
    CommandLine::new(Path::new(NOWHERE), args).run()
}

/// A home that is not there.
const NOWHERE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/nowhere");

/// A domain as everybody sees it.
fn domain(name: &str, status: &str) -> Value {
    json!({"domain": name, "status": status, "addedAt": "2023-11-14 22:13:20", "lastCheckedAt": null, "lastCheckResult": null})
}
