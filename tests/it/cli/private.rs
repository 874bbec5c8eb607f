//! Private inboxes: `tempmail new --private` and `tempmail address`, and the key that every command uses by itself.
//! Promise: it outlives the code below it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Service, TO, run};
use crate::support::command::Outcome;
use crate::support::front::Answer;
use crate::support::in_process::CommandLine;

/// What a key begins with.
const KEY: &str = "tmk_";

/// Another user, with an empty home.
struct Stranger(tempfile::TempDir);

impl Stranger {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("directory"))
    }

    fn line(&self, service: &Service, args: &[&str]) -> CommandLine {
        CommandLine::new(self.0.path(), &[&["--server", &service.url()], args].concat())
    }

    async fn run(&self, service: &Service, args: &[&str]) -> Outcome {
        run(self.line(service, args)).await
    }
}

fn key_file(home: &Path) -> PathBuf {
    home.join(".local/state/tempmail/keys.json")
}

/// The keys in the file of a home, by their services.
fn keys(home: &Path) -> Value {
    let text = std::fs::read(key_file(home)).unwrap_or_else(|_| b"{}".to_vec());
    serde_json::from_slice(&text).expect("JSON")
}

/// The address that was printed, and nothing else.
fn printed(outcome: Outcome) -> String {
    let outcome = outcome.ok();
    let address = outcome.stdout.trim_end().to_owned();
    assert!(address.contains('@') && outcome.stdout == format!("{address}\n"), "{outcome:?}");
    assert!(!outcome.stderr.contains(KEY), "{outcome:?}");
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn only_its_holder_reads_what_comes_for_a_private_inbox() {
    let (service, stranger) = (Service::start().await, Stranger::new());
    let made = service.run(&["-v", "new", "--private", "--for", "2h"]).await;
    assert!(made.stderr.contains("only you and the administrator can read its mail, until 2023-11-15T00:13:20Z; "));
    let file = key_file(service.dir());
    assert!(made.stderr.contains(&file.display().to_string()), "{made:?}");
    assert_eq!(std::fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(file.parent().expect("a directory")).expect("it").permissions().mode() & 0o777, 0o700);
    let to = printed(Outcome { stderr: String::new(), ..made });

    service.deliver(&to, "Subject: one\r\n\r\nYour verification code is 482913.\r\n").await;
    let id = service.run(&["inbox", &to, "-o", "id"]).await.ok().stdout.trim().to_owned();
    assert_eq!(service.run(&["wait", &to, "--code", "--timeout", "0"]).await.ok().stdout, "482913\n");
    let hook = ["webhook", "add", &to, "https://hooks.example/mail", "-o", "id"];
    let hook = service.run(&hook).await.ok().stdout.trim().to_owned();
    for args in [&["read", &id][..], &["read", &to, "--latest"], &["expect", &to, "--subject", "one", "--timeout", "0"]]
    {
        assert!(service.run(args).await.ok().stdout.contains(&id[..8]), "{args:?}");
    }
    assert!(service.run(&["read", &id, "--raw"]).await.ok().stdout.contains("482913"));
    assert_eq!(service.run(&["webhook", "list", &to, "-o", "id"]).await.ok().stdout.trim(), hook);

    // A stranger gets what he gets for an address that nobody has.
    for (args, code) in [
        (&["inbox", &to][..], 0),
        (&["read", &to, "--latest"], 3),
        (&["read", &id], 3),
        (&["wait", &to, "--timeout", "0"], 124),
        (&["expect", &to, "--timeout", "0"], 124),
        (&["webhook", "list", &to], 0),
        (&["address", "list"], 0),
        (&["address", "end", &to, "--yes"], 3),
        (&["address", "end", &to, "--dry-run"], 3),
        (&["address", "key"], 3),
    ] {
        let outcome = stranger.run(&service, args).await;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), ""), "{args:?}: {}", outcome.stderr);
    }
    for (args, target) in
        [(&["webhook", "remove", &hook, "--yes"][..], &hook), (&["delete", "--id", &id, "--yes"], &id)]
    {
        let outcome = stranger.run(&service, args).await;
        assert_eq!((outcome.code, outcome.stdout), (Some(3), format!("{target}\t0\n")), "{args:?}");
    }
    assert_eq!(stranger.run(&service, &["delete", &to, "--yes"]).await.ok().stdout, format!("{to}\t0\n"));
    assert!(service.run_local(&["read", &id]).await.ok().stdout.contains("482913"), "the administrator reads it");
    assert_eq!(service.run(&["delete", &to, "--yes"]).await.ok().stdout, format!("{to}\t1\n"));

    let key = keys(service.dir())[service.url()].as_str().expect("a key").to_owned();
    let noted = service.noted();
    assert!(key.starts_with(KEY) && noted.tokens.iter().all(|sent| *sent == format!("Bearer {key}")));
    assert!(noted.requests.iter().all(|request| !request.contains(KEY)), "{:?}", noted.requests);
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_are_listed_prolonged_and_ended() {
    let service = Service::start().await;
    let one = printed(service.run(&["new", "--private", "ann@example.test", "--messages", "2", "--keep", "1h"]).await);
    let two = printed(service.run(&["new", "--private", "--idle", "30m"]).await);
    assert_eq!(one, "ann@example.test");
    assert_eq!(keys(service.dir()).as_object().expect("keys").len(), 1, "the second is of the same key");
    let list = service.run(&["address", "list"]).await.ok().stdout;
    assert_eq!(list, format!("{one}\t2023-11-15T22:13:20Z\t\t2\t3600\n{two}\t2023-11-14T22:43:20Z\t1800\t\t86400\n"));
    let sent = service.run(&["address", "ls", "--json"]).await.ok();
    assert_eq!(sent.json()["addresses"].as_array().map(Vec::len), Some(2));

    let longer = service.run(&["address", "prolong", &one, "--for", "7d", "--messages", "9"]).await.ok().stdout;
    assert_eq!(longer, format!("{one}\t2023-11-21T22:13:20Z\t\t9\t3600\n"));
    service.send(&one, "hello").await;
    assert_eq!(service.run(&["address", "end", &one]).await.code, Some(2), "nobody can be asked");
    let said = service.run(&["address", "end", &one, "--dry-run"]).await.ok();
    assert_eq!((said.stdout, said.stderr.contains("nothing was deleted")), (format!("{one}\t1\n"), true));
    let of_administrator = service.run_local(&["address", "end", &one, "--dry-run"]).await.ok().stdout;
    assert_eq!(of_administrator, format!("{one}\t1\n"));
    assert_eq!(service.run(&["address", "end", &one, "--yes"]).await.ok().stdout, format!("{one}\t1\n"));
    assert_eq!(service.run(&["address", "ls", "-o", "id"]).await.ok().stdout, format!("{two}\n"));
    for run in [service.run(&["address", "end", &one, "--dry-run"]), service.run(&["address", "end", &one, "--yes"])] {
        let outcome = run.await;
        assert!(outcome.code == Some(3) && outcome.stdout.is_empty(), "{outcome:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_can_be_taken_away_again() {
    let service = Service::start().await;
    let to = printed(service.run(&["new", "--private", "--idle", "30m", "--messages", "2"]).await);
    let prolong = async |terms: &[&str]| service.run(&[&["address", "prolong", &to], terms].concat()).await.ok().stdout;
    assert_eq!(prolong(&["--messages", "none"]).await, format!("{to}\t2023-11-14T22:43:20Z\t1800\t\t86400\n"));
    assert_eq!(prolong(&["--idle", "0"]).await, format!("{to}\t2023-11-15T22:13:20Z\t\t\t86400\n"));
    assert_eq!(prolong(&["--idle", "1h", "--messages", "3"]).await.split('\t').nth(3), Some("3"));
    let plain = format!("{to}\t2023-11-15T22:13:20Z\t\t\t86400\n");
    assert_eq!(prolong(&["--idle", "none", "--messages", "0"]).await, plain);
    service.run(&["new", "--private", "--idle", "none", "--messages", "0"]).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quoted_name_is_shown_as_it_can_be_given() {
    let service = Service::start().await;
    let to = printed(service.run(&["new", "--private", r#""A b\\c"@example.test"#]).await);
    assert_eq!(to, r#""a b\\c"@example.test"#);
    assert_eq!(service.run(&["address", "ls", "-o", "id"]).await.ok().stdout, format!("{to}\n"));
    service.run(&["address", "prolong", &to, "--for", "1h"]).await.ok();
    service.send(&to, "one").await;
    let wait = service.run(&["wait", &to, "--timeout", "0", "--json"]).await.ok();
    assert_eq!(wait.json()["subject"], "one");
    assert_eq!(service.run(&["address", "end", &to, "--yes"]).await.ok().stdout, format!("{to}\t1\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_gets_the_key_from_the_user() {
    let service = Service::start().await;
    let to = printed(service.run(&["new", "--private"]).await);
    let key = service.run(&["address", "key"]).await.ok();
    assert_eq!(key.stdout, format!("{}\n", keys(service.dir())[service.url()].as_str().expect("a key")));
    assert_eq!(service.run(&["address", "key", "--json"]).await.ok().json()["key"], key.stdout.trim());

    service.send(&to, "one").await;
    let open = async |args: &[&str]| run(service.line(&[&["open"], args].concat()).env("BROWSER", "true")).await.ok();
    let inbox = format!("{}/#/inbox/{to}\n", service.url());
    for args in [&[to.as_str()][..], &[&to, "--latest"]] {
        let opened = open(args).await;
        assert!(opened.stdout == inbox && opened.stderr.contains("`tempmail address key`"), "{args:?}: {opened:?}");
        assert!(!opened.stderr.contains(KEY), "{opened:?}");
    }
    service.send(TO, "of all").await;
    let public = open(&[TO, "--latest"]).await;
    assert!(public.stdout.contains("/html") && public.stderr.is_empty(), "{public:?}");

    service.run_local(&["address", "end", &to, "--yes"]).await.ok();
    assert_eq!(service.run(&["address", "key"]).await.code, Some(3));
    let of_administrator = printed(service.run_local(&["new", "--private"]).await);
    assert!(service.run_local(&["address", "key"]).await.ok().stdout.starts_with(KEY));
    service.run_local(&["address", "end", &of_administrator, "--yes"]).await.ok();
    assert_eq!(service.run_local(&["address", "key"]).await.code, Some(3), "a key that opens nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_an_address_is_forgotten_with_a_word() {
    let service = Service::with_mails(&["of all"]).await;
    let to = printed(service.run(&["new", "--private"]).await);
    let kept = keys(service.dir());
    service.run_local(&["address", "end", &to, "--yes"]).await.ok();
    // The administrator bears a key of his own, or none.
    std::fs::write(key_file(service.dir()), kept.to_string()).expect("write");
    service.noted().requests.clear();
    let first = service.run(&["inbox", TO]).await.ok();
    assert!(first.stdout.contains("of all") && first.stderr.contains("have ended"), "{first:?}");
    assert_eq!(keys(service.dir()), json!({}));
    assert_eq!(service.noted().requests.len(), 2, "the request was made again");
    let second = service.run(&["inbox", TO]).await.ok();
    assert_eq!((second.stdout, second.stderr.as_str()), (first.stdout, ""));

    std::fs::write(key_file(service.dir()), kept.to_string()).expect("write");
    let again = service.run(&["new", "--private"]).await;
    printed(again);
    assert_ne!(keys(service.dir())[service.url()], kept[service.url()], "a new key is in its place");
    service.run(&["address", "list"]).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_begin_at_once_share_one_key() {
    let (service, user) = (Service::start().await, Stranger::new());
    let calls: Vec<_> = (0..6).map(|_| tokio::spawn(run(user.line(&service, &["new", "--private"])))).collect();
    let mut made = Vec::new();
    for call in calls {
        made.push(printed(call.await.expect("the command")));
    }
    made.sort_unstable();
    let listed = user.run(&service, &["address", "ls", "-o", "id"]).await.ok().stdout;
    let mut listed: Vec<&str> = listed.lines().collect();
    listed.sort_unstable();
    assert_eq!(listed, made);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_has_the_key_that_the_file_has_and_the_environment_takes_it() {
    let (service, stranger) = (Service::start().await, Stranger::new());
    let made = service.run(&["new", "--private", "--json"]).await.ok().json();
    let (to, key) = (made["address"].as_str().expect("an address"), made["key"].as_str().expect("a key"));
    assert_eq!(keys(service.dir())[service.url()], key);
    service.send(to, "one").await;
    let with = |args: &[&str], token: &str| run(stranger.line(&service, args).env("TEMPMAIL_TOKEN", token));
    assert!(with(&["inbox", to], key).await.ok().stdout.contains("one"));
    let more = printed(with(&["new", "--private"], key).await);
    assert!(service.run(&["address", "ls"]).await.ok().stdout.contains(&more), "it is of the same key");
    assert_eq!(with(&["domain", "list"], key).await.ok().code, Some(0), "a key is no token of the administrator");
    let wrong = with(&["inbox", to], "tmk_0000000000000000000000000000000000000000000").await;
    assert!(wrong.code == Some(4) && !wrong.stderr.contains(KEY), "{wrong:?}");

    let token = service.run_local(&["token", "new", "--name", "ci"]).await.ok().stdout;
    let named = with(&["new", "--private", "ci@example.test", "--json"], token.trim()).await.ok();
    assert!(named.json()["key"].as_str().is_some_and(|other| other != key), "{named:?}");
    assert!(named.stderr.contains("--json shows it"), "{}", named.stderr);
    assert!(!stranger.0.path().join(".local").exists(), "nothing is kept of a key that the user keeps");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_said_in_plain_words() {
    let (service, stranger) = (Service::start().await, Stranger::new());
    printed(service.run(&["new", "--private", "ann@example.test"]).await);
    let taken = stranger.run(&service, &["new", "--private", "Ann+x@example.test"]).await;
    let is_said = taken.stderr.contains("in use") && taken.stderr.contains("not free before 2023-11-15 22:13:20 UTC");
    assert!(taken.code == Some(5) && is_said && taken.stderr.contains("take another name"), "{taken:?}");
    for (flag, text, accepted) in [
        ("--for", "365d", "1s to 30d (1 to 2592000 seconds)"),
        ("--idle", "59s", "0, or 1m to 30d (60 to 2592000 seconds)"),
        ("--keep", "8d", "1s to 7d (1 to 604800 seconds)"),
        ("--messages", "1000001", "0, or 1 to 1000000"),
    ] {
        let refused = service.run(&["new", "--private", flag, text]).await;
        let is_said = refused.stderr.starts_with(&format!("error: {flag}: accepted is {accepted}\n"));
        assert!(refused.code == Some(2) && is_said, "{refused:?}");
    }
    assert!(!key_file(stranger.0.path()).exists());
    let role = service.run(&["new", "--private", "postmaster@example.test"]).await;
    assert!(role.code == Some(4) && role.stderr.contains("take another one"), "{role:?}");
    for (status, code, exit, said) in [
        (403, "address_not_random", 4, "leave the name out"),
        (429, "rate_limited", 7, "try again in 60 s"),
        (401, "token_required", 4, "--token-file"),
    ] {
        service.answers("POST /api/addresses", Answer::problem(status, code));
        let refused = stranger.run(&service, &["new", "--private", "bob@example.test"]).await;
        assert!(refused.code == Some(exit) && refused.stderr.contains(said), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_keep_a_key_is_said_before_there_is_an_address() {
    let service = Service::start().await;
    let home = service.dir().join("a-file");
    std::fs::write(&home, "").expect("write");
    let line = |home: &Path| CommandLine::new(home, &["--server", &service.url(), "new", "--private"]);
    assert_eq!(run(line(&home)).await.code, Some(1));
    let nowhere = run(line(&home).env("HOME", "")).await;
    assert!(nowhere.code == Some(2) && nowhere.stderr.contains("XDG_STATE_HOME"), "{nowhere:?}");

    let file = key_file(service.dir());
    std::fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
    std::fs::write(&file, "tmk_no list").expect("write");
    for args in [&["new", "--private"][..], &["inbox", TO]] {
        let outcome = service.run(args).await;
        assert!(outcome.code == Some(1) && outcome.stderr.contains("no list of keys"), "{outcome:?}");
        assert!(!outcome.stderr.contains(KEY), "{outcome:?}");
    }
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "tmk_no list");
    assert_eq!(service.noted().requests, [""; 0]);

    std::fs::write(&file, "{}").expect("write");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).expect("permissions");
    let warned = service.run(&["inbox", TO]).await.ok();
    assert!(warned.stderr.contains("others can read the key in"), "{warned:?}");
    printed(service.run(&["new", "--private"]).await);
    assert_eq!(std::fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o600);
}
