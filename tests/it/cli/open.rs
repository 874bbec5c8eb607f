//! `tempmail open`: a browser is given a mail, an inbox or the page.
//! Promise: it outlives the code below it.

use std::path::Path;

use super::{TO, run};
use crate::support::command::Outcome;
use crate::support::in_process::CommandLine;
use crate::support::test_server::TestServer;

async fn open(dir: &Path, browser: &str, args: &[&str]) -> Outcome {
    run(CommandLine::on_data(dir, &[&["open"], args].concat()).env("BROWSER", browser)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_given_a_mail_an_inbox_or_the_page() {
    let server = TestServer::start().await;
    server.deliver(TO, "Subject: x\r\nContent-Type: text/html\r\n\r\n<b>bold</b>").await;
    let (dir, place) = (server.dir().to_owned(), format!("http://{}/", server.http()));
    let opened = open(&dir, "/nowhere/browser:echo opened %s", &[TO, "--latest"]).await;
    let url = opened.stdout.lines().next().expect("an address").to_owned();
    assert_eq!((opened.code, opened.stdout), (Some(0), format!("{url}\nopened {url}\n")), "{}", opened.stderr);
    let path = url.strip_prefix(&place).expect("an address of the service");
    assert!(path.starts_with("api/mail/messages/"), "{url}");
    let page = server.get(&format!("/{path}")).await;
    assert!(page.text().contains("<b>bold</b>"), "{page:?}");

    for (args, at) in [(&[][..], ""), (&[TO], "#/inbox/hello@example.test")] {
        let opened = open(&dir, "true", args).await;
        assert_eq!((opened.code, opened.stdout), (Some(0), format!("{place}{at}\n")), "{args:?}");
    }

    let none = open(&dir, "/nowhere/browser", &[TO, "--latest"]).await;
    assert_eq!((none.code, none.stdout), (Some(1), format!("{url}\n")));
    assert!(none.stderr.contains("BROWSER"), "{}", none.stderr);
    let _dir = server.stop().await;
    let stopped = open(&dir, "echo", &[TO, "--latest"]).await;
    assert_eq!((stopped.code, stopped.stdout.as_str()), (Some(6), ""), "{stopped:?}");
    assert!(stopped.stderr.contains("tempmail serve"), "{stopped:?}");
}
