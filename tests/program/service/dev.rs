//! `serve --dev`: all mail of an application under test, in one word.
//! Promise: it outlives the code below it.

use std::net::SocketAddr;

use reqwest::Method;
use serde_json::json;

use crate::support::answer::Answer;
use crate::support::http::{client, get};
use crate::support::program::{Program, refused};
use crate::support::smtp_peer::SmtpPeer;

/// The answer to a request with one more header field.
async fn answer(server: SocketAddr, request: &str, (name, value): (&str, &str)) -> Answer {
    let (method, path) = request.split_once(' ').expect("a method and a path");
    let method: Method = method.parse().expect("a method");
    Answer::to(client().request(method, format!("http://{server}{path}")).header(name, value).json(&json!({}))).await
}

async fn status(server: SocketAddr, request: &str) -> u16 {
    answer(server, request, ("accept", "*/*")).await.status.as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_to_any_domain_with_any_login_is_shown_to_everybody_on_this_machine() {
    let daemon = Program::fresh(&["--dev"]);
    let url = format!("http://{}/api/mail/stream", daemon.http);
    let mut stream = client().get(url).send().await.expect("a stream");
    assert_eq!(stream.status(), 200);

    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    peer.command("EHLO app", "250").await;
    peer.command("AUTH PLAIN AHVzZXIAcGFzc3dvcmQ=", "235").await;
    peer.deliver("Bob@company.com", "Subject: one\r\n\r\n").await;
    peer.deliver("admin@other.example.org", "Subject: two\r\n\r\n").await;

    let (code, all) = get(daemon.http, "/api/admin/messages").await;
    assert_eq!((code, &all["total"]), (200, &json!(2)));
    assert_eq!(all["emails"][0]["recipient"], "admin@other.example.org");
    let (code, inbox) = get(daemon.http, "/api/mail/messages?to=admin@other.example.org").await;
    assert_eq!((code, &inbox["emails"][0]["subject"]), (200, &json!("two")));
    let (code, mailpit) = get(daemon.http, "/api/v1/messages").await;
    assert_eq!((code, &mailpit["total"]), (200, &json!(2)));
    assert_eq!(get(daemon.http, "/").await.1["allMail"], true);
    let mut events = String::new();
    while events.matches("event: email.received").count() < 2 {
        let piece = stream.chunk().await.expect("a piece").expect("more");
        events.push_str(std::str::from_utf8(&piece).expect("UTF-8"));
    }
    assert!(events.contains("Bob@company.com") && events.contains("admin@other.example.org"), "{events}");

    for args in [&["inbox", "bob@company.com"][..], &["inbox"], &["doctor"], &["status"], &["new"]] {
        daemon.tempmail(args).ok();
    }
    assert_eq!(daemon.tempmail(&["read", "admin@other.example.org", "--latest", "--json"]).json()["subject"], "two");
    assert_eq!(status(daemon.http, "DELETE /api/v1/messages").await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_without_a_token_change_no_more_than_the_public_may() {
    let daemon = Program::fresh(&["--dev"]);
    for request in [
        "POST /api/admin/tokens",
        "POST /api/admin/domains",
        "DELETE /api/admin/domains?domain=example.test",
        "POST /api/admin/faults",
        "DELETE /api/admin/webhooks",
        "POST /api/mail/messages",
    ] {
        assert_eq!(status(daemon.http, request).await, 401, "{request}");
    }
    assert_eq!(status(daemon.http, "GET /api/admin/backup").await, 403);
    assert_eq!(status(daemon.http, "DELETE /api/mail/delete?to=bob@company.com").await, 200);
    let list = "GET /api/admin/messages";
    for (field, code) in [
        (("authorization", "Bearer wrong"), 401),
        (("x-forwarded-for", "192.0.2.1"), 401),
        (("forwarded", "for=192.0.2.1"), 401),
        (("via", "1.1 proxy"), 401),
        (("x-real-ip", "192.0.2.1"), 401),
        (("x-forwarded-host", "mail.example"), 401),
        (("x-forwarded-proto", "https"), 401),
        (("host", "evil.example"), 421),
        (("accept", "*/*"), 200),
    ] {
        assert_eq!(answer(daemon.http, list, field).await.status, code, "{field:?}");
    }
    let of_page = answer(daemon.http, list, ("origin", "https://evil.example")).await;
    assert_eq!(of_page.header("access-control-allow-origin"), None, "a page of another site reads nothing");

    for args in [&["--dev=false"][..], &["--dev", "--public", "none"], &["--dev", "--http-allowed-origins", "*"]] {
        let closed = Program::fresh(args);
        assert_eq!(status(closed.http, list).await, 401, "{args:?}");
        assert_eq!(get(closed.http, "/").await.1["allMail"], false, "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_loopback_the_network_must_be_trusted() {
    let dir = tempfile::tempdir().expect("directory");
    for listen in [["--smtp-listen", "0.0.0.0:0"], ["--http-listen", "0.0.0.0:0"]] {
        let refused = refused(dir.path(), &["--dev", listen[0], listen[1]]);
        assert_eq!(refused.code, Some(78), "{refused:?}");
        assert!(refused.stderr.contains("not loopback; listen on loopback or set trusted-network"), "{refused:?}");
        assert_eq!(refused.stderr.matches("loopback;").count(), 1, "one reason: {refused:?}");
    }
    let open = ["--dev", "--trusted-network", "--http-listen", "0.0.0.0:0", "--smtp-listen", "0.0.0.0:0"];
    for none in ["--http-allowed-origins=", "--http-allowed-hosts="] {
        let closed = Program::fresh(&[&open[..], &[none]].concat());
        let http = SocketAddr::from(([127, 0, 0, 1], closed.http.port()));
        assert_eq!(status(http, "GET /api/admin/messages").await, 401, "{none}");
    }
    let daemon = Program::fresh(&open);
    SmtpPeer::greeted(daemon.smtp).await.deliver("bob@company.com", "Subject: one\r\n\r\n").await;
    let (list, http) = ("GET /api/admin/messages", SocketAddr::from(([127, 0, 0, 1], daemon.http.port())));
    assert_eq!(answer(http, list, ("x-forwarded-for", "192.0.2.1")).await.json()["total"], 1);
    assert_eq!(answer(http, list, ("host", "evil.example")).await.status, 421);
    let of_page = answer(http, list, ("origin", "https://evil.example")).await;
    assert_eq!(of_page.header("access-control-allow-origin"), None, "a page of another site reads nothing");
    assert_eq!(status(http, "DELETE /api/v1/messages").await, 200);
}
