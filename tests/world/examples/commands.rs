//! The commands of README and the guides, as they are printed but for hosts, ports, ids and directories.
//! Promise: it outlives the code below it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use tokio::task::block_in_place;

use crate::support::command::{Outcome, isolate, outcome};
use crate::support::dns_zone::DnsZone;
use crate::support::files::{blocks, pages};
use crate::support::program::Program;
use crate::support::programs;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "hello@example.test";
const MAIL: &str = "From: App <app@x.test>\r\nSubject: your code\r\n\r\nYour verification code is 482913.\r\n\
    Reset your password: https://app.x.test/reset?token=8f2a3c4d5e\r\n";

/// The first lines of blocks that are run elsewhere, and where.
const ELSEWHERE: [(&str, &str); 8] = [
    ("cargo run --release -- serve", "what these tests run is built so, in another profile"),
    ("cargo test --locked --features cassandra", ".ci/run reads it from README"),
    ("cargo build --locked", ".ci/run"),
    ("tests/cassandra/install.sh && tests/web/install.sh && tests/fixtures/install.sh", ".ci/run"),
    (
        "PROPTEST_RNG_ALGORITHM=cc TEMPMAIL_FUZZ_CASES=1000000 cargo test --release --test fuzz",
        "tests/fuzz and tests/bench, with fewer cases",
    ),
    ("export TEMPMAIL_STORE=cassandra://10.0.0.1,10.0.0.2,10.0.0.3/tempmail", "tests/world/cluster"),
    ("cargo install --locked cargo-deb", "tests/package/check.sh"),
    ("docker build -f .package/Containerfile -t tempmail .", "tests/it/package/container.rs and containers.rs"),
];

/// What is done before a block that has these words.
const BEFORE: [(&str, &str); 5] = [
    ("bob@company.com", "tempmail domain add company.com --skip-dns-check; tempmail send-test bob@company.com"),
    ("sign_up", SIGN_UP),
    ("d3b5d214", "tempmail webhook add hello@example.test https://hooks.example/mail"),
    ("0001.patch", PATCH),
    ("www.other.test", WELCOME),
];
const SIGN_UP: &str = r#"
printf '#!/bin/sh\nprintf "Subject: Hi\\n\\nYour verification code is 482913.\\n" | tempmail sendmail "$1"\n' > ../bin/sign_up
chmod +x ../bin/sign_up
"#;
const PATCH: &str = r"
git config --global user.name Ann
git config --global user.email ann@sender.test
git config --global sendemail.confirm never
printf 'From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n' > 0001.patch
printf 'From: Ann <ann@sender.test>\nSubject: [PATCH] a\n\n---\n a | 1 +\n\n--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+a\n' >> 0001.patch
";
const WELCOME: &str = r#"
tempmail delete hello@example.test --yes
{
    printf 'From: no-reply@app.test\nSubject: Welcome\nContent-Type: multipart/alternative; boundary=b\n\n'
    printf -- '--b\n\nYour code is 48291.\n--b\nContent-Type: text/html\n\n<a href="https://www.other.test/">here</a>\n--b--\n'
} | tempmail sendmail hello@example.test
"#;

/// Programs that stand before those of the machine. What has no end runs for a second. Once the service is stopped, nothing
/// but a flag tells its data directory.
const STAND_INS: [(&str, &str); 6] = [
    (
        "tempmail",
        r#"[ ! -e "$HOME/stopped" ] || unset TEMPMAIL_DATA_DIR
        case "$1 $2" in
        serve*) export TEMPMAIL_DATA_DIR="$HOME/other" TEMPMAIL_SMTP_LISTEN=127.0.0.1:0 TEMPMAIL_HTTP_LISTEN=127.0.0.1:0 ;;
        watch* | 'webhook listen') ;;
        *) exec "$BINARY" "$@" ;;
        esac
        timeout -s INT 1 "$BINARY" "$@" || [ $? = 124 ]"#,
    ),
    (
        "curl",
        r#"[ "$1" = -N ] || exec "$CURL" -sS --fail-with-body "$@"
        timeout 1 "$CURL" -sS --fail-with-body "$@" || [ $? = 124 ]"#,
    ),
    ("sudo", r#"[ "$1" != -u ] || shift 2; exec "$@""#),
    ("install", "shift 5; mkdir \"$@\""),
    ("setcap", "[ $# = 2 ] && [ -x \"$2\" ]"),
    (
        "systemctl",
        r#"[ "$1" = start ] || { touch "$HOME/stopped"; exec "$BINARY" stop; }
        rm "$HOME/stopped"
        "$BINARY" serve --smtp-listen 127.0.0.1:0 --http-listen 127.0.0.1:0 </dev/null >/dev/null 2>&1 &
        until "$BINARY" status >/dev/null 2>&1; do sleep 0.05; done"#,
    ),
];

/// A service with one mail, and a shell beside it.
struct Place<'p> {
    dir: &'p Path,
    daemon: Program,
    /// What is printed, and what stands for it here.
    replaced: Vec<(&'static str, String)>,
}

impl Place<'_> {
    /// A text with what is here. The newest mail must be there by now.
    fn as_here(&self, text: &str) -> String {
        let id = self.daemon.tempmail(&["inbox", TO, "-o", "id", "--limit", "1"]).stdout.trim().to_owned();
        let of_mail = ["01a1fd4b-693f-754c-9969-aa4ca5fbedfb", "01a20799-0131-7ce6-8880-a20248287e17"];
        let text = of_mail.iter().fold(text.replace("9e0f2a3b", &id[id.len() - 8..]), |text, it| text.replace(it, &id));
        self.replaced.iter().fold(text, |text, (printed, here)| text.replace(printed, here))
    }

    /// Both streams of a script, which ends at the first command that fails.
    fn run(&self, script: &str) -> Outcome {
        let home = self.dir.join("home");
        let mut command = Command::new(programs::find("bash"));
        isolate(&mut command, &home);
        let path = format!("{}:{}", self.dir.join("bin").display(), std::env::var("PATH").expect("PATH"));
        command.env("PATH", path).env("BINARY", env!("CARGO_BIN_EXE_tempmail")).env("CURL", programs::find("curl"));
        command.env("TEMPMAIL_DATA_DIR", self.daemon.dir()).current_dir(home).stdin(std::process::Stdio::null());
        block_in_place(|| outcome(command.args(["-euo", "pipefail", "-c", &format!("exec 2>&1\n{script}")])))
    }
}

/// Runs a block. The error is what one says that fails, or answers otherwise than it shows.
async fn run(block: &str) -> Result<(), String> {
    let (zone, sink) = (DnsZone::start().await, WebhookSink::start().await);
    zone.set_addresses("mx.example.net", &["192.0.2.25"]);
    let mx_host = if block.contains("mail.example.com") { "mail.example.com" } else { "mx.example.net" };
    zone.set_mx("example.org", &[(10, mx_host)]);
    zone.set_addresses("mail.example.com", &["198.51.100.7"]);
    sink.script("/mail", Behaviour::status(204));
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::create_dir_all(dir.path().join("home")).expect("a directory");
    std::fs::create_dir_all(dir.path().join("bin")).expect("a directory");
    for (name, text) in STAND_INS {
        let file = dir.path().join("bin").join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    }
    let data = dir.path().join("data");
    let resolver = zone.addr().to_string();
    let flags = ["--mx-host", "mx.example.net", "--resolver", &resolver, "--webhook-allow", "127.0.0.0/8"];
    let flags = [&flags[..], &["--domain", "example.test"]].concat();
    let daemon = block_in_place(|| Program::serve(&data, &flags));
    SmtpPeer::greeted(daemon.smtp).await.deliver(TO, MAIL).await;
    let (http, hook) = (format!("http://{}", daemon.http), sink.url("/mail"));
    let webhook = format!("$(tempmail webhook list {TO} -o id)");
    let replaced = vec![
        ("https://hooks.example/mail", hook.clone()),
        ("https://hooks.example", hook.trim_end_matches("/mail").to_owned()),
        ("https://mail.example.org", http.clone()),
        ("http://127.0.0.1:8080", http),
        ("d3b5d214", webhook.clone()),
        ("WEBHOOK-ID", webhook),
        ("0.0.0.0:25", "127.0.0.1:0".to_owned()),
        ("/var/backups", dir.path().display().to_string()),
        ("/var/lib/tempmail", data.display().to_string()),
        ("/usr/local/bin/sendmail", dir.path().join("bin/sendmail").display().to_string()),
        // Nobody is there to be asked.
        ("delete --id", "delete --yes --id".to_owned()),
        // It would last a minute.
        ("--link-host app.test\n", "--link-host app.test --timeout 1s\n".to_owned()),
        ("within 1m", "within 1s".to_owned()),
    ];
    let place = Place { dir: dir.path(), daemon, replaced };
    for (words, before) in BEFORE {
        if block.contains(words) {
            let done = place.run(&place.as_here(before));
            assert_eq!(done.code, Some(0), "before {words}: {done:?}");
        }
    }
    let text = place.as_here(block);
    let Some(session) = text.strip_prefix("$ ") else {
        let ran = place.run(&text);
        if text.contains("systemctl start") {
            let mails = place.daemon.tempmail(&["inbox", TO, "-o", "id"]).stdout.lines().count();
            place.daemon.tempmail(&["stop"]).ok();
            assert_eq!(mails, 1, "{text}");
            assert!(!dir.path().join("home/tempmail").exists(), "something went into another data directory: {text}");
        }
        return if ran.code == Some(0) { Ok(()) } else { Err(format!("{:?}\n{}", ran.code, ran.stdout)) };
    };
    let (command, shown) = session.split_once('\n').expect("an answer");
    // What is shown may be an error.
    let ran = place.run(&command.replace("curl", "\"$CURL\" -sS"));
    if ran.stdout.trim_end() == shown.trim_end() {
        Ok(())
    } else {
        Err(format!("shown:\n{shown}\nsaid:\n{}", ran.stdout))
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs curl, jq, openssl, PHP and git send-email"]
async fn each_block_of_commands_can_be_run() {
    let (mut elsewhere, mut wrong, mut count) = (ELSEWHERE.map(|(first, _)| first).to_vec(), Vec::new(), 0);
    for (page, text) in pages() {
        for block in ["sh", "console"].iter().flat_map(|language| blocks(&text, language)) {
            let first = block.lines().next().expect("a line");
            if ELSEWHERE.iter().any(|(known, _)| *known == first) {
                elsewhere.retain(|known| *known != first);
                continue;
            }
            count += 1;
            if let Err(why) = run(block).await {
                wrong.push(format!("{page}:\n{block}\n--\n{why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(count > 20 && elsewhere.is_empty(), "{count} were run, and no page has {elsewhere:?}");
}
