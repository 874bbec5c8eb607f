//! The webhooks guide's examples that verify a delivery judge genuine deliveries and forged ones.
//! Promise: it outlives the code below it.

use std::path::{Path, PathBuf};
use std::process::Command;

use axum::http::HeaderMap;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tempfile::TempDir;
use tempmail::clock::{Clock, SystemClock};

use crate::support::files::file;
use crate::support::http;
use crate::support::program::Program;
use crate::support::programs;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until_some;
use crate::support::webhook_sink::{Behaviour, Request, WebhookSink};

#[allow(clippy::disallowed_methods, reason = "the guide's example, which stands for a receiver, has no clock of ours")]
#[path = "../../examples/verify.rs"]
mod example;

/// Each driver reads the requests from the JSON file that its argument names. It prints a line for each request: 1 if the
/// example takes the delivery for genuine, and 0 if not.
const PYTHON: &str = r#"
import json, sys
for it in json.load(open(sys.argv[1], "rb")):
    print(int(verify(it["secret"], it["headers"], bytes(it["body"]))))
"#;
const NODE: &str = r"
for (const { secret, headers, body } of JSON.parse(require('node:fs').readFileSync(process.argv[2]))) {
  console.log(Number(verify(secret, headers, Buffer.from(body))));
}
";
const GO: &str = r#"package main

import "encoding/json"
import "fmt"
import "os"
import "strings"

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var requests []struct {
		Secret  string
		Headers map[string]string
		Body    []int
	}
	if err := json.Unmarshal(text, &requests); err != nil {
		panic(err)
	}
	for _, it := range requests {
		body := make([]byte, len(it.Body))
		for index, octet := range it.Body {
			body[index] = byte(octet)
		}
		header := func(name string) string { return it.Headers[strings.ToLower(name)] }
		if verify(it.Secret, header, body) {
			fmt.Println(1)
		} else {
			fmt.Println(0)
		}
	}
}
"#;

/// A request that a receiver has to judge.
#[derive(Clone, Debug)]
struct Received {
    secret: &'static str,
    body: Vec<u8>,
    id: String,
    at: String,
    standard: String,
    hex: String,
}

impl Received {
    /// A request that the service sent.
    fn sent(secret: &'static str, request: &Request) -> Self {
        let value = |name| request.header(name).expect(name).to_owned();
        Self {
            secret,
            id: value("webhook-id"),
            at: value("webhook-timestamp"),
            standard: value("webhook-signature"),
            hex: value("x-webhook-signature"),
            body: request.body.clone(),
        }
    }

    /// The same request signed with another secret, which is the key itself, at another time.
    fn signed(&self, secret: &'static str, at: i64) -> Self {
        let mac = |octets: &[u8]| {
            Hmac::<Sha256>::new_from_slice(secret.as_bytes())
                .expect("a key")
                .chain_update(octets)
                .finalize()
                .into_bytes()
        };
        let of_standard = [format!("{}.{at}.", self.id).as_bytes(), &self.body].concat();
        let hex = mac(&self.body).iter().fold(String::new(), |hex, octet| hex + &format!("{octet:02x}"));
        let standard = format!("v1,{}", STANDARD.encode(mac(&of_standard)));
        Self { secret, at: at.to_string(), standard, hex, ..self.clone() }
    }

    /// The request as the drivers read it.
    fn to_json(&self) -> Value {
        let headers = json!({
            "webhook-id": self.id,
            "webhook-timestamp": self.at,
            "webhook-signature": self.standard,
            "x-webhook-signature": self.hex,
        });
        json!({"secret": self.secret, "headers": headers, "body": self.body})
    }

    /// A command of the shell that does what a driver does for this request; `body` is the file of its body.
    fn to_shell(&self, body: &Path) -> String {
        let body = body.to_str().expect("a path in UTF-8");
        let words = [self.secret, body, &self.id, &self.at, &self.standard, &self.hex];
        let quoted = words.map(|word| format!("'{}'", word.replace('\'', r"'\''"))).join(" ");
        format!("if verify {quoted}; then echo 1; else echo 0; fi\n")
    }
}

/// Secrets, each in a form that decoders disagree about. Those without the prefix,
/// and those without base64 after it, are the key themselves.
const SECRETS: &[&str] = &[
    "s3cret",
    "schlüssel %s",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "whsec_c2VjcmV0MQ==",
    "whsec_c2VjcmV0MQ",
    "whsec_c2VjcmV0MQ=",
    "whsec_c2VjcmV0====",
    "whsec_c2VjcmV0MR",
    "whsec_c2VjcmV0MTL=",
    "whsec_AA",
    "whsec_++//",
    "whsec_",
    "whsec_=",
    "whsec_A",
    "whsec_abcde",
    "whsec_abcde===",
    "whsec_-_abcdefgh1234",
    "whsec_c2Vj cmV0",
    "whsec_ c2VjcmV0",
    "whsec_c2VjcmV0\n",
    "whsec_c2Vj\ncmV0",
    "whsec_c2Vj\r\ncmV0",
    "whsec_c2Vj=cmV0",
    "whsec_c2VjcmVé",
    "whsec_c2VjcmV0 %s *",
    "whsec_\\n",
    "WHSEC_c2VjcmV0",
    "-n whsec_c2VjcmV0",
    "whsec_whsec_c2VjcmV0",
    "secret=",
    "====",
];

/// A request with its name, and whether it is genuine.
struct Case {
    name: &'static str,
    is_genuine: bool,
    received: Received,
}

/// What the service sends to webhooks with these secrets, in their order.
async fn deliveries() -> Vec<Received> {
    let dir = tempfile::tempdir().expect("a directory");
    let daemon = Program::serve(dir.path(), &["--webhook-allow", "127.0.0.0/8"]);
    let sink = WebhookSink::start().await;
    let mut received = Vec::new();
    for (number, secret) in SECRETS.iter().enumerate() {
        let (to, path) = (format!("{number}@example.test"), format!("/{number}"));
        sink.script(&path, Behaviour::status(204));
        let webhook = json!({ "recipient": to, "url": sink.url(&path), "secret": secret });
        let url = format!("http://{}/api/webhooks", daemon.http);
        let answer = http::client().post(url).json(&webhook).send().await.expect("an answer");
        assert_eq!(answer.status(), 201, "{webhook}: {:?}", answer.text().await);
        SmtpPeer::greeted(daemon.smtp).await.deliver(&to, "Subject: Gr\u{fc}\u{df}e\r\n\r\n1").await;
        let sent = async || sink.requests().into_iter().find(|request| request.path == path);
        received.push(Received::sent(secret, &until_some("an event", sent).await));
    }
    daemon.stop();
    received
}

async fn cases() -> Vec<Case> {
    let delivered = deliveries().await;
    let genuine = delivered[0].clone();
    let now = SystemClock.now().millis() / 1000;
    let changed = |change: &dyn Fn(&mut Received)| {
        let mut received = genuine.clone();
        change(&mut received);
        received
    };
    let signed_at = |at| genuine.signed("s3cret", at);
    let earlier = (genuine.at.parse::<i64>().expect("a time") - 7).to_string();
    let other = genuine.signed("another", now);
    let zeros = format!("v1,{}=", "A".repeat(43));
    let mut cases = vec![
        ("a signature of this test", true, signed_at(now)),
        ("four minutes old", true, signed_at(now - 240)),
        ("a clock four minutes ahead", true, signed_at(now + 240)),
        ("the second of two signatures", true, changed(&|it| it.standard = format!("{zeros} {}", it.standard))),
        ("the first of two, then another version", true, changed(&|it| it.standard = format!("{} v2,x", it.standard))),
        ("six minutes old", false, signed_at(now - 360)),
        ("a clock six minutes ahead", false, signed_at(now + 360)),
        ("another secret", false, changed(&|it| it.secret = "another")),
        ("a changed body", false, changed(&|it| it.body[0] ^= 1)),
        ("a body with one more octet", false, changed(&|it| it.body.push(b'\n'))),
        ("an empty body", false, changed(&|it| it.body.clear())),
        ("another id", false, changed(&|it| it.id.push('f'))),
        ("another time", false, changed(&|it| it.at.clone_from(&earlier))),
        ("no time", false, changed(&|it| it.at.clear())),
        ("a time that is no number", false, changed(&|it| it.at = "soon".into())),
        ("a forged X-Webhook-Signature", false, changed(&|it| it.hex.clone_from(&other.hex))),
        ("no X-Webhook-Signature", false, changed(&|it| it.hex.clear())),
        ("part of X-Webhook-Signature", false, changed(&|it| it.hex.truncate(32))),
        ("a forged webhook-signature", false, changed(&|it| it.standard.clone_from(&other.standard))),
        ("no webhook-signature", false, changed(&|it| it.standard.clear())),
        ("only signatures of others", false, changed(&|it| it.standard = format!("{zeros} {zeros}"))),
        ("the signature under another version", false, changed(&|it| it.standard.replace_range(..2, "v2"))),
        ("a pattern as signature", false, changed(&|it| it.standard = "*".into())),
        ("an empty secret", false, genuine.signed("", now)),
    ];
    cases.extend(delivered.into_iter().map(|received| (received.secret, true, received)));
    cases.into_iter().map(|(name, is_genuine, received)| Case { name, is_genuine, received }).collect()
}

/// The example in this file. The webhooks guide shows that in Python, by a test of the guides, and names the others.
fn example(name: &str) -> String {
    file(&format!("tests/examples/{name}"))
}

/// The example and its driver in a file, and the cases in another one for the driver.
fn script(name: &str, driver: &str, cases: &[Case]) -> (TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let script = dir.path().join("verify");
    std::fs::write(&script, example(name) + driver).expect("a file");
    let requests = write_requests(dir.path(), cases);
    (dir, script, requests)
}

/// Writes the requests of the cases into a JSON file, and returns its path.
fn write_requests(dir: &Path, cases: &[Case]) -> PathBuf {
    let requests: Vec<Value> = cases.iter().map(|case| case.received.to_json()).collect();
    let path = dir.join("requests");
    std::fs::write(&path, Value::from(requests).to_string()).expect("a file");
    path
}

/// The example in sh with a command for each case, in a file. Each body has a file of its own.
fn shell_script(cases: &[Case]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut text = example("verify.sh");
    for (number, case) in cases.iter().enumerate() {
        let body = dir.path().join(format!("body-{number}"));
        std::fs::write(&body, &case.received.body).expect("a file");
        text.push_str(&case.received.to_shell(&body));
    }
    let script = dir.path().join("verify");
    std::fs::write(&script, text).expect("a file");
    (dir, script)
}

/// Runs a driver, and checks its answer to each case.
fn check(driver: &mut Command, cases: &[Case]) {
    let output = programs::run(driver, "");
    assert!(output.stderr.is_empty(), "{driver:?}: {output:?}");
    let answers = String::from_utf8(output.stdout).expect("digits");
    assert_eq!(answers.lines().count(), cases.len(), "{driver:?}: {answers}");
    for (Case { name, is_genuine, received }, answer) in cases.iter().zip(answers.lines()) {
        assert_eq!(answer, if *is_genuine { "1" } else { "0" }, "{driver:?}: {name}: {received:?}");
    }
}

#[tokio::test]
#[ignore = "needs Python"]
async fn the_example_in_python() {
    let python = programs::find("python3");
    let cases = cases().await;
    let (_dir, script, requests) = script("verify.py", PYTHON, &cases);
    check(Command::new(python).args([script, requests]), &cases);
}

#[tokio::test]
#[ignore = "needs Node"]
async fn the_example_in_node() {
    let node = programs::find("node");
    let cases = cases().await;
    let (_dir, script, requests) = script("verify.js", NODE, &cases);
    check(Command::new(node).args([script, requests]), &cases);
}

#[tokio::test]
#[ignore = "needs OpenSSL"]
async fn the_example_in_shell() {
    let cases = cases().await;
    let (_dir, script) = shell_script(&cases);
    check(Command::new("sh").arg(script), &cases);
}

#[tokio::test]
async fn the_example_in_shell_accepts_nothing_while_openssl_fails() {
    let cases: Vec<Case> = cases().await.into_iter().map(|case| Case { is_genuine: false, ..case }).collect();
    let (dir, script) = shell_script(&cases);
    std::os::unix::fs::symlink("/bin/false", dir.path().join("openssl")).expect("a link");
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").expect("PATH"));
    check(Command::new("sh").arg(script).env("PATH", path), &cases);
}

#[tokio::test]
#[ignore = "needs Go"]
async fn the_example_in_go() {
    let go = programs::find("go");
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("verify.go"), example("verify.go")).expect("a file");
    std::fs::write(dir.path().join("main.go"), GO).expect("a file");
    let mut build = Command::new(go);
    build.args(["build", "-o", "verify", "verify.go", "main.go"]).current_dir(dir.path());
    // Nothing but the standard library, and nothing is fetched.
    build.env("GOPROXY", "off").env("GOTOOLCHAIN", "local").env("GOFLAGS", "").env("GO111MODULE", "off");
    if std::env::var_os("HOME").is_none() && std::env::var_os("GOCACHE").is_none() {
        build.env("GOCACHE", dir.path().join("cache"));
    }
    programs::run(&mut build, "");
    let cases = cases().await;
    let requests = write_requests(dir.path(), &cases);
    check(Command::new(dir.path().join("verify")).arg(requests), &cases);
}

#[tokio::test]
async fn the_example_in_rust() {
    for Case { name, is_genuine, received } in cases().await {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("webhook-id", &received.id),
            ("webhook-timestamp", &received.at),
            ("webhook-signature", &received.standard),
            ("x-webhook-signature", &received.hex),
        ] {
            headers.insert(name, value.parse().expect("a value"));
        }
        assert_eq!(example::verify(received.secret, &headers, &received.body), is_genuine, "{name}: {received:?}");
    }
}
