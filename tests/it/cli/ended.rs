//! What follows the mail of a private inbox ends with it, and never goes on with what anybody gets for the address.
//! Promise: it outlives the code below it.

use std::path::Path;
use std::time::Duration;

use tokio::time::timeout;

use super::run;
use crate::support::in_process::CommandLine;
use crate::support::test_server::TestServer;

/// The service looks at what waits every 15 s.
const IN_TIME: Duration = Duration::from_secs(40);

/// The commands that follow an address. The address comes behind the first words.
const FOLLOWING: [(&[&str], &[&str]); 5] = [
    (&["wait"], &["--since", "now"]),
    (&["expect"], &["--no-mail-within", "60s", "--since", "now"]),
    (&["inbox"], &["--watch"]),
    (&["watch"], &[]),
    (&["webhook", "listen"], &["--forward-to", "http://127.0.0.1:9/"]),
];

/// Makes a private inbox with a mail in it.
async fn inbox(server: &TestServer, line: &impl Fn(&[&str]) -> CommandLine) -> String {
    let to = run(line(&["new", "--private"])).await.ok().stdout.trim().to_owned();
    server.send(&to, "before", "text").await;
    to
}

/// Checks how each of the commands ends when the administrator ends the inbox that it follows.
async fn check(server: &TestServer, line: impl Fn(&[&str]) -> CommandLine, has_another: bool, is_forgotten: bool) {
    for (words, flags) in FOLLOWING {
        if has_another {
            run(line(&["new", "--private"])).await.ok();
        }
        let to = inbox(server, &line).await;
        let following = tokio::spawn(run(line(&[words, &[to.as_str()], flags].concat())));
        server.until_waiting(1).await;
        server.tempmail(&["address", "end", &to, "--yes"]).await.ok();
        let outcome = timeout(IN_TIME, following).await.expect("an end in time").expect("the command");
        assert_eq!(outcome.code, Some(3), "{outcome:?}");
        assert!(outcome.stderr.contains(&format!("error: the private inbox {to} has ended\n")), "{outcome:?}");
        assert!(!outcome.stderr.contains("trying again"), "{outcome:?}");
        assert_eq!(outcome.stderr.contains("their key is no longer valid"), is_forgotten, "{outcome:?}");
        server.until_waiting(0).await;
    }
}

fn at(server: &TestServer, home: &Path) -> impl Fn(&[&str]) -> CommandLine {
    let (url, home) = (format!("http://{}", server.http()), home.to_owned());
    move |args| CommandLine::new(&home, &[&["--server", &url], args].concat())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_only_inbox_of_a_key_ends_what_follows_it() {
    let (server, home) = (TestServer::start().await, tempfile::tempdir().expect("directory"));
    check(&server, at(&server, home.path()), false, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_one_inbox_of_several_ends_what_follows_it() {
    let (server, home) = (TestServer::start().await, tempfile::tempdir().expect("directory"));
    check(&server, at(&server, home.path()), true, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_who_is_the_administrator_learns_of_the_end_too() {
    let server = TestServer::start().await;
    let dir = server.dir().to_owned();
    let home = tempfile::tempdir().expect("directory");
    let home = home.path();
    let line = |args: &[&str]| CommandLine::new(home, &[&["--data-dir", dir.to_str().expect("UTF-8")], args].concat());
    check(&server, line, false, false).await;
}

#[tokio::test]
async fn the_end_of_its_time_ends_what_follows_it() {
    let (server, home) = (TestServer::start().await, tempfile::tempdir().expect("directory"));
    let line = at(&server, home.path());
    let to = run(line(&["new", "--private", "--for", "1h"])).await.ok().stdout.trim().to_owned();
    let follow = |(words, flags): (&[&str], &[&str])| tokio::spawn(run(line(&[words, &[to.as_str()], flags].concat())));
    let following = FOLLOWING.map(follow);
    server.until_waiting(FOLLOWING.len()).await;
    server.pass(Duration::from_hours(1)).await;
    for command in following {
        let outcome = timeout(IN_TIME, command).await.expect("an end in time").expect("the command");
        assert_eq!(outcome.code, Some(3), "{outcome:?}");
        assert!(outcome.stderr.contains(&format!("error: the private inbox {to} has ended\n")), "{outcome:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_the_environment_is_as_good() {
    let (server, home) = (TestServer::start().await, tempfile::tempdir().expect("directory"));
    let elsewhere = tempfile::tempdir().expect("directory");
    let at_home = at(&server, home.path());
    let to = inbox(&server, &at_home).await;
    let key = run(at_home(&["address", "key"])).await.ok().stdout.trim().to_owned();
    let with_key = |args: &[&str]| at(&server, elsewhere.path())(args).env("TEMPMAIL_TOKEN", &key);
    let following = tokio::spawn(run(with_key(&["wait", &to, "--since", "now"])));
    server.until_waiting(1).await;
    server.tempmail(&["address", "end", &to, "--yes"]).await.ok();
    let outcome = following.await.expect("the command");
    assert!(outcome.code == Some(3) && outcome.stderr.contains("has ended"), "{outcome:?}");
    let after = run(with_key(&["wait", &to, "--timeout", "0"])).await;
    assert_eq!(after.code, Some(4), "{after:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_address_is_followed_as_ever() {
    let (server, home) = (TestServer::start().await, tempfile::tempdir().expect("directory"));
    let line = at(&server, home.path());
    inbox(&server, &line).await;
    server.send("hello@example.test", "before", "text").await;
    let following = tokio::spawn(run(line(&["wait", "hello@example.test", "--since", "now", "--json"])));
    server.until_waiting(1).await;
    server.send("hello@example.test", "after", "text").await;
    assert_eq!(following.await.expect("the command").ok().json()["subject"], "after");
}
