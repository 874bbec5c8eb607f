//! Counts of mail: that of private inboxes is among them for the administrator alone.
//! Promise: it outlives the code below it.

use serde_json::{Value, json};

use super::{TestServer, listed, receive, with};
use crate::support::answer::Answer;

const PRIVATE: &str = "ann@example.test";

/// Three messages: to a private inbox, to a public one, and to both.
async fn prepared(settings: &str) -> TestServer {
    let api = with("mailpit", settings).await;
    receive(&api, &["eve@example.test"], "before").await;
    let (status, lease) = api.admin_post("/api/addresses", &json!({ "address": PRIVATE })).await;
    assert_eq!(status, 201, "{lease}");
    for (to, subject) in [(&[PRIVATE][..], "private"), (&["eve@example.test", PRIVATE], "both")] {
        receive(&api, to, subject).await;
    }
    api
}

/// The counts that the interface of another mail catcher shows: in a list, in a search, and alone.
async fn counts(get: impl AsyncFn(&str) -> Value) -> [Value; 4] {
    let (list, found, info) =
        (get("/api/v1/messages").await, get("/api/v1/search?query=subject:both").await, get("/api/v1/info").await);
    [list["total"].clone(), list["messages_count"].clone(), found["total"].clone(), info["Messages"].clone()]
}

#[tokio::test]
async fn a_stranger_does_not_see_private_mail_counted() {
    let api = prepared("").await;
    assert_eq!(listed(&api).await, ["both", "before"]);
    assert_eq!(counts(async |target| api.get(target).await.json()).await, [2, 2, 2, 2].map(Value::from));
    let token = api.token("read").await;
    let as_bearer = async |target: &str| Answer::to(api.request("GET", target).bearer_auth(&token)).await.json();
    assert_eq!(counts(as_bearer).await, [3, 3, 3, 3].map(Value::from));
    // The number of private messages is not where a list goes on, either.
    let second = api.get("/api/v1/messages?start=1&limit=1").await.json();
    assert_eq!((&second["messages"][0]["Subject"], &second["count"]), (&json!("before"), &json!(1)));
}

#[tokio::test]
async fn lists_of_all_mail_give_a_stranger_no_number_beside_private_mail() {
    let api = prepared("dev = true").await;
    for (list, all, visible) in [("messages", 4, 2), ("mailboxes", 2, 1)] {
        let target = format!("/api/admin/{list}");
        let page = api.get(&target).await.json();
        let entries = page[if list == "messages" { "emails" } else { list }].as_array().map(Vec::len);
        assert_eq!((&page["total"], entries), (&Value::Null, Some(visible)), "{page}");
        assert_eq!(api.admin_get(&target).await["total"], all, "{list}");
    }
    let without = TestServer::with("dev = true").await;
    receive(&without, &["eve@example.test"], "public").await;
    assert_eq!(without.get("/api/admin/messages").await.json()["total"], 1);
}
