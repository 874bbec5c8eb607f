//! The HTTP interface of the daemon, over its sockets.

mod accept;
mod admin;
mod all_mail;
mod attachments;
mod browsers;
mod closed;
mod compat;
mod delete;
mod domains;
mod events;
mod filters;
mod heads;
mod health;
mod https;
mod message;
mod messages;
mod metrics;
mod openapi;
mod page;
mod private;
mod problems;
mod proxied;
mod rate_limits;
mod senders;
mod server;
mod submission;
mod ticket;
mod view;
mod wait;
mod waiting;
mod webhooks;

use std::fmt::Display;
use std::io::ErrorKind;

use serde_json::json;
use tempmail::store::disk::Disk;

use crate::support::answer::Answer;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_disk::rules::Failing;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::test_server::TestServer;
use crate::support::until::until;

impl TestServer {
    /// Receives a message over SMTP, exactly these octets. Returns the ids of its Emails, in the order of the recipients.
    async fn receive(&self, recipients: &[&str], raw: &str) -> Vec<String> {
        let mut peer = self.peer().await;
        transmit(&mut peer, recipients, raw).await;
        let mut ids = Vec::new();
        for recipient in recipients {
            let inbox = format!("/api/mail/messages?to={recipient}&limit=1&fields=id");
            let newest = self.administrator("GET", &inbox, "").await.json();
            ids.push(newest["emails"][0]["id"].as_str().expect("an id").to_owned());
        }
        ids
    }

    /// Receives messages for one recipient, one after another.
    async fn receive_all(&self, recipient: &str, messages: impl IntoIterator<Item = impl AsRef<str>>) {
        let mut peer = self.peer().await;
        for raw in messages {
            transmit(&mut peer, &[recipient], raw.as_ref()).await;
        }
    }

    /// A connection to SMTP that has said hello.
    async fn peer(&self) -> SmtpPeer {
        let mut peer = SmtpPeer::greeted(self.smtp()).await;
        peer.command("EHLO client.test", "250").await;
        peer
    }

    /// A request of the public without a body.
    async fn call(&self, method: &str, target: &str) -> Answer {
        Answer::to(self.request(method, target)).await
    }

    async fn get_with(&self, target: &str, name: &str, value: &str) -> Answer {
        Answer::to(self.request("GET", target).header(name, value)).await
    }

    /// `POST` by the public of what may be no JSON, and says that it is.
    async fn post_text(&self, target: &str, body: impl Display) -> Answer {
        let request = self.request("POST", target).header("content-type", "application/json");
        Answer::to(request.body(body.to_string())).await
    }

    /// A request of the administrator.
    async fn administrator(&self, method: &str, target: &str, body: &str) -> Answer {
        let request = self.admin(method, target).header("content-type", "application/json");
        Answer::to(request.body(body.to_owned())).await
    }

    /// A new token.
    async fn token(&self, scope: &str) -> String {
        let (status, created) = self.admin_post("/api/admin/tokens", &json!({ "name": scope, "scope": scope })).await;
        assert_eq!(status, 201, "{created}");
        created["token"].as_str().expect("a token").to_owned()
    }
}

async fn transmit(peer: &mut SmtpPeer, recipients: &[&str], raw: &str) {
    peer.command("MAIL FROM:<bounces@sender.test>", "250").await;
    for recipient in recipients {
        peer.command(&format!("RCPT TO:<{recipient}>"), "250").await;
    }
    peer.send(format!("BDAT {} LAST\r\n{raw}", raw.len())).await;
    peer.expect("250").await;
}

/// The status of an answer and the code of its problem.
fn refusal(answer: &Answer) -> (u16, String) {
    (answer.status.as_u16(), answer.problem())
}

/// The file and the offset at which a disk holds these octets.
fn place(disk: &TestDisk, octets: &str) -> (String, u64) {
    let find = |(name, content): (String, Vec<u8>)| {
        let at = memchr::memmem::find(&content, octets.as_bytes())?;
        name.starts_with("journal-").then_some((name, at as u64))
    };
    disk.files().into_iter().find_map(find).expect("the octets are on the disk")
}

/// Damages stored mail at these octets.
fn damage(disk: &TestDisk, octets: &str) {
    let (name, at) = place(disk, octets);
    disk.open(&name).expect("the file").write_at(at, b"~").expect("a write");
}

/// A service whose disk has no room, or fails what is written to it.
async fn unwell(cause: &str) -> (TestServer, Option<Failing>) {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    let trouble = match cause {
        "storage_full" => {
            disk.room(0);
            None
        }
        _ => Some(disk.fail(|call| {
            let fails = call.is(Kind::Sync, "journal-") || call.is(Kind::FreeOctets, "");
            fails.then_some(ErrorKind::PermissionDenied)
        })),
    };
    (api, trouble)
}

/// Mail is refused for now.
async fn refuses_mail(api: &TestServer) {
    let raw = format!("Subject: s\r\n\r\n{}", "x".repeat(200_000));
    until("mail is refused", async || {
        let mut peer = api.peer().await;
        peer.command("MAIL FROM:<bounces@sender.test>", "").await;
        peer.command("RCPT TO:<ann@example.test>", "").await;
        peer.send(format!("BDAT {} LAST\r\n{raw}", raw.len())).await;
        !peer.reply().await.starts_with("250")
    })
    .await;
}
