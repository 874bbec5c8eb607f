//! What callers without a token, with a bad one and with one for reading get from every route of the binary.
//! Promise: it outlives the code below it.

use std::net::Ipv4Addr;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::caller::{Caller, Reply};
use crate::support::document::Document;
use crate::support::http;
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

const ROLE: &str = "admin@example.com";
const PLAIN: &str = "ann@example.com";
/// What only the administrator may see.
const SECRETS: [&str; 5] = ["Olga", "olga@private.test", "secret-path", "wh-secret-0123", "certificate code"];
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"];

/// A daemon that has something to protect.
struct Guarded {
    daemon: Program,
    dir: TempDir,
    /// The id of a mail of the role address.
    mail: String,
    webhook: String,
    document: Document,
}

impl Guarded {
    async fn start() -> Self {
        let dir = tempfile::tempdir().expect("directory");
        let daemon = Program::serve(dir.path(), &["--domain", "example.com"]);
        SmtpPeer::greeted(daemon.smtp).await.deliver(ROLE, "Subject: certificate code\r\n\r\ncertificate code").await;
        let owned = ["domain", "add", "owned.test", "--owner", "Olga", "--email", "olga@private.test"];
        daemon.tempmail(&[&owned[..], &["--skip-dns-check"]].concat()).ok();
        let file = dir.path().join("wh-secret");
        std::fs::write(&file, "wh-secret-0123").expect("write");
        let add = ["webhook", "add", PLAIN, "https://hooks.test/secret-path", "-o", "id", "--secret-file"];
        let added = daemon.tempmail(&[&add[..], &[file.to_str().expect("path")]].concat()).ok();
        let mail = daemon.tempmail(&["inbox", ROLE, "-o", "id"]).stdout.trim().to_owned();
        let webhook = added.stdout.trim().to_owned();
        let document = Document::of(daemon.http).await;
        Self { daemon, dir, mail, webhook, document }
    }

    fn token(&self, args: &[&str]) -> String {
        let created = self.daemon.tempmail(&[&["token", "new"], args].concat()).ok();
        let token = created.stdout.trim_end().to_owned();
        assert!(token.starts_with("tm_") && !token.contains('\n'), "alone on standard output: {created:?}");
        token
    }

    /// What a write could have changed.
    fn state(&self) -> Vec<String> {
        let lists: [&[&str]; 5] = [
            &["domain", "list", "--json"],
            &["webhook", "list", "--all", "--json"],
            &["webhook", "deliveries", &self.webhook],
            &["token", "list"],
            &["inbox", ROLE],
        ];
        lists.iter().map(|args| self.daemon.tempmail(args).stdout).collect()
    }

    /// Every path of the description with every method, and queries and a body that would do harm.
    fn requests(&self) -> Vec<Sent> {
        let queries = [
            String::new(),
            format!("?to={ROLE}"),
            format!("?recipient={ROLE}"),
            format!("?id={}", self.mail),
            "?domain=owned.test&force=true".to_owned(),
            "?origin=https://hooks.test".to_owned(),
            "?id=reader".to_owned(),
        ];
        let paths = [self.document.paths(), vec!["/api/admin/".to_owned(), "/no/such/path".to_owned()]].concat();
        let mut requests = Vec::new();
        for path in paths {
            let id = if path.contains("/webhooks/") { &self.webhook } else { &self.mail };
            for query in &queries {
                let target = format!("{}{query}", path.replace("{id}", id));
                let with = |method| Sent { method, path: path.clone(), target: target.clone() };
                requests.extend(METHODS.map(with));
            }
        }
        requests
    }

    /// Checks an answer against the description. Methods that it does not have are 405.
    fn check(&self, sent: &Sent, reply: &Reply) {
        let Sent { method, path, target } = sent;
        if self.document.methods(path).iter().any(|described| described == method) {
            assert_eq!(self.document.fault(method, path, reply.status, &reply.body), None, "{target}");
        }
    }
}

/// A request of the walk.
struct Sent {
    method: &'static str,
    /// As the description has it.
    path: String,
    target: String,
}

async fn send(caller: &mut Caller, method: &str, target: &str, token: Option<&str>) -> Reply {
    let body = json!({
        "domain": "stranger.test", "skipDnsCheck": true, "recipient": ROLE, "url": "https://hooks.test/x",
        "name": "evil", "failed": true,
    });
    let fields = token.map_or(String::new(), |token| format!("authorization: Bearer {token}\r\n"));
    caller.ask(method, target, &fields, Some(&body)).await
}

fn code(reply: &Reply) -> String {
    let body = serde_json::from_slice::<Value>(&reply.body);
    body.map_or(String::new(), |body| body["code"].as_str().unwrap_or("").to_owned())
}

#[tokio::test]
async fn without_a_token_no_route_gives_or_changes_what_is_the_administrators() {
    let guarded = Guarded::start().await;
    let before = guarded.state();
    let mut client = Caller::at(Ipv4Addr::LOCALHOST, guarded.daemon.http);
    for sent in guarded.requests() {
        let Sent { method, target, .. } = &sent;
        let reply = send(&mut client, method, target, None).await;
        let status = reply.status;
        assert!(status < 500 || status == 503, "{method} {target}: {status}");
        if target.contains("/api/admin") && *method != "OPTIONS" {
            assert_eq!(status, 401, "{method} {target}");
        }
        guarded.check(&sent, &reply);
        let body = String::from_utf8_lossy(&reply.body);
        assert!(!SECRETS.iter().any(|secret| body.contains(secret)), "{method} {target}: {body}");
    }
    assert_eq!(guarded.state(), before);
}

#[tokio::test]
async fn a_token_that_is_not_valid_is_refused_on_every_route() {
    let guarded = Guarded::start().await;
    let admin = guarded.token(&["--name", "admin"]);
    let revoked = guarded.token(&["--name", "old"]);
    assert_eq!(guarded.daemon.tempmail(&["token", "revoke", "old"]).code, Some(0));
    let tokens = format!("http://{}/api/admin/tokens", guarded.daemon.http);
    let short = json!({ "name": "short", "expiresInSeconds": 1 });
    let created = http::client().post(&tokens).bearer_auth(&admin).json(&short).send().await.expect("an answer");
    assert_eq!(created.status(), 201);
    let created: Value = created.json().await.expect("JSON");
    let expired = created["token"].as_str().expect("token").to_owned();
    until("the token has expired", async || {
        let list = guarded.daemon.tempmail(&["token", "list"]).stdout;
        list.lines().any(|line| line.starts_with("short\tadmin\texpired\t"))
    })
    .await;

    let before = guarded.state();
    let wrong = ["", "tm_wrong", &admin[..45], &format!("{admin}x"), &revoked, &expired].map(str::to_owned);
    let requests = guarded.requests();
    // Each client, and each network, may send only some wrong tokens a minute.
    let clients = (1..=250_u8).flat_map(|last| (1..=250_u8).map(move |network| [127, 1, network, last]));
    for (chunk, address) in requests.chunks(25).zip(clients) {
        let mut client = Caller::at(address, guarded.daemon.http);
        for (at, sent) in chunk.iter().enumerate().filter(|(_, sent)| sent.method != "OPTIONS") {
            let Sent { method, target, .. } = sent;
            let reply = send(&mut client, method, target, Some(&wrong[at % wrong.len()])).await;
            assert_eq!(reply.status, 401, "{method} {target}");
            let asks = reply.field("www-authenticate").expect("a challenge");
            assert!(asks.starts_with("Bearer"), "{asks}");
            guarded.check(sent, &reply);
            if *method != "HEAD" {
                assert_eq!(code(&reply), "token_invalid", "{method} {target}");
            }
        }
    }
    assert_eq!(guarded.state(), before);
}

#[tokio::test]
async fn wrong_tokens_are_limited_for_each_client() {
    let guarded = Guarded::start().await;
    let token = guarded.token(&["--name", "reader", "--scope", "read"]);
    let (target, server) = ("/api/admin/tokens", guarded.daemon.http);
    let mut guessing = Caller::at([127, 0, 0, 2], server);
    let mut refused = 0;
    let limited = loop {
        let reply = send(&mut guessing, "GET", target, Some("tm_guess")).await;
        match reply.status {
            401 => refused += 1,
            status => break (status, reply.field("retry-after").is_some(), code(&reply)),
        }
        assert!(refused < 100, "no limit");
    };
    assert_eq!(limited, (429, true, "rate_limited".to_owned()));
    assert!(refused >= 30, "{refused}");
    // Whoever has the right one may share the address with the guesser.
    assert_eq!(send(&mut guessing, "GET", target, Some(&token)).await.status, 200);
    assert_eq!(send(&mut guessing, "GET", target, Some("tm_guess")).await.status, 429);
    assert_eq!(send(&mut guessing, "GET", target, None).await.status, 401, "the public is as it was");
    assert_eq!(send(&mut Caller::at(Ipv4Addr::LOCALHOST, server), "GET", target, Some(&token)).await.status, 200);
}

#[tokio::test]
async fn a_token_for_reading_reads_what_the_administrator_reads_and_writes_nothing() {
    let guarded = Guarded::start().await;
    let token = guarded.token(&["--name", "reader", "--scope", "read"]);
    let before = guarded.state();
    let mut client = Caller::at(Ipv4Addr::LOCALHOST, guarded.daemon.http);
    let mut read = String::new();
    for sent in guarded.requests() {
        let Sent { method, target, .. } = &sent;
        let reply = send(&mut client, method, target, Some(&token)).await;
        let status = reply.status;
        assert!(status < 500 || status == 503, "{method} {target}: {status}");
        guarded.check(&sent, &reply);
        let is_read = ["GET", "HEAD", "OPTIONS"].contains(method);
        if !is_read || target.contains("/backup") && *method != "OPTIONS" {
            assert_eq!(status, 403, "{method} {target}");
            if *method != "HEAD" {
                assert_eq!(code(&reply), "scope_insufficient", "{method} {target}");
            }
            continue;
        }
        read.push_str(&String::from_utf8_lossy(&reply.body));
    }
    for secret in ["Olga", "olga@private.test", "secret-path", "certificate code"] {
        assert!(read.contains(secret), "{secret}");
    }
    assert!(!read.contains("wh-secret-0123"), "nobody reads the secret of a webhook");
    assert_eq!(guarded.state(), before);
}

#[tokio::test]
async fn a_token_in_the_environment_is_the_administrators_and_is_shown_nowhere() {
    let dir = tempfile::tempdir().expect("directory");
    let token = "0123456789abcdef0123456789abcdef";
    let daemon = Program::serve_with(dir.path(), &["--domain", "example.com"], |command| {
        command.env("TEMPMAIL_ADMIN_TOKEN", token);
    });
    let target = format!("http://{}/api/admin/domains", daemon.http);
    let body = json!({ "domain": "pinned.test", "skipDnsCheck": true });
    let pinned = http::client().post(&target).bearer_auth(token).json(&body).send().await.expect("an answer");
    assert_eq!(pinned.status(), 201);
    assert!(!daemon.log().contains(token), "{}", daemon.log());
    let guarded = std::fs::read_dir(dir.path()).expect("directory").map(|entry| entry.expect("entry").path());
    for path in guarded.filter(|path| path.is_file()) {
        let content = std::fs::read(&path).expect("content");
        assert!(!content.windows(token.len()).any(|part| part == token.as_bytes()), "{}", path.display());
    }
    daemon.stop();
}

#[tokio::test]
async fn a_token_outlives_the_daemon_and_a_restore() {
    let Guarded { daemon, dir, .. } = Guarded::start().await;
    let created = daemon.tempmail(&["token", "new", "--name", "ci"]);
    let token = created.stdout.trim_end().to_owned();
    assert!(created.stderr.contains("cannot show it again"), "{}", created.stderr);
    let backup = dir.path().join("backup");
    daemon.tempmail(&["db", "backup", backup.to_str().expect("path")]).ok();
    daemon.stop();
    let restored =
        crate::support::program::local(dir.path(), &["db", "restore", backup.to_str().expect("path"), "--yes"]);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    let daemon = Program::serve(dir.path(), &["--domain", "example.com"]);
    let mut client = Caller::at(Ipv4Addr::LOCALHOST, daemon.http);
    assert_eq!(send(&mut client, "GET", "/api/admin/status", Some(&token)).await.status, 200);
    daemon.stop();
}

#[test]
fn a_token_is_revoked_by_its_name_before_the_id_of_another() {
    let daemon = Program::fresh(&[]);
    let made = |name: &str| daemon.tempmail(&["token", "new", "--name", name, "--json"]).json();
    let first = made("first")["id"].as_str().expect("an id").to_owned();
    made(&first);
    for left in ["first\n", ""] {
        daemon.tempmail(&["token", "revoke", &first]).ok();
        let names = daemon.tempmail(&["token", "ls"]).stdout;
        let names: String =
            names.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned() + "\n").collect();
        assert_eq!(names, left);
    }
}
