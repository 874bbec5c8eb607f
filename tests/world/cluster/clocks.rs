//! The clocks of two nodes differ by three seconds, and one of them is stepped back by six. The daemons run in this process, each with a clock of its own.

use std::time::Duration;

use serde_json::Value;

use super::keyspace::Keyspace;
use super::nodes::DOMAIN;
use crate::support::http;
use crate::support::test_server::TestServer;
use crate::support::until::until_some;

const AHEAD: Duration = Duration::from_secs(3);
const MAILS: usize = 12;
/// Longer than the life of a lease.
const SUSPENDED: Duration = Duration::from_secs(8);

/// Mail that went to one node and then to another is in that order at both.
pub(super) async fn keep_order(keyspace: &Keyspace) {
    let [ahead, behind] = [server(keyspace).await, server(keyspace).await];
    ahead.clock.advance(AHEAD);
    let servers = [&ahead, &behind];
    let to = format!("order@{DOMAIN}");
    for mail in 0..MAILS {
        if mail == MAILS / 2 {
            ahead.clock.step_back(2 * AHEAD);
        }
        // Each follows each, and itself.
        servers[mail / 2 % 2].send(&to, &mail.to_string(), "text").await;
    }
    let expected: Vec<String> = (0..MAILS).rev().map(|mail| mail.to_string()).collect();
    for server in servers {
        let page = http::inbox(server.http(), &to).await;
        let emails = page["emails"].as_array().expect("emails");
        assert_eq!(emails.iter().map(subject).collect::<Vec<_>>(), expected, "newest first");
        for (email, next) in emails[1..].iter().zip(emails) {
            let id = email["id"].as_str().expect("id");
            let (status, found) = http::get(server.http(), &format!("/api/mail/wait?to={to}&since={id}")).await;
            assert_eq!((status, subject(&found)), (200, subject(next)), "the next after {}", subject(email));
        }
        // Mail of either node comes after what is there, for those who wait at either.
        let newest = emails[0]["id"].as_str().expect("id");
        let wait = format!("/api/mail/wait?to={to}&timeout=60&since={newest}");
        let (waited, ()) = tokio::join!(http::get(server.http(), &wait), ahead.send(&to, "last", "text"));
        assert_eq!((waited.0, subject(&waited.1)), (200, "last".to_owned()));
        let id = waited.1["id"].as_str().expect("id");
        let delete = format!("http://{}/api/mail/delete?id={id}", behind.http());
        let deleted = http::client().delete(delete).send().await.expect("an answer");
        assert_eq!(deleted.json::<Value>().await.expect("JSON")["deleted"], 1);
    }
    // A clock that has gone on while a node was suspended tells it that it has no lease any more.
    let leader = until_some("one node leads", async || servers.into_iter().find(|server| server.store().leads())).await;
    leader.clock.advance(SUSPENDED);
    assert!(!leader.store().leads(), "a node that was suspended still leads");
    println!("clocks: order and since= hold while clocks differ by {AHEAD:?}");
    for server in [ahead, behind] {
        server.stop().await;
    }
}

async fn server(keyspace: &Keyspace) -> TestServer {
    TestServer::live(&format!("store = '{}'\nrate-limit = 'off'", keyspace.store)).await
}

fn subject(email: &Value) -> String {
    email["subject"].as_str().expect("a subject").to_owned()
}
