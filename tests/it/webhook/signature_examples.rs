//! The examples that verify a delivery, which the webhooks guide shows, run against genuine deliveries and forged ones.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use axum::http::HeaderMap;
use tempmail::clock::{Clock, SystemClock};
use tempmail::model::Timestamp;

use super::{SECRET, request_with};
use crate::support::programs;

#[allow(clippy::disallowed_methods, reason = "the guide's example, which stands for a receiver, has no clock of ours")]
#[path = "../../examples/verify.rs"]
mod verify;

/// The drivers take the secret, a file with the body, and the values of `webhook-id`, `webhook-timestamp`,
/// `webhook-signature` and `X-Webhook-Signature`; the exit code is 0 if the delivery was taken for genuine and 1 if not.
const PYTHON: &str = r#"
import sys
_, secret, path, *values = sys.argv
names = ["webhook-id", "webhook-timestamp", "webhook-signature", "x-webhook-signature"]
sys.exit(0 if verify(secret, dict(zip(names, values)), open(path, "rb").read()) else 1)
"#;
const NODE: &str = r"
const [secret, path, ...values] = process.argv.slice(2);
const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-webhook-signature'];
const headers = Object.fromEntries(names.map((name, index) => [name, values[index]]));
process.exit(verify(secret, headers, require('node:fs').readFileSync(path)) ? 0 : 1);
";
const GO: &str = r#"package main

import "os"
import "strings"

func main() {
	names := []string{"webhook-id", "webhook-timestamp", "webhook-signature", "x-webhook-signature"}
	header := func(wanted string) string {
		for index, name := range names {
			if strings.EqualFold(name, wanted) {
				return os.Args[3+index]
			}
		}
		return ""
	}
	body, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	if !verify(os.Args[1], header, body) {
		os.Exit(1)
	}
}
"#;
const SH: &str = "\nif verify \"$@\"; then exit 0; else exit 1; fi\n";

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
    /// A genuine request, sent at `at`.
    fn sent(secret: &'static str, at: Timestamp) -> Self {
        let request = request_with("https://hooks.example/", Some(secret), at);
        let value = |name| request.headers[name].to_str().expect("ASCII").to_owned();
        Self {
            secret,
            id: value("webhook-id"),
            at: value("webhook-timestamp"),
            standard: value("webhook-signature"),
            hex: value("x-webhook-signature"),
            body: request.body.to_vec(),
        }
    }

    /// Whether a driver takes the request for genuine.
    fn judged_by(&self, command: &mut Command, dir: &Path) -> bool {
        let body = dir.join("body");
        std::fs::write(&body, &self.body).expect("a file");
        command.arg(self.secret).arg(body).args([&self.id, &self.at, &self.standard, &self.hex]);
        let output = command.output().expect("the program");
        match output.status.code() {
            Some(0) => true,
            Some(1) if output.stderr.is_empty() => false,
            _ => panic!("{command:?}: {output:?}"),
        }
    }
}

/// Secrets with the prefix: first those with base64 behind it, then those that are the key themselves. Each is a form that
/// decoders disagree about.
const SECRETS: &[&str] = &[
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

/// Requests, each with its name and whether it is genuine.
fn cases() -> Vec<(&'static str, bool, Received)> {
    let now = SystemClock.now();
    let genuine = Received::sent("s3cret", now);
    let changed = |change: &dyn Fn(&mut Received)| {
        let mut received = genuine.clone();
        change(&mut received);
        received
    };
    let ago = |seconds: i64| Timestamp::from_millis(now.millis() - seconds * 1000);
    let other = Received::sent("another", now);
    let zeros = format!("v1,{}=", "A".repeat(43));
    let every_form = SECRETS.iter().map(|secret| (*secret, true, Received::sent(secret, now)));
    let mut cases = vec![
        ("a plain secret", true, genuine.clone()),
        ("a secret in the standard's form", true, Received::sent(SECRET, now)),
        ("a secret beyond ASCII", true, Received::sent("schlüssel %s", now)),
        ("four minutes old", true, Received::sent("s3cret", ago(240))),
        ("a clock four minutes ahead", true, Received::sent("s3cret", now.plus(Duration::from_mins(4)))),
        ("the second of two signatures", true, changed(&|it| it.standard = format!("{zeros} {}", it.standard))),
        ("the first of two, then another version", true, changed(&|it| it.standard = format!("{} v2,x", it.standard))),
        ("six minutes old", false, Received::sent("s3cret", ago(360))),
        ("a clock six minutes ahead", false, Received::sent("s3cret", now.plus(Duration::from_mins(6)))),
        ("another secret", false, changed(&|it| it.secret = "another")),
        ("a changed body", false, changed(&|it| it.body[0] ^= 1)),
        ("a body with one more octet", false, changed(&|it| it.body.push(b'\n'))),
        ("an empty body", false, changed(&|it| it.body.clear())),
        ("another id", false, changed(&|it| it.id.replace_range(..1, "f"))),
        ("another time", false, changed(&|it| it.at = (now.millis() / 1000 - 7).to_string())),
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
        ("an empty secret", false, Received::sent("", now)),
    ];
    cases.extend(every_form);
    cases
}

/// The example in this file; a test of the guides sees to it that the webhooks guide shows the same.
fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples").join(name);
    std::fs::read_to_string(path).expect(name)
}

/// Each case, judged by a program of its own.
fn judge(example: &str, command: impl Fn() -> Command, dir: &Path) {
    for (name, is_genuine, received) in cases() {
        let judged = received.judged_by(&mut command(), dir);
        assert_eq!(judged, is_genuine, "{example}: {name}: {received:?}");
    }
}

/// The example and its driver in a file.
fn script(name: &str, driver: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("verify");
    std::fs::write(&path, example(name) + driver).expect("a file");
    (dir, path)
}

#[test]
fn the_example_in_python() {
    let Some(python) = programs::find("python3", "the verification in Python") else { return };
    let (dir, script) = script("verify.py", PYTHON);
    let command = || {
        let mut command = Command::new(&python);
        command.arg(&script).env("PYTHONUTF8", "1");
        command
    };
    judge("verify.py", command, dir.path());
}

#[test]
fn the_example_in_node() {
    let Some(node) = programs::find("node", "the verification in Node") else { return };
    let (dir, script) = script("verify.js", NODE);
    let command = || {
        let mut command = Command::new(&node);
        command.arg(&script);
        command
    };
    judge("verify.js", command, dir.path());
}

#[test]
fn the_example_in_shell() {
    let (Some(sh), Some(_)) =
        (programs::find("sh", "the verification in sh"), programs::find("openssl", "the verification in sh"))
    else {
        return;
    };
    let (dir, script) = script("verify.sh", SH);
    let command = || {
        let mut command = Command::new(&sh);
        command.arg(&script);
        command
    };
    judge("verify.sh", command, dir.path());
}

#[test]
fn the_example_in_shell_takes_nothing_while_openssl_fails() {
    let Some(sh) = programs::find("sh", "the verification in sh") else { return };
    let (dir, script) = script("verify.sh", SH);
    std::os::unix::fs::symlink("/bin/false", dir.path().join("openssl")).expect("a link");
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").expect("PATH"));
    for (name, _, received) in cases() {
        let mut command = Command::new(&sh);
        command.arg(&script).env("PATH", &path);
        assert!(!received.judged_by(&mut command, dir.path()), "{name}: {received:?}");
    }
}

#[test]
fn the_example_in_go() {
    let Some(go) = programs::find("go", "the verification in Go") else { return };
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
    judge("verify.go", || Command::new(dir.path().join("verify")), dir.path());
}

#[test]
fn the_example_in_rust() {
    for (name, is_genuine, received) in cases() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("webhook-id", &received.id),
            ("webhook-timestamp", &received.at),
            ("webhook-signature", &received.standard),
            ("x-webhook-signature", &received.hex),
        ] {
            headers.insert(name, value.parse().expect("a value"));
        }
        assert_eq!(verify::verify(received.secret, &headers, &received.body), is_genuine, "{name}: {received:?}");
    }
}
