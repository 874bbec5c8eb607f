//! The protocol of `tempmail mcp` itself: its revisions, and calls that nobody waits for any more.
//! Promise: it outlives the code below it.

use std::io::Write;
use std::net::TcpListener;
use std::time::Instant;

use serde_json::{Value, json};

use super::{Session, text};
use crate::cli::{Service, TO};
use crate::support::command::LIMIT;
use crate::support::until::until;

#[tokio::test(flavor = "multi_thread")]
async fn revisions_with_and_without_a_handshake_are_spoken_side_by_side() {
    let service = Service::start().await;
    let mut session = Session::start(service.server.dir(), &[]);
    let of = |version: &str| {
        json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {},
        } })
    };
    let no_capabilities = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } });
    for (method, params, code) in [
        ("tools/list", json!({}), -32602),
        ("tools/list", no_capabilities, -32602),
        ("server/discover", of("2030-01-01"), -32022),
        ("ping", of("2026-07-28"), -32601),
        ("resources/list", of("2026-07-28"), -32601),
        ("tools/call", of("2026-07-28"), -32602),
        ("initialize", json!({}), -32602),
    ] {
        let answer = session.ask(method, &params);
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
    }
    let said = session.ask("tools/list", &of("2030-01-01"));
    assert_eq!(said["error"]["data"]["supported"][4], "2026-07-28", "{said}");
    let discovered = session.ask("server/discover", &of("2026-07-28"));
    assert_eq!(discovered["result"]["supportedVersions"], said["error"]["data"]["supported"], "{discovered}");
    let mut call = of("2026-07-28");
    (call["name"], call["arguments"]) = (json!("list_inbox"), json!({ "address": TO }));
    let answer = session.ask("tools/call", &call);
    assert_eq!((&answer["result"]["resultType"], &*text(&answer)), (&json!("complete"), "0 mails, 0 shown"));
    assert_eq!(session.ask("tools/list", &of("2026-07-28"))["result"]["cacheScope"], "private");

    write!(session.input, "\u{feff}").expect("write");
    assert_eq!(session.ask("ping", &Value::Null)["result"], json!({}));
    assert_eq!(session.ask("ping", &of("2025-06-18"))["result"], json!({}));
    for (wanted, given) in [("2024-11-05", "2024-11-05"), ("2026-07-28", "2025-11-25"), ("1999-01-01", "2025-11-25")] {
        let answer = session.ask("initialize", &json!({ "protocolVersion": wanted }));
        assert_eq!(answer["result"]["protocolVersion"], given, "{wanted}");
    }
    let listed = session.ask("tools/list", &Value::Null);
    assert!(listed["result"]["resultType"].is_null() && listed["result"]["ttlMs"].is_null(), "{listed}");
    for line in ["[]", "5", r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, r#"{"id":1,"method":"ping"}"#] {
        writeln!(session.input, "{line}").expect("write");
        assert_eq!(session.message()["error"]["code"], -32600, "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_ends_what_it_began_and_a_silent_service_holds_up_no_end() {
    let service = Service::start().await;
    let mut session = Session::begin(service.server.dir(), &[]);
    for _ in 0..5 {
        let (id, call) = session.next_request("tools/call", &json!({ "name": "new_address", "arguments": {} }));
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        session.say_at_once(&[&call, &cancelled]);
    }
    // A key that is not kept would leave an inbox that nobody can read.
    until("each inbox with its key", async || {
        let list = service.server.tempmail(&["address", "ls", "-o", "id"]).await.ok().stdout;
        list.lines().count() == 5
    })
    .await;
    assert_eq!(session.end(), (0, String::new()), "no answer to a call that was cancelled");

    let silent = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let (home, url) =
        (tempfile::tempdir().expect("directory"), format!("http://{}", silent.local_addr().expect("address")));
    let mut session = Session::begin(home.path(), &["--server", &url]);
    session.request("tools/call", &json!({ "name": "list_inbox", "arguments": { "address": TO } }));
    let begun = Instant::now();
    assert_eq!(session.end().0, 0);
    assert!(begun.elapsed() < LIMIT, "it has not waited for the service as long as a client does");
}
